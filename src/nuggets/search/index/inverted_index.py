"""The notes that have a term, including those that wait for a segment. Ranks nothing."""

from array import array
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nuggets.search.index.note_analyzer import LABEL
from nuggets.search.index.postings import BLOCK, UNWEIGHTED, frequencies, length_byte
from nuggets.search.index.segment_reader import MOST_COUNTS, Postings, SegmentReader, exclude
from nuggets.search.index.segments import block_of, has_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.note_analyzer import Analysis
    from nuggets.search.index.recent_changes import Change

    Numbers = Sequence[int]
    Waiting = tuple[list[tuple[int, int]], list[int]]  # documents with marks; documents that left


_NOTHING: "Waiting" = ([], [])


class InvertedIndex:
    """Postings of the notes in some spaces, as they are in one transaction."""

    def __init__(
        self,
        database: "Database",
        spaces: "Sequence[int]",
        recent: "Mapping[tuple[int, bool], Change]",
        reader: SegmentReader | None = None,
    ) -> None:
        """`reader`: what was read of the same spaces before."""
        self.reader = reader or SegmentReader(database, spaces)
        self._recent = [
            (doc, removed, analysis, groups)
            for (doc, removed), (_, space, analysis, groups) in recent.items()
            if space in spaces
        ]
        self._waiting: dict[str, Waiting] = {}
        self._counts: dict[str, int] = {}
        self._beginnings: dict[str, list[str]] = {}

    def read_counts(self, terms: "Iterable[str]") -> None:
        """Find out how many notes have these terms, all at once."""
        unknown = [term for term in dict.fromkeys(terms) if term not in self._counts]
        if unknown:
            self.reader.read_counts(unknown)
            for term in unknown:
                self._counts[term] = self.reader.count(term) + self._count_waiting(term)

    def read(self, terms: "Iterable[str]") -> None:
        """Read the postings of these terms, all at once."""
        self.reader.read(terms)

    def count(self, term: str) -> int:
        """How many notes have it."""
        if term not in self._counts:
            self.read_counts((term,))
        return self._counts[term]

    def read_beginnings(self, starts: "Iterable[str]") -> None:
        """Find the terms of notes that begin with these texts, all at once."""
        unknown = tuple(start for start in dict.fromkeys(starts) if start not in self._beginnings)
        if not unknown:
            return
        shortest = [
            start
            for start in unknown
            if not any(start.startswith(other) for other in unknown if other != start)
        ]
        counts = self.reader.counts_beginning(shortest)
        for _, _, analysis, _ in self._recent:
            for term in analysis.terms:
                if term.startswith(unknown):
                    counts.setdefault(term, 0)
        for term in counts:
            counts[term] += self._count_waiting(term)
        self._counts |= counts
        terms = sorted(term for term, count in counts.items() if count > 0)
        for start in unknown:
            self._beginnings[start] = [term for term in terms if term.startswith(start)]

    def beginning(self, start: str) -> list[str]:
        """Terms of notes that begin with this text, in alphabetical order."""
        self.read_beginnings((start,))
        return self._beginnings[start]

    def postings(self, term: str) -> list[Postings]:
        """The documents that have it, those of later blocks first."""
        listed, (added, removed_docs) = self.reader.postings(term), self._waiting_for(term)
        if removed_docs:
            listed = [
                exclude(
                    piece, [doc & BLOCK - 1 for doc in removed_docs if block_of(doc) == piece.block]
                )
                for piece in listed
            ]
        if added:
            listed = [*listed, *_pieces(added, has_marks(term))]
            listed.sort(key=lambda piece: -piece.block)
        return [piece for piece in listed if piece.docs] if removed_docs else listed

    def _waiting_for(self, term: str) -> "Waiting":
        """What notes that wait for a segment change of a term."""
        if term not in self._waiting_keys:
            return _NOTHING
        waiting = self._waiting.get(term)
        if waiting is None:
            waiting = self._waiting[term] = ([], [])
            added, removed_docs = waiting
            for doc, removed, analysis, _ in self._recent:
                if not _has(analysis, term):
                    continue
                if removed:
                    removed_docs.append(doc)
                else:
                    mark = analysis.terms.get(term, 0) << 8 | length_byte(analysis.length)
                    added.append((doc, mark))
        return waiting

    @cached_property
    def _waiting_keys(self) -> set[str]:
        """All terms and labels of notes that wait: most terms of a question are none of these."""
        keys: set[str] = set()
        for _, _, analysis, _ in self._recent:
            keys.update(analysis.terms, analysis.labels)
        return keys

    def _count_waiting(self, term: str) -> int:
        added, removed_docs = self._waiting_for(term)
        return len(added) - len(removed_docs)

    def forget_if_many(self) -> None:
        """Bound the memory of a long-lived process."""
        self.reader.forget_if_many()
        if len(self._counts) > MOST_COUNTS:
            self._counts, self._beginnings, self._waiting = {}, {}, {}

    def forget(self, term: str) -> None:
        """Drop what was read of a term."""
        self.reader.forget(term)

    def keys(self) -> "Iterator[str]":
        """All terms, labels and groups of the index."""
        for _, _, analysis, _ in self._recent:
            yield from analysis.terms
            yield from analysis.labels
        yield from self.reader.keys()

    def group_counts(self, term: str) -> dict[int, int]:
        """By group, how often its notes have the term."""
        sums = self.reader.group_counts(term)
        for group, count in self._waiting_groups(term):
            sums[group] = sums.get(group, 0) + count
        if min(sums.values(), default=1) > 0:
            return sums
        return {group: count for group, count in sums.items() if count > 0}

    def group_count_arrays(self, term: str) -> "tuple[NDArray[Any], NDArray[Any]]":
        """The same as ascending numbers of groups and their counts."""
        import numpy as np

        if not any(self._waiting_groups(term)):
            return self.reader.group_count_arrays(term)
        counts = np.array(sorted(self.group_counts(term).items()), np.int64).reshape(-1, 2)
        return counts[:, 0], counts[:, 1]

    def _waiting_groups(self, term: str) -> "Iterator[tuple[int, int]]":
        """Groups of notes that wait for a segment, and how often they have the term."""
        if any(self._waiting_for(term)):
            for _, removed, analysis, groups in self._recent:
                code = analysis.terms.get(term, UNWEIGHTED)
                if code != UNWEIGHTED:
                    count = -frequencies()[code] if removed else frequencies()[code]
                    yield from ((group, count) for group in groups)

    def documents_with(self, label: str) -> "Iterator[int]":
        """The newest first."""
        for block, docs, _ in self.postings(label):
            base = block * BLOCK
            for offset in reversed(docs):
                yield base + offset

    def select_having(self, label: str, docs: "Iterable[int]") -> "Iterable[int]":
        """Those of the documents that have the label."""
        return self.marks_at(label, offsets_by_block(docs))

    def marks_at(self, term: str, docs: "Mapping[int, Sequence[int]]") -> dict[int, int]:
        """The marks of those of the documents that have the term; `docs`: offsets by block."""
        marks: dict[int, int] = {}
        for block, listed, listed_marks in self.postings(term):
            wanted = docs.get(block)
            if wanted:
                base = block * BLOCK
                # Labels have no marks; any number says that they are there.
                for offset, mark in _intersection(wanted, listed, listed_marks or listed):
                    marks[base + offset] = mark
        return marks


