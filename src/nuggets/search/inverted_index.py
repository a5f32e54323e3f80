"""The notes that have a term, read from the segments and from the newest notes. Ranks nothing."""

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.postings import BLOCK, UNWEIGHTED, frequencies, length_byte
from nuggets.search.segments import (
    GROUP_BITS,
    OFFSET,
    POSTING,
    block_of,
    group_key,
    has_marks,
    join_columns,
    unpack,
    unpack_groups,
)
from nuggets.sql import chunks, placeholders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nuggets.search.recent import Change
    from nuggets.sql import Database

    Numbers = Sequence[int]

LAST_LETTER = chr(0x10FFFF)
MOST_KEPT = 8_000_000  # postings that a living process holds, of four bytes each


class Postings(NamedTuple):
    """Some of the documents that have a term, in ascending order."""

    block: int
    docs: "Numbers"  # offsets in the block
    marks: "Numbers"  # as many; none of a label


class InvertedIndex:
    """Postings of the notes in some spaces, as they are in one transaction."""

    def __init__(
        self,
        database: "Database",
        spaces: "Sequence[int]",
        recent: "Mapping[tuple[int, bool], Change]",
    ) -> None:
        self._database = database
        self._blocks: dict[int, int] = dict(
            database.execute(
                "SELECT segment, block FROM search_segments"
                f" WHERE space IN ({','.join(map(str, spaces))})"
            )
        )
        self._segments = ",".join(map(str, self._blocks))
        (groups,) = database.execute("SELECT max(number) FROM search_groups").fetchone()
        self._group_blocks = ((groups or 0) >> GROUP_BITS) + 1
        self._counts: dict[str, int] = {}
        self._postings: dict[str, list[Postings]] = {}
        self._kept = 0  # postings
        self._read_recent(change for change in recent.items() if change[1][1] in spaces)

    def _read_recent(self, recent: "Iterable[tuple[tuple[int, bool], Change]]") -> None:
        self._docs: dict[str, list[tuple[int, int]]] = {}  # document and mark
        self._gone: dict[str, list[int]] = {}
        self._group_counts: dict[str, list[tuple[int, int]]] = {}
        counts = frequencies()
        for (doc, removed), (_, _, analysis, groups) in recent:
            if removed:
                for key in (*analysis.terms, *analysis.labels):
                    self._gone.setdefault(key, []).append(doc)
            else:
                length = length_byte(analysis.length)
                for term, code in analysis.terms.items():
                    self._docs.setdefault(term, []).append((doc, code << 8 | length))
                for label in analysis.labels:
                    self._docs.setdefault(label, []).append((doc, 0))
            sign = -1 if removed else 1
            for group in groups:
                for term, code in analysis.terms.items():
                    if code != UNWEIGHTED:
                        listed = self._group_counts.setdefault(term, [])
                        listed.append((group, sign * counts[code]))

    def read_counts(self, terms: "Iterable[str]") -> None:
        """Find out how many notes have these terms, all at once."""
        unknown = [term for term in dict.fromkeys(terms) if term not in self._counts]
        for term in unknown:
            self._counts[term] = len(self._docs.get(term, ())) - len(self._gone.get(term, ()))
        for some in chunks(unknown):
            for term, docs, gone in self._database.execute(
                "SELECT term, sum(length(docs)), sum(length(gone)) FROM search_postings"
                f" WHERE segment IN ({self._segments}) AND term IN ({placeholders(some)})"
                " GROUP BY term",
                some,
            ):
                self._counts[term] += _count_documents(term, docs, gone)

    def count(self, term: str) -> int:
        """How many notes have it."""
        if term not in self._counts:
            self.read_counts((term,))
        return self._counts[term]

    def beginning(self, start: str) -> list[str]:
        """Terms that begin so and that some note has, in alphabetical order."""
        counts = {term: len(docs) for term, docs in self._docs.items() if term.startswith(start)}
        for term in self._gone:
            if term.startswith(start):
                counts[term] = counts.get(term, 0) - len(self._gone[term])
        for segment in self._blocks:
            for term, docs, gone in self._database.execute(
                "SELECT term, length(docs), length(gone) FROM search_postings"
                " WHERE segment = ? AND term >= ? AND term < ?",
                (segment, start, start + LAST_LETTER),
            ):
                counts[term] = counts.get(term, 0) + _count_documents(term, docs, gone)
        self._counts |= counts
        return sorted(term for term, count in counts.items() if count > 0)

    def postings(self, term: str) -> list[Postings]:
        """The documents that have it, those of later blocks first."""
        known = self._postings.get(term)
        if known is None:
            known = self._postings[term] = self._read_postings(term)
            self._kept += sum(len(piece.docs) for piece in known)
        return known

    def _read_postings(self, term: str) -> list[Postings]:
        parts: dict[int, list[bytes]] = {}
        gone = set(self._gone.get(term, ()))
        for segment, docs, left in self._database.execute(
            "SELECT segment, docs, gone FROM search_postings"
            f" WHERE segment IN ({self._segments}) AND term = ? ORDER BY segment, part",
            (term,),
        ):
            if docs:
                parts.setdefault(segment, []).append(docs)
            if left:
                base = self._blocks[segment] * BLOCK
                gone.update(base + offset for offset in memoryview(left).cast("H"))
        pieces = [
            _unpack_parts(term, self._blocks[segment], blobs) for segment, blobs in parts.items()
        ]
        for doc, mark in self._docs.get(term, ()):
            pieces.append(Postings(block_of(doc), (doc & BLOCK - 1,), (mark,)))
        if gone:
            pieces = [_exclude(piece, gone) for piece in pieces]
        pieces.sort(key=lambda piece: -piece.block)
        return pieces

    def forget_if_many(self) -> None:
        """Bound what a living process holds."""
        if self._kept > MOST_KEPT:
            self._postings, self._kept = {}, 0

    def forget(self, term: str) -> None:
        """Keep what was read of it no longer."""
        self._postings.pop(term, None)

    def keys(self) -> "Iterator[str]":
        """All terms, labels and groups that anything is kept of."""
        yield from {*self._docs, *self._gone}
        for (term,) in self._database.execute(
            f"SELECT DISTINCT term FROM search_postings WHERE segment IN ({self._segments})"
        ):
            yield term

    def group_counts(self, term: str) -> dict[int, int]:
        """By group, how often its notes have the term."""
        sums: dict[int, int] = {}
        for group, count in self._group_counts.get(term, ()):
            sums[group] = sums.get(group, 0) + count
        for block in range(self._group_blocks):
            base = block << GROUP_BITS
            for (blob,) in self._database.execute(
                "SELECT groups FROM search_postings"
                f" WHERE segment IN ({self._segments}) AND term = ?",
                (group_key(term, block),),
            ):
                counts = dict(unpack_groups(blob))
                if base:
                    counts = {base + group: count for group, count in counts.items()}
                for group in sums.keys() & counts.keys():
                    counts[group] += sums[group]
                sums.update(counts)
        if min(sums.values(), default=1) > 0:
            return sums
        return {group: count for group, count in sums.items() if count > 0}

    def documents_with(self, label: str) -> "Iterator[int]":
        for block, docs, _ in self.postings(label):
            base = block * BLOCK
            for offset in docs:
                yield base + offset

    def select_having(self, label: str, docs: "Iterable[int]") -> "Iterable[int]":
        """Those of the documents that have the label."""
        return self.marks_at(label, offsets_by_block(docs))

    def marks_at(self, term: str, docs: "Mapping[int, Sequence[int]]") -> dict[int, int]:
        """The marks of those of the documents that have the term; `docs`: offsets by block."""
        found: dict[int, int] = {}
        for block, listed, given in self.postings(term):
            wanted = docs.get(block)
            if wanted:
                base = block * BLOCK
                # Labels have no marks; any number says that they are there.
                for offset, mark in _intersection(wanted, listed, given or listed):
                    found[base + offset] = mark
        return found


