"""What is known of each note besides its words: links, groups, day, weight; one row a note."""

from itertools import compress
from typing import TYPE_CHECKING, Any

from nuggets.search.columns import Column
from nuggets.search.dates import ordinal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from nuggets.records import MemoryNote
    from nuggets.search.reading import Reading

LINKS_KEPT = 8  # of a note, the newest: beyond that a note is a table of contents
GROUPS_KEPT = 4  # own tags of a note that make it part of a group
NOBODY = -1
# How much flows through a link: what was written before explains what follows better than the
# other way round.
FORWARD, BACKWARD = 1.6, 0.4
ASKING = -0.08  # a note that asks rarely answers
INFORMATIVE = 0.06  # a note with something to say: 15 significant words
AN_INFORMATIVE_WORD = INFORMATIVE / 15


class NoteTable:
    """Rows are only added; an edited note gets a new row, and `compact` closes the gaps."""

    def __init__(self) -> None:
        self.notes: list[MemoryNote] = []
        self.rows: dict[str, int] = {}
        self.alive = Column("?")
        self.boosts = Column("f8")
        self.lengths = Column("i4")
        self.days = Column("i4")
        self.timed = Column("?")
        self.languages = Column("u1")
        self.asking = Column("?")
        self.priors = Column("f4")
        self.neighbours = Column("i4", LINKS_KEPT, NOBODY)
        self.flows = Column("f4", LINKS_KEPT)  # from the neighbour into the note
        self.degrees = Column("i4")
        self.widest = 1  # neighbours that any note has, at most LINKS_KEPT
        self.groups = tuple(Column("i8") for _ in range(GROUPS_KEPT))  # from 1; 0 is no group
        self.most_groups = 0  # that any note is part of
        self.group_numbers: dict[str, int] = {}
        self.group_sizes = Column("i4")
        self.group_lengths = Column("i8")
        for column in (self.group_sizes, self.group_lengths):
            column.grow(1)
        self.awaited: dict[str, set[str]] = {}  # target of a link to nobody yet: its sources
        self.summed_up = (self.lengths, self.days, self.languages)  # 0 where nobody is alive
        self.columns = (
            self.alive,
            self.boosts,
            self.lengths,
            self.days,
            self.timed,
            self.languages,
            self.asking,
            self.priors,
            self.neighbours,
            self.flows,
            self.degrees,
            *self.groups,
        )

    def __len__(self) -> int:
        return len(self.notes)

    def add(self, notes: "Sequence[MemoryNote]", reading: "Reading") -> None:
        """Rows for new notes, in the order in which they were read."""
        import numpy as np

        start = len(self.notes)
        self.notes += notes
        for column in self.columns:
            column.grow(len(self.notes))
        self.lengths.all[start:] = reading.lengths
        self.timed.all[start:] = reading.timed
        self.languages.all[start:] = reading.languages
        self.alive.all[start:] = True
        asking = np.array([note.content.endswith("?") for note in notes])
        self.asking.all[start:] = asking
        informed = np.minimum(reading.lengths * AN_INFORMATIVE_WORD, INFORMATIVE)
        self.priors.all[start:] = informed + ASKING * asking
        self.boosts.all[start:] = [boost(note) for note in notes]
        self.days.all[start:] = [ordinal(note.created_at[:10]) for note in notes]
        self.rows.update((note.id, row) for row, note in enumerate(notes, start))
        self._join_groups(start, reading.tags)

    def take_up(
        self,
        columns: "Sequence[NDArray[Any]]",
        groups: "Sequence[str]",
        awaited: dict[str, set[str]],
        notes: "Sequence[MemoryNote | None]",
        alike: "NDArray[Any]",
    ) -> None:
        """Be another table, of which only the rows with notes that are still alike live on."""
        import numpy as np

        for column, values in zip(self.columns, columns, strict=True):
            column.fill(values)
        self.alive.fill(alike)
        for column in self.summed_up:
            column.all[~alike] = 0
        self.notes = list(notes)  # type: ignore[arg-type]  # None only where nothing is alive
        self.rows = {note.id: row for row, note in enumerate(notes) if note and alike[row]}
        self.widest = int((self.neighbours.all != NOBODY).sum(axis=1).max(initial=1))
        self.awaited = awaited
        self.group_numbers.update((tag, number) for number, tag in enumerate(groups, 1))
        for column in (self.group_sizes, self.group_lengths):
            column.grow(len(groups) + 1)
        for joined in self.groups:
            members = joined.all * alike
            self.most_groups += bool(members.any())
            self.group_sizes.all[:] += np.bincount(members, minlength=len(groups) + 1)
            np.add.at(self.group_lengths.all, members, self.lengths.all)
        self.group_sizes.all[:1] = self.group_lengths.all[:1] = 0
        self.relink((), not alike.all())

    def set_facts(self, row: int, note: "MemoryNote") -> None:
        """What may change without the words changing."""
        self.notes[row] = note
        self.boosts.all[row] = boost(note)

    def remove(self, rows: "Sequence[int]") -> None:
        """The notes are gone; their rows stay, unseen, until the next `compact`."""
        for row in rows:
            note = self.notes[row]
            if self.rows.get(note.id) == row:
                del self.rows[note.id]
            self.alive.all[row] = False
            for group in filter(None, (int(joined.all[row]) for joined in self.groups)):
                self.group_sizes.all[group] -= 1
                self.group_lengths.all[group] -= self.lengths.all[row]
            for column in self.summed_up:
                column.all[row] = 0

    @property
    def used_groups(self) -> "Sequence[Column]":
        """As many as any note needs."""
        return self.groups[: self.most_groups]

    def _join_groups(self, start: int, taggings: "Sequence[list[str]]") -> None:
        """The notes from row `start` on become part of the groups that their tags name."""
        import numpy as np

        numbers = self.group_numbers
        needed = min(GROUPS_KEPT, max(map(len, taggings)))
        self.most_groups = max(self.most_groups, needed)
        for place in range(needed):
            joined = np.array(
                [
                    numbers.setdefault(tags[place], len(numbers) + 1) if place < len(tags) else 0
                    for tags in taggings
                ]
            )
            self.groups[place].all[start:] = joined
            self.group_sizes.grow(len(numbers) + 1)
            self.group_lengths.grow(len(numbers) + 1)
            np.add.at(self.group_sizes.all, joined, np.int32(1))
            np.add.at(self.group_lengths.all, joined, self.lengths.all[start:].astype(np.int64))
        self.group_sizes.all[:1] = self.group_lengths.all[:1] = 0

    def prune_groups(self) -> None:
        """Forget those that nobody belongs to."""
        import numpy as np

        used = self.group_sizes.all > 0
        used[:1] = True  # no group
        moved = np.cumsum(used) - 1
        for joined in self.groups:
            joined.fill(moved[joined.all])
        for column in (self.group_sizes, self.group_lengths):
            column.keep(used)
        names = compress(self.group_numbers, used[1:])
        self.group_numbers = {tag: number for number, tag in enumerate(names, 1)}

    def relink(self, changed: "Iterable[MemoryNote]", some_gone: bool) -> None:
        """Follow the links of changed notes, and of all that are linked to what is gone."""
        import numpy as np

        stale = {note.id for note in changed}
        if some_gone and self.degrees.all.any():
            gone = np.append(~self.alive.all, False)  # the last place is where NOBODY points
            pointing = gone[self.neighbours.all].any(axis=1) & self.alive.all
            stale.update(self.notes[row].id for row in np.flatnonzero(pointing).tolist())
        for note_id in list(stale):
            stale |= self.awaited.pop(note_id, set())
        found = (self.rows.get(note_id) for note_id in stale)
        rows = [
            row
            for row in found
            if row is not None and (self.notes[row].links or self.degrees.all[row])
        ]
        if rows:
            degrees, near, flows = zip(*map(self._linked, rows), strict=True)
            self.degrees.all[rows] = degrees
            self.widest = max(self.widest, min(max(degrees), LINKS_KEPT))
            self.neighbours.all[rows] = near
            self.flows.all[rows] = flows

    def _linked(self, row: int) -> tuple[int, list[int], list[float]]:
        """How many neighbours a note has; the newest ones, and what flows from each."""
        note, found = self.notes[row], []
        for target in dict.fromkeys([link.to for link in note.links]):
            other = self.rows.get(target)
            if other is None:
                self.awaited.setdefault(target, set()).add(note.id)
            elif other != row:
                found.append(other)
        kept = found[-LINKS_KEPT:]
        # Of notes written at the same moment, the first link leads back: when a note is made it
        # can only be linked to one that is there already.
        flows = [
            BACKWARD
            if (self.notes[other].created_at, other != found[0]) > (note.created_at, False)
            else FORWARD
            for other in kept
        ]
        empty = LINKS_KEPT - len(kept)
        return len(found), kept + [NOBODY] * empty, flows + [0.0] * empty

    def compact(self) -> "NDArray[Any]":
        """Close the gaps; returns the new place of each row, -1 for those gone."""
        import numpy as np

        kept = self.alive.all.copy()
        places = np.where(kept, np.cumsum(kept) - 1, NOBODY).astype(np.int32)
        self.notes = [note for note, keep in zip(self.notes, kept.tolist(), strict=True) if keep]
        for column in self.columns:
            column.keep(kept)
        self.neighbours.all[:] = np.where(
            self.neighbours.all == NOBODY, NOBODY, places[self.neighbours.all]
        )
        self.rows = {note.id: row for row, note in enumerate(self.notes)}
        return places


def boost(note: "MemoryNote") -> float:
    """How far a memory is to be trusted, as documented: at most 0.13."""
    return (
        0.05 * (note.stability == "durable")
        + 0.03 * (note.scope in ("user", "self"))
        + 0.05 * min(max(note.confidence, 0.0), 1.0)
    )
