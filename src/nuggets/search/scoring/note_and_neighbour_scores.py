"""How much of a question's words a note has, by itself, through linked notes and through its group.

All notes that have a word are scored roughly first, by their postings alone; then the most
promising ones exactly. Rare words come first: as soon as common ones cannot bring another note
among the best, they are only looked up for the notes that have a score already.
"""

from math import log
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple
from nuggets.search.index.corpus_stats import group_norm, norm
from nuggets.search.index.documents import ASKS, BACKWARD, FORWARD
from nuggets.search.index.inverted_index import newest, offsets_by_block
from nuggets.search.index.postings import Shares, frequencies, impacts
from nuggets.search.scoring.posting_sums import PlainAccumulator
from nuggets.search.scoring.weights import ANSWERED, NEIGHBOUR, SECOND_NEIGHBOUR

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from nuggets.search.index.documents import Document, Neighbour
    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.query import Query
    from nuggets.search.scoring.posting_sums import Accumulator, Offsets

SHORT_LIST = 1000  # postings; so few are read without checking whether they are needed
SHORTLIST = 2000  # notes for which common words are looked up
MOST_POSTINGS = 60_000  # added up for one question, newest notes first
USUAL_TIMES = 4  # that a note has a word, for the upper bound of a share


class QueryTerm(NamedTuple):
    """One term that answers a word of the question."""

    slot: int
    term: str
    weight: float
    part: float  # weight of the word in the question, in [0, 1]
    pull: float  # weight of the term in the query's vector
    notes: int  # that have the term


class Closeness(NamedTuple):
    """How near one note is to the question, computed exactly."""

    shares: list[float]  # in [0, 1): how far it answers each word
    complete: bool  # whether the note itself has every word
    cosine: float  # with the note alone
    near: list[float]  # with each neighbour


