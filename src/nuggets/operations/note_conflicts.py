"""Two people changed the same words of a memory: one version holds, the other is kept beside it.

The other version is a note of its own, tagged `conflict` and linked to the first as contradicting
it. Its id follows from what it says, so that every machine that sees the conflict makes the same.
"""

from typing import Any

from nuggets.domain.codec import note_from_json, note_to_json
from nuggets.domain.limits import NAME_CHARACTERS, TAGS
from nuggets.domain.names_and_tags import normal_tags, own_tags
from nuggets.domain.records import CONTRADICTS, MemoryNote
from nuggets.domain.state import Notes
from nuggets.domain.three_way_merge import merge_record
from nuggets.operations.notes_and_links import add_link

Json = dict[str, Any]
CONFLICT = "conflict"  # the tag of versions that are kept
WORDS = ("title", "content")  # of which no version may be lost
_SUFFIX = " (other version)"
_KEPT = (
    *("nuggetName", "content", "subject", "scope", "type", "source", "confidence", "stability"),
    *("project", "validFrom", "validUntil"),
)


def other_version(shape: Json) -> Json:
    """A note of its own for a version that does not hold, in documented JSON."""
    from hashlib import blake2b

    said = "\0".join((shape["id"], shape["title"], shape["content"]))
    digest = blake2b(said.encode(errors="replace"), digest_size=4).hexdigest()
    title = shape["title"].removesuffix(_SUFFIX)[: NAME_CHARACTERS - len(_SUFFIX)]
    nugget = shape["nuggetName"]
    tags = (*own_tags(shape["tags"], nugget)[: TAGS - 1], CONFLICT)
    return {
        **{field: shape[field] for field in _KEPT if field in shape},
        "id": f"note-{nugget}-{digest}",
        "kind": "note",
        "title": f"{title}{_SUFFIX}",
        "tags": list(normal_tags(tags, nugget, shape["scope"], shape["type"])),
        "hidden": False,
        **dict.fromkeys(("createdAt", "updatedAt"), shape["updatedAt"]),
    }


def keep_beside(
    old: MemoryNote, written: MemoryNote, current: MemoryNote, notes: Notes
) -> dict[str, MemoryNote]:
    """The notes to write, by id, if an edit (`written`) of what its author saw (`old`) replaces
    other words of someone else (`current`)."""
    words = ({field: getattr(note, field) for field in WORDS} for note in (old, written, current))
    shape = other_version(note_to_json(current, vector=False))
    if not merge_record(*words).conflicts or shape["id"] in notes:
        return {}
    recalls: Json = {"hits": 0, "lastHitSession": "", "hitSessions": [], "links": []}
    copy = note_from_json({**shape, **recalls, "lastAccessedAt": shape["updatedAt"]})
    linked = add_link(written, copy, CONTRADICTS, shape["updatedAt"])
    return {note.id: note for note in linked or (written, copy)}
