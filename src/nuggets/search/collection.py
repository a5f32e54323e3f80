"""The notes as the index holds them, moved on by changes. Knows no ranking."""

from typing import TYPE_CHECKING, Any

from nuggets.records import MemoryNote, NoteFilterOptions
from nuggets.search.postings import Postings, Run
from nuggets.search.reading import Reading, read
from nuggets.search.table import NoteTable
from nuggets.search.vocabulary import LABEL, Vocabulary
from nuggets.text import folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 4096  # notes read together: bounds the memory while a large shelf is read
MOST_GAPS = 0.25  # of all rows; with more, the gaps are closed


class Collection:
    """Vocabulary, postings and table of the same notes, always in step."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.postings = Postings()
        self.table = NoteTable()
        self.remembers_more = False  # words of notes that are gone may still be counted

    def afresh(self) -> "Collection":
        """The same notes, read once more."""
        other = Collection()
        table = self.table
        other.take({note_id: table.notes[row] for note_id, row in table.rows.items()})
        return other

    def take(self, pending: dict[str, MemoryNote | None]) -> bool:
        """Follow the changes; None says that a note is gone.

        Returns whether they matter to any ranking. A note that was only looked at does not,
        and every search looks at its results.
        """
        table = self.table
        fresh: list[MemoryNote] = []
        kept: list[MemoryNote] = []
        gone: list[int] = []
        for note_id, note in pending.items():
            row = table.rows.get(note_id)
            if row is not None and note is not None and _reads_alike(table.notes[row], note):
                if not _ranks_alike(table.notes[row], note):
                    kept.append(note)
                table.set_facts(row, note)
                continue
            if row is not None:
                gone.append(row)
            if note is not None:
                fresh.append(note)
        if not (fresh or kept or gone):
            return False
        self._remove(gone)
        if fresh:
            self._add(fresh)
        table.relink([*fresh, *kept], bool(gone))
        if len(table.rows) < (1 - MOST_GAPS) * len(table):
            self._close_gaps()
        return True

    def _close_gaps(self) -> None:
        self.postings.renumber(self.table.compact())

    def settled(self) -> Run:
        """All postings as one, without gaps."""
        if len(self.table.rows) < len(self.table):
            self._close_gaps()
        return self.postings.as_one()

    def prune(self) -> Run:
        """Forget every word and tag that no note uses any more; all postings as one."""
        run = self.settled()
        self.table.prune_groups()
        moved = self.vocabulary.prune()
        self.postings.runs = [run._replace(terms=moved[run.terms])]
        return self.postings.runs[0]

    def count_terms(self, run: Run) -> None:
        """Count anew how many notes have each term; the run has all postings."""
        import numpy as np

        counts = self.vocabulary.term_counts.all
        counts[:] = 0
        counts[run.terms] = np.diff(run.starts)

    def _remove(self, rows: list[int]) -> None:
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            self._count(read([self.table.notes[row] for row in block], self.vocabulary), -1)
            self.table.remove(block)

    def _add(self, notes: list[MemoryNote]) -> None:
        runs = []
        for start in range(0, len(notes), BLOCK):
            block = notes[start : start + BLOCK]
            reading = read(block, self.vocabulary)
            self._count(reading, 1)
            runs.append(reading.run.moved(len(self.table)))
            self.table.add(block, reading)
        self.postings.add(runs)

    def _count(self, reading: Reading, sign: int) -> None:
        import numpy as np

        counts = self.vocabulary.term_counts.all
        counts[reading.run.terms] += sign * np.diff(reading.run.starts)
        words = self.vocabulary.word_counts.all
        np.add.at(words, reading.words.astype(np.intp), words.dtype.type(sign))  # fast if of a kind

    def meeting(self, filters: NoteFilterOptions) -> "NDArray[Any] | None":
        """Which rows meet all that the filters name; None if they name nothing."""
        import numpy as np

        meeting = None
        for name, value in _named(filters):
            label = self.vocabulary.in_use(f"{LABEL}{name}={value}")
            if label is not None and self.vocabulary.count(label) == len(self.table.rows):
                continue  # as all notes do
            having = np.zeros(len(self.table) + 1, bool)  # the last one: NOBODY
            if label is not None:
                having[self.postings.notes_with(label)] = True
            meeting = having if meeting is None else meeting & having
        return meeting


def _named(filters: NoteFilterOptions) -> list[tuple[str, str]]:
    given = {
        "subject": filters.subject,
        "scope": filters.scope,
        "type": filters.type,
        "kind": filters.kind,
        "nugget": None if filters.nugget is None else folded(filters.nugget),
        "tag": filters.tag,
    }
    return [(name, value) for name, value in given.items() if value is not None]


def _reads_alike(a: MemoryNote, b: MemoryNote) -> bool:
    """Whether the notes differ only in what is kept beside the postings."""
    return (
        a.content == b.content
        and (a.title, a.tags, a.nugget_name, a.kind) == (b.title, b.tags, b.nugget_name, b.kind)
        and (a.subject, a.scope, a.type, a.created_at) == (b.subject, b.scope, b.type, b.created_at)
    )


def _ranks_alike(a: MemoryNote, b: MemoryNote) -> bool:
    """Of notes that read alike: whether nothing else that a ranking looks at differs."""
    return (a.links, a.project) == (b.links, b.project) and (a.confidence, a.stability) == (
        b.confidence,
        b.stability,
    )
