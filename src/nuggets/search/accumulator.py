"""Sums of shares over postings, in plain Python and with NumPy: both give the same numbers.

Loading NumPy costs a cold command more than the sums themselves; a process that has it loaded
anyway sums ten times as fast with it.
"""

import sys
from bisect import bisect_left
from functools import cache, lru_cache
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from nuggets.search.corpus_stats import norm
from nuggets.search.postings import BLOCK, frequencies, length_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from nuggets.search.inverted_index import Postings
    from nuggets.search.postings import Shares

    Offsets = Mapping[int, set[int]]  # by block

WORTH_A_LOOK = 0.3  # of the largest amount; where enough have that much, nobody else is asked
ENOUGH = 0.1  # of as many as are wanted
ROUNDING = 1e-12  # equal sums may differ by that much, and equals stay together
WORTH_LOADING = 20  # questions; then NumPy has paid for itself soon
FAR_FEWER = 16  # times; so much shorter is the list that is worth being looked up in the other


class Accumulator(Protocol):
    """How much of a question each document has."""

    def add(self, piece: "Postings", shares: "Shares") -> None:
        """Add the share of each document."""

    def add_to_known(self, piece: "Postings", shares: "Shares") -> None:
        """The same, only for documents that have a share already."""

    def keep_above(self, least: float) -> None:
        """Forget all documents that have less."""

    def best(self, most: int, eligible: "Offsets | None") -> dict[int, float]:
        """The documents that have most, about so many."""


class _Questions:
    """How many were asked in this process: one that goes on asking is worth loading NumPy for."""

    asked = 0


def accumulator() -> Accumulator:
    _Questions.asked += 1
    if "numpy" in sys.modules or _Questions.asked > WORTH_LOADING:
        return NumpyAccumulator()
    return PlainAccumulator()