def offsets_by_block(docs: "Iterable[int]") -> dict[int, list[int]]:
    """Ascending, by block."""
    found: dict[int, list[int]] = {}
    for doc in sorted(docs):
        found.setdefault(block_of(doc), []).append(doc & BLOCK - 1)
    return found


def _intersection(
    wanted: "Numbers", listed: "Numbers", given: "Numbers"
) -> "Iterator[tuple[int, int]]":
    """Of the wanted offsets those that are listed, with their marks."""
    if len(listed) < 8 * len(wanted):
        chosen = set(wanted)
        yield from (pair for pair in zip(listed, given, strict=True) if pair[0] in chosen)
        return
    for offset in wanted:
        place = bisect_left(listed, offset)
        if place < len(listed) and listed[place] == offset:
            yield offset, given[place]


def _count_documents(term: str, docs: int, gone: int) -> int:
    """How many, from the sizes of their blobs."""
    return docs // (POSTING if has_marks(term) else OFFSET) - gone // OFFSET


def _unpack_parts(term: str, block: int, parts: list[bytes]) -> Postings:
    if has_marks(term):
        return Postings(block, *unpack(join_columns(parts)))
    return Postings(block, memoryview(b"".join(parts)).cast("H"), ())


def _exclude(piece: Postings, gone: set[int]) -> Postings:
    base = piece.block * BLOCK
    kept = [place for place, offset in enumerate(piece.docs) if base + offset not in gone]
    if len(kept) == len(piece.docs):
        return piece
    docs = array("H", [piece.docs[place] for place in kept])
    return Postings(
        piece.block, docs, array("H", [piece.marks[place] for place in kept]) if piece.marks else ()
    )
