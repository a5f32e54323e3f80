"""Adds up the scores of postings, in plain Python or with NumPy; both give the same numbers.

Loading NumPy costs a cold command more than the sums themselves; a process that has it loaded
anyway sums ten times as fast with it.
"""

import sys
from bisect import bisect_left
from functools import lru_cache
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from nuggets.search.index.corpus_stats import norm
from nuggets.search.index.postings import BLOCK, frequencies, length_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from nuggets.search.index.postings import Shares
    from nuggets.search.index.segment_reader import Postings

    Offsets = Mapping[int, set[int]]  # by block

WORTH_A_LOOK = 0.3  # of the largest amount; the rest is dropped if enough documents have this
ENOUGH = 0.1  # of the number wanted
ROUNDING = 1e-12  # equal sums may differ by this much; equals are kept or dropped together
WORTH_LOADING = 20  # questions in one process; from then on loading NumPy saves time
NO_MARK = 1 << 16  # in place of the mark of a document that does not have the term
FAR_FEWER = 16  # times; a list this much shorter is looked up entry by entry


class Accumulator(Protocol):
    """How much of a question each document has."""

    def add(self, piece: "Postings", shares: "Shares") -> None:
        """Add the share of each document."""

    def add_to_scored(self, piece: "Postings", shares: "Shares") -> None:
        """Add the share of each document that has a score already."""

    def keep_above(self, least: float) -> None:
        """Forget all documents that have less."""

    def best(self, most: int, eligible: "Offsets | None") -> dict[int, float]:
        """The documents with the highest scores, about `most` of them."""

    def largest(self, most: int, eligible: "Offsets | None") -> "Sequence[float] | NDArray[Any]":
        """The highest scores, at most `most`, in descending order."""


class _Questions:
    """Counts the questions of this process, because loading NumPy pays only after some."""

    count = 0


def is_numpy_worthwhile() -> bool:
    """Whether to use NumPy; must be called once per question."""
    _Questions.count += 1
    return "numpy" in sys.modules or _Questions.count > WORTH_LOADING


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

    def add_to_scored(self, piece: "Postings", shares: "Shares") -> None:
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

    def largest(self, most: int, eligible: "Offsets | None") -> "Sequence[float]":
        return nlargest(most, self.best(most, eligible).values())


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
    """Keeps one array with a place for each document."""

    def __init__(self) -> None:
        import numpy as np

        self._scores: NDArray[Any] = np.zeros(0)
        self._has_score: NDArray[Any] = np.zeros(0, bool)  # takes an eighth of the time to look at
        self._scored: NDArray[Any] | None = None  # documents with a score, when computed

    def add(self, piece: "Postings", shares: "Shares") -> None:
        import numpy as np

        docs = np.asarray(piece.docs, np.uint16).astype(np.intp)
        docs += piece.block * BLOCK
        missing = int(docs[-1]) + 1 - len(self._scores)
        if missing > 0:
            self._scores = np.concatenate((self._scores, np.zeros(missing)))
            self._has_score = np.concatenate((self._has_score, np.zeros(missing, bool)))
        self._scores[docs] += _amounts(np.asarray(piece.marks, np.uint16), shares)
        self._has_score[docs] = True
        self._scored = None

    def add_to_scored(self, piece: "Postings", shares: "Shares") -> None:
        import numpy as np

        scored, base = self._scored_docs(), piece.block * BLOCK
        start, end = scored.searchsorted((base, base + BLOCK)).tolist()
        docs = scored[start:end]
        marks = marks_of(piece, (docs - base).astype(np.uint16))
        self._scores[docs] += _amounts(marks, shares)

    def keep_above(self, least: float) -> None:
        scored = self._scored_docs()
        amounts = self._scores[scored]
        dropped = scored[amounts < least]
        self._scores[dropped] = 0.0
        self._has_score[dropped] = False
        self._scored = scored[amounts >= least]

    def best(self, most: int, eligible: "Offsets | None") -> dict[int, float]:
        docs, amounts = self._best(most, eligible)
        return dict(zip(docs.tolist(), amounts.tolist(), strict=True))

    def largest(self, most: int, eligible: "Offsets | None") -> "NDArray[Any]":
        _, amounts = self._best(most, eligible)
        amounts.sort()
        return amounts[: -most - 1 : -1]

    def _scored_docs(self) -> "NDArray[Any]":
        if self._scored is None:
            (self._scored,) = self._has_score.nonzero()
        return self._scored

    def _best(self, most: int, eligible: "Offsets | None") -> "tuple[NDArray[Any], NDArray[Any]]":
        """Documents and their scores."""
        docs = self._scored_docs()
        if eligible is not None:
            docs = docs[self._eligibility_mask(eligible)[docs]]
        amounts = self._scores[docs]
        places = strongest_places(amounts, most)
        return docs[places], amounts[places]

    def _eligibility_mask(self, eligible: "Offsets") -> "NDArray[Any]":
        import numpy as np

        mask = np.zeros(len(self._scores), bool)
        for block, offsets in eligible.items():
            block_mask = mask[block * BLOCK : (block + 1) * BLOCK]
            docs = np.fromiter(offsets, np.intp, len(offsets))
            block_mask[docs[docs < len(block_mask)]] = True
        return mask


