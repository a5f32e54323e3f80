"""Postings: which notes have a term, and how much each of them states it.

One row holds the postings of one term in one block of documents: two bytes for the document within
the block and one for the fields of the note that have the term. A row for each posting was measured
too: three times the bytes and three times the time of a question.
"""

from array import array
from bisect import bisect_left
from functools import cache, lru_cache
from math import log, log1p
from typing import TYPE_CHECKING
from zlib import adler32, crc32

from nuggets.domain.sql_interface import chunks, placeholders
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from nuggets.domain.sql_interface import Database

BLOCK = 4096  # documents; a write copies the rows of its terms, which grow with this number
ALL_BLOCKS = -(1 << 40)  # below the number of any block
TITLE, CONTENT, TAG = 0, 1, 2
FIELDS = ("title", "content", "tag")

# A code, one byte: times in the title (0 to 3) above six bits for the content. There, 0 is not in
# the content, 63 is only in a tag, and the others are the weight of its occurrences by powers of
# `STEP`: 41 is one word at the beginning, 62 is 15 of them, 1 is one word 7,600 words later.
STEP, UNIT = 1.14, 41
IN_TAG, MOST_IN_CONTENT, MOST_IN_TITLE = 63, 62, 3
UNWEIGHTED = 0  # a stop word, a word of the metadata, a label: it can be found, and weighs nothing

KEPT_POSTINGS = 4_000_000  # by a long-lived process, 12 MB


@lru_cache(maxsize=65_536)
def term_key(term: str) -> int:
    """What stands for a term in the table, in 46 bits: of a million terms, one in 70 million
    questions meets a wrong one."""
    name = term.encode("utf-8", "replace")
    return crc32(name) << 14 | adler32(name) & 0x3FFF


@lru_cache(maxsize=4096)  # most terms stand once, at one of a few hundred places
def encode(title: int, content: float) -> int:
    """The code of a term that stands so often in the title and weighs so much in the content."""
    level = 0
    if content:
        level = min(max(round(log(content) / log(STEP)) + UNIT, 1), MOST_IN_CONTENT)
    return min(title, MOST_IN_TITLE) << 6 | level


@cache
def decode(code: int) -> tuple[int, float, int]:
    """By field: times in the title, weight in the content, whether only a tag has it."""
    title, level = code >> 6, code & IN_TAG
    if level == IN_TAG:
        return title, 0.0, 1
    return title, STEP ** (level - UNIT) if level else 0.0, 0


@cache
def vector_weights(code: int) -> tuple[float, ...]:
    """By field, the weight of the term in the note's vector: frequent ones weigh a little more."""
    title, content, tag = decode(code)
    return log1p(title), log1p(content), float(tag)


class Rows(NamedTuple):
    """The postings of one term in one block; documents ascend."""

    block: int
    docs: "array[int]"  # within the block
    codes: bytes


class PostingsReader:
    """Reads postings of visible notes, or of archived ones too; each once."""

    def __init__(self, database: "Database", with_archived: bool) -> None:
        self._database = database
        self._lowest = ALL_BLOCKS if with_archived else 0
        self._counts: dict[int, int] = {}
        self._rows: dict[int, list[Rows]] = {}
        self._read = 0

    def forget_if_many(self) -> None:
        """Bound the memory of a long-lived process."""
        if self._read > KEPT_POSTINGS or len(self._counts) > KEPT_POSTINGS // 16:
            self._counts, self._rows, self._read = {}, {}, 0

    def read_counts(self, keys: "Iterable[int]") -> None:
        """Count all of these at once: `count` will not have to."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._counts]
        if not unknown:
            return
        self._counts.update(dict.fromkeys(unknown, 0))
        for some in chunks(unknown):
            self._counts.update(
                self._database.execute(
                    "SELECT term, CAST(sum(length(codes)) AS INTEGER) FROM search_postings"
                    f" WHERE term IN ({placeholders(some)}) AND block >= ? GROUP BY term",
                    (*some, self._lowest),
                )
            )

    def read_term_counts(self, terms: "Iterable[str]") -> None:
        self.read_counts(map(term_key, terms))

    def count(self, term: str) -> int:
        """How many notes have the term."""
        return self.count_of_key(term_key(term))

    def count_of_key(self, key: int) -> int:
        if key not in self._counts:
            self.read_counts((key,))
        return self._counts[key]

    def read(self, keys: "Iterable[int]") -> None:
        """Read all postings of these terms at once."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._rows]
        self._rows.update({key: [] for key in unknown})
        for some in chunks(unknown):
            for key, block, docs, codes in self._database.execute(
                "SELECT term, block, docs, codes FROM search_postings"
                f" WHERE term IN ({placeholders(some)}) AND block >= ? ORDER BY term, block DESC",
                (*some, self._lowest),
            ):
                self._rows[key].append(Rows(block, array("H", docs), codes))
                self._read += len(codes)

    def rows(self, key: int) -> list[Rows]:
        """All postings of a term, newest first."""
        if key not in self._rows:
            self.read((key,))
        return self._rows[key]

    def codes_at(self, key: int, docs: "Mapping[int, Collection[int]]") -> dict[int, int]:
        """By document the code, of those that have the term; `docs` by block, see `by_block`."""
        found: dict[int, int] = {}
        for block, there, codes in self.rows(key):
            wanted = docs.get(block)
            if not wanted:
                continue
            base, most = block * BLOCK, len(there)
            for offset in wanted:
                place = bisect_left(there, offset)
                if place < most and there[place] == offset:
                    found[base + offset] = codes[place]
        return found


