"""What the words of a question find: in notes, in their neighbours, in their groups.

All notes that have a word are weighed roughly first, by their postings alone; then the most
promising ones exactly. Rare words come first: as soon as common ones cannot bring another note
among the best, they are only looked up for the notes that are found already.
"""

from heapq import nlargest
from math import log
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.accumulator import accumulator
from nuggets.search.corpus_stats import group_norm, norm
from nuggets.search.documents import ASKS, BACKWARD, FORWARD
from nuggets.search.inverted_index import offsets_by_block
from nuggets.search.postings import Shares, frequencies, impacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nuggets.search.accumulator import Accumulator, Offsets
    from nuggets.search.documents import Document, Neighbour
    from nuggets.search.query import Query
    from nuggets.search.snapshot import Snapshot

# A word of a linked note counts as a part of a word here, and two links away as less.
NEAR, NEAR_TWICE = 0.25, 0.12
ANSWERED = 2.0  # a note that asks passes its words on to the one that answers

SHORT_LIST = 1000  # postings; reading them is quicker than avoiding it
SHORTLIST = 2000  # notes that common words are looked up for
MOST_POSTINGS = 60_000  # added up for one question, those of the newest notes
USUAL_TIMES = 4  # that a word stands in a note, at most


class Line(NamedTuple):
    """One term that answers a word of the question."""

    slot: int
    term: str
    weight: float
    part: float  # of the question
    pull: float  # what the term brings to the cosine
    notes: int  # that have it


class Closeness(NamedTuple):
    """Of one note, exactly."""

    shares: list[float]  # in [0, 1): how far it answers each word
    complete: bool  # whether every word stands in the note itself
    cosine: float  # with the note alone
    near: list[float]  # with each neighbour


