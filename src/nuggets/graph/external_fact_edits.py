"""What an edit of a nugget's file changes: facts that were added, changed or removed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nuggets.domain.fact_identity import FactIdentity, identity, identity_of
from nuggets.domain.limits import check_config
from nuggets.domain.nugget_names import checked_nugget_name
from nuggets.domain.records import (
    Changes,
    ExternalEdit,
    GraphNoteMetaInput,
    MemoryNote,
    NuggetConfig,
)
from nuggets.domain.state import MemoryState, State
from nuggets.errors import InvalidInput
from nuggets.graph.links import without_links_to
from nuggets.graph.notes import archive_note, edit_note, new_note, note_id, restore_note
from nuggets.language.text import fold_case

Json = dict[str, Any]


def import_fact_edits(
    draw: Callable[[], str],
    state: State,
    base: State | None,
    edit: ExternalEdit,
    config_in_file: NuggetConfig,
    now: str,
) -> Changes:
    """What its author changed in the file of the nugget that is `given` there."""
    fold = fold_case(config_in_file.name)
    current_config = state.nuggets.get(fold)
    config = _merge_config(current_config, base.nuggets.get(fold) if base else None, config_in_file)
    current_facts, archive = _facts(state, fold)
    seen, _ = _facts(base or MemoryState(), fold)
    entries = _pair_entries(fold, edit.facts, seen)
    put: dict[str, MemoryNote] = {}
    for key, fact in entries:
        current = current_facts.get(key) or archive.get(key)
        note = _import_fact(config.name, current, seen.get(key), fact, now)
        if note is not None:
            if not note.id:
                note = note._replace(id=_new_id(config.name, state, put, draw))
            put[note.id] = current_facts[key] = note
    listed = {key for key, _ in entries}
    gone = {
        current_facts[key].id: current_facts[key]
        for key, old in seen.items()
        if key not in listed
        and key in current_facts
        and is_unchanged_since(current_facts[key], old)
    }
    if base is not None and not base.notes and fold not in base.nuggets:
        # Files that were never ours: a fact's note without its fact is put away, not dropped.
        orphans = {
            n.id: n for key, n in current_facts.items() if key not in listed and n.id not in put
        }
        put.update((i, archive_note(note, now)) for i, note in orphans.items())
    if not edit.revision:
        put.update((i, archive_note(note, now)) for i, note in gone.items())
        gone = {}
    linking = {note.id: note for note in state.notes.linking_to(gone)} if gone else {}
    left = {**linking, **put}.values() if gone else ()
    put.update((note.id, note) for note in without_links_to(left, gone) if note.id not in gone)
    return Changes(
        put=tuple(put.values()),
        drop=tuple(gone),
        put_nuggets=() if current_config == config else (config,),
    )


def _merge_config(
    known: NuggetConfig | None, old: NuggetConfig | None, given: NuggetConfig
) -> NuggetConfig:
    """What the file says, as far as its author changed it; the spelling of a known name stays."""
    check_config(given._asdict())
    if known is None:
        return given._replace(name=checked_nugget_name(given.name))
    if old is None:
        return given._replace(name=known.name)
    changed = {
        field: value
        for field, value in given._asdict().items()
        if field != "name" and value != getattr(old, field)
    }
    return known._replace(**changed)


def _import_fact(
    nugget: str, current: MemoryNote | None, old: MemoryNote | None, fact: Json, now: str
) -> MemoryNote | None:
    value, hits = fact["value"], fact.get("hits", 0)
    untouched = old is not None and old.content == value
    if current is None or (current.hidden and untouched):
        if untouched:
            return None  # forgotten or archived by us since its author read it
        note = _new_fact(nugget, fact["key"], value, fact.get("project", ""), now)
    else:
        note = current if untouched else edit_note(current, now=now, content=value)
        note = restore_note(note, now)
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


def _pair_entries(
    nugget: str, entries: Sequence[Json], seen: Mapping[FactIdentity, MemoryNote]
) -> list[tuple[FactIdentity, Json]]:
    """Each entry of the file with the fact that it is about, of those that its author saw.

    A program that does not know projects drops them. Its entries of one key are paired by value
    first, then in their order, so that no project's fact gets another one's value.
    """
    identities: list[FactIdentity | None] = [
        identity(nugget, entry["key"], entry["project"]) if "project" in entry else None
        for entry in entries
    ]
    unpaired: dict[str, list[FactIdentity]] = {}
    for fact in seen.keys() - set(identities) if None in identities else ():
        unpaired.setdefault(fact.key, []).append(fact)
    places = {fact: place for place, fact in enumerate(seen)}
    for by_value in (True, False):
        for place, entry in enumerate(entries):
            if identities[place] is None:
                candidates = [
                    fact
                    for fact in unpaired.get(fold_case(entry["key"]), ())
                    if not by_value or seen[fact].content == entry["value"]
                ]
                if candidates:
                    identities[place] = fact = min(candidates, key=places.__getitem__)
                    unpaired[fact.key].remove(fact)
    return [
        (identity(nugget, entry["key"], "") if fact_identity is None else fact_identity, entry)
        for fact_identity, entry in zip(identities, entries, strict=True)
    ]


def _facts(
    state: State, nugget: str
) -> tuple[dict[FactIdentity, MemoryNote], dict[FactIdentity, MemoryNote]]:
    """The visible facts of a nugget, and the archived ones."""
    by_identity: tuple[dict[FactIdentity, MemoryNote], dict[FactIdentity, MemoryNote]] = {}, {}
    for note in state.notes.find(nugget=nugget, kind="fact"):
        by_identity[note.hidden][identity_of(note)] = note
    return by_identity


def is_unchanged_since(note: MemoryNote | None, old: MemoryNote) -> bool:
    """Is it still what the author of the edit saw? What someone wrote since then stays."""
    return note is not None and note.updated_at == old.updated_at
