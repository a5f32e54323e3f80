"""Tools that look after memory as a whole: clean-up, undo, promotion."""

import sys
from collections.abc import Iterator

from nuggets import codec
from nuggets.errors import NotFound
from nuggets.history import UNDO, to_undo
from nuggets.interfaces.fencing import fenced, project_name
from nuggets.interfaces.mcp.arguments import TEXT, TRUTH, WHOLE, object_schema
from nuggets.interfaces.mcp.fields import room_for
from nuggets.interfaces.mcp.tool import CHANGE, TIDY, Answer, Asked, Json, Tool
from nuggets.interfaces.words import cleaned, counted
from nuggets.records import Commit

_NAMED = 5  # notes of an undone change


def _reflect(asked: Asked, given: Json) -> Answer:
    result = asked.shelf.reflect(
        given.get("nugget"), given.get("limit"), given.get("dry_run", False)
    )
    verb = "Would change" if given.get("dry_run") else "Changed"
    tail = "" if given.get("dry_run") else " Nothing was deleted; `nuggets undo` takes it back."
    inspected = counted(result.inspected, "note")
    shape = codec.reflection_to_json(result)
    shown = room_for(len(codec.dumps(change)) for change in shape["changes"])
    shape["omitted"] = len(shape["changes"][shown:])
    shape["changes"] = shape["changes"][:shown]
    return Answer(shape, f"Inspected {inspected}. {verb}: {cleaned(result)}.{tail}")


def _undo(asked: Asked, given: Json) -> Answer:
    commit = asked.shelf.undo(given["revision"] if "revision" in given else _own_last(asked))
    ids = [note.id for note in commit.changes.put] + list(commit.changes.drop)
    shape = {"revision": commit.revision, "action": commit.changes.action, "notes": ids[:50]}
    text = f"Undone: {commit.changes.action} (revision {commit.revision})."
    return Answer(shape, "\n".join([text, *map(fenced, _came_of(commit))]))


def _own_last(asked: Asked) -> int:
    """What this agent did last: others write to the shelf as well, and mean it."""
    commits = asked.shelf.history(limit=sys.maxsize)
    own = (c for c in commits if c.revision in asked.written or c.changes.action.startswith(UNDO))
    try:
        return to_undo(own).revision
    except NotFound:
        raise NotFound(
            "you have changed nothing that could be undone; to take back what others did, "
            "name the revision (`nuggets history` lists them)"
        ) from None


def _came_of(commit: Commit) -> Iterator[str]:
    """What became of each note, in one text; nothing if there was none."""
    before = {note.id for note in commit.before.put}
    after = {note.id for note in commit.changes.put}
    said = [(n, "as before" if n.id in before else "gone") for n in commit.changes.put]
    said += [(note, "back") for note in commit.before.put if note.id not in after]
    words = [f"{note.title!r:.80} is {what}" for note, what in said[:_NAMED]]
    words += [f"and {len(said) - _NAMED} more"] if len(said) > _NAMED else []
    if words:
        yield ", ".join(words)


def _promote(asked: Asked, given: Json) -> Answer:
    count = asked.shelf.promote(dry_run=given.get("dry_run", False))
    where = project_name(asked.shelf.project)
    return Answer(
        {"promoted": count, "project": asked.shelf.project},
        f"{counted(count, 'new entry', 'new entries')} for MEMORY.md of {where}.",
    )


TOOLS = (
    Tool(
        "reflect_and_clean_memory",
        "Reflect and clean up",
        "Tidy memory (merge near-duplicates, tag, link, archive rubbish) when the user asks or "
        "at the end of a long session; it also runs daily by itself. dry_run shows the plan.",
        object_schema({"nugget": TEXT, "limit": WHOLE, "dry_run": TRUTH}),
        object_schema({"inspected": WHOLE, "changes": {"type": "array"}}, ("inspected",)),
        TIDY,
        _reflect,
    ),
)

MORE_TOOLS = (
    Tool(
        "undo",
        "Undo a change",
        "Take back your last change to memory, or the one of a revision, when it was a mistake.",
        object_schema({"revision": WHOLE}),
        object_schema({"revision": WHOLE, "action": TEXT}, ("revision", "action")),
        CHANGE._replace(idempotent=False),
        _undo,
    ),
    Tool(
        "promote",
        "Promote to MEMORY.md",
        "Write what three sessions recalled to this project's MEMORY.md, when the user asks; "
        "it also runs daily by itself.",
        object_schema({"dry_run": TRUTH}),
        object_schema({"promoted": WHOLE, "project": TEXT}, ("promoted", "project")),
        CHANGE._replace(destructive=False),
        _promote,
    ),
)