def _has(analysis: "Analysis", key: str) -> bool:
    return key in analysis.terms or (key.startswith(LABEL) and key in analysis.labels)


def _pieces(added: list[tuple[int, int]], marked: bool) -> list[Postings]:
    """Postings of documents with marks, which are ascending."""
    by_block: dict[int, list[tuple[int, int]]] = {}
    for doc, mark in added:
        by_block.setdefault(block_of(doc), []).append((doc & BLOCK - 1, mark))
    return [
        Postings(
            block,
            array("H", [offset for offset, _ in pairs]),
            array("H", [mark for _, mark in pairs]) if marked else (),
        )
        for block, pairs in by_block.items()
    ]


def newest(piece: Postings, most: int) -> Postings:
    """At most `most` documents, the newest ones."""
    if len(piece.docs) <= most:
        return piece
    return Postings(piece.block, piece.docs[-most:], piece.marks[-most:])


def offsets_by_block(docs: "Iterable[int]") -> dict[int, list[int]]:
    """Ascending, by block."""
    offsets: dict[int, list[int]] = {}
    for doc in sorted(docs):
        offsets.setdefault(block_of(doc), []).append(doc & BLOCK - 1)
    return offsets


def _intersection(
    wanted: "Numbers", listed: "Numbers", marks: "Numbers"
) -> "Iterator[tuple[int, int]]":
    """The wanted offsets that have the term, with their marks."""
    if len(listed) < 8 * len(wanted):
        chosen = set(wanted)
        yield from (pair for pair in zip(listed, marks, strict=True) if pair[0] in chosen)
        return
    for offset in wanted:
        place = bisect_left(listed, offset)
        if place < len(listed) and listed[place] == offset:
            yield offset, marks[place]
