"""What it means when someone else edited a documented file: changes, like any others.

An author saw the file as it was (`base`) and changed a part of it. Only that part is taken in, so
what we wrote meanwhile stays. What the author took out is dropped; the journal can bring it back.
"""

from collections.abc import Callable, Iterable
from typing import Any

from nuggets.codec import note_from_json, note_to_json
from nuggets.errors import InvalidInput, StoreCorrupt
from nuggets.graph.links import repaired, without_links_to
from nuggets.graph.metadata import checked, normal_tags
from nuggets.graph.naming import checked_name
from nuggets.graph.notes import archived, edited, new_note, note_id
from nuggets.records import (
    Changes,
    GraphNoteMetaInput,
    MemoryNote,
    NuggetConfig,
    OutsideEdit,
)
from nuggets.state import State
from nuggets.text import folded

Json = dict[str, Any]
_META_FIELDS = ("subject", "scope", "type", "source", "confidence", "stability", "project")
_WORDS = ("title", "content", "tags", *_META_FIELDS)  # a change of these is a newer version
_OURS = ("vector",)  # grows from the note: what the file says of it is a picture of a picture


def adopted(
    draw: Callable[[], str], state: State, base: State, edit: OutsideEdit, now: str
) -> Changes:
    """The changes that take one edited file in."""
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


def _graph_edit(state: State, base: State, edit: OutsideEdit, now: str) -> Changes:
    there = {shape["id"]: shape for shape in edit.notes}
    gone = [i for i in base.notes if i not in there and i in state.notes]
    put: dict[str, MemoryNote] = {}
    for known, shape in there.items():
        note = _taken_in(state.notes.get(known), base.notes.get(known), shape, now)
        if note is not None:
            put[known] = note
    keys = _fact_keys(state.notes[i] for i in state.notes if i not in put and i not in gone)
    for note in put.values():
        key = (folded(note.nugget_name), folded(note.title))
        if note.kind == "fact" and not note.hidden:
            if key in keys:  # two facts cannot answer to one key
                put[note.id] = archived(note, now)
            keys.add(key)
    after = {**state.notes, **put}
    for dropped in gone:
        del after[dropped]
    put.update((note.id, note) for note in repaired(after))
    names = {folded(note.nugget_name): note.nugget_name for note in put.values()}
    return Changes(
        put=tuple(put.values()),
        drop=tuple(gone),
        put_nuggets=tuple(
            NuggetConfig(checked_name(name))
            for fold, name in names.items()
            if fold not in state.nuggets
        ),
    )


def _taken_in(
    current: MemoryNote | None, old: MemoryNote | None, shape: Json, now: str
) -> MemoryNote | None:
    """The note with what its author changed; None if that is nothing."""
    before = note_to_json(old) if old else {}
    changed = {
        field: value
        for field, value in shape.items()
        if field not in _OURS and (field not in before or before[field] != value)
    }
    if old is not None and not changed:
        return None
    if current is None and old is None:
        return _completed(shape, now)
    merged = {**note_to_json(current or old), **changed}  # type: ignore[arg-type]
    if "updatedAt" not in changed and any(field in changed for field in _WORDS):
        merged["updatedAt"] = now
    return _sound(note_from_json(merged))


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
        tags=normal_tags(note.tags, note.nugget_name, note.scope, note.type),
        confidence=note.confidence if given.confidence is None else given.confidence,
        source_key=note.title if note.kind == "fact" else note.source_key,
        hit_sessions=sessions,
        archived_at=note.archived_at if note.hidden else None,
    )


# --- a nugget's file --------------------------------------------------------------------------


def _nugget_edit(
    draw: Callable[[], str], state: State, base: State, edit: OutsideEdit, now: str
) -> Changes:
    assert edit.nugget is not None
    config = edit.nugget._replace(name=checked_name(edit.nugget.name))
    fold = folded(config.name)
    known = state.nuggets.get(fold)
    if known is not None:
        config = config._replace(name=known.name)
    ours, theirs = _facts(state, fold), _facts(base, fold)
    put: dict[str, MemoryNote] = {}
    taken = set(state.notes)
    for fact in edit.facts:
        key = folded(fact["key"])
        note = _fact_taken_in(config.name, ours.get(key), theirs.get(key), fact, now)
        if note is not None and not note.id:
            note = note._replace(id=note_id("fact", config.name, taken, draw))
            taken.add(note.id)
        if note is not None:
            put[note.id] = note
            ours[key] = note
    listed = {folded(fact["key"]) for fact in edit.facts}
    gone = tuple(note.id for key, note in theirs.items() if key not in listed and key in ours)
    if base is not state and not base.notes:
        # Files that were never ours: a fact's note without its fact is put away, not dropped.
        orphans = (note for key, note in ours.items() if key not in listed and key not in theirs)
        put.update((note.id, archived(note, now)) for note in orphans)
    for note in without_links_to({**state.notes, **put}.values(), set(gone)):
        put[note.id] = note
    for dropped in gone:
        put.pop(dropped, None)
    return Changes(
        put=tuple(put.values()),
        drop=gone,
        put_nuggets=() if known == config else (config,),
    )


def _fact_taken_in(
    nugget: str, current: MemoryNote | None, old: MemoryNote | None, fact: Json, now: str
) -> MemoryNote | None:
    value, hits = fact["value"], fact.get("hits", 0)
    if current is None:
        if old is not None and old.content == value:
            return None  # forgotten by us since its author read it
        if not fact["key"].strip() or not value.strip():
            raise InvalidInput("a fact needs a key and a value")
        note = new_note(
            nugget=nugget,
            kind="fact",
            title=fact["key"],
            content=value,
            tags=(),
            given=GraphNoteMetaInput(),
            now=now,
            note_id="",
            project="",
        )
    else:
        untouched = old is not None and old.content == value
        note = current if untouched else edited(current, now=now, content=value)
    session = str(fact.get("last_hit_session", ""))
    if hits > note.hits:
        sessions = (*note.hit_sessions, session) if session else note.hit_sessions
        note = note._replace(
            hits=hits, last_hit_session=session, hit_sessions=tuple(dict.fromkeys(sessions))
        )
    unknown = {k: v for k, v in fact.items() if k not in _FACT_FIELDS}
    if unknown and note.extra.get("fact") != unknown:
        note = note._replace(extra={**note.extra, "fact": unknown})
    return None if note is current else note


_FACT_FIELDS = ("key", "value", "hits", "last_hit_session")


def _facts(state: State, nugget: str) -> dict[str, MemoryNote]:
    return {
        folded(note.title): note
        for note in state.notes.values()
        if note.kind == "fact" and not note.hidden and folded(note.nugget_name) == nugget
    }


def _fact_keys(notes: Iterable[MemoryNote]) -> set[tuple[str, str]]:
    return {
        (folded(note.nugget_name), folded(note.title))
        for note in notes
        if note.kind == "fact" and not note.hidden
    }
