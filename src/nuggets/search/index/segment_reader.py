"""Reads the rows of segments, and caches them. Knows no note that waits for a segment.

A merge moves rows, but all segments together keep the same postings of a key. So what was read of
a key stays valid until another segment is written.
"""

from array import array
from bisect import bisect_left
from itertools import chain, pairwise
from sys import byteorder
from typing import TYPE_CHECKING, Any

from nuggets.domain.sql_interface import chunks, placeholders
from nuggets.named_tuple import NamedTuple
from nuggets.search.index.segments import (
    GROUP_BITS,
    LAST_LETTER,
    OFFSET,
    POSTING,
    group_key,
    has_marks,
    join_columns,
    unpack,
    unpack_groups,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nuggets.domain.sql_interface import Database

    Numbers = Sequence[int]
    _Row = tuple[str, int, bytes, bytes, bytes]  # key, segment, docs, gone, groups

MOST_BYTES = 64_000_000  # of lists that a long-lived process keeps
MOST_COUNTS = 20_000  # of keys that a long-lived process keeps
MOST_ABSENT = 5_000  # keys that no segment has: a question that is asked again asks for the same
ENTRY = 500  # bytes of what is kept of a key besides its lists
GROUP_COPIES = 5  # times the bytes of groups that these take with their arrays


class Postings(NamedTuple):
    """Some of the documents that have a term, in ascending order."""

    block: int
    docs: "Numbers"  # offsets in the block
    marks: "Numbers"  # as many; none of a label


class _Lists:
    """The lists of one key in all segments."""

    def __init__(self) -> None:
        self.postings: list[Postings] = []  # one for each block, later blocks first
        self.groups: list[bytes] = []
        self.count = self.bytes = 0

    def fill(self, key: str, rows: "Iterable[_Row]", blocks: "Mapping[int, int]") -> None:
        """Take rows in the order of segments and parts; `blocks`: of the segments."""
        parts: dict[int, dict[int, list[bytes]]] = {}  # by block and segment
        gone: dict[int, list[int]] = {}
        for _, segment, docs, left, groups in rows:
            if docs:
                of_block = parts.setdefault(blocks[segment], {})
                of_block.setdefault(segment, []).append(docs)
            if left:
                gone.setdefault(blocks[segment], []).extend(memoryview(left).cast("H"))
            if groups:
                self.groups.append(groups)
        for block in sorted(parts, reverse=True):
            piece = _unite_parts(key, block, list(parts[block].values()))
            if block in gone:
                piece = exclude(piece, gone[block])
            if piece.docs:
                self.postings.append(piece)
        self.count = sum([len(piece.docs) for piece in self.postings])
        self.bytes = ENTRY + POSTING * self.count + GROUP_COPIES * sum(map(len, self.groups))


_NO_LISTS = _Lists()


class SegmentReader:
    """The segments of some spaces."""

    def __init__(self, database: "Database", spaces: "Sequence[int]") -> None:
        self._database = database
        self._spaces = ",".join(map(str, spaces))
        self._written = -1  # notes that segments were made of
        self.follow()

    def follow(self) -> None:
        """Read the current list of segments; drop the cache if one was added."""
        segments = self._database.execute(
            "SELECT segment, block, notes, target FROM search_segments"
            f" WHERE space IN ({self._spaces})"
        ).fetchall()
        self._blocks: dict[int, int] = {segment: block for segment, block, *_ in segments}
        self._listed = ",".join(map(str, self._blocks)) or "NULL"  # `IN ()` is not SQL
        (groups,) = self._database.execute("SELECT max(number) FROM search_groups").fetchone()
        self._group_blocks = ((groups or 0) >> GROUP_BITS) + 1
        # What a merge makes has the notes of its sources, which count until they are gone.
        targets = {target for *_, target in segments}
        written = sum(notes for segment, _, notes, _ in segments if segment not in targets)
        if written != self._written:
            self._written = written
            self._forget_all()

    def _forget_all(self) -> None:
        self._lists: dict[str, _Lists] = {}
        self._bytes = 0
        self._counts: dict[str, int] = {}
        self._absent: set[str] = set()  # keys that no segment has
        self._group_arrays: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}

    def read_counts(self, keys: "Iterable[str]") -> None:
        """Find out how many notes have these keys, all at once."""
        known, absent = self._counts, self._absent
        unknown = [key for key in keys if key not in known and key not in absent]
        counts: dict[str, int] = {}
        for some in chunks(unknown):
            for key, docs, gone in self._database.execute(
                "SELECT term, length(docs), length(gone) FROM search_postings"
                f" WHERE segment IN ({self._listed}) AND term IN ({placeholders(some)})",
                some,
            ):
                counts[key] = counts.get(key, 0) + _count_documents(key, docs, gone)
        known |= counts
        absent.update(key for key in unknown if key not in counts)

    def count(self, key: str) -> int:
        """How many notes have it."""
        if key not in self._counts and key not in self._absent:
            self.read_counts((key,))
        return self._counts.get(key, 0)

    def counts_beginning(self, starts: "Sequence[str]") -> dict[str, int]:
        """How many notes have each key that begins like one of these, of which none begins like
        another."""
        counts: dict[str, int] = {}
        rows = (
            "SELECT term, length(docs), length(gone) FROM search_postings"
            f" WHERE segment IN ({self._listed}) AND term >= ? AND term < ?"
        )
        bounds = [bound for start in starts for bound in (start, start + LAST_LETTER)]
        for key, docs, gone in self._database.execute(
            " UNION ALL ".join([rows] * len(starts)), bounds
        ):
            counts[key] = counts.get(key, 0) + _count_documents(key, docs, gone)
        return counts

    def keys(self) -> "Iterator[str]":
        """All terms, labels and groups of the segments."""
        for (key,) in self._database.execute(
            f"SELECT DISTINCT term FROM search_postings WHERE segment IN ({self._listed})"
        ):
            yield key

    def postings(self, key: str) -> list[Postings]:
        """The documents that have it, those of later blocks first."""
        return self._read(key).postings

    def group_counts(self, term: str) -> dict[int, int]:
        """By group, how often its notes have the term; zero or less if they no longer have it."""
        sums: dict[int, int] = {}
        for block in range(self._group_blocks):
            base = block << GROUP_BITS
            for blob in self._read(group_key(term, block)).groups:
                counts = dict(unpack_groups(blob))
                if base:
                    counts = {base + group: count for group, count in counts.items()}
                for group in sums.keys() & counts.keys():
                    counts[group] += sums[group]
                sums.update(counts)
        return sums

    def group_count_arrays(self, term: str) -> "tuple[NDArray[Any], NDArray[Any]]":
        """The same as ascending numbers of groups and their counts, those above zero."""
        import numpy as np

        cached = self._group_arrays.get(term)
        if cached is not None:
            return cached
        numbers, counts = [], []
        for block in range(self._group_blocks):
            groups = self._read(group_key(term, block)).groups
            blob = join_columns(groups) if groups else b""
            middle = len(blob) // 2
            low = np.frombuffer(blob[:middle], np.uint16).astype(np.int64)
            numbers.append(low + (block << GROUP_BITS))
            counts.append(np.frombuffer(blob[middle:], np.int16))
        sums = np.bincount(np.concatenate(numbers), np.concatenate(counts))
        (having,) = (sums > 0).nonzero()
        arrays = self._group_arrays[term] = having, sums[having]
        return arrays

    def _read(self, key: str) -> _Lists:
        if key not in self._lists and key not in self._absent:
            self.read((key,))
        return self._lists.get(key, _NO_LISTS)

    def read(self, keys: "Iterable[str]") -> None:
        """Read the lists of these keys, all at once."""
        known, absent = self._lists, self._absent
        unknown: dict[str, list[_Row]] = {
            key: [] for key in keys if key not in known and key not in absent
        }
        for some in chunks(unknown):
            for row in self._database.execute(
                "SELECT term, segment, docs, gone, groups FROM search_postings"
                f" WHERE segment IN ({self._listed}) AND term IN ({placeholders(some)})"
                " ORDER BY segment, term, part",
                some,
            ):
                unknown[row[0]].append(row)
        for key, rows in unknown.items():
            if not rows:
                absent.add(key)
                continue
            lists = known[key] = _Lists()
            lists.fill(key, rows, self._blocks)
            self._bytes += lists.bytes
            self._counts[key] = lists.count

    def forget(self, key: str) -> None:
        """Drop what was read of a key."""
        lists = self._lists.pop(key, None)
        self._group_arrays.pop(key, None)
        if lists is not None:
            self._bytes -= lists.bytes

    def forget_if_many(self) -> None:
        """Bound the memory of a long-lived process: what was read first is dropped first."""
        while self._bytes > MOST_BYTES:
            self.forget(next(iter(self._lists)))
        if len(self._counts) > MOST_COUNTS:
            self._counts = {}
        if len(self._absent) > MOST_ABSENT:
            self._absent = set()


