"""What an edit of a nugget's file means: facts that were added, changed or taken out of it."""

from collections.abc import Callable, Container, Mapping
from typing import Any

from nuggets.errors import InvalidInput
from nuggets.graph.limits import check_config
from nuggets.graph.links import without_links_to
from nuggets.graph.naming import checked_name
from nuggets.graph.notes import archived, edited, new_note, note_id, restored
from nuggets.records import Changes, GraphNoteMetaInput, MemoryNote, NuggetConfig, OutsideEdit
from nuggets.state import MemoryState, State
from nuggets.text import folded

Json = dict[str, Any]
Name = tuple[str, str]


def facts_taken_in(
    draw: Callable[[], str],
    state: State,
    base: State | None,
    edit: OutsideEdit,
    given: NuggetConfig,
    now: str,
) -> Changes:
    """What its author changed in the file of the nugget that is `given` there."""
    fold = folded(given.name)
    known = state.nuggets.get(fold)
    config = _config(known, base.nuggets.get(fold) if base else None, given)
    ours, archive = _facts(state, fold)
    theirs, _ = _facts(base or MemoryState(), fold)
    of_key = {name[0]: name for name in reversed(theirs)}
    named = [(_meant(fact, theirs, of_key), fact) for fact in edit.facts]
    put: dict[str, MemoryNote] = {}
    for key, fact in named:
        current = ours.get(key) or archive.get(key)
        note = _fact_taken_in(config.name, current, theirs.get(key), fact, now)
        if note is not None:
            if not note.id:
                note = note._replace(id=_new_id(config.name, state, put, draw))
            put[note.id] = ours[key] = note
    listed = {key for key, _ in named}
    gone = {
        ours[key].id: ours[key]
        for key, old in theirs.items()
        if key not in listed and key in ours and is_as_seen(ours[key], old)
    }
    if base is not None and not base.notes and fold not in base.nuggets:
        # Files that were never ours: a fact's note without its fact is put away, not dropped.
        orphans = {n.id: n for key, n in ours.items() if key not in listed and n.id not in put}
        put.update((i, archived(note, now)) for i, note in orphans.items())
    if not edit.revision:
        put.update((i, archived(note, now)) for i, note in gone.items())
        gone = {}
    linking = {note.id: note for note in state.notes.linking_to(gone)} if gone else {}
    left = {**linking, **put}.values() if gone else ()
    put.update((note.id, note) for note in without_links_to(left, gone) if note.id not in gone)
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
        session = str(fact.get("last_hit_session") or "")
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


def _new_id(
    nugget: str, state: State, put: Mapping[str, MemoryNote], draw: Callable[[], str]
) -> str:
    while True:
        drawn = note_id("fact", nugget, state.notes, draw)
        if drawn not in put:
            return drawn


def fact_name(note: MemoryNote) -> Name:
    """By which a fact is known: two projects may know different things by one key."""
    return folded(note.title), note.project


def _meant(fact: Json, known: Container[Name], of_key: Mapping[str, Name]) -> Name:
    """The fact that an entry of the file speaks of; one without a project, of any with its key."""
    name = folded(fact["key"]), fact.get("project", "")
    return name if name in known or "project" in fact else of_key.get(name[0], name)


def _facts(state: State, nugget: str) -> tuple[dict[Name, MemoryNote], dict[Name, MemoryNote]]:
    """The facts of a nugget that are in sight, and those that are archived."""
    found: tuple[dict[Name, MemoryNote], dict[Name, MemoryNote]] = {}, {}
    for note in state.notes.find(nugget=nugget, kind="fact"):
        found[note.hidden][fact_name(note)] = note
    return found


def is_as_seen(note: MemoryNote | None, old: MemoryNote) -> bool:
    """Is it still what the author of the edit saw? What someone wrote since then stays."""
    return note is not None and note.updated_at == old.updated_at
