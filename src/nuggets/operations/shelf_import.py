"""Merges another shelf into this one: no note is lost, and of two versions the later one wins.

The later version is the one that a person changed, archived, restored or undid last; a deletion
here counts at the time when it was made. Merging the same shelf twice changes nothing the second
time. Changes of the clean-up do not count, because each shelf has a clean-up of its own.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any

from nuggets.domain.marks import RejectedChange, read_rejected
from nuggets.domain.names_and_tags import identity_of
from nuggets.domain.records import (
    NO_EXTRA,
    Changes,
    Intake,
    MemoryNote,
    NoteLink,
    NuggetConfig,
)
from nuggets.domain.state import SESSIONS_KEPT, State
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.operations.external_edits import NuggetSpellings, archive_second_keys
from nuggets.operations.lookups_before_write import anchor_edit, find_no_anchors
from nuggets.operations.notes_and_links import repair_links

_STATEMENT = (  # fields that say what a memory states; all are taken from one side
    *("title", "content", "tags", "subject", "scope", "type", "source", "confidence", "stability"),
    *("hidden", "source_key", "extra", "valid_from", "valid_until", "supersedes"),
    "stability_given",
)
_VERSION = (*_STATEMENT, "archived_at", "last_rewritten_at", "anchors")

Notes = Mapping[str, MemoryNote]  # by id
Moments = Mapping[str, str]  # when something was last done about an id


class ShelfPast(NamedTuple):
    """What the history of a shelf adds to the times in its notes."""

    changed: Moments = NO_EXTRA  # by people
    gone: Mapping[Any, str] = NO_EXTRA  # ids, and names of facts
    brought: Mapping[str, MemoryNote] = NO_EXTRA  # as they last came in from elsewhere


NO_PAST = ShelfPast()


class OtherShelf(NamedTuple):
    """Another memory."""

    notes: tuple[MemoryNote, ...]
    nuggets: tuple[NuggetConfig, ...] = ()
    past: ShelfPast = NO_PAST


def merge_shelves(
    state: State, other: OtherShelf, past: ShelfPast, now: str
) -> tuple[Changes, Intake]:
    """The changes that merge another shelf into the state; `past`: of this shelf."""
    here = dict(state.notes.items())  # at once: each of them is asked for several times
    their_nuggets = {fold_case(config.name): config for config in other.nuggets}
    names = NuggetSpellings(state, their_nuggets.values())
    homes = _matching_projects(here, other.notes)
    arrived = [
        names.apply(note)._replace(project=homes.get(note.project, note.project))
        for note in other.notes
    ]
    local = _LocalNotes(here, {note.id for note in arrived})
    local_ids = {note.id: match.id for note in arrived if (match := local.find_match(note))}
    changed_at = {note.id: _last_change(note, other.past.changed) for note in arrived}
    changed_at.update((n.id, "") for n in arrived if _is_as_imported(n, past.brought))
    missing = (note for note in arrived if note.id not in local_ids)
    left_out = {
        n.id
        for n in missing
        if _deletion_time(n, past) and _deletion_time(n, past) >= changed_at[n.id]
    }
    refused = read_rejected(state)
    put: dict[str, MemoryNote] = {}
    added, updated, older = [], [], 0
    for note in arrived:
        if note.id in left_out:
            continue
        ours = put.get(local_ids.get(note.id, note.id)) or here.get(local_ids.get(note.id, ""))
        if ours is None:
            after = note._replace(links=())
            added.append(note.id)
        else:
            after = _merge_recalls(ours, note)
            if _differs(ours, note) and changed_at[note.id] > _last_change(ours, past.changed):
                version = {field: getattr(note, field) for field in _VERSION}
                home, at = _merged_project(ours, note), changed_at[note.id]
                after = after._replace(**version, project=home, updated_at=at)
                if note.anchors == ours.anchors:  # maybe of the text that was edited there
                    after = anchor_edit(find_no_anchors, state, ours, after)
                updated.append(after.id)
            else:
                older += _differs(ours, note)
        put[after.id] = after._replace(
            links=(*after.links, *_accepted_links(note.links, after.id, local_ids, refused))
        )
    archive_second_keys(here, put, now)
    whole = {**here, **put}
    put.update((note.id, note) for note in repair_links(whole))
    changed = tuple(note for note in put.values() if here.get(note.id) != note)
    changes = Changes(put=changed, put_nuggets=_new_nuggets(state, changed, their_nuggets))
    counted = len(added) + len(updated) + older + len(left_out)
    return changes, Intake(
        added=tuple(put[note_id] for note_id in added),
        updated=tuple(put[note_id] for note_id in dict.fromkeys(updated)),
        linked=sum(_gained_a_link(here, note) for note in changes.put),
        same=len(arrived) - counted,
        older=older,
        deleted=len(left_out),
    )


def _new_nuggets(
    state: State, notes: Iterable[MemoryNote], their_nuggets: Mapping[str, NuggetConfig]
) -> tuple[NuggetConfig, ...]:
    """Nuggets that imported notes need, with the options that the other shelf gave them."""
    names = {fold_case(note.nugget_name): note.nugget_name for note in notes}
    return tuple(
        their_nuggets.get(fold, NuggetConfig(name))
        for fold, name in names.items()
        if fold not in state.nuggets
    )


def _matching_projects(here: Notes, theirs: Iterable[MemoryNote]) -> dict[str, str]:
    """What their projects are called here: a repository may lie elsewhere on another machine, and
    all that is known on both sides says so."""
    matches: dict[str, set[str]] = {}
    for note in theirs:
        ours = here.get(note.id)
        if ours is not None and ours.project and note.project:
            matches.setdefault(note.project, set()).add(ours.project)
    return {theirs: ours.pop() for theirs, ours in matches.items() if len(ours) == 1}


def _last_change(note: MemoryNote, changed: Moments) -> str:
    return max(note.updated_at, changed.get(note.id, ""))


def _deletion_time(note: MemoryNote, past: ShelfPast) -> str:
    """When it was taken away here; "" if it never was."""
    by_name = past.gone.get(identity_of(note), "") if note.kind == "fact" else ""
    return max(past.gone.get(note.id, ""), by_name)


def _gained_a_link(here: Notes, note: MemoryNote) -> bool:
    before = here.get(note.id)
    return before is not None and bool(set(note.links) - set(before.links))


class _LocalNotes:
    """What is here, by all that another memory may know it by."""

    def __init__(self, here: Notes, arriving: Container[str]) -> None:
        """`arriving`: ids that are known on both sides, and so nothing else is meant by them."""
        self._notes = here
        self._facts: dict[tuple[str, ...], MemoryNote] = {}
        self._texts: dict[tuple[str, ...], MemoryNote] = {}
        for note in here.values():
            if note.id in arriving:
                continue
            if note.kind == "fact":
                same = self._facts.get(identity_of(note))
                if same is None or same.hidden:
                    self._facts[identity_of(note)] = note
            self._texts.setdefault(_text(note), note)

    def find_match(self, note: MemoryNote) -> MemoryNote | None:
        """The local note with the same id, the same key (a fact), or the same text."""
        same = self._notes.get(note.id)
        if same is None and note.kind == "fact":
            same = self._facts.get(identity_of(note))
        return same or self._texts.get(_text(note))


def _text(note: MemoryNote) -> tuple[str, ...]:
    return fold_case(note.nugget_name), note.kind, note.title, note.content, note.project


def _merge_recalls(ours: MemoryNote, theirs: MemoryNote) -> MemoryNote:
    """The recalls of both notes, each session once; of older sessions only the count is kept."""
    sessions = tuple(dict.fromkeys((*theirs.hit_sessions, *ours.hit_sessions)))
    if set(sessions) == set(ours.hit_sessions):
        sessions = ours.hit_sessions
    return ours._replace(
        hits=max(ours.hits, theirs.hits, len(sessions)),
        hit_sessions=sessions[-SESSIONS_KEPT:],
        last_hit_session=ours.last_hit_session or theirs.last_hit_session,
        last_accessed_at=max(ours.last_accessed_at, theirs.last_accessed_at),
    )


def _is_as_imported(note: MemoryNote, brought: Mapping[str, MemoryNote]) -> bool:
    """Does it say what it said when it last came in? Then that is no news, whatever its time."""
    before = brought.get(note.id)
    return before is not None and not _differs(before, note)


def _differs(ours: MemoryNote, theirs: MemoryNote) -> bool:
    return ours.project != _merged_project(ours, theirs) or any(
        getattr(ours, field) != getattr(theirs, field) for field in _STATEMENT
    )


def _merged_project(ours: MemoryNote, theirs: MemoryNote) -> str:
    """Whether it is of a project may change there, but not which one that is here."""
    return ours.project if ours.project and theirs.project else theirs.project


def _accepted_links(
    links: Iterable[NoteLink],
    owner: str,
    local_ids: Mapping[str, str],
    refused: Iterable[RejectedChange],
) -> Iterable[NoteLink]:
    """Their links, to what the other notes are called here, but for those people cut."""
    for link in links:
        to = local_ids.get(link.to, link.to)
        if RejectedChange.of_pair("link", owner, to) not in refused:
            yield link._replace(to=to)
