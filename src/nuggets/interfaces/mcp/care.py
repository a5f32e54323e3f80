"""Tools that look after memory as a whole: clean-up, undo, promotion."""

from nuggets import codec
from nuggets.interfaces.fencing import project_name
from nuggets.interfaces.mcp.arguments import TEXT, TRUTH, WHOLE, object_schema
from nuggets.interfaces.mcp.tool import CHANGE, TIDY, Answer, Asked, Json, Tool
from nuggets.interfaces.words import cleaned, counted


def _reflect(asked: Asked, given: Json) -> Answer:
    result = asked.shelf.reflect(
        given.get("nugget"), given.get("limit"), given.get("dry_run", False)
    )
    verb = "Would change" if given.get("dry_run") else "Changed"
    tail = "" if given.get("dry_run") else " Nothing was deleted; `nuggets undo` takes it back."
    inspected = counted(result.inspected, "note")
    return Answer(
        codec.reflection_to_json(result),
        f"Inspected {inspected}. {verb}: {cleaned(result)}.{tail}",
    )


def _undo(asked: Asked, given: Json) -> Answer:
    commit = asked.shelf.undo(given.get("revision"))
    ids = [note.id for note in commit.changes.put] + list(commit.changes.drop)
    shape = {"revision": commit.revision, "action": commit.changes.action, "notes": ids[:50]}
    return Answer(shape, f"Undone: {commit.changes.action} (revision {commit.revision}).")


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
        "Take back the last change to memory, or the one of a revision, when it was a mistake.",
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
