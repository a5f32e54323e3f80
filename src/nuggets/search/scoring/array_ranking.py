"""What `scorer` and `ranking` compute, with NumPy for many notes at once; the results are equal.

For processes that have NumPy loaded: loading it costs a cold one more than it saves.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nuggets.search.index.corpus_stats import group_norms, norms
from nuggets.search.index.documents import ASKS
from nuggets.search.index.postings import BLOCK, BLOCK_BITS, frequencies, impacts
from nuggets.search.scoring.accumulator import NumpyAccumulator, look_up, strongest_places
from nuggets.search.scoring.ranking import Ranking, Signal, combine
from nuggets.search.scoring.scorer import Scorer, lending_factor
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
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from nuggets.search.index.documents import Document, Neighbour
    from nuggets.search.scoring.accumulator import Offsets

    Floats = NDArray[np.float64]

FREQUENCIES = np.array(frequencies(), float)  # by field code
IMPACTS = np.array(impacts())


class ClosenessArrays(NamedTuple):
    """How near several notes are to the question, computed exactly."""

    shares: "Floats"  # by note and word, in [0, 1): how far the note answers the word
    complete: "NDArray[np.bool_]"  # whether the note itself has every word
    cosine: "Floats"  # with the note alone
    near: "Floats"  # sum of the cosines with its neighbours
    neighbour_counts: "Floats"


class _Flow(NamedTuple):
    """Amounts that notes pass on to their neighbours, by the places of both."""

    targets: list[int]
    sources: list[int]
    amounts: list[float]

    def add_to(self, total: "Floats", values: "Floats") -> None:
        if self.targets:
            passed = values[self.sources] * np.array(self.amounts)[:, None]
            np.add.at(total, self.targets, passed)


class ArrayScorer(Scorer):
    """Scores the notes of a snapshot for one question."""

    def _new_accumulator(self) -> NumpyAccumulator:
        return NumpyAccumulator()

    def group_shares(self, groups: "Iterable[int]") -> dict[int, float]:
        lengths = self._snapshot.group_lengths(groups)
        if not lengths:
            return {}
        mean = self._snapshot.stats.group_mean
        wanted = np.array(list(lengths))
        half = group_norms(np.array(list(lengths.values())), mean)
        answered = np.zeros(len(wanted))
        for term in self._group_terms():
            numbers, counts = self._index.group_count_arrays(term.term)
            places, matches = look_up(numbers, wanted)
            matched = counts[places] * term.weight
            part = self._part_among_groups(term, len(numbers))
            answered[matches] += part * (matched / (matched + half[matches]))
        return dict(zip(wanted.tolist(), answered.tolist(), strict=True))

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
        by_block = _places_by_block(np.array(list(docs)))
        word_counts = np.zeros((len(docs), len(self.parts)))
        products = np.zeros(len(docs))
        for term in self._terms:
            words = word_counts[:, term.slot]
            for block, listed, marks in self._index.postings(term.term):
                if block in by_block:
                    wanted, targets = by_block[block]
                    matches, positions = look_up(np.asarray(listed, np.uint16), wanted)
                    codes = np.asarray(marks, np.uint16)[matches] >> 8
                    targets = targets[positions]
                    words[targets] = np.maximum(words[targets], FREQUENCIES[codes] * term.weight)
                    products[targets] += IMPACTS[codes] * term.pull
        return word_counts, products

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
        near_sums, counts = np.zeros(len(rows)), np.zeros(len(rows))
        if not neighbours:
            return direct, near_sums, counts
        places = {doc: place for place, doc in enumerate(documents)}
        once, twice = _Flow([], [], []), _Flow([], [], [])
        for place, row in enumerate(rows):
            for near, flow in neighbours.get(row.doc, ()):
                once.targets.append(place)
                once.sources.append(places[near.doc])
                once.amounts.append(NEIGHBOUR * flow * row.reach * lending_factor(near))
                through = SECOND_NEIGHBOUR * flow * row.reach * near.reach**2
                for beyond, further in neighbours.get(near.doc, ()):
                    twice.targets.append(place)
                    twice.sources.append(places[beyond.doc])
                    twice.amounts.append(through * further * lending_factor(beyond))
        total, far = direct.copy(), np.zeros_like(direct)
        once.add_to(total, word_counts)
        twice.add_to(far, word_counts)
        total += far * (direct == 0)  # not lent back to the note that it came from
        np.add.at(near_sums, once.targets, cosines[once.sources])
        np.add.at(counts, once.targets, 1)
        return total, near_sums, counts


class ArrayRanking(Ranking):
    """Ranks the notes of a snapshot for one question."""

    _scorer: ArrayScorer

    def _new_scorer(self) -> ArrayScorer:
        return ArrayScorer(self._query, self._snapshot)

    def signals(self, eligible: "Offsets | None", most: int) -> list[Signal]:
        rough, candidates, subjects = self._candidates(eligible)
        rows = list(self._snapshot.documents.load(candidates).values())
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
        rows = list(self._snapshot.documents.load(docs).values())
        if not rows:
            return []
        subjects = self._subjects(docs)
        signals = self._exact_signals(rows, self._sums_of_extras(rows, subjects))
        return [_neutral_if_unrelated(signal, subjects) for signal in signals]

    def _exact_signals(self, rows: "list[Document]", extras: "Floats") -> list[Signal]:
        close = self._scorer.closeness_arrays(rows)
        words = close.shares @ np.array(self._scorer.parts)
        text = np.clip((words + extras) / TEXT_SCALE, 0.0, 1.0)
        vector = (1 + _cosines_of_all(close)) / 2
        columns = (text, vector, words, close.complete, combine(text, vector))
        return list(map(Signal, rows, *(column.tolist() for column in columns)))

    def _sums_of_extras(self, rows: "list[Document]", subjects: dict[int, float]) -> "Floats":
        groups = self._group_shares(rows)
        lengths = np.array([row.length for row in rows], float)
        sums: Floats = INFORMATIVE * np.minimum(lengths / ENOUGH_WORDS, 1.0)
        sums += ASKING * np.array([row.flags & ASKS > 0 for row in rows])
        if groups:
            sums += GROUP * np.array(
                [
                    groups.get(row.groups[0], 0.0)
                    if len(row.groups) == 1
                    else max([groups.get(group, 0.0) for group in row.groups], default=0.0)
                    for row in rows
                ]
            )
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


def _places_by_block(docs: "NDArray[Any]") -> "dict[int, tuple[NDArray[Any], NDArray[Any]]]":
    """By block, ascending offsets of documents and their places among all of them."""
    places = np.argsort(docs)
    ordered = docs[places]
    blocks, starts = np.unique(ordered >> BLOCK_BITS, return_index=True)
    ends = [*starts[1:], len(docs)]
    return {
        block: ((ordered[start:end] & BLOCK - 1).astype(np.uint16), places[start:end])
        for block, start, end in zip(blocks.tolist(), starts, ends, strict=True)
    }


def _cosines_of_all(close: ClosenessArrays) -> "Floats":
    """Cosines with the whole vectors, the neighbours' parts included."""
    asked = np.sqrt(1 + NEAR_ROLES * NEAR_IN_QUERY**2)
    scale = NEAR_IN_QUERY * NEAR_IN_NOTE * np.sqrt(2 / np.maximum(2, close.neighbour_counts))
    length = np.sqrt(1 + NEAR_IN_NOTE**2 * np.minimum(2, close.neighbour_counts))
    cosines: Floats = (close.cosine + close.near * scale) / (length * asked)
    return cosines
