"""The same results as `note_and_neighbour_scores` and `ranking`, computed with NumPy.

For processes that have NumPy loaded: loading it costs a cold one more than it saves.
"""

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from nuggets.named_tuple import NamedTuple
from nuggets.search.index.corpus_stats import group_norms, norms
from nuggets.search.index.documents import ASKS
from nuggets.search.index.postings import BLOCK, BLOCK_BITS, frequencies, impacts
from nuggets.search.scoring.note_and_neighbour_scores import Scorer, lending_factor
from nuggets.search.scoring.posting_sums import (
    NO_MARK,
    NumpyAccumulator,
    look_up,
    marks_of,
    strongest_places,
)
from nuggets.search.scoring.ranking import Ranking, Signal, combine
from nuggets.search.scoring.weights import (
    ASKING,
    ENOUGH_WORDS,
    GROUP,
    INFORMATIVE,
    NEAR_IN_NOTE,
    NEAR_IN_QUERY,
    NEAR_ROLES,
    NEIGHBOUR,
    SECOND_NEIGHBOUR,
    TEXT_SCALE,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from nuggets.search.index.documents import Document, Neighbour
    from nuggets.search.scoring.posting_sums import Offsets

    Floats = NDArray[np.float64]

# By field code; the last one is that of `NO_MARK`.
FREQUENCIES = np.array([*frequencies(), 0.0])
IMPACTS = np.array([*impacts(), 0.0])


class ClosenessArrays(NamedTuple):
    """How near several notes are to the question, computed exactly."""

    shares: "Floats"  # by note and word, in [0, 1): how far the note answers the word
    complete: "NDArray[np.bool_]"  # whether the note itself has every word
    cosine: "Floats"  # with the note alone
    near: "Floats"  # sum of the cosines with its neighbours
    neighbour_counts: "Floats"


class _Flow:
    """Amounts that notes pass on to their neighbours, by the places of both."""

    def __init__(self, passed: "list[tuple[int, int, float]]") -> None:
        """Targets, sources and amounts."""
        targets, sources, amounts = zip(*passed, strict=True) if passed else ((), (), ())
        self.targets, self.sources = np.array(targets, np.intp), np.array(sources, np.intp)
        self._amounts = np.array(amounts)[:, None]

    def add_to(self, total: "Floats", values: "Floats") -> None:
        np.add.at(total, self.targets, values[self.sources] * self._amounts)


class ArrayScorer(Scorer):
    """Scores the notes of a snapshot for one question."""

    def _new_accumulator(self) -> NumpyAccumulator:
        return NumpyAccumulator()

    def best_group_shares(self, rows: "list[Document]") -> "Floats":
        """By note, how much of the question that one of its groups has which has most of it."""
        groups = [row.groups for row in rows]
        shares, sizes = self._group_shares([*chain.from_iterable(groups)]), [*map(len, groups)]
        if set(sizes) == {1}:
            return shares
        best = np.zeros(len(rows))
        np.maximum.at(best, np.arange(len(rows)).repeat(sizes), shares)
        return best

    def _group_shares(self, groups: "list[int]") -> "Floats":
        """The same as `group_shares`, by place."""
        wanted, lengths = np.array(groups, int), np.array(self._snapshot.group_lengths(groups))
        half = group_norms(np.maximum(lengths, 0), self._snapshot.stats.group_mean)
        answered = np.zeros(len(groups))
        for term in self._group_terms():
            numbers, counts = self._index.group_count_arrays(term.term)
            found = look_up(numbers, counts, wanted, 0) * term.weight
            part = self._part_among_groups(term, len(numbers))
            answered += part * (found / (found + half))
        answered[lengths < 0] = 0.0
        return answered

    def closeness_arrays(self, rows: "list[Document]") -> ClosenessArrays:
        """The same as `closeness`; the notes come first, their neighbours after them."""
        neighbours = self._neighbours_within_two(rows)
        documents = {row.doc: row for row in rows}
        for listed in neighbours.values():
            for neighbour, _ in listed:
                documents.setdefault(neighbour.doc, neighbour)
        word_counts, products = self._frequency_arrays(documents)
        cosines = products / np.maximum([row.norm for row in documents.values()], 1e-6)
        count = len(rows)
        direct = word_counts[:count]
        total, near, neighbour_counts = self._add_neighbour_counts(
            rows, neighbours, documents, word_counts, cosines
        )
        half = norms(np.array([row.length for row in rows]), self._mean)
        shares = total / (total + half[:, None])
        return ClosenessArrays(
            shares, np.all(direct, axis=1), cosines[:count], near, neighbour_counts
        )

    def _frequency_arrays(self, docs: "Collection[int]") -> "tuple[Floats, Floats]":
        """By place of the document, how often it has each word, and its dot product with the
        query's vector."""
        numbers = np.fromiter(docs, np.intp, len(docs))
        order = numbers.argsort()
        codes = self._marks_at(numbers[order]) >> 8
        counts = np.zeros((len(self.parts), len(docs)))
        for term, frequencies_of_term in zip(self._terms, FREQUENCIES[codes], strict=True):
            words = counts[term.slot]
            np.maximum(words, frequencies_of_term * term.weight, out=words)
        word_counts, products = np.empty(counts.T.shape), np.empty(len(docs))
        word_counts[order] = counts.T
        products[order] = np.array([term.pull for term in self._terms]) @ IMPACTS[codes]
        return word_counts, products

    def _marks_at(self, docs: "NDArray[Any]") -> "NDArray[Any]":
        """By term and place of the document, which are ascending, its mark, or `NO_MARK`."""
        marks = np.full((len(self._terms), len(docs)), NO_MARK)
        blocks = range(int(docs[0]) >> BLOCK_BITS, (int(docs[-1]) >> BLOCK_BITS) + 1)
        bounds = docs.searchsorted([block << BLOCK_BITS for block in (*blocks, blocks.stop)])
        slices = dict(zip(blocks, map(slice, bounds.tolist(), bounds[1:].tolist()), strict=False))
        offsets = (docs & BLOCK - 1).astype(np.uint16)
        for term, marks_of_term in zip(self._terms, marks, strict=True):
            for piece in self._index.postings(term.term):
                places = slices.get(piece.block)
                if places:  # of notes that wait for a segment there is another piece
                    known = marks_of_term[places]
                    np.minimum(known, marks_of(piece, offsets[places]), out=known)
        return marks

    def _add_neighbour_counts(
        self,
        rows: "list[Document]",
        neighbours: "Mapping[int, list[Neighbour]]",
        documents: "Mapping[int, Document]",
        word_counts: "Floats",
        cosines: "Floats",
    ) -> "tuple[Floats, Floats, Floats]":
        """Counts of the words with the neighbours' share added, sums of the cosines with the
        neighbours, and numbers of neighbours."""
        direct = word_counts[: len(rows)]
        count = len(rows)
        if not neighbours:
            return direct, np.zeros(count), np.zeros(count)
        places = {doc: place for place, doc in enumerate(documents)}
        to_neighbours, beyond_them = [], []
        for place, row in enumerate(rows):
            for near, flow in neighbours.get(row.doc, ()):
                amount = NEIGHBOUR * flow * row.reach * lending_factor(near)
                to_neighbours.append((place, places[near.doc], amount))
                through = SECOND_NEIGHBOUR * flow * row.reach * near.reach**2
                for beyond, further in neighbours.get(near.doc, ()):
                    amount = through * further * lending_factor(beyond)
                    beyond_them.append((place, places[beyond.doc], amount))
        once, twice = _Flow(to_neighbours), _Flow(beyond_them)
        total, far = direct.copy(), np.zeros(direct.shape)
        once.add_to(total, word_counts)
        twice.add_to(far, word_counts)
        total += far * (direct == 0)  # not lent back to the note that it came from
        near_sums, neighbour_counts = (
            np.bincount(once.targets, weights, count).astype(float)
            for weights in (cosines[once.sources], None)
        )
        return total, near_sums, neighbour_counts


class ArrayRanking(Ranking):
    """Ranks the notes of a snapshot for one question."""

    _scorer: ArrayScorer

    def _new_scorer(self) -> ArrayScorer:
        return ArrayScorer(self._query, self._snapshot)

    def signals(self, eligible: "Offsets | None", most: int) -> list[Signal]:
        rough, candidates, subjects = self._candidates(eligible)
        rows = self._snapshot.documents.load(candidates)
        if not rows:
            return []
        extras = self._sums_of_extras(rows, subjects)
        if len(rows) > most:
            amounts = np.array([rough[row.doc] for row in rows]) + extras - ASKING
            docs = np.array([row.doc for row in rows])
            places = strongest_places(amounts, most, docs)
            rows, extras = [rows[place] for place in places.tolist()], extras[places]
        return self._exact_signals(rows, extras)

    def signals_of(self, docs: "Sequence[int]") -> list[Signal]:
        """Signals of these notes, whether or not they have a word of the question."""
        rows = self._snapshot.documents.load(docs)
        if not rows:
            return []
        subjects = self._subjects(docs)
        signals = self._exact_signals(rows, self._sums_of_extras(rows, subjects))
        return [_neutral_if_unrelated(signal, subjects) for signal in signals]

    def _exact_signals(self, rows: "list[Document]", extras: "Floats") -> list[Signal]:
        close = self._scorer.closeness_arrays(rows)
        words = close.shares @ np.array(self._scorer.parts)
        text = np.minimum(np.maximum((words + extras) / TEXT_SCALE, 0.0), 1.0)
        vector = (1 + _cosines_of_all(close)) / 2
        columns = (text, vector, words, close.complete, combine(text, vector))
        return list(map(Signal, rows, *(column.tolist() for column in columns)))

    def _sums_of_extras(self, rows: "list[Document]", subjects: dict[int, float]) -> "Floats":
        lengths = np.array([row.length for row in rows], float)
        sums: Floats = INFORMATIVE * np.minimum(lengths / ENOUGH_WORDS, 1.0)
        sums += ASKING * np.array([row.flags & ASKS > 0 for row in rows])
        if self._snapshot.stats.groups:
            sums += GROUP * self._scorer.best_group_shares(rows)
        if subjects:
            sums += np.array([subjects.get(row.doc, 0.0) for row in rows])
        if self._is_timed:
            sums += np.array([self._time(row) for row in rows])
        return sums


def _neutral_if_unrelated(signal: Signal, subjects: dict[int, float]) -> Signal:
    """The signal; without its extras if neither a word nor the title belongs to the question."""
    if signal.words or signal.document.doc in subjects:
        return signal
    return Signal(signal.document, 0.0, 0.5, 0.0, False, combine(0.0, 0.5))


def _cosines_of_all(close: ClosenessArrays) -> "Floats":
    """Cosines with the whole vectors, the neighbours' parts included."""
    asked = np.sqrt(1 + NEAR_ROLES * NEAR_IN_QUERY**2)
    scale = NEAR_IN_QUERY * NEAR_IN_NOTE * np.sqrt(2 / np.maximum(2, close.neighbour_counts))
    length = np.sqrt(1 + NEAR_IN_NOTE**2 * np.minimum(2, close.neighbour_counts))
    cosines: Floats = (close.cosine + close.near * scale) / (length * asked)
    return cosines
