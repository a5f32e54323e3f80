"""The tool for notes of sessions with agents: list, show, search."""

from collections.abc import Sequence
from typing import Annotated

from nuggets.domain import codec, times
from nuggets.domain.records import MemoryNote
from nuggets.interfaces.json_schemas import Parameters
from nuggets.interfaces.mcp.response_fields_and_size import room_for, session_entry
from nuggets.interfaces.mcp.tool_definition import INDEX, READ, Answer, Json, Tool, ToolCall
from nuggets.interfaces.prompt_quoting import (
    PREFACE,
    fence,
    fence_note,
    one_line,
    project_name,
)

SESSIONS_LISTED = 10
TITLE = 100  # characters of a title in the list
NONE = "There is no note of such a session here. Hooks write them; all=true asks for every project."


def _sessions(call: ToolCall, arguments: Json) -> Answer:
    shelf, wants_all = call.shelf, arguments.get("all", False)
    limit = max(1, arguments.get("limit", SESSIONS_LISTED))
    if "session" in arguments:
        return _answer(call, [shelf.get_session(arguments["session"])], 1)
    if "query" in arguments:
        found = shelf.search_sessions(arguments["query"], limit, all_projects=wants_all)
        return _answer(call, [result.note for result in found], len(found))
    notes = shelf.sessions(all_projects=wants_all)
    return _answer(call, notes[:limit], len(notes))


def _answer(call: ToolCall, notes: Sequence[MemoryNote], total: int) -> Answer:
    """The first session whole, of the others the titles, as many as fit."""
    if not notes:
        return Answer({"results": [], "omitted": 0}, NONE)
    shapes = [_entry(call, note, is_whole=not i) for i, note in enumerate(notes)]
    shapes = shapes[: room_for(len(codec.dumps(shape)) for shape in shapes)]
    omitted = total - len(shapes)
    first, *others = notes[: len(shapes)]
    lines = [PREFACE, fence_note(first, first.content, project=call.shelf.project, now=call.now)]
    if others:
        lines += ["Others:", fence("\n".join(_line(call, note) for note in others))]
        lines.append("Read one of them: sessions with session=its id.")
    if omitted:
        lines.append(f"{omitted} more: ask with a query, or raise limit.")
    return Answer({"results": shapes, "omitted": omitted}, "\n".join(lines))


def _entry(call: ToolCall, note: MemoryNote, *, is_whole: bool) -> Json:
    foreign = call.shelf.is_foreign(note)
    return {
        "note": session_entry(note, foreign, is_whole),
        "foreign": foreign,
    }


def _line(call: ToolCall, note: MemoryNote) -> str:
    where = f", {project_name(note.project)}" if call.shelf.is_foreign(note) else ""
    return (
        f"{note.id} | {one_line(note.title, TITLE)} ({times.age(note.updated_at, call.now)}{where})"
    )


TOOLS = (
    Tool(
        "sessions",
        "Earlier sessions",
        "See what earlier sessions with any agent in this project were about (goal, decisions, "
        "open points), when the user asks where you were or to continue something.",
        Parameters(
            {
                "query": str,
                "session": Annotated[str, "id: only this one"],
                "all": Annotated[bool, "of all projects"],
                "limit": int,
            }
        ),
        INDEX,
        READ,
        _sessions,
    ),
)
