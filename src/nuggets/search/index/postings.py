"""How postings are packed: document offsets, and a mark of two bytes for each of them.

A mark says in which fields of the note the term stands and how often (one byte, the field code),
and about how long the note is (the other byte), so that notes can be weighed roughly without
being looked up. Knows no database.
"""

from functools import cache
from math import log, log2

from nuggets.search.index.corpus_stats import norm

TITLE, CONTENT, TAG = 0, 1, 2
FIELDS = ("title", "content", "tag")
# A title says what a note is about, so its words count double; a tag says it once more.
FIELD_WEIGHTS = (2, 1, 1)
# How a query is spread over the fields' role keys: most words are asked of the content.
# The squares add up to 1, so the query's vector keeps its length.
QUERY_FIELDS = (0.5, 0.8, 0.33166)

MOST_IN_TITLE, MOST_IN_CONTENT = 3, 31  # times that are told apart
IN_TAG = 32
UNWEIGHTED = 0  # field code of a stop word: it can be found, and is no part of the vector

BLOCK_BITS = 16
BLOCK = 1 << BLOCK_BITS  # document numbers whose offsets fit into two bytes
EXACT_LENGTHS = 128  # shorter lengths are kept as they are, longer ones roughly
STEPS = 12  # per doubling of the length


def field_code(title: int, content: int) -> int:
    """How often a term stands in the title and in the content, in one byte."""
    return min(title, MOST_IN_TITLE) << 6 | min(content, MOST_IN_CONTENT)


def times(code: int) -> tuple[int, int, int]:
    """How often the term stands in each of the fields."""
    return code >> 6, code & MOST_IN_CONTENT, int(code & IN_TAG > 0)


@cache
def frequencies() -> tuple[int, ...]:
    """By field code, the weighted number of times."""
    return tuple(
        sum(a * b for a, b in zip(times(code), FIELD_WEIGHTS, strict=True)) or 1
        for code in range(256)
    )


def _weights(code: int) -> list[float]:
    return [1 + log(count) if count else 0.0 for count in times(code)]


@cache
def squares() -> tuple[float, ...]:
    """By field code, what the term adds to the squared length of the note's vector."""
    return tuple(sum(weight * weight for weight in _weights(code)) for code in range(256))


@cache
def impacts() -> tuple[float, ...]:
    """By field code, the term's product with a query vector, before the note's is normalised."""
    return tuple(
        sum(a * b for a, b in zip(_weights(code), QUERY_FIELDS, strict=True)) for code in range(256)
    )


def length_byte(length: int) -> int:
    if length < EXACT_LENGTHS:
        return length
    return min(255, int(EXACT_LENGTHS + STEPS * log2(length / EXACT_LENGTHS)))


def length_of(byte: int) -> float:
    """About the length that the byte stands for."""
    if byte < EXACT_LENGTHS:
        return byte
    return float(EXACT_LENGTHS * 2 ** ((byte - EXACT_LENGTHS + 0.5) / STEPS))


class Shares(dict[int, float]):
    """By mark, how much of a query term a note answers; computed when first asked for."""

    def __init__(self, weight: float, part: float, mean: float) -> None:
        self.weight, self.part, self.mean = weight, part, mean

    def __missing__(self, mark: int) -> float:
        heard = frequencies()[mark >> 8] * self.weight
        share = self.part * (heard / (heard + norm(length_of(mark & 255), self.mean)))
        self[mark] = share
        return share
