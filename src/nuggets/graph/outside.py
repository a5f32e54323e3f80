"""What it means when someone else edited a documented file: changes, like any others.

An author saw the file as it was (`base`) and changed a part of it. Only that part is taken in, so
what we wrote meanwhile stays. What the author took out is dropped; the journal can bring it back.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nuggets.codec import note_from_json, note_to_json
from nuggets.errors import InvalidInput, StoreCorrupt
from nuggets.graph.limits import check_config
from nuggets.graph.links import DEFAULT_REASON, repaired, unlinked, without_links_to
from nuggets.graph.metadata import checked, normal_tags
from nuggets.graph.naming import checked_name
from nuggets.graph.notes import archived, edited, new_note, note_id, restored
from nuggets.records import (
    Changes,
    GraphNoteMetaInput,
    MemoryNote,
    NuggetConfig,
    OutsideEdit,
)
from nuggets.state import State
from nuggets.text import folded
from nuggets.times import normal

Json = dict[str, Any]
Name = tuple[str, str]
_META_FIELDS = ("subject", "scope", "type", "source", "confidence", "stability", "project")
_WORDS = ("title", "content", "tags", *_META_FIELDS)  # a change of these is a newer version
_OURS = ("vector",)  # grows from the note: what the file says of it is a picture of a picture


def adopted(
    draw: Callable[[], str], state: State, base: State | None, edit: OutsideEdit, now: str
) -> Changes:
    """The changes that take one edited file in.

    `base`: what its author saw; None for a file that never was ours, which can only add. A program
    that rewrote a file whole may not have seen all of it: what is missing there is archived.
    """
    try:
        taken = (
            _graph_edit(state, base, edit, now)
            if edit.nugget is None
            else _nugget_edit(draw, state, base, edit, now)
        )
    except InvalidInput as problem:
        where = "graph.json" if edit.nugget is None else f"{edit.nugget.name}.nugget.json"
        raise StoreCorrupt(
            f"{where} was edited and cannot be taken in: {problem}. Correct it there; nothing was "
            "changed"
        ) from problem
    return taken._replace(action="outside edit", client="file")


# --- the graph's file -------------------------------------------------------------------------


def _graph_edit(state: State, base: State | None, edit: OutsideEdit, now: str) -> Changes:
    there = {shape["id"]: shape for shape in edit.notes}
    seen = base.notes if base else {}
    gone = [i for i, old in seen.items() if i not in there and _is_as_seen(state.notes.get(i), old)]
    put: dict[str, MemoryNote] = {}
    if not edit.revision:
        put.update((i, archived(state.notes[i], now)) for i in gone if not state.notes[i].hidden)
        gone = []
    names = _Names(state)
    for known, shape in there.items():
        note = _taken_in(state.notes.get(known), seen.get(known), shape, now)
        if note is not None:
            put[known] = names.settled(note)
    _archive_second_keys(state, put, set(gone), now)
    after = {**state.notes, **put}
    for dropped in gone:
        del after[dropped]
    _cut_at_both_ends(seen, put, after)
    put.update((note.id, note) for note in repaired(after))
    return Changes(
        put=tuple(note for note in put.values() if state.notes.get(note.id) != note),
        drop=tuple(gone),
        put_nuggets=tuple(map(NuggetConfig, names.new)),
    )


def _is_as_seen(note: MemoryNote | None, old: MemoryNote) -> bool:
    """Is it still what the author of the edit saw? What someone wrote since then stays."""
    return note is not None and note.updated_at == old.updated_at


class _Names:
    """The one spelling of every nugget's name: that of its configuration, or the first one met."""

    def __init__(self, state: State) -> None:
        self._spelling = {fold: config.name for fold, config in state.nuggets.items()}
        self.new: list[str] = []

    def settled(self, note: MemoryNote) -> MemoryNote:
        fold = folded(note.nugget_name)
        if fold not in self._spelling:
            self._spelling[fold] = checked_name(note.nugget_name)
            self.new.append(self._spelling[fold])
        return note._replace(nugget_name=self._spelling[fold])


def _archive_second_keys(
    state: State, put: dict[str, MemoryNote], gone: set[str], now: str
) -> None:
    """Two facts cannot answer to one key."""
    others = (note for i, note in state.notes.items() if i not in put and i not in gone)
    keys = {_key(note) for note in others if note.kind == "fact" and not note.hidden}
    for note in list(put.values()):
        if note.kind == "fact" and not note.hidden:
            if _key(note) in keys:
                put[note.id] = archived(note, now)
            keys.add(_key(note))


def _key(note: MemoryNote) -> tuple[str, str, str]:
    return folded(note.nugget_name), *_name(note)


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
        return _completed(shape, now)
    if old is None and current is not None and shape.get("updatedAt", now) < current.updated_at:
        return None  # not seen by its author, and ours is the newer one
    before = note_to_json(old) if old else {}
    changed = {
        field: value
        for field, value in shape.items()
        if field not in _OURS and (field not in before or before[field] != value)
    }
    if old is not None and not changed:
        return None
    merged = {**note_to_json(current or old), **changed}  # type: ignore[arg-type]
    if "updatedAt" not in changed and any(field in changed for field in _WORDS):
        merged["updatedAt"] = now
    return _sound(note_from_json(merged))


def _whole_link(link: Json, now: str) -> Json:
    return {
        **link,
        "reason": link.get("reason") or DEFAULT_REASON,
        "createdAt": link.get("createdAt") or now,
    }