class Scorer:
    """Puts one question to the notes of a snapshot."""

    def __init__(self, query: "Query", snapshot: "Snapshot") -> None:
        self._snapshot = snapshot
        self._index = snapshot.index
        self._mean = snapshot.stats.mean
        self.parts = [slot.mass / query.mass for slot in query.slots]
        self._lines = [
            Line(
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
        self._read_in_full: list[Line] = []

    def accumulate(self, most: int, eligible: "Offsets | None") -> "Accumulator":
        """How much of the question the notes have themselves; all that may be among the best."""
        sums = accumulator()
        lines = sorted(self._lines, key=lambda line: (-line.part * line.weight, line.term))
        bounds = [line.part * self._largest_share(line.weight) for line in lines]
        left = MOST_POSTINGS
        for place, line in enumerate(lines):
            # Looking for the best so far takes as long as adding as many postings again.
            if left <= 0 or line.notes > max(SHORT_LIST, MOST_POSTINGS - left):
                rest = sum(bounds[place:])
                shortlist = nlargest(SHORTLIST, sums.best(SHORTLIST, eligible).values())
                least = shortlist[most - 1] if len(shortlist) >= most else 0.0
                if rest < least or left <= 0:
                    enough = shortlist[-1] if len(shortlist) == SHORTLIST else 0.0
                    sums.keep_above(max(least - rest, enough))
                    self._add_to_known(sums, lines[place:])
                    break
            left = self._add(sums, line, left)
        return sums

    def _largest_share(self, weight: float) -> float:
        heard = USUAL_TIMES * weight
        return heard / (heard + norm(0, self._mean))

    def _add(self, sums: "Accumulator", line: Line, left: int) -> int:
        """Add the postings of a term; returns how many more may be added."""
        self._read_in_full.append(line)
        shares = Shares(line.weight, line.part, self._mean)
        for piece in self._index.postings(line.term):
            if left <= 0:
                break
            sums.add(piece, shares)
            left -= len(piece.docs)
        return left

    def _add_to_known(self, sums: "Accumulator", lines: "Iterable[Line]") -> None:
        for line in lines:
            shares = Shares(line.weight, line.part, self._mean)
            for piece in self._index.postings(line.term):
                sums.add_to_known(piece, shares)

    def lend(self, lenders: "Mapping[int, float]") -> dict[int, float]:
        """How much the neighbours of these notes get from them, roughly."""
        documents = self._snapshot.documents
        found = documents.load(lenders)
        documents.load_notes(note for one in found.values() for note in one.links)
        lent: dict[int, float] = {}
        for doc, document in found.items():
            amount = NEAR * lenders[doc] * lending(document)
            for other, flow in documents.neighbours(document):
                # What flows in on a link flows out the other way with the opposite sense of time.
                out = (FORWARD + BACKWARD - flow) * amount * other.reach
                lent[other.doc] = lent.get(other.doc, 0.0) + out
        return lent

    def group_shares(self, groups: "Iterable[int]") -> dict[int, float]:
        """How much of the question each group speaks of; a word that few have tells them apart."""
        stats, wanted = self._snapshot.stats, self._snapshot.group_lengths(groups)
        if not wanted:
            return {}
        norms = {group: group_norm(length, stats.group_mean) for group, length in wanted.items()}
        answered = dict.fromkeys(wanted, 0.0)
        scale = log(2 + 2 * stats.groups)
        for line in self._read_in_full or self._lines:
            if line.notes > max(SHORT_LIST, stats.groups):
                continue  # a word that nearly all groups have tells none of them apart
            counts = self._index.group_counts(line.term)
            # Groups of one note have the term as often as others, and are not to be counted.
            having = min(stats.groups, len(counts) * stats.groups / max(stats.all_groups, 1))
            rare = log(1 + (stats.groups - having + 0.5) / (having + 0.5))
            for group in wanted.keys() & counts.keys():
                heard = counts[group] * line.weight
                answered[group] += line.part / scale * rare * (heard / (heard + norms[group]))
        return answered

    def closeness(self, documents: "Iterable[Document]") -> dict[int, Closeness]:
        """What the words find in these notes and up to two links around them."""
        rows = list(documents)
        around = self._around(rows)
        places = {row.doc for row in rows}
        for near in around.values():
            places.update([other.doc for other, _ in near])
        held, pulled = self._frequencies_at(places)
        return {row.doc: self._closeness_of(row, around, held, pulled) for row in rows}

    def _around(self, rows: "list[Document]") -> "dict[int, list[Neighbour]]":
        """The neighbours of these notes and of their neighbours."""
        if not self._snapshot.stats.linked:
            return {}
        documents = self._snapshot.documents
        documents.load_notes(note for row in rows for note in row.links)
        around = {row.doc: documents.neighbours(row) for row in rows}
        near = {other.doc: other for some in around.values() for other, _ in some}
        documents.load_notes(note for row in near.values() for note in row.links)
        return {doc: documents.neighbours(row) for doc, row in near.items()} | around

    def _frequencies_at(
        self, places: "Iterable[int]"
    ) -> tuple[dict[int, list[float]], dict[int, float]]:
        """By document, how often each word stands there, and what its vector has in common.

        Of several terms that answer one word the strongest counts.
        """
        by_block = offsets_by_block(places)
        held: dict[int, list[float]] = {}
        pulled: dict[int, float] = {}
        counts, products = frequencies(), impacts()
        for line in self._lines:
            for doc, mark in self._index.marks_at(line.term, by_block).items():
                heard = counts[mark >> 8] * line.weight
                words = held.setdefault(doc, [0.0] * len(self.parts))
                words[line.slot] = max(words[line.slot], heard)
                pulled[doc] = pulled.get(doc, 0.0) + products[mark >> 8] * line.pull
        return held, pulled

    def _closeness_of(
        self,
        row: "Document",
        around: "Mapping[int, list[Neighbour]]",
        held: "Mapping[int, list[float]]",
        pulled: "Mapping[int, float]",
    ) -> Closeness:
        direct = held.get(row.doc, [0.0] * len(self.parts))
        total, here = list(direct), row.reach
        for near, flow in around.get(row.doc, ()):
            _add(total, held.get(near.doc), NEAR * flow * here * lending(near))
            through = NEAR_TWICE * flow * here * near.reach**2
            for beyond, further in around.get(near.doc, ()):
                words = held.get(beyond.doc)
                if words:
                    amount = through * further * lending(beyond)
                    for place, heard in enumerate(words):
                        if heard and not direct[place]:  # a word does not come back
                            total[place] += amount * heard
        half = norm(row.length, self._mean)
        return Closeness(
            [heard / (heard + half) for heard in total],
            all(direct),
            _cosine(row, pulled),
            [_cosine(near, pulled) for near, _ in around.get(row.doc, ())],
        )


def _add(total: list[float], words: list[float] | None, amount: float) -> None:
    if words:
        for place, heard in enumerate(words):
            total[place] += amount * heard


def _cosine(document: "Document", pulled: "Mapping[int, float]") -> float:
    return pulled.get(document.doc, 0.0) / max(document.norm, 1e-6)


def lending(document: "Document") -> float:
    """How much of a note's words passes to a neighbour."""
    return document.reach * (ANSWERED if document.flags & ASKS else 1.0)
