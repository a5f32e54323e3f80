"""What an operation says to a program, the same through every door: `--json`, REST, MCP.

Records become JSON in `codec`; here are the answers made of several. MCP tells a model fewer of the
fields (`mcp/fields.py`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nuggets import codec
from nuggets.codec import Json
from nuggets.records import (
    ExportsStatus,
    MemoryNote,
    NuggetStatus,
    RecallResult,
    SearchNotesResult,
)

if TYPE_CHECKING:
    from nuggets.purging import Purged
    from nuggets.shelf import NuggetShelf

BRIEF = (
    *("id", "nuggetName", "title", "kind", "scope", "type", "source", "stability"),
    *("project", "updatedAt"),
)


def brief(given: MemoryNote) -> Json:
    """A note's particulars without its text."""
    whole = codec.note_to_json(given, vector=False)
    return {name: whole[name] for name in BRIEF}


def fact(given: MemoryNote) -> Json:
    """A fact by its own names, key and value, and by those of the note that it is."""
    return {**codec.note_to_json(given), **codec.fact_to_json(given)}


def recalled(
    shelf: "NuggetShelf", result: RecallResult, notes: Sequence[SearchNotesResult] = ()
) -> Json:
    """What a query recalled; `note`: whose answer it is, `also`: what else it may have meant,
    `notes`: what answers instead."""
    shape = {**codec.recall_to_json(result), "noteId": result.note_id}
    if result.found:
        shape["note"] = brief(shelf.get_note(result.note_id, session=None))
        if result.also:
            shape["also"] = [brief(shelf.get_note(one, session=None)) for one in result.also]
    elif notes:
        shape["notes"] = [found(shelf, one) for one in notes]
    return shape


def found(shelf: "NuggetShelf", result: SearchNotesResult) -> Json:
    """One result of a search; `foreign`: it belongs to another project than the current one."""
    return {**codec.search_result_to_json(result), "foreign": shelf.is_foreign(result.note)}


def status(given: NuggetStatus) -> Json:
    return given._asdict()


def exports(given: ExportsStatus | None) -> Json | None:
    """How far the documented files are; null for a shelf in memory."""
    if given is None:
        return None
    return {"revision": given.revision, "behind": given.behind, "savedAt": given.saved_at}


def linked(shelf: "NuggetShelf", a: str, b: str, added: bool) -> Json:
    """Whether a link is new, and where its two ends are."""
    ends = (shelf.get_note(name, session=None) for name in (a, b))
    return {"added": added, "notes": [brief(end) for end in ends]}


def unlinked(removed: bool) -> Json:
    return {"removed": removed}


def forgotten(nugget: str, count: int, key: str | None = None) -> Json:
    """How many facts are gone: of one key, or of the whole nugget."""
    shape: Json = {"forgotten": count, "nugget": nugget}
    return shape if key is None else {**shape, "key": key}


def removed(nugget: str, count: int) -> Json:
    """How many memories went with a nugget."""
    return {"removed": count, "nugget": nugget}


def deleted(given: MemoryNote) -> Json:
    """A note that is gone, not just archived."""
    return {"deleted": 1, "id": given.id}


def purged(given: "Purged") -> Json:
    """What is gone, by name or path; `mergedWith`: notes that may still have its words, and
    `backups`: files that may, if there are any."""
    shape = {"erased": given.erased, "mergedWith": [brief(one) for one in given.merged_with]}
    return {**shape, "backups": list(given.backups)} if given.backups else shape


def plain(record: Any) -> Any:
    """Any other record as JSON, with the documented spelling of its names."""
    if isinstance(record, MemoryNote):
        return codec.note_to_json(record)
    if hasattr(record, "_asdict"):
        return {_camel(name): plain(part) for name, part in record._asdict().items()}
    if isinstance(record, list | tuple):
        return [plain(part) for part in record]
    return record


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
