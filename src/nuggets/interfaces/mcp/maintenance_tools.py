"""Tools for the whole memory: clean-up, undo, promotion."""

import sys
from collections.abc import Iterator

from nuggets.domain import codec
from nuggets.domain.records import Commit
from nuggets.errors import NotFound
from nuggets.interfaces.display_text import pluralize, summarize_clean_up
from nuggets.interfaces.json_schemas import Parameters, some_of
from nuggets.interfaces.mcp.response_fields_and_size import room_for
from nuggets.interfaces.mcp.tool_definition import CHANGE, ITEMS, TIDY, Answer, Json, Tool, ToolCall
from nuggets.interfaces.prompt_quoting import fence, project_name
from nuggets.maintenance.undo import last_to_undo

_NOTES_NAMED = 5  # notes of an undone change


def _reflect(call: ToolCall, arguments: Json) -> Answer:
    result = call.shelf.reflect(
        arguments.get("nugget"), arguments.get("limit"), dry_run=arguments.get("dry_run", False)
    )
    verb = "Would change" if arguments.get("dry_run") else "Changed"
    tail = ""
    if result.changes and not arguments.get("dry_run"):
        tail = f" Nothing was deleted; `nuggets undo {call.shelf.own_revision}` reverts it."
    inspected = pluralize(result.inspected, "note")
    shape = codec.to_json(result)
    fitting = room_for(len(codec.dumps(change)) for change in shape["changes"])
    shape["omitted"] = len(shape["changes"][fitting:])
    shape["changes"] = shape["changes"][:fitting]
    return Answer(shape, f"Inspected {inspected}. {verb}: {summarize_clean_up(result)}.{tail}")


def _undo(call: ToolCall, arguments: Json) -> Answer:
    commit = call.shelf.undo(arguments["revision"] if "revision" in arguments else _own_last(call))
    ids = [note.id for note in commit.changes.put] + list(commit.changes.drop)
    shape = {"revision": commit.revision, "action": commit.changes.action, "notes": ids[:50]}
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
    """The state of each note after the undo, as one text; nothing if there is no note."""
    before = {note.id for note in commit.before.put}
    after = {note.id for note in commit.changes.put}
    outcomes = [(n, "as before" if n.id in before else "gone") for n in commit.changes.put]
    outcomes += [(note, "back") for note in commit.before.put if note.id not in after]
    words = [f"{note.title!r:.80} is {what}" for note, what in outcomes[:_NOTES_NAMED]]
    words += [f"and {len(outcomes) - _NOTES_NAMED} more"] if len(outcomes) > _NOTES_NAMED else []
    if words:
        yield ", ".join(words)


def _promote(call: ToolCall, arguments: Json) -> Answer:
    count = call.shelf.promote(dry_run=arguments.get("dry_run", False))
    where = project_name(call.shelf.project)
    return Answer(
        {"promoted": count, "project": call.shelf.project},
        f"{pluralize(count, 'new entry', 'new entries')} for MEMORY.md of {where}.",
    )


TOOLS = (
    Tool(
        "reflect_and_clean_memory",
        "Reflect and clean up",
        "Tidy memory (merge near-duplicates, tag, link, archive rubbish) when the user asks or "
        "after a long session; it runs daily anyway. dry_run shows the plan.",
        Parameters({"nugget": str, "limit": int, "dry_run": bool}),
        some_of({"inspected": int, "changes": ITEMS}),
        TIDY,
        _reflect,
    ),
    Tool(
        "undo",
        "Undo a change",
        "Undo your last change to memory, or the change of a revision, when it was a mistake.",
        Parameters({"revision": int}),
        some_of({"revision": int, "action": str}),
        CHANGE._replace(idempotent=False),
        _undo,
    ),
    Tool(
        "promote",
        "Promote to MEMORY.md",
        "Write what was recalled often enough to this project's MEMORY.md, when the user asks.",
        Parameters({"dry_run": bool}),
        some_of({"promoted": int, "project": str}),
        CHANGE._replace(destructive=False),
        _promote,
    ),
)
