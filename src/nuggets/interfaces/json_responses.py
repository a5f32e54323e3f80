"""The JSON that operations answer with, the same for `--json`, REST and MCP.

Single records become JSON in `codec`; answers made of several are built here. MCP leaves fields out
(`mcp/read_tools.py`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.domain.records import (
    Commit,
    CommitSummary,
    LeftNote,
    MemoryNote,
    MemoryVersion,
    NuggetStatus,
    RecallResult,
    SearchNotesResult,
    WrittenNote,
)

if TYPE_CHECKING:
    from nuggets.maintenance.purge import Purged
    from nuggets.shelf import NuggetShelf

BRIEF = (
    *("id", "nuggetName", "title", "kind", "scope", "type", "source", "stability"),
    *("project", "updatedAt"),
)


def brief(note: MemoryNote) -> Json:
    """A note without its text, links and counts."""
    fields = codec.note_to_json(note, vector=False)
    return {name: fields[name] for name in BRIEF}


def shape_of(value: Any) -> Any:
    """The JSON of what an operation answers: of a record, or of several. A note that was written
    says which memories it contradicts, and of a fact its previous value; an object is JSON."""
    if isinstance(value, WrittenNote):
        before = value.replaced_content if value.kind == "fact" else None
        replaced = {} if before is None else replaced_value(before)
        return {**codec.note_to_json(value), **contradictions(value), **replaced}
    if isinstance(value, NuggetStatus):
        return value._asdict()
    if isinstance(value, Commit):
        return codec.commit_to_json(value)
    if isinstance(value, MemoryVersion):
        return codec.version_to_json(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [shape_of(part) for part in value]
    return codec.to_json(value)


def contradictions(note: WrittenNote) -> Json:
    """The memories that a written one contradicts, if there are any."""
    return {"contradicts": [brief(other) for other in note.contradicts]} if note.contradicts else {}


def replaced_value(content: str) -> Json:
    """The previous value of a fact."""
    return {"before": {"content": content}}


def undone_change(undone: Json, left: Sequence[LeftNote], kept: Sequence[Commit] | None) -> Json:
    """The undone change, and the notes of it that were left. `kept`: what others did since, if the
    caller named no revision."""
    shape = {"undone": undone, "left": codec.to_json(left)}
    if kept is None:
        return shape
    fields = ("revision", "at", "action", "client", "noteCount")
    shapes = map(codec.commit_to_json, kept)
    return {**shape, "kept": [{name: shape[name] for name in fields} for shape in shapes]}


def fact(note: MemoryNote) -> Json:
    """A fact with its key and value, and with the fields of its note."""
    return {**codec.note_to_json(note), **codec.fact_to_json(note)}


def recall_result(
    shelf: "NuggetShelf", result: RecallResult, notes: Sequence[SearchNotesResult] = ()
) -> Json:
    """The result of a recall. `note`: the fact that answers; `also`: other facts that match;
    `notes`: when no fact matches, the nearest notes. The first may be a clear answer."""
    shape: Json = codec.to_json(result)
    if result.found:
        note = shelf.get_note(result.note_id, session=None)
        shape["note"] = brief(note)
        shape.update(caveats(shelf, note))
        if result.also:
            shape["also"] = [
                brief(shelf.get_note(note_id, session=None)) for note_id in result.also
            ]
    elif notes:
        shape["notes"] = [search_result(shelf, result) for result in notes]
    return shape


def search_result(shelf: "NuggetShelf", result: SearchNotesResult) -> Json:
    """One result of a search; `foreign`: it belongs to another project than the current one."""
    shape = {**codec.to_json(result), "foreign": shelf.is_foreign(result.note)}
    return {**shape, **caveats(shelf, result.note)}


def shown_note(shelf: "NuggetShelf", note: MemoryNote) -> Json:
    """A note that someone opened, with what speaks against relying on it."""
    return {**codec.note_to_json(note), **caveats(shelf, note)}


def caveats(shelf: "NuggetShelf", note: MemoryNote) -> Json:
    """What speaks against relying on a memory, if anything does."""
    against = list(shelf.caveats(note))
    return {"caveats": against} if against else {}


def warnings(shelf: "NuggetShelf") -> list[str]:
    """What a person should see to: files that cannot be read, memory files that were not read."""
    problems = shelf.memory_file_problems().items()
    return [*shelf.warnings, *(f"{path}: {problem}" for path, problem in problems)]


def link_result(shelf: "NuggetShelf", a: str, b: str, added: bool) -> Json:
    """Whether the link is new, and the two notes that it connects."""
    ends = (shelf.get_note(name, session=None) for name in (a, b))
    return {"added": added, "notes": [brief(end) for end in ends]}


def forget_result(nugget: str, count: int, key: str | None = None) -> Json:
    """How many facts were forgotten: of one key, or of a whole nugget."""
    shape: Json = {"forgotten": count, "nugget": nugget}
    return shape if key is None else {**shape, "key": key}


def remove_result(nugget: str, count: int) -> Json:
    """How many memories were removed with a nugget."""
    return {"removed": count, "nugget": nugget}


def delete_result(note: MemoryNote) -> Json:
    """A note that was deleted, not archived."""
    return {"deleted": 1, "id": note.id}


def purge_result(purged: "Purged") -> Json:
    """What was erased, by name or path. `mergedWith`: notes, and `backups`: files, that may still
    contain its text. `notReached`: where no purge can look."""
    return {
        "erased": purged.erased_items,
        "mergedWith": [brief(note) for note in purged.merged_with],
        "backups": list(purged.backups),
        "notReached": list(purged.not_reached),
    }


# --- for the page: summaries of notes and commits, in place of the whole records -----------------


NOTES_OF_A_COMMIT = 20  # shown with before and after; an import may have written thousands


def node(note: MemoryNote) -> Json:
    """What the map needs of a note: everything but its content."""
    return {
        "id": note.id,
        "title": note.title,
        "nugget": note.nugget_name,
        "kind": note.kind,
        "type": note.type,
        "tags": list(note.tags),
        "hits": note.hits,
        "hidden": note.hidden,
        "scope": note.scope,
        "project": note.project,
        "updatedAt": note.updated_at,
        "links": [[link.to, link.reason] for link in note.links],
    }


def commit(step: Commit, only: str | None = None) -> Json:
    """A step of the history; of a large one the first notes, of one note's history that note."""
    changed = [*(note.id for note in step.changes.put), *step.changes.drop]
    note_ids = {only} if only is not None else set(changed[:NOTES_OF_A_COMMIT])
    part = step._replace(
        changes=step.changes._replace(
            put=tuple(n for n in step.changes.put if n.id in note_ids),
            drop=tuple(i for i in step.changes.drop if i in note_ids),
        ),
        before=step.before._replace(put=tuple(n for n in step.before.put if n.id in note_ids)),
    )
    return {**codec.commit_to_json(part), "noteCount": len(changed)}


