"""Two memories become one: nothing is lost, and of two versions of a memory the later one counts.

Whatever people did to a memory on either side tells which version is meant: when it was changed,
archived, brought back or taken back last, and for one that is gone here, when it went. So uniting
twice is uniting once. What a clean-up did counts as nobody's doing: each side has its own.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from nuggets.graph.external_fact_edits import fact_name
from nuggets.graph.external_note_edits import Names, archive_second_keys
from nuggets.graph.limits import check_config
from nuggets.graph.links import repaired
from nuggets.graph.naming import checked_name
from nuggets.records import (
    NO_EXTRA,
    Changes,
    Intake,
    MemoryNote,
    NoteLink,
    NuggetConfig,
)
from nuggets.refusals import Refusal, of
from nuggets.state import SESSIONS_KEPT, State
from nuggets.text import folded

_SAID = (  # by a memory; all of it comes from one side
    *("title", "content", "tags", "subject", "scope", "type", "source", "confidence", "stability"),
    *("hidden", "source_key", "extra"),
)
_VERSION = (*_SAID, "archived_at", "last_rewritten_at")

Moments = Mapping[str, str]  # when something was last done about an id


class Past(NamedTuple):
    """What a history tells of notes, besides their own times."""

    changed: Moments = NO_EXTRA  # by people
    gone: Mapping[Any, str] = NO_EXTRA  # ids, and names of facts
    brought: Mapping[str, MemoryNote] = NO_EXTRA  # as they last came in from elsewhere


NO_PAST = Past()


class Other(NamedTuple):
    """Another memory."""

    notes: tuple[MemoryNote, ...]
    nuggets: tuple[NuggetConfig, ...] = ()
    past: Past = NO_PAST


def united(state: State, other: Other, past: Past, now: str) -> tuple[Changes, Intake]:
    """The changes that take another memory in; `past`: of what is here."""
    known_there = {folded(config.name): config for config in other.nuggets}
    names = Names(state, known_there.values())
    homes = _homes(state, other.notes)
    arrived = [
        names.settled(note)._replace(project=homes.get(note.project, note.project))
        for note in other.notes
    ]
    known = _Known(state, {note.id for note in arrived})
    here = {note.id: found.id for note in arrived if (found := known.by_any_name(note))}
    theirs = {note.id: _moment(note, other.past.changed) for note in arrived}
    theirs.update((n.id, "") for n in arrived if _was_heard(n, past.brought))
    missing = (note for note in arrived if note.id not in here)
    left_out = {n.id for n in missing if _went(n, past) and _went(n, past) >= theirs[n.id]}
    refused = of(state)
    put: dict[str, MemoryNote] = {}
    added, updated, older = [], [], 0
    for note in arrived:
        if note.id in left_out:
            continue
        ours = put.get(here.get(note.id, note.id)) or state.notes.get(here.get(note.id, ""))
        if ours is None:
            after = note._replace(links=())
            added.append(note.id)
        else:
            after = _with_recalls(ours, note)
            if _says_else(ours, note) and theirs[note.id] > _moment(ours, past.changed):
                version = {field: getattr(note, field) for field in _VERSION}
                home, at = _home(ours, note), theirs[note.id]
                after = after._replace(**version, project=home, updated_at=at)
                updated.append(after.id)
            else:
                older += _says_else(ours, note)
        put[after.id] = after._replace(
            links=(*after.links, *_welcome(note.links, after.id, here, refused))
        )
    archive_second_keys(state, put, set(), now)
    whole = {**dict(state.notes.items()), **put}
    put.update((note.id, note) for note in repaired(whole))
    changed = tuple(note for note in put.values() if state.notes.get(note.id) != note)
    changes = Changes(put=changed, put_nuggets=_new_nuggets(state, changed, known_there))
    counted = len(added) + len(updated) + older + len(left_out)
    return changes, Intake(
        added=tuple(put[note_id] for note_id in added),
        updated=tuple(put[note_id] for note_id in dict.fromkeys(updated)),
        linked=sum(_gained_a_link(state, note) for note in changes.put),
        same=len(arrived) - counted,
        older=older,
        deleted=len(left_out),
    )


def _new_nuggets(
    state: State, notes: Iterable[MemoryNote], there: Mapping[str, NuggetConfig]
) -> tuple[NuggetConfig, ...]:
    """Those that notes came in for, made as they are there."""
    needed = dict.fromkeys(folded(note.nugget_name) for note in notes)
    names = {folded(note.nugget_name): note.nugget_name for note in notes}
    new = [fold for fold in needed if fold not in state.nuggets]
    made = tuple(there.get(fold, NuggetConfig(names[fold])) for fold in new)
    for config in made:
        check_config(config._asdict())
    return tuple(config._replace(name=checked_name(config.name)) for config in made)


def _homes(state: State, theirs: Iterable[MemoryNote]) -> dict[str, str]:
    """What their projects are called here: a repository may lie elsewhere on another machine, and
    all that is known on both sides says so."""
    found: dict[str, set[str]] = {}
    for note in theirs:
        ours = state.notes.get(note.id)
        if ours is not None and ours.project and note.project:
            found.setdefault(note.project, set()).add(ours.project)
    return {theirs: ours.pop() for theirs, ours in found.items() if len(ours) == 1}


def _moment(note: MemoryNote, changed: Moments) -> str:
    return max(note.updated_at, changed.get(note.id, ""))


def _went(note: MemoryNote, past: Past) -> str:
    """When it was taken away here; "" if it never was."""
    by_name = past.gone.get(_key(note), "") if note.kind == "fact" else ""
    return max(past.gone.get(note.id, ""), by_name)


def _gained_a_link(state: State, note: MemoryNote) -> bool:
    before = state.notes.get(note.id)
    return before is not None and bool(set(note.links) - set(before.links))


class _Known:
    """What is here, by all that another memory may know it by."""

    def __init__(self, state: State, arriving: Container[str]) -> None:
        """`arriving`: ids that are known on both sides, and so nothing else is meant by them."""
        self._notes = state.notes
        self._facts: dict[tuple[str, ...], MemoryNote] = {}
        self._texts: dict[tuple[str, ...], MemoryNote] = {}
        for note in state.notes.values():
            if note.id in arriving:
                continue
            if note.kind == "fact":
                same = self._facts.get(_key(note))
                if same is None or same.hidden:
                    self._facts[_key(note)] = note
            self._texts.setdefault(_text(note), note)

    def by_any_name(self, note: MemoryNote) -> MemoryNote | None:
        """By its id, its key if it is a fact, or else its very words."""
        same = self._notes.get(note.id)
        if same is None and note.kind == "fact":
            same = self._facts.get(_key(note))
        return same or self._texts.get(_text(note))


def _key(fact: MemoryNote) -> tuple[str, ...]:
    return (folded(fact.nugget_name), *fact_name(fact))


def _text(note: MemoryNote) -> tuple[str, ...]:
    return folded(note.nugget_name), note.kind, note.title, note.content, note.project


def _with_recalls(ours: MemoryNote, theirs: MemoryNote) -> MemoryNote:
    """Those of both, each session once; beyond the last ones it is a matter of numbers."""
    sessions = tuple(dict.fromkeys((*theirs.hit_sessions, *ours.hit_sessions)))
    if set(sessions) == set(ours.hit_sessions):
        sessions = ours.hit_sessions
    return ours._replace(
        hits=max(ours.hits, theirs.hits, len(sessions)),
        hit_sessions=sessions[-SESSIONS_KEPT:],
        last_hit_session=ours.last_hit_session or theirs.last_hit_session,
        last_accessed_at=max(ours.last_accessed_at, theirs.last_accessed_at),
    )


def _was_heard(note: MemoryNote, brought: Mapping[str, MemoryNote]) -> bool:
    """Does it say what it said when it last came in? Then that is no news, whatever its time."""
    before = brought.get(note.id)
    return before is not None and not _says_else(before, note)


def _says_else(ours: MemoryNote, theirs: MemoryNote) -> bool:
    return ours.project != _home(ours, theirs) or any(
        getattr(ours, field) != getattr(theirs, field) for field in _SAID
    )


def _home(ours: MemoryNote, theirs: MemoryNote) -> str:
    """Whether it is of a project may change there, but not which one that is here."""
    return ours.project if ours.project and theirs.project else theirs.project


def _welcome(
    links: Iterable[NoteLink], owner: str, here: Mapping[str, str], refused: Iterable[Refusal]
) -> Iterable[NoteLink]:
    """Their links, to what the other notes are called here, but for those people cut."""
    for link in links:
        to = here.get(link.to, link.to)
        if Refusal.between("link", owner, to) not in refused:
            yield link._replace(to=to)