def by_block(docs: "Iterable[int]") -> dict[int, list[int]]:
    """Documents within each block."""
    blocks: dict[int, list[int]] = {}
    for doc in docs:
        blocks.setdefault(doc // BLOCK, []).append(doc % BLOCK)
    return blocks


class PostingsWriter:
    """Gathers changes of postings, and writes each row once."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._added: dict[int, dict[int, tuple[array[int], bytearray]]] = {}  # by block and term
        self._removed: dict[int, dict[int, set[int]]] = {}

    def add(self, doc: int, codes: "Mapping[int, int]") -> None:
        """The codes by key. Documents must be added in ascending order within a block."""
        block, offset = divmod(doc, BLOCK)
        rows = self._added.setdefault(block, {})
        for key, code in codes.items():
            row = rows.get(key)
            if row is None:
                rows[key] = (array("H", (offset,)), bytearray((code,)))
            else:
                row[0].append(offset)
                row[1].append(code)

    def remove(self, doc: int, keys: "Iterable[int]") -> None:
        block, offset = divmod(doc, BLOCK)
        rows = self._removed.setdefault(block, {})
        for key in keys:
            rows.setdefault(key, set()).add(offset)

    def write(self) -> list[int]:
        """Write what was gathered; the keys of terms that no note has any more."""
        emptied: list[int] = []
        for block in sorted({*self._added, *self._removed}):
            added, removed = self._added.get(block, {}), self._removed.get(block, {})
            for some in chunks(sorted({*added, *removed})):
                emptied += self._write_rows(block, dict.fromkeys(some), added, removed)
        self._added, self._removed = {}, {}
        return self._without_postings(emptied)

    def _write_rows(
        self,
        block: int,
        keys: "Collection[int]",
        added: "Mapping[int, tuple[array[int], bytearray]]",
        removed: "Mapping[int, set[int]]",
    ) -> list[int]:
        """The keys whose rows were deleted."""
        known = {
            key: (array("H", docs), bytearray(codes))
            for key, docs, codes in self._database.execute(
                "SELECT term, docs, codes FROM search_postings"
                f" WHERE block = ? AND term IN ({placeholders(list(keys))})",
                (block, *keys),
            )
        }
        written, emptied = [], []
        for key in keys:
            docs, codes = known.get(key) or (array("H"), bytearray())
            if key in added:
                docs += added[key][0]
                codes += added[key][1]
            for offset in removed.get(key, ()):
                place = bisect_left(docs, offset)
                if place < len(docs) and docs[place] == offset:
                    del docs[place], codes[place]
            if docs:
                written.append((key, block, docs.tobytes(), bytes(codes)))
            else:
                emptied.append(key)
        self._database.executemany(
            "INSERT INTO search_postings VALUES (?, ?, ?, ?) ON CONFLICT (term, block)"
            " DO UPDATE SET docs = excluded.docs, codes = excluded.codes",
            written,
        )
        if emptied:
            self._database.executemany(
                "DELETE FROM search_postings WHERE term = ? AND block = ?",
                [(key, block) for key in emptied],
            )
        return emptied

    def _without_postings(self, keys: "Iterable[int]") -> list[int]:
        left = set(keys)
        for some in chunks(sorted(left)):
            left.difference_update(
                key
                for (key,) in self._database.execute(
                    "SELECT DISTINCT term FROM search_postings"
                    f" WHERE term IN ({placeholders(some)})",
                    some,
                )
            )
        return sorted(left)