def exclude(piece: Postings, gone: "Iterable[int]") -> Postings:
    """The postings without some offsets."""
    docs, count = piece.docs, len(piece.docs)
    places = [(bisect_left(docs, offset), offset) for offset in sorted(set(gone))]
    cuts = [place for place, offset in places if place < count and docs[place] == offset]
    if not cuts:
        return piece
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, count]

    def keep(numbers: "Numbers") -> "Numbers":
        remaining = array("H")
        for start, end in zip(starts, ends, strict=True):
            remaining.extend(numbers[start:end])
        return remaining

    return Postings(piece.block, keep(docs), keep(piece.marks) if piece.marks else ())


def _unite_parts(key: str, block: int, segments: list[list[bytes]]) -> Postings:
    """The parts of each segment's list of one block, which is in ascending order, as one list."""
    parts = segments[0] if len(segments) == 1 else list(chain.from_iterable(segments))
    if not has_marks(key):
        docs = memoryview(b"".join(parts)).cast("H")
        return Postings(block, docs if _is_ascending(segments, 1) else array("H", sorted(docs)), ())
    docs, marks = unpack(join_columns(parts))
    if _is_ascending(segments, 2):
        return Postings(block, docs, marks)
    ordered = dict(sorted(zip(docs, marks, strict=True)))
    return Postings(block, array("H", ordered), array("H", ordered.values()))


def _is_ascending(segments: list[list[bytes]], columns: int) -> bool:
    """Whether each list begins after the one before has ended."""
    return all(
        _number(parts[-1], len(parts[-1]) // columns - OFFSET) < _number(following[0], 0)
        for parts, following in pairwise(segments)
    )


def _number(part: bytes, place: int) -> int:
    return int.from_bytes(part[place : place + OFFSET], byteorder)


def _count_documents(key: str, docs: int, gone: int) -> int:
    """How many, from the sizes of their blobs."""
    return docs // (POSTING if has_marks(key) else OFFSET) - gone // OFFSET
