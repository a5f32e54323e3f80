"""What an edit of the graph's file means: notes whose fields, links or places were changed."""

from collections.abc import Iterable, Mapping
from typing import Any

from nuggets.codec import note_from_json, note_to_json
from nuggets.graph.external_fact_edits import fact_name, is_as_seen
from nuggets.graph.links import DEFAULT_REASON, repaired, unlinked
from nuggets.graph.metadata import checked, normal_tags
from nuggets.graph.naming import checked_name
from nuggets.graph.notes import archived, new_note
from nuggets.records import Changes, GraphNoteMetaInput, MemoryNote, NuggetConfig, OutsideEdit
from nuggets.state import State
from nuggets.text import folded
from nuggets.times import moment_after, normal

Json = dict[str, Any]
_META_FIELDS = ("subject", "scope", "type", "source", "confidence", "stability", "project")
_WORDS = ("title", "content", "tags", *_META_FIELDS)  # a change of these is a newer version
_OURS = ("vector",)  # grows from the note: what the file says of it is derived from it
_RECALLS = ("hits", "lastHitSession", "hitSessions")  # change together


def notes_taken_in(state: State, base: State | None, edit: OutsideEdit, now: str) -> Changes:
    """What its author changed in the graph's file."""
    there = {shape["id"]: shape for shape in edit.notes}
    seen = base.notes if base else {}
    gone = [i for i, old in seen.items() if i not in there and is_as_seen(state.notes.get(i), old)]
    put: dict[str, MemoryNote] = {}
    if not edit.revision:
        put.update((i, archived(state.notes[i], now)) for i in gone if not state.notes[i].hidden)
        gone = []
    names = Names(state)
    for known, shape in there.items():
        note = _taken_in(state.notes.get(known), seen.get(known), shape, now)
        if note is not None:
            put[known] = names.settled(note)
    archive_second_keys(state, put, set(gone), now)
    after = {**dict(state.notes.items()), **put}
    for dropped in gone:
        del after[dropped]
    _cut_at_both_ends(seen, put, after)
    put.update((note.id, note) for note in repaired(after))
    return Changes(
        put=tuple(note for note in put.values() if state.notes.get(note.id) != note),
        drop=tuple(gone),
        put_nuggets=tuple(map(NuggetConfig, names.new)),
    )


class Names:
    """The one spelling of every nugget's name: that of its configuration, or the first one met."""

    def __init__(self, state: State, more: Iterable[NuggetConfig] = ()) -> None:
        known = (*more, *state.nuggets.values())
        self._spelling = {folded(config.name): config.name for config in known}
        self.new: list[str] = []

    def settled(self, note: MemoryNote) -> MemoryNote:
        fold = folded(note.nugget_name)
        if fold not in self._spelling:
            self._spelling[fold] = checked_name(note.nugget_name)
            self.new.append(self._spelling[fold])
        return note._replace(nugget_name=self._spelling[fold])


def archive_second_keys(state: State, put: dict[str, MemoryNote], gone: set[str], now: str) -> None:
    """Two facts cannot answer to one key."""
    others = (note for i, note in state.notes.items() if i not in put and i not in gone)
    keys = {_key(note) for note in others if note.kind == "fact" and not note.hidden}
    for note in list(put.values()):
        if note.kind == "fact" and not note.hidden:
            if _key(note) in keys:
                put[note.id] = archived(note, now)
            keys.add(_key(note))


def _key(note: MemoryNote) -> tuple[str, str, str]:
    return folded(note.nugget_name), *fact_name(note)


def _cut_at_both_ends(
    seen: Mapping[str, MemoryNote], put: dict[str, MemoryNote], after: dict[str, MemoryNote]
) -> None:
    """A link that the author took out at one end is meant to go, not to be completed again."""
    for note in list(put.values()):
        old = seen.get(note.id)
        left = {(link.to, folded(link.reason)) for link in note.links}
        for link in old.links if old else ():
            other = after.get(link.to)
            if other is not None and (link.to, folded(link.reason)) not in left:
                cut = unlinked(note, other, link.reason)
                if cut is not None:
                    put[other.id] = after[other.id] = cut[1]