def update(shelf: "NuggetShelf", since: int, revision: int, steps: Sequence[Commit]) -> Json:
    """What an open page has to change so that it shows these steps between two revisions too.

    Recalled notes are listed apart, because a recall adds a hit and changes nothing else.
    """
    put = {note.id for step in steps for note in step.changes.put}
    drop = {note_id for step in steps for note_id in step.changes.drop}
    recalled = {touch.note_id for step in steps for touch in step.changes.touches} - put
    current = shelf.get_notes(put | drop | recalled)
    return {
        "since": since,
        "revision": revision,
        "put": [node(note) for note in current.values() if note.id in put],
        "recalled": [node(note) for note in current.values() if note.id in recalled],
        "drop": sorted(drop - current.keys()),
        "steps": activity(shelf.commit_summaries(since))["steps"],
    }


def activity(steps: Sequence[CommitSummary]) -> Json:
    """What was written and recalled, without what it said."""
    return {
        "steps": [
            {
                "revision": step.revision,
                "at": step.at,
                "action": step.action,
                "client": step.client,
                "notes": step.notes,
            }
            for step in steps
            if step.notes or step.changes_nuggets
        ],
        "recalls": [
            {"at": touch.at, "session": touch.session, "noteId": touch.note_id}
            for step in steps
            for touch in step.touches
        ],
    }