class Scorer:
    """Scores the notes of a snapshot for one question."""

    def __init__(self, query: "Query", snapshot: "Snapshot") -> None:
        self._snapshot = snapshot
        self._index = snapshot.index
        self._mean = snapshot.stats.mean
        self.parts = [slot.mass / query.mass for slot in query.slots]
        self._terms = [
            QueryTerm(
                place,
                term,
                weight,
                slot.mass / query.mass,
                weight * slot.mass / query.length,
                self._index.count(term),
            )
            for place, slot in enumerate(query.slots)
            for term, weight, *_ in slot.alternatives
        ]
        self._index.read([*(term.term for term in self._terms), *(t.label for t in query.titles)])
        self._read_in_full: list[QueryTerm] = []  # terms whose postings were all added

    def accumulate(self, most: int, eligible: "Offsets | None") -> "Accumulator":
        """Rough scores of all notes that may be among the best, by their own words."""
        sums = self._new_accumulator()
        terms = sorted(self._terms, key=lambda term: (-term.part * term.weight, term.term))
        bounds = [term.part * self._largest_share(term.weight) for term in terms]
        left = MOST_POSTINGS
        for place, term in enumerate(terms):
            # Finding the best so far takes about as long as adding the postings again.
            rest, added = sum(bounds[place:]), MOST_POSTINGS - left
            is_long = term.notes > max(SHORT_LIST, added)
            may_be_enough = added >= most and rest < sum([term.part for term in terms[:place]])
            if left <= 0 or (is_long and may_be_enough):
                shortlist = sums.largest(SHORTLIST, eligible)
                least = shortlist[most - 1] if len(shortlist) >= most else 0.0
                if rest < least or left <= 0:
                    enough = shortlist[-1] if len(shortlist) == SHORTLIST else 0.0
                    sums.keep_above(max(least - rest, enough))
                    self._add_to_scored(sums, terms[place:])
                    break
            left = self._add(sums, term, left)
        return sums

    def _new_accumulator(self) -> "Accumulator":
        return PlainAccumulator()

    def _largest_share(self, weight: float) -> float:
        count = USUAL_TIMES * weight
        return count / (count + norm(0, self._mean))

    def _add(self, sums: "Accumulator", term: QueryTerm, left: int) -> int:
        """Add the postings of a term; returns how many more may be added."""
        self._read_in_full.append(term)
        shares = Shares(term.weight, term.part, self._mean)
        for piece in self._index.postings(term.term):
            if left <= 0:
                break
            sums.add(newest(piece, left), shares)
            left -= len(piece.docs)
        return left

    def _add_to_scored(self, sums: "Accumulator", terms: "Iterable[QueryTerm]") -> None:
        for term in terms:
            shares = Shares(term.weight, term.part, self._mean)
            for piece in self._index.postings(term.term):
                sums.add_to_scored(piece, shares)

    def lend(self, lenders: "Mapping[int, float]") -> dict[int, float]:
        """Rough scores that the neighbours of these notes get from them."""
        documents = self._snapshot.documents
        linked = [document for document in documents.load(lenders) if document.links]
        documents.load_notes(note for document in linked for note in document.links)
        lent: dict[int, float] = {}
        for document in linked:
            amount = NEIGHBOUR * lenders[document.doc] * lending_factor(document)
            for neighbour, flow in documents.neighbours(document):
                # Seen from the neighbour, the link has the opposite direction in time.
                out = (FORWARD + BACKWARD - flow) * amount * neighbour.reach
                lent[neighbour.doc] = lent.get(neighbour.doc, 0.0) + out
        return lent

    def group_shares(self, groups: "Collection[int]") -> dict[int, float]:
        """How much of the question each group has; words that few groups have weigh more."""
        stats, lengths = self._snapshot.stats, self._snapshot.group_lengths(groups)
        wanted = {group: n for group, n in zip(groups, lengths, strict=True) if n >= 0}
        if not wanted:
            return {}
        norms = {group: group_norm(length, stats.group_mean) for group, length in wanted.items()}
        answered = dict.fromkeys(wanted, 0.0)
        for term in self._group_terms():
            counts = self._index.group_counts(term.term)
            part = self._part_among_groups(term, len(counts))
            for group in wanted.keys() & counts.keys():
                count = counts[group] * term.weight
                answered[group] += part * (count / (count + norms[group]))
        return answered

    def _group_terms(self) -> "Iterator[QueryTerm]":
        """The terms, without those so common that they tell no group from another."""
        most = max(SHORT_LIST, self._snapshot.stats.groups)
        return (term for term in self._read_in_full or self._terms if term.notes <= most)

    def _part_among_groups(self, term: QueryTerm, groups: int) -> float:
        """The term's weight in the question, given how many groups have it."""
        stats = self._snapshot.stats
        # The count includes groups of a single note, which are not among `stats.groups`.
        having = min(stats.groups, groups * stats.groups / max(stats.all_groups, 1))
        rare = log(1 + (stats.groups - having + 0.5) / (having + 0.5))
        return term.part / log(2 + 2 * stats.groups) * rare

    def closeness(self, documents: "Iterable[Document]") -> dict[int, Closeness]:
        """By document, how near the notes are, with neighbours up to two links away."""
        rows = list(documents)
        neighbours = self._neighbours_within_two(rows)
        places = {row.doc for row in rows}
        for nearby in neighbours.values():
            places.update([neighbour.doc for neighbour, _ in nearby])
        word_counts, products = self._counts_and_products(places)
        return {row.doc: self._closeness_of(row, neighbours, word_counts, products) for row in rows}

    def _neighbours_within_two(self, rows: "list[Document]") -> "dict[int, list[Neighbour]]":
        """By document, the neighbours of these notes and of their neighbours."""
        if not self._snapshot.stats.linked:
            return {}
        documents = self._snapshot.documents
        documents.load_notes(note for row in rows for note in row.links)
        neighbours = {row.doc: documents.neighbours(row) for row in rows if row.links}
        near = {
            neighbour.doc: neighbour for listed in neighbours.values() for neighbour, _ in listed
        }
        documents.load_notes(note for row in near.values() for note in row.links)
        return {doc: documents.neighbours(row) for doc, row in near.items()} | neighbours

    def _counts_and_products(
        self, places: "Iterable[int]"
    ) -> tuple[dict[int, list[float]], dict[int, float]]:
        """By document, how often it has each word, and its dot product with the query's vector.

        Of several terms that answer one word the strongest counts.
        """
        by_block = offsets_by_block(places)
        word_counts: dict[int, list[float]] = {}
        products: dict[int, float] = {}
        frequency_table, impact_table = frequencies(), impacts()
        for term in self._terms:
            for doc, mark in self._index.marks_at(term.term, by_block).items():
                count = frequency_table[mark >> 8] * term.weight
                words = word_counts.setdefault(doc, [0.0] * len(self.parts))
                words[term.slot] = max(words[term.slot], count)
                products[doc] = products.get(doc, 0.0) + impact_table[mark >> 8] * term.pull
        return word_counts, products

    def _closeness_of(
        self,
        row: "Document",
        neighbours: "Mapping[int, list[Neighbour]]",
        word_counts: "Mapping[int, list[float]]",
        products: "Mapping[int, float]",
    ) -> Closeness:
        direct = word_counts.get(row.doc, [0.0] * len(self.parts))
        total, reach = list(direct), row.reach
        for near, flow in neighbours.get(row.doc, ()):
            _add(total, word_counts.get(near.doc), NEIGHBOUR * flow * reach * lending_factor(near))
            through = SECOND_NEIGHBOUR * flow * reach * near.reach**2
            for beyond, further in neighbours.get(near.doc, ()):
                words = word_counts.get(beyond.doc)
                if words:
                    amount = through * further * lending_factor(beyond)
                    for place, count in enumerate(words):
                        if (
                            count and not direct[place]
                        ):  # not lent back to the note that it came from
                            total[place] += amount * count
        half = norm(row.length, self._mean)
        return Closeness(
            [count / (count + half) for count in total],
            all(direct),
            _cosine(row, products),
            [_cosine(near, products) for near, _ in neighbours.get(row.doc, ())],
        )


def _add(total: list[float], words: list[float] | None, amount: float) -> None:
    if words:
        for place, count in enumerate(words):
            total[place] += amount * count


def _cosine(document: "Document", products: "Mapping[int, float]") -> float:
    return products.get(document.doc, 0.0) / max(document.norm, 1e-6)


def lending_factor(document: "Document") -> float:
    """Factor for a note's words when they count for a neighbour."""
    return document.reach * (ANSWERED if document.flags & ASKS else 1.0)