class PlainAccumulator:
    """Keeps a dict of offsets for each block."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[int, float]] = {}

    def add(self, piece: "Postings", shares: "Shares") -> None:
        scores = self._blocks.get(piece.block)
        if not scores:
            self._blocks[piece.block] = dict(
                zip(piece.docs, map(shares.__getitem__, piece.marks), strict=True)
            )
            return
        for doc, mark in zip(piece.docs, piece.marks, strict=True):
            scores[doc] = scores.get(doc, 0.0) + shares[mark]

    def add_to_known(self, piece: "Postings", shares: "Shares") -> None:
        scores, docs, marks = self._blocks.get(piece.block), piece.docs, piece.marks
        if not scores:
            return
        if FAR_FEWER * len(scores) > len(docs):
            for doc, mark in zip(docs, marks, strict=True):
                if doc in scores:
                    scores[doc] += shares[mark]
            return
        count = len(docs)
        for doc in scores:
            place = bisect_left(docs, doc)
            if place < count and docs[place] == doc:
                scores[doc] += shares[marks[place]]

    def keep_above(self, least: float) -> None:
        for block, scores in self._blocks.items():
            self._blocks[block] = {doc: score for doc, score in scores.items() if score >= least}

    def best(self, most: int, eligible: "Offsets | None") -> dict[int, float]:
        blocks: Iterable[tuple[int, Mapping[int, float]]] = self._blocks.items()
        if eligible is not None:
            blocks = [
                (block, {doc: scores[doc] for doc in scores.keys() & eligible.get(block, set())})
                for block, scores in blocks
            ]
        best = max(chain.from_iterable(scores.values() for _, scores in blocks), default=0.0)
        chosen = _select_above(blocks, WORTH_A_LOOK * best)
        if len(chosen) < ENOUGH * most:
            chosen = _select_above(blocks, 0.0)
        return _limit(chosen, most)


def _select_above(
    blocks: "Iterable[tuple[int, Mapping[int, float]]]", least: float
) -> dict[int, float]:
    return {
        block * BLOCK + doc: score
        for block, scores in blocks
        for doc, score in scores.items()
        if score > least
    }


class NumpyAccumulator:
    """Keeps an array of all offsets for each block."""

    def __init__(self) -> None:
        self._blocks: dict[int, NDArray[Any]] = {}

    def add(self, piece: "Postings", shares: "Shares") -> None:
        import numpy as np

        scores = self._blocks.get(piece.block)
        if scores is None:
            scores = self._blocks[piece.block] = np.zeros(BLOCK)
        docs, found = _arrays(piece, shares)
        scores[docs] += found

    def add_to_known(self, piece: "Postings", shares: "Shares") -> None:
        scores = self._blocks.get(piece.block)
        if scores is not None:
            docs, found = _arrays(piece, shares)
            scores[docs] += found * (scores[docs] > 0)

    def keep_above(self, least: float) -> None:
        for scores in self._blocks.values():
            scores[scores < least] = 0.0

    def best(self, most: int, eligible: "Offsets | None") -> dict[int, float]:
        import numpy as np

        blocks = dict(self._blocks)
        if eligible is not None:
            for block, scores in blocks.items():
                allowed = np.zeros(BLOCK, bool)
                allowed[list(eligible.get(block, ()))] = True
                blocks[block] = scores * allowed
        best = max((float(scores.max()) for scores in blocks.values()), default=0.0)
        chosen = {block: scores > WORTH_A_LOOK * best for block, scores in blocks.items()}
        if sum(int(one.sum()) for one in chosen.values()) < ENOUGH * most:
            chosen = {block: scores > 0 for block, scores in blocks.items()}
        least = 0.0
        amounts = [scores[chosen[block]] for block, scores in blocks.items()]
        if sum(map(len, amounts)) > most:
            least = float(np.partition(np.concatenate(amounts), -most)[-most])
        found: dict[int, float] = {}
        for block, scores in blocks.items():
            docs = np.flatnonzero(chosen[block] & (scores > least - ROUNDING))
            found.update(zip((docs + block * BLOCK).tolist(), scores[docs].tolist(), strict=True))
        return _limit(found, most)


def _arrays(piece: "Postings", shares: "Shares") -> "tuple[NDArray[Any], NDArray[Any]]":
    """Offsets, and the share of each."""
    import numpy as np

    marks = np.asarray(piece.marks, np.uint16)
    frequency = _frequencies()[marks >> 8] * shares.weight
    norms = _norms(shares.mean)[marks & 255]
    docs = np.asarray(piece.docs, np.uint16).astype(np.intp)
    return docs, shares.part * (frequency / (frequency + norms))


@cache
def _frequencies() -> "NDArray[Any]":
    """By field code."""
    import numpy as np

    return np.array(frequencies(), float)


@lru_cache(maxsize=2)
def _norms(mean: float) -> "NDArray[Any]":
    """By length byte."""
    import numpy as np

    return np.array([norm(length_of(byte), mean) for byte in range(256)])


def strongest(amounts: "Mapping[int, float]", most: int) -> dict[int, float]:
    """The largest amounts above zero, about so many: equals stay together, within bounds."""
    best = max(amounts.values(), default=0.0)
    chosen = {key: amount for key, amount in amounts.items() if amount > WORTH_A_LOOK * best}
    if len(chosen) < ENOUGH * most:
        chosen = {key: amount for key, amount in amounts.items() if amount > 0}
    return _limit(chosen, most)


def _limit(chosen: dict[int, float], most: int) -> dict[int, float]:
    if len(chosen) <= most:
        return chosen
    least = nlargest(most, chosen.values())[-1]
    wanted = {key: amount for key, amount in chosen.items() if amount > least - ROUNDING}
    if len(wanted) <= 2 * most:
        return wanted
    above = {key: amount for key, amount in wanted.items() if amount > least + ROUNDING}
    # Too many equals: the newest of them.
    equals = sorted((key for key in wanted if key not in above), reverse=True)
    return above | {key: wanted[key] for key in equals[: most - len(above)]}
