"""Postings: which notes have a term, and how much each of them states it.

One row holds the postings of one term in one block of documents: two bytes for the document within
the block and one for the fields of the note that have the term. A row for each posting was measured
too: three times the bytes and three times the time of a question.
"""

from array import array
from bisect import bisect_left
from functools import cache, lru_cache
from math import inf, log, log1p
from operator import mul
from typing import TYPE_CHECKING
from zlib import adler32, crc32

from nuggets.domain.state import chunks, placeholders
from nuggets.named_tuple import NamedTuple
from nuggets.search.weights import QUERY_FIELDS, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from nuggets.domain.state import Database

BLOCK = 4096  # documents; a write copies the rows of its terms, which grow with this number
FIELDS = ("title", "content", "tag")

# A code, one byte: times in the title (0 to 3) above six bits for the content. There, 0 is not in
# the content, 63 is only in a tag, and the others are the weight of its occurrences by powers of
# `STEP`: 41 is one word at the beginning, 62 is 15 of them, 1 is one word 7,600 words later.
STEP, UNIT = 1.14, 41
IN_TAG, MOST_IN_TITLE = 63, 3
CODES = range(256)
UNWEIGHTED = 0  # a stop word, a word of the metadata, a label: it can be found, and weighs nothing

MOST_KEYS = 65_536  # that a process remembers, 8 MB
KEPT_POSTINGS = 2_000_000  # by a long-lived process, 6 MB; by a write, 20 MB
FEW = 8  # times as many postings: to look for each document takes less time than to read them all


@lru_cache(MOST_KEYS)
def term_key(term: str) -> int:
    """What stands for the term in the table, in 46 bits: of a million terms, one in 70 million
    questions meets a wrong one."""
    name = term.encode("utf-8", "replace")
    return crc32(name) << 14 | adler32(name) & 0x3FFF


@lru_cache(MOST_KEYS)  # most terms stand once, at one of a few hundred places
def level_of(weight: float) -> int:
    """Of a term that weighs so much in the content, the lower six bits of its code."""
    return min(max(round(log(weight) / log(STEP)) + UNIT, 1), IN_TAG - 1)


def encode(title: int, content: float) -> int:
    """The code of a term that stands so often in the title and weighs so much in the content."""
    return min(title, MOST_IN_TITLE) << 6 | (level_of(content) if content else 0)


@cache
def decode(code: int) -> tuple[int, float, int]:
    """By field: times in the title, weight in the content, whether only a tag has it."""
    title, level = code >> 6, code & IN_TAG
    if level == IN_TAG:
        return title, 0.0, 1
    return title, STEP ** (level - UNIT) if level else 0.0, 0


@cache
def square(code: int) -> float:
    """The square of the term's weight in the note's vector."""
    return sum(weight * weight for weight in vector_weights(code))


@cache
def vector_weights(code: int) -> tuple[float, ...]:
    """By field, the weight of the term in the note's vector: frequent ones weigh a little more."""
    title, content, tag = decode(code)
    return log1p(title), log1p(content), float(tag)


@cache
def posting_weights() -> list[float]:
    """By code of a posting, how much the note states the term."""
    weights = [WEIGHTS.title * title + content + tag for title, content, tag in map(decode, CODES)]
    weights[UNWEIGHTED] = 1.0
    return weights


@cache
def impacts() -> list[float]:
    """By code, the term's product with a query vector, before the note's is normalised."""
    return [sum(map(mul, vector_weights(code), QUERY_FIELDS)) for code in CODES]


class Row(NamedTuple):
    """The postings of one term in one block; documents ascend."""

    docs: "array[int]"  # within the block
    codes: bytes

    def codes_of(self, wanted: "Collection[int]") -> dict[int, int]:
        """By document the code, of the wanted ones that the row has."""
        docs, codes = self
        if len(wanted) * FEW > len(docs):
            by_doc = dict(zip(docs, codes))  # noqa: B905  a check costs a tenth
            return {doc: by_doc[doc] for doc in by_doc.keys() & wanted}
        found, most = {}, len(docs)
        for doc in wanted:
            place = bisect_left(docs, doc)
            if place < most and docs[place] == doc:
                found[doc] = codes[place]
        return found


