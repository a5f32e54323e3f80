"""How far a pass goes (its policy), what it plans for each note, its result, and which part of it
stays valid when others changed notes meanwhile. Knows no rule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from nuggets.domain.marks import RejectedChange
from nuggets.domain.records import (
    Changes,
    MemoryNote,
    ReflectionChange,
    ReflectionKind,
    ReflectionResult,
)
from nuggets.named_tuple import NamedTuple


class Policy(NamedTuple):
    """How far one pass goes."""

    max_notes: int = 10  # few enough to read the result
    rejected: frozenset[RejectedChange] = frozenset()  # changes that people undid


def age(note: MemoryNote) -> tuple[str, ...]:
    """A sort key, oldest first. Ids are random, so they only break ties."""
    return note.created_at, note.nugget_name, note.title, note.id


class Plan:
    """The notes with planned changes applied, oldest first; nothing is written."""

    def __init__(
        self, found: Mapping[str, MemoryNote], now: str, rejected: frozenset[RejectedChange]
    ) -> None:
        self.found = found
        self.now = now
        self._rejected = rejected
        self.notes = {note.id: note for note in sorted(found.values(), key=age)}
        self.changes: list[ReflectionChange] = []

    def put(self, *notes: MemoryNote) -> None:
        self.notes.update({note.id: note for note in notes})

    def record(
        self, type: ReflectionKind, note: MemoryNote, detail: str, partners: tuple[str, ...] = ()
    ) -> None:
        self.changes.append(ReflectionChange(type, note.nugget_name, note.id, detail, partners))

    def may(self, step: ReflectionKind, note: str, other: str = "") -> bool:
        """Whether no one ever undid this step for the note, or for the two notes."""
        change = RejectedChange.of_pair(step, note, other) if other else RejectedChange(step, note)
        return change not in self._rejected

    def visible(self, ids: list[str]) -> Iterator[MemoryNote]:
        """Those of the notes that are not archived by now, oldest first."""
        for found in sorted((self.found[note_id] for note_id in ids), key=age):
            note = self.notes[found.id]
            if not note.hidden:
                yield note

    def changed_notes(self) -> tuple[MemoryNote, ...]:
        """The notes to write, sorted by id."""
        different = (note for note in self.notes.values() if note is not self.found[note.id])
        return tuple(
            sorted(
                (note for note in different if note != self.found[note.id]),
                key=lambda note: note.id,
            )
        )


def result_of(ran_at: str, inspected: int, changes: Iterable[ReflectionChange]) -> ReflectionResult:
    """The result with its counts, computed from the changes."""
    listed = tuple(changes)
    count = Counter(change.type for change in listed)
    return ReflectionResult(
        ran_at,
        inspected,
        rewritten=count["rewrite"],
        merged=count["merge"],
        hidden=count["hide"],
        tagged=count["tag"],
        linked=count["link"],
        changes=listed,
    )


# --- notes that changed meanwhile -----------------------------------------------------------------


def still_valid(
    changes: Changes,
    result: ReflectionResult,
    notes_before: Mapping[str, MemoryNote],
    current: Mapping[str, MemoryNote],
) -> tuple[Changes, ReflectionResult]:
    """The part of the plan made from `notes_before` that fits `current`; links stay two-way.

    A note that changed or was recalled meanwhile is left as it is, for a later pass, and merges
    with it are dropped.
    """
    changed = {note.id for note in changes.put if current.get(note.id) != notes_before[note.id]}
    merges = [set(_note_ids(change)) for change in result.changes if change.type == "merge"]
    stale = with_whole_groups(changed, merges)
    put = tuple(
        _without_new_links(note, notes_before[note.id], stale)
        for note in changes.put
        if note.id not in stale
    )
    uninspected = sum(
        1 for note in changes.put if note.id in stale and note.last_inspected_at == result.ran_at
    )
    valid = [change for change in result.changes if stale.isdisjoint(_note_ids(change))]
    return (
        changes._replace(put=tuple(note for note in put if note != current[note.id])),
        result_of(result.ran_at, result.inspected - uninspected, valid),
    )


def with_whole_groups(ids: set[str], groups: list[set[str]]) -> set[str]:
    """The ids, with all of every group that has one of them, or one of such a group."""
    before = -1
    while before != len(ids):
        before = len(ids)
        ids = ids.union(*(group for group in groups if not ids.isdisjoint(group)))
    return ids


def _note_ids(change: ReflectionChange) -> tuple[str, ...]:
    return (change.note_id, *change.partners)


def _without_new_links(note: MemoryNote, before: MemoryNote, stale: set[str]) -> MemoryNote:
    links_before = set(before.links)
    links = tuple(link for link in note.links if link.to not in stale or link in links_before)
    return note if len(links) == len(note.links) else note._replace(links=links)