def _amounts(marks: "NDArray[Any]", shares: "Shares") -> "NDArray[Any]":
    amounts: NDArray[Any] = _share_table(shares.weight, shares.mean)[marks]
    amounts *= shares.part
    return amounts


@lru_cache(maxsize=8)
def _share_table(weight: float, mean: float) -> "NDArray[Any]":
    """By mark, the share of a term that a note answers."""
    import numpy as np

    counts = np.array(frequencies(), float)[:, None] * weight
    norms = np.array([norm(length_of(byte), mean) for byte in range(256)])
    table: NDArray[Any] = np.append(counts / (counts + norms), 0.0)  # of `NO_MARK`
    return table


def marks_of(piece: "Postings", offsets: "NDArray[Any]") -> "NDArray[Any]":
    """The marks of these documents of the block; `NO_MARK` of those that are not listed."""
    import numpy as np

    docs, marks = np.asarray(piece.docs, np.uint16), np.asarray(piece.marks, np.uint16)
    return look_up(docs, marks, offsets, NO_MARK)


def look_up(
    listed: "NDArray[Any]", values: "NDArray[Any]", wanted: "NDArray[Any]", missing: int
) -> "NDArray[Any]":
    """The values of wanted numbers in an ascending list; `missing` of those that it lacks."""
    import numpy as np

    if not len(listed):
        return np.full(len(wanted), missing)
    places = listed.searchsorted(wanted)
    found = values.take(places, mode="clip").astype(np.int64)
    found[listed.take(places, mode="clip") != wanted] = missing
    return found


def strongest_places(
    amounts: "NDArray[Any]", most: int, docs: "NDArray[Any] | None" = None
) -> "NDArray[Any]":
    """The same as `strongest`, as places in an array of amounts. Its documents ascend, or are
    those of `docs`."""
    import numpy as np

    best = amounts.max(initial=0.0)
    places: NDArray[Any]
    (places,) = (amounts > WORTH_A_LOOK * best).nonzero()
    if len(places) < ENOUGH * most:
        (places,) = (amounts > 0).nonzero()
    if len(places) <= most:
        return places
    chosen = amounts[places]
    least = np.partition(chosen, -most)[-most]
    places = places[chosen > least - ROUNDING]
    if len(places) <= 2 * most:
        return places
    is_above = amounts[places] > least + ROUNDING
    above, equals = places[is_above], places[~is_above]
    # Too many equals: the newest of them.
    order = np.argsort(-(equals if docs is None else docs[equals]))
    return np.concatenate((above, equals[order[: most - len(above)]]))


def strongest(amounts: "Mapping[int, float]", most: int) -> dict[int, float]:
    """About `most` of the largest amounts above zero; equals stay together, up to twice `most`."""
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
