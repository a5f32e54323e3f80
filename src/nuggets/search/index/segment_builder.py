"""Postings of some notes, gathered by term and written as one segment. Knows no ranking."""

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING

from nuggets.search.index.note_analyzer import META
from nuggets.search.index.postings import BLOCK, length_byte
from nuggets.search.index.segments import (
    GROUP_BITS,
    group_frequencies,
    group_key,
    is_one_row,
    new_segment,
    pack_groups,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.bulk_analysis import NoteColumns
    from nuggets.search.index.note_analyzer import Analysis

WORTH_NUMPY = 1000  # notes; grouping the postings of fewer takes less time than loading NumPy

GroupCounts = dict[str, dict[int, int]]  # by term: how often the notes of each group have it


class PostingList:
    """Postings in the order of documents, as flat columns: quick to append and to sort."""

    def __init__(self) -> None:
        self.numbers: defaultdict[str, int] = defaultdict()  # of terms
        self.numbers.default_factory = self.numbers.__len__
        self.terms = array("I")  # the number of each posting's term
        self.codes = bytearray()  # its field code
        # Of each document:
        self.sizes = array("I")  # how many postings it has
        self.offsets = array("H")
        self.lengths = bytearray()
        self.groups: list[Sequence[int]] = []

    def add(self, offset: int, analysis: "Analysis", groups: "Sequence[int]") -> None:
        terms = analysis.terms
        self.terms.extend(map(self.numbers.__getitem__, terms))
        self.codes.extend(terms.values())
        self.sizes.append(len(terms))
        self.offsets.append(offset)
        self.lengths.append(length_byte(analysis.length))
        self.groups.append(groups)


class SegmentBuilder:
    """Gathers postings of notes of one space and block, in the order of their documents."""

    def __init__(self) -> None:
        self.notes = 0
        self._postings = PostingList()
        self._labelled: dict[str, array[int]] = defaultdict(_new_offsets)
        self._gone: dict[str, array[int]] = defaultdict(_new_offsets)
        self._removed_counts: GroupCounts = {}  # to be subtracted

    def add(self, doc: int, analysis: "Analysis", groups: "Sequence[int]") -> None:
        self.notes += 1
        offset = doc & (BLOCK - 1)
        self._postings.add(offset, analysis, groups)
        for label in analysis.labels:
            self._labelled[label].append(offset)

    def add_together(
        self, docs: "Sequence[int]", columns: "NoteColumns", groups: "list[list[int]]"
    ) -> None:
        """Add many notes that were analyzed at once."""
        from nuggets.search.index.posting_arrays import append_columns

        self.notes += len(docs)
        offsets = [doc & (BLOCK - 1) for doc in docs]
        append_columns(self._postings, offsets, columns, groups)
        for offset, analysis in zip(offsets, columns.analyses, strict=True):
            for label in analysis.labels:
                self._labelled[label].append(offset)

    def remove(self, doc: int, analysis: "Analysis", groups: "Sequence[int]") -> None:
        self.notes += 1
        offset, counts = doc & (BLOCK - 1), group_frequencies()
        for key in (*analysis.terms, *analysis.labels):
            self._gone[key].append(offset)
        for term, code in analysis.terms.items() if groups else ():
            removed = self._removed_counts.setdefault(term, {})
            for group in groups:
                removed[group] = removed.get(group, 0) + counts[code]

    def write(self, database: "Database", space: int, block: int) -> None:
        """Write the segment."""
        segment = new_segment(database, space, block, self.notes)
        database.executemany(
            "INSERT INTO search_postings VALUES (?, ?, ?, ?, ?, ?)", self._rows(segment)
        )

    def _rows(self, segment: int) -> "Iterator[tuple[int | str | bytes, ...]]":
        """The rows in the order of their keys; nearly every key has one."""
        docs, groups = self._pack()
        docs.update((label, offsets.tobytes()) for label, offsets in self._labelled.items())
        gone = {key: array("H", sorted(offsets)).tobytes() for key, offsets in self._gone.items()}
        for key in sorted({*docs, *gone, *groups}):
            lists = docs.get(key, b""), gone.get(key, b""), groups.get(key, b"")
            if is_one_row(lists):
                yield segment, key, 0, *lists
            else:
                yield from ((segment, *row) for row in split(key, lists))

    def _pack(self) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """The documents of each term, and the groups of each key."""
        if self.notes < WORTH_NUMPY:
            return _pack_documents(self._postings), _pack_groups(
                self._postings, self._removed_counts
            )
        from nuggets.search.index.posting_arrays import pack_postings

        return pack_postings(self._postings, self._removed_counts)


def _new_offsets() -> "array[int]":
    return array("H")


def _pack_documents(postings: PostingList) -> dict[str, bytes]:
    """The same as in `posting_arrays`, in plain Python."""
    docs = [array("H") for _ in postings.numbers]
    marks = [array("H") for _ in postings.numbers]
    for offset, length, _, pairs in _by_document(postings):
        for term, code in pairs:
            docs[term].append(offset)
            marks[term].append(code << 8 | length)
    return {
        term: docs[number].tobytes() + marks[number].tobytes()
        for term, number in postings.numbers.items()
    }


def _pack_groups(postings: PostingList, removed: GroupCounts) -> dict[str, bytes]:
    frequencies, terms = group_frequencies(), list(postings.numbers)
    counts: GroupCounts = {
        term: {group: -count for group, count in groups.items()} for term, groups in removed.items()
    }
    for _, _, groups, pairs in _by_document(postings):
        for term, code in pairs if groups else ():
            sums = counts.setdefault(terms[term], {})
            for group in groups:
                sums[group] = sums.get(group, 0) + frequencies[code]
    return {
        group_key(term, block): packed
        for term, sums in counts.items()
        if not term.startswith(META)  # which counts for no group
        for block, packed in _group_lists(sums)
        if packed
    }


def _by_document(
    postings: PostingList,
) -> "Iterator[tuple[int, int, Sequence[int], zip[tuple[int, int]]]]":
    """Offset, length byte and groups of each document, and its terms with their field codes."""
    start, columns = 0, (postings.offsets, postings.lengths, postings.groups, postings.sizes)
    for offset, length, groups, size in zip(*columns, strict=True):
        end = start + size
        pairs = zip(postings.terms[start:end], postings.codes[start:end], strict=True)
        yield offset, length, groups, pairs
        start = end


def _group_lists(sums: dict[int, int]) -> "Iterator[tuple[int, bytes]]":
    """Packed counts by the high bits of the groups' numbers."""
    blocks: dict[int, dict[int, int]] = {}
    for group, count in sums.items():
        blocks.setdefault(group >> GROUP_BITS, {})[group & 0xFFFF] = count
    for block, counts in blocks.items():
        yield block, pack_groups(counts.items())
