"""How far a pass goes (its policy), what it plans for each note, and its result. Knows no rule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from nuggets.domain.records import (
    MemoryNote,
    ReflectionChange,
    ReflectionKind,
    ReflectionResult,
)
from nuggets.domain.undone_reflection import RejectedChange
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
