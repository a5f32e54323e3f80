"""The JSON that operations answer with, the same for `--json`, REST and MCP.

Single records become JSON in `codec`; answers made of several are built here. MCP leaves fields out
(`mcp/read_tools.py`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.domain.records import (
    Commit,
    LeftNote,
    MemoryNote,
    MemoryVersion,
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


def written_fact(fact: WrittenNote) -> Json:
    """The stored fact, and its previous value if that was another one."""
    before = fact.replaced_content
    return {**written_note(fact), **({} if before is None else replaced_value(before))}


def written_note(note: WrittenNote) -> Json:
    """The stored note, and the memories that it contradicts."""
    return {**codec.note_to_json(note), **contradictions(note)}


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


def versions(versions: "Sequence[MemoryVersion]") -> list[Json]:
    """What a memory said and when, newest first."""
    return [codec.version_to_json(version) for version in versions[::-1]]


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