def _taken_in(
    current: MemoryNote | None, old: MemoryNote | None, shape: Json, now: str
) -> MemoryNote | None:
    """The note with what its author changed; None if that is nothing."""
    shape = {**shape, "links": [_whole_link(link, now) for link in shape.get("links", ())]}
    if current is None and old is None:
        return completed(shape, now)
    if old is None and current is not None and shape.get("updatedAt", now) < current.updated_at:
        return None  # not seen by its author, and ours is the newer one
    before = note_to_json(old, vector=False) if old else {}
    changed = {
        field: value
        for field, value in shape.items()
        if field not in (*_OURS, "lastAccessedAt")  # every look moves that, and none is a commit
        and (field not in before or before[field] != value)
    }
    if "hits" not in changed:
        changed = {field: value for field, value in changed.items() if field not in _RECALLS}
    if old is not None and not changed:
        return None
    merged = {**note_to_json(current or old, vector=False), **changed}  # type: ignore[arg-type]
    if "updatedAt" not in changed and any(field in changed for field in _WORDS):
        merged["updatedAt"] = moment_after(merged["updatedAt"], now)
    return _sound(note_from_json(merged))


def _whole_link(link: Json, now: str) -> Json:
    return {
        **link,
        "reason": link.get("reason") or DEFAULT_REASON,
        "createdAt": link.get("createdAt") or now,
    }


def completed(shape: Json, now: str) -> MemoryNote:
    """A note that is new to us: what its author left out is inferred as for any new note."""
    known = {field: value for field, value in shape.items() if field in _KNOWN}
    unknown = {field: value for field, value in shape.items() if field not in _KNOWN}
    note = new_note(
        nugget=checked_name(known["nuggetName"]),
        kind=known.get("kind", "note"),
        title=known["title"],
        content=known["content"] or known["title"],
        tags=known.get("tags", ()),
        given=GraphNoteMetaInput(**{name: known.get(name) for name in _META_FIELDS}),
        now=now,
        note_id=known["id"],
        project=known.get("project", ""),
        created_at=known.get("createdAt"),
    )
    rest = {field: value for field, value in known.items() if field not in _GIVEN}
    return _sound(note_from_json({**note_to_json(note), **rest, **unknown}))


_GIVEN = ("id", "nuggetName", "kind", "title", "tags", *_META_FIELDS, *_OURS, "createdAt")
_KNOWN = (
    *_GIVEN,
    *("content", "links", "hidden", "sourceKey", "hits", "lastHitSession", "hitSessions"),
    *("updatedAt", "lastAccessedAt", "lastRewrittenAt", "archivedAt", "lastInspectedAt"),
)


def _sound(note: MemoryNote) -> MemoryNote:
    """Field by field it was right; now also as a whole."""
    checked_name(note.nugget_name)
    given = checked(GraphNoteMetaInput(confidence=note.confidence))
    sessions = note.hit_sessions
    if not sessions and note.last_hit_session:
        sessions = (note.last_hit_session,)
    return note._replace(
        created_at=normal(note.created_at),
        updated_at=normal(note.updated_at),
        last_accessed_at=normal(note.last_accessed_at),
        last_rewritten_at=_normal(note.last_rewritten_at),
        archived_at=_normal(note.archived_at) if note.hidden else None,
        last_inspected_at=_normal(note.last_inspected_at),
        tags=normal_tags(note.tags, note.nugget_name, note.scope, note.type),
        confidence=note.confidence if given.confidence is None else given.confidence,
        source_key=note.title if note.kind == "fact" else note.source_key,
        hit_sessions=sessions,
    )


def _normal(moment: str | None) -> str | None:
    return normal(moment) if moment else None