class PostingsReader:
    """Reads postings of visible notes, or of archived ones too; each once."""

    def __init__(
        self, database: "Database", with_archived: bool, documents: int, recent: int
    ) -> None:
        """`documents`: how many numbers visible notes have; `recent`: notes that no block has."""
        self._database = database
        self._only = "" if with_archived else " AND {} >= 0"  # column of the block or document
        self._blocks = documents // BLOCK + 1
        self._has_recent = recent > 0
        self._counts: dict[int, int] = {}
        self._recent: dict[int, dict[int, Row]] = {}  # by key and block
        self._rows: dict[int, dict[int, Row | None]] = {}  # by key and block
        self._complete: set[int] = set()  # keys all of whose rows were read
        self._read = 0

    @property
    def is_full(self) -> bool:
        return self._read > KEPT_POSTINGS or len(self._counts) > KEPT_POSTINGS // 16

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
                    f" WHERE term IN ({placeholders(some)}){self._only.format('block')}"
                    " GROUP BY term",
                    some,
                )
            )
            if self._has_recent:
                self._read_recent(some)

    def _read_recent(self, keys: "Sequence[int]") -> None:
        postings: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for key, doc, code in self._database.execute(
            "SELECT term, doc, code FROM search_recent"
            f" WHERE term IN ({placeholders(keys)}){self._only.format('doc')} ORDER BY term, doc",
            keys,
        ):
            postings.setdefault((key, doc // BLOCK), []).append((doc % BLOCK, code))
        for (key, block), listed in postings.items():
            docs, codes = zip(*listed, strict=True)
            self._recent.setdefault(key, {})[block] = Row(array("H", docs), bytes(codes))
            self._counts[key] += len(codes)

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
        unknown = [key for key in dict.fromkeys(keys) if key not in self._complete]
        self.read_counts(unknown)
        self._complete.update(unknown)
        for some in chunks(unknown):
            self._keep(f"term IN ({placeholders(some)})", some)

    def newest(self, key: int, most: int) -> "Iterator[tuple[int, Row]]":
        """The newest postings of a term, about so many if it has more, by block."""
        count, first = self.count_of_key(key), -inf
        if count <= most:
            self.read((key,))
        else:
            first = self._blocks - 1 - most * self._blocks // count
            if key not in self._complete:
                self._keep("term = ? AND block >= ?", (key, first))
        yield from self._recent.get(key, {}).items()
        rows = self._rows.get(key, {})
        for block in sorted(rows, reverse=True):
            row = rows[block]
            if row is not None and block >= first:
                yield block, row

    def documents(self, key: int) -> "Iterator[int]":
        """All that have the term."""
        for block, row in self.newest(key, self.count_of_key(key)):
            yield from map((block * BLOCK).__add__, row.docs)

    def codes_of(
        self, key: int, docs: "Mapping[int, Collection[int]]"
    ) -> "Iterator[tuple[int, dict[int, int]]]":
        """By block the codes by document, of those that have the term; `docs` as of `by_block`."""
        if not self.count_of_key(key):
            return
        rows, recent = self._rows.setdefault(key, {}), self._recent.get(key, {})
        if key not in self._complete:
            unread = sorted(block for block in docs if block not in rows)
            rows.update(dict.fromkeys(unread))
            for some in chunks(unread):
                self._keep(f"term = ? AND block IN ({placeholders(some)})", (key, *some))
        for block, wanted in docs.items():
            for row in (rows.get(block), recent.get(block)):
                if row is not None:
                    yield block, row.codes_of(wanted)

    def codes_at(self, key: int, docs: "Mapping[int, Collection[int]]") -> dict[int, int]:
        """By document the code, of those that have the term; `docs` as of `by_block`."""
        found: dict[int, int] = {}
        for block, codes in self.codes_of(key, docs):
            found.update(zip(map((block * BLOCK).__add__, codes), codes.values(), strict=True))
        return found

    def _keep(self, condition: str, parameters: "Sequence[int]") -> None:
        """Read and keep rows."""
        for key, block, docs, codes in self._database.execute(
            "SELECT term, block, docs, codes FROM search_postings"
            f" WHERE {condition}{self._only.format('block')}",
            parameters,
        ):
            self._rows.setdefault(key, {})[block] = Row(array("H", docs), codes)
            self._read += len(codes)


def by_block(docs: "Iterable[int]") -> dict[int, list[int]]:
    """Documents within each block."""
    blocks: dict[int, list[int]] = {}
    for doc in docs:
        blocks.setdefault(doc // BLOCK, []).append(doc % BLOCK)
    return blocks