def _completed(shape: Json, now: str) -> MemoryNote:
    """A note that is new to us: what its author left out is inferred as for any new note."""
    known = {field: shape.pop(field) for field in list(shape) if field in _KNOWN}
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
    return _sound(note_from_json({**note_to_json(note), **rest, **shape}))


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
        tags=normal_tags(note.tags, note.nugget_name, note.scope, note.type),
        confidence=note.confidence if given.confidence is None else given.confidence,
        source_key=note.title if note.kind == "fact" else note.source_key,
        hit_sessions=sessions,
        archived_at=note.archived_at if note.hidden else None,
    )


# --- a nugget's file --------------------------------------------------------------------------


def _nugget_edit(
    draw: Callable[[], str], state: State, base: State | None, edit: OutsideEdit, now: str
) -> Changes:
    assert edit.nugget is not None
    fold = folded(edit.nugget.name)
    known = state.nuggets.get(fold)
    config = _config(known, base.nuggets.get(fold) if base else None, edit.nugget)
    ours, theirs = _facts(state, fold), _facts(base or State(), fold)
    archive = {_name(note): note for note in _facts_of(state, fold) if note.hidden}
    named = [(_meant(fact, theirs), fact) for fact in edit.facts]
    taken = set(state.notes)
    put: dict[str, MemoryNote] = {}
    for key, fact in named:
        current = ours.get(key) or archive.get(key)
        note = _fact_taken_in(config.name, current, theirs.get(key), fact, now)
        if note is not None:
            if not note.id:
                note = note._replace(id=note_id("fact", config.name, taken, draw))
                taken.add(note.id)
            put[note.id] = ours[key] = note
    listed = {key for key, _ in named}
    gone = {
        ours[key].id: ours[key]
        for key, old in theirs.items()
        if key not in listed and key in ours and _is_as_seen(ours[key], old)
    }
    if base is not None and not base.notes and fold not in base.nuggets:
        # Files that were never ours: a fact's note without its fact is put away, not dropped.
        orphans = {n.id: n for key, n in ours.items() if key not in listed and n.id not in put}
        put.update((i, archived(note, now)) for i, note in orphans.items())
    if not edit.revision:
        put.update((i, archived(note, now)) for i, note in gone.items())
        gone = {}
    for note in without_links_to({**state.notes, **put}.values(), gone):
        if note.id not in gone:
            put[note.id] = note
    return Changes(
        put=tuple(put.values()),
        drop=tuple(gone),
        put_nuggets=() if known == config else (config,),
    )


def _config(
    known: NuggetConfig | None, old: NuggetConfig | None, given: NuggetConfig
) -> NuggetConfig:
    """What the file says, as far as its author changed it; the spelling of a known name stays."""
    check_config(given._asdict())
    if known is None:
        return given._replace(name=checked_name(given.name))
    if old is None:
        return given._replace(name=known.name)
    changed = {
        field: value
        for field, value in given._asdict().items()
        if field != "name" and value != getattr(old, field)
    }
    return known._replace(**changed)


def _fact_taken_in(
    nugget: str, current: MemoryNote | None, old: MemoryNote | None, fact: Json, now: str
) -> MemoryNote | None:
    value, hits = fact["value"], fact.get("hits", 0)
    untouched = old is not None and old.content == value
    if current is None or (current.hidden and untouched):
        if untouched:
            return None  # forgotten or archived by us since its author read it
        note = _new_fact(nugget, fact["key"], value, fact.get("project", ""), now)
    else:
        note = current if untouched else edited(current, now=now, content=value)
        note = restored(note, now)
    counted = old.hits if old is not None else note.hits
    if hits > counted or (old is not None and hits < counted):
        session = str(fact.get("last_hit_session", ""))
        sessions = (*note.hit_sessions, session) if session else note.hit_sessions
        note = note._replace(
            hits=hits, last_hit_session=session, hit_sessions=tuple(dict.fromkeys(sessions))
        )
    unknown = {k: v for k, v in fact.items() if k not in _FACT_FIELDS}
    if unknown and note.extra.get("fact") != unknown:
        note = note._replace(extra={**note.extra, "fact": unknown})
    return None if note is current else note


_FACT_FIELDS = ("key", "value", "hits", "last_hit_session", "project")


def _new_fact(nugget: str, key: str, value: str, project: str, now: str) -> MemoryNote:
    if not key.strip() or not value.strip():
        raise InvalidInput("a fact needs a key and a value")
    return new_note(
        nugget=nugget,
        kind="fact",
        title=key,
        content=value,
        tags=(),
        given=GraphNoteMetaInput(project=project),
        now=now,
        note_id="",
        project="",
    )


def _name(note: MemoryNote) -> Name:
    """By which a fact is known: two projects may know different things by one key."""
    return folded(note.title), note.project


def _meant(fact: Json, known: Mapping[Name, MemoryNote]) -> Name:
    """The fact that an entry of the file speaks of; one without a project, of any with its key."""
    name = folded(fact["key"]), fact.get("project", "")
    if name in known or "project" in fact:
        return name
    return next((other for other in known if other[0] == name[0]), name)


def _facts(state: State, nugget: str) -> dict[Name, MemoryNote]:
    return {_name(note): note for note in _facts_of(state, nugget) if not note.hidden}


def _facts_of(state: State, nugget: str) -> Iterable[MemoryNote]:
    return (
        note
        for note in state.notes.values()
        if note.kind == "fact" and folded(note.nugget_name) == nugget
    )
