"""Tools for the whole memory and for notes of sessions: clean-up, undo, promotion, sessions; and
which tools an agent is offered."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

from nuggets.domain import codec, times
from nuggets.domain.codec import Json
from nuggets.domain.records import Commit, MemoryNote
from nuggets.errors import NotFound
from nuggets.interfaces import pluralize, summarize_clean_up
from nuggets.interfaces.json_schemas import some_of
from nuggets.interfaces.mcp import read_tools, write_tools
from nuggets.interfaces.mcp.tool_definition import (
    CHANGE,
    INDEX,
    ITEMS,
    READ,
    TIDY,
    Answer,
    ToolCall,
    room_for,
    session_entry,
    tool,
    tools_of,
)
from nuggets.interfaces.prompt_quoting import PREFACE, fence, fence_note, project_name
from nuggets.language.text import one_line
from nuggets.maintenance.undo import last_to_undo

_NOTES_NAMED = 5  # notes of an undone change
_NOTES_LISTED = 50  # of them in the JSON


@tool(
    "Reflect and clean up",
    "Tidy memory (merge near-duplicates, tag, link, archive rubbish) when the user asks or "
    "after a long session; it runs daily anyway. dry_run shows the plan.",
    some_of({"inspected": int, "changes": ITEMS}),
    TIDY,
)
def _reflect_and_clean_memory(
    call: ToolCall, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
) -> Answer:
    result = call.shelf.reflect(nugget, limit, dry_run=dry_run)
    verb = "Would change" if dry_run else "Changed"
    tail = ""
    if result.changes and not dry_run:
        tail = f" Nothing was deleted; `nuggets undo {call.shelf.own_revision}` reverts it."
    inspected = pluralize(result.inspected, "note")
    shape = codec.to_json(result)
    fitting = room_for(len(codec.dumps(change)) for change in shape["changes"])
    shape["omitted"] = len(shape["changes"][fitting:])
    shape["changes"] = shape["changes"][:fitting]
    return Answer(shape, f"Inspected {inspected}. {verb}: {summarize_clean_up(result)}.{tail}")


@tool(
    "Undo a change",
    "Undo your last change to memory, or the change of a revision, when it was a mistake.",
    some_of({"revision": int, "action": str}),
    CHANGE._replace(idempotent=False),
)
def _undo(call: ToolCall, revision: int | None = None) -> Answer:
    commit = call.shelf.undo(_own_last(call) if revision is None else revision)
    ids = [note.id for note in commit.changes.put] + list(commit.changes.drop)
    shape = {
        "revision": commit.revision,
        "action": commit.changes.action,
        "notes": ids[:_NOTES_LISTED],
        "left": codec.to_json(commit.left[:_NOTES_LISTED]),
    }
    text = f"Undone: {commit.changes.action} (revision {commit.revision})."
    return Answer(shape, "\n".join([text, *map(fence, _note_outcomes(commit))]))


def _own_last(call: ToolCall) -> int:
    """The last revision that this session wrote; others may have written later ones."""
    first = min(call.written, default=sys.maxsize)  # nothing before it needs to be read
    commits = call.shelf.history(limit=sys.maxsize, since=first - 1)
    own = last_to_undo(commits, lambda commit: commit.revision in call.written)
    if own is None:
        raise NotFound(
            "this session has no change to undo; to undo a change of another one, "
            "name its revision (`nuggets history` lists them)"
        )
    return own.revision


def _note_outcomes(commit: Commit) -> Iterator[str]:
    """The state of each note after the undo, as one text, and which were left, as another."""
    before = {note.id for note in commit.before.put}
    after = {note.id for note in commit.changes.put}
    outcomes = [(n, "as before" if n.id in before else "gone") for n in commit.changes.put]
    outcomes += [(note, "back") for note in commit.before.put if note.id not in after]
    left = [(note, f"left as it is now: {note.reason}") for note in commit.left]
    for part in (outcomes, left):
        words = [f"{note.title!r:.80} is {what}" for note, what in part[:_NOTES_NAMED]]
        words += [f"and {len(part) - _NOTES_NAMED} more"] if len(part) > _NOTES_NAMED else []
        if words:
            yield ", ".join(words)


@tool(
    "Promote to MEMORY.md",
    "Write what was recalled often enough to this project's MEMORY.md, when the user asks.",
    some_of({"promoted": int, "project": str}),
    CHANGE._replace(destructive=False),
)
def _promote(call: ToolCall, dry_run: bool = False) -> Answer:
    count = call.shelf.promote(dry_run=dry_run)
    where = project_name(call.shelf.project)
    return Answer(
        {"promoted": count, "project": call.shelf.project},
        f"{pluralize(count, 'new entry', 'new entries')} for MEMORY.md of {where}.",
    )


# --- notes of sessions with agents: list, show, search -----------------------------------------


SESSIONS_LISTED = 10  # unless more are asked for; what fits is bounded by `ROOM`
TITLE = 100  # characters of a title in the list
NONE = "There is no note of such a session here. Hooks write them; all=true asks for every project."


@tool(
    "Earlier sessions",
    "See what earlier sessions with any agent in this project were about (goal, decisions, "
    "open points), when the user asks where you were or to continue something.",
    INDEX,
    READ,
)
def _sessions(
    call: ToolCall,
    query: str | None = None,
    session: Annotated[str, "id: only this one"] | None = None,
    all: Annotated[bool, "of all projects"] = False,
    limit: int = SESSIONS_LISTED,
) -> Answer:
    limit = max(1, limit)
    if session is not None:
        return _answer(call, [call.shelf.get_session(session)], 1)
    if query is not None:
        found = call.shelf.search_sessions(query, limit, all_projects=all)
        return _answer(call, [result.note for result in found], len(found))
    notes = call.shelf.sessions(all_projects=all)
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


# --- which tools an agent is offered --------------------------------------------------------------
#
# A few, because their descriptions fill every conversation; all with `nuggets mcp --tools all`.


ONLY_IF_ALL = ("list_notes", "merge_notes", "undo", "promote")

_TOOLS = tools_of(read_tools, write_tools, sys.modules[__name__])
FEW_TOOLS = tuple(tool for tool in _TOOLS if tool.name not in ONLY_IF_ALL)
ALL_TOOLS = (*FEW_TOOLS, *(tool for tool in _TOOLS if tool.name in ONLY_IF_ALL))
