"""How well each note answers a question: the text and vector signals, combined as documented.

Notes that have rare words of the question are weighed roughly by their postings; the most promising
ones, with the neighbours of the best, are scored exactly. The formula is in docs/search.md.
"""

from functools import cache
from itertools import chain
from math import log
from operator import mul
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple
from nuggets.search.documents import ASKS as NOTE_ASKS
from nuggets.search.documents import SAYS_WHEN
from nuggets.search.postings import (
    BLOCK,
    CODES,
    UNWEIGHTED,
    by_block,
    decode,
    term_key,
    vector_weights,
)
from nuggets.search.term_expansion import CERTAIN_KINDS
from nuggets.search.weights import (
    ASKED,
    ASKS,
    DAMP,
    DATE,
    DATE_REACH,
    EARLIER,
    GROUP,
    LATER,
    LENGTH_SHARE,
    NAMED,
    QUERY_FIELDS,
    SATURATION,
    SECOND,
    TAG,
    TEXT_WEIGHT,
    TITLE,
    VECTOR_WEIGHT,
    WHEN,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nuggets.language.dates import Period
    from nuggets.search.documents import Document, Neighbour
    from nuggets.search.index_reader import IndexReader
    from nuggets.search.query import Query

    Eligible = frozenset[int]  # documents
    Sums = dict[int, dict[int, float]]  # by block, and by document within it

# Measured in 100,000 notes of random words: of 200 questions made of words of one note, 4,000
# postings find 143 of these notes among ten, 16,000 find 148, all find 149.
MOST_POSTINGS = 16_000  # added up for one question, rare words and newest notes first
SHORTLIST = 500  # notes for which the other words are looked up
# Measured on LoCoMo: with 64 candidates .004 of recall is lost, with 25 lenders .002.
CANDIDATES = 100  # notes that are scored exactly, besides linked ones
LENDERS = 50  # notes whose neighbours are candidates too


class QueryTerm(NamedTuple):
    """One term that answers a word of the question."""

    slot: int
    key: int
    weight: float
    part: float  # weight of the word in the question, in [0, 1]
    pull: float  # weight of the term in the query's vector
    is_certain: bool  # whether it is a form of the word, and no guess
    notes: int  # that have the term


class Signal(NamedTuple):
    """What speaks for one note, in numbers."""

    document: "Document"
    shares: "Sequence[float]"  # in [0, 1): how far it answers each word, with its neighbours
    own: int  # the words that the note itself has, or may have, as bits
    certain: int  # those of which it has a form, and not a guess
    words: float  # share of the question's words that it answers
    group: float
    named: float
    time: float
    asks: float
    phrase: float
    vector: float  # in [0, 1], like the text
    evidence: float  # text and vector combined: relevance without the boost

    @property
    def text(self) -> float:
        return min(max(self.sum, 0.0), 1.0)

    @property
    def sum(self) -> float:
        return self.words + self.group + self.named + self.time + self.asks + self.phrase

    def with_phrase(self, phrase: float) -> "Signal":
        """The same for a note that has the question word for word."""
        raised = self._replace(phrase=phrase)
        return raised._replace(evidence=combine(self.vector, raised.sum))


def combine(vector: float, text: float) -> float:
    """The evidence for a note, as documented."""
    return VECTOR_WEIGHT * vector + TEXT_WEIGHT * min(max(text, 0.0), 1.0)


@cache
def posting_weights() -> list[float]:
    """By code of a posting, how much the note states the term."""
    weights = [TITLE * title + content + TAG * tag for title, content, tag in map(decode, CODES)]
    weights[UNWEIGHTED] = 1.0
    return weights


@cache
def impacts() -> list[float]:
    """By code, the term's product with a query vector, before the note's is normalised."""
    return [sum(map(mul, vector_weights(code), QUERY_FIELDS)) for code in CODES]


class Ranking:
    """Ranks the notes of an index for one question."""

    def __init__(self, query: "Query", reader: "IndexReader") -> None:
        self._query = query
        self._reader = reader
        self._postings = reader.postings
        self._parts = [slot.mass / query.mass for slot in query.slots]
        self._terms = [
            QueryTerm(
                place,
                term_key(term),
                weight,
                slot.mass / query.mass,
                weight * slot.mass / query.length if how != "meta" else 0.0,
                how in CERTAIN_KINDS,
                self._postings.count(term),
            )
            for place, slot in enumerate(query.slots)
            for term, weight, how, _ in slot.alternatives
        ]
        self._postings.read(term.key for term in self._terms if term.notes <= MOST_POSTINGS)
        self._groups: dict[str, float] | None = None  # by tag, how much of the question it has

    def signals(self, eligible: "Eligible | None") -> list[Signal]:
        """Signals of the most promising eligible notes; None: all notes are eligible."""
        self._groups = None
        return self.signals_of(self._candidates(eligible))

    # --- candidates ---------------------------------------------------------------------------

    def _candidates(self, eligible: "Eligible | None") -> list[int]:
        if eligible is not None and len(eligible) <= SHORTLIST:
            sums = {block: dict.fromkeys(docs, 0.0) for block, docs in by_block(eligible).items()}
            for term in self._terms:
                self._look_up(sums, term)
        else:
            sums = self._rough_sums(eligible)
        best = _largest(sums, CANDIDATES)
        return [*best, *self._neighbours_of_best(best, eligible)]

    def _rough_sums(self, eligible: "Eligible | None") -> "Sums":
        """By document, about how much of the question it has. Rare words come first; as soon as
        notes without any of them cannot be among the best, no more notes are added."""
        allowed = None if eligible is None else by_block(eligible)
        sums: Sums = {}
        left, is_complete = MOST_POSTINGS, False
        terms = sorted(self._terms, key=lambda term: (term.notes, term.key))
        for place, term in enumerate(terms):
            parts = {later.slot: later.part for later in terms[place:]}
            if is_complete or _has_best(sums, sum(parts.values())):
                is_complete = True
                self._look_up(sums, term)
                continue
            if term.notes <= left:
                self._add(sums, term, left, allowed)
                left -= term.notes
                continue
            shortlist = _largest(sums, SHORTLIST)
            sums = {}
            for doc, amount in shortlist.items():
                sums.setdefault(doc // BLOCK, {})[doc % BLOCK] = amount
            self._look_up(sums, term)
            if len(shortlist) < SHORTLIST:
                more: Sums = {}
                self._add(more, term, left, allowed)
                for block, amounts in sums.items():
                    more.setdefault(block, {}).update(amounts)
                sums, left = more, 0
        return sums

    def _add(
        self,
        sums: "Sums",
        term: QueryTerm,
        most: int,
        allowed: "Mapping[int, Iterable[int]] | None",
    ) -> None:
        """Add about so many postings of a term, the newest. Only for the documents that had a sum
        before does the interpreter take a step each."""
        share_of = _shares(term).__getitem__
        for block, (docs, codes) in self._postings.newest(term.key, most):
            added = dict(zip(docs, map(share_of, codes)))  # noqa: B905  a check costs a tenth
            if allowed is not None:
                added = {doc: added[doc] for doc in added.keys() & allowed.get(block, ())}
            amounts = sums.setdefault(block, {})
            for doc in amounts.keys() & added.keys():
                added[doc] += amounts[doc]
            amounts.update(added)

    def _look_up(self, sums: "Sums", term: QueryTerm) -> None:
        """Add what these documents have of this term."""
        shares = _shares(term)
        for block, codes in self._postings.codes_of(term.key, sums):
            amounts = sums[block]
            for doc, code in codes.items():
                amounts[doc] += shares[code]

    def _neighbours_of_best(
        self, sums: dict[int, float], eligible: "Eligible | None"
    ) -> "Iterable[int]":
        """The notes that the best are linked to, which may have few of the words themselves."""
        if not self._reader.stats.linked:
            return ()
        documents = self._reader.documents
        rows = documents.load(sums)  # all of them, which will be needed, in one statement
        lenders = sorted((row for row in rows if row.links), key=lambda row: -sums[row.doc])
        documents.load_notes(note for row in lenders[:LENDERS] for note in row.links)
        near = {one.doc for row in lenders[:LENDERS] for one, _ in documents.neighbours(row)}
        return near - sums.keys() if eligible is None else (near & eligible) - sums.keys()

    # --- exact scores -------------------------------------------------------------------------

    def signals_of(self, docs: "Sequence[int]") -> list[Signal]:
        """The signals of these documents; groups are those of the candidates."""
        rows = self._reader.documents.load(docs)
        near = self._neighbours(rows)
        known = {row.doc: row for row in rows}
        for listed in near.values():
            known.update((neighbour.doc, neighbour) for neighbour, _ in listed)
        stated = self._stated_words(known)
        if self._groups is None:
            self._groups = self._group_shares(rows, stated)
        groups = self._groups
        titled = self._title_strengths([row.doc for row in rows])
        parts, nothing = self._parts, _Stated([0.0] * len(self._parts), 1.0)
        has_time = self._query.asks_when or self._query.periods
        signals = []
        for row in rows:
            doc, _, length, norm, _, flags, _, its_groups, links, _ = row
            own = stated.get(doc, nothing)
            amounts = self._with_neighbours(row, near, own, stated) if links else own.amounts
            shares = [amount / (amount + SATURATION) for amount in amounts]
            words = sum(map(mul, parts, shares))
            group = named = time = asks = 0.0
            if groups and its_groups:
                group = GROUP * max([groups.get(one, 0.0) for one in its_groups])
            if doc in titled:
                named = NAMED * titled[doc]
            if has_time:
                time = self._time(row)
            if flags & NOTE_ASKS:
                asks = ASKS * DAMP / (DAMP + length)
            vector = (1 + own.product / (norm or 1.0)) / 2
            evidence = combine(vector, words + group + named + time + asks)
            fields = (words, group, named, time, asks, 0.0, vector, evidence)
            signals.append(Signal(row, shares, own.bits, own.certain, *fields))
        return signals

    def _group_shares(
        self, rows: "Sequence[Document]", stated: "Mapping[int, _Stated]"
    ) -> dict[str, float]:
        """By tag, how much of the question the candidates that have it state together; words that
        few groups have weigh more. A tag of one candidate, or of most, makes no group."""
        members: dict[str, list[int]] = {}
        for row in rows:
            for group in row.groups:
                members.setdefault(group, []).append(row.doc)
        sums: dict[str, list[float]] = {}
        for group, docs in members.items():
            if 1 < len(docs) <= len(rows) / 2:
                having = [stated[doc].amounts for doc in docs if doc in stated]
                added = zip(*having, strict=True) if having else ((0.0,) for _ in self._parts)
                sums[group] = [sum(amounts) for amounts in added]
        if not sums:
            return {}
        count = len(sums)
        with_word = [sum(map(bool, amounts)) for amounts in zip(*sums.values(), strict=True)]
        weights = [
            part * log(1 + (count - groups + 0.5) / (groups + 0.5)) / log(2 + 2 * count)
            for part, groups in zip(self._parts, with_word, strict=True)
        ]
        return {
            group: sum(
                weight * amount / (amount + SATURATION)
                for weight, amount in zip(weights, amounts, strict=True)
            )
            for group, amounts in sums.items()
        }

    def _stated_words(self, documents: "Mapping[int, Document]") -> "dict[int, _Stated]":
        """By document, what it states itself. Of several terms that answer one word the strongest
        counts."""
        scale = LENGTH_SHARE / max(self._reader.stats.mean, 1)
        blocks, count = by_block(documents), len(self._parts)
        stated: dict[int, _Stated] = {}
        for slot, key, weight, _, pull, is_certain, _ in self._terms:
            bit, amounts, products = 1 << slot, posting_weights(), impacts()
            for doc, code in self._postings.codes_at(key, blocks).items():
                own = stated.get(doc)
                if own is None:
                    norm = 1 - LENGTH_SHARE + scale * documents[doc].length
                    own = stated[doc] = _Stated([0.0] * count, norm)
                amount = amounts[code] * weight / own.norm
                if amount > own.amounts[slot]:
                    own.amounts[slot] = amount
                own.product += products[code] * pull
                own.bits |= bit
                if is_certain:
                    own.certain |= bit
        return stated

    def _neighbours(self, rows: "Sequence[Document]") -> "dict[int, list[Neighbour]]":
        """By document, the neighbours of these notes and of their neighbours."""
        documents = self._reader.documents
        linked = [row for row in rows if row.links]
        documents.load_notes(note for row in linked for note in row.links)
        neighbours = {row.doc: documents.neighbours(row) for row in linked}
        near = {row.doc: row for listed in neighbours.values() for row, _ in listed}
        documents.load_notes(note for row in near.values() for note in row.links)
        return {doc: documents.neighbours(row) for doc, row in near.items()} | neighbours

    def _with_neighbours(
        self,
        row: "Document",
        near: "Mapping[int, Sequence[Neighbour]]",
        own: "_Stated",
        stated: "Mapping[int, _Stated]",
    ) -> list[float]:
        """How much the note states each word, with what notes up to two links away lend."""
        total, damp = list(own.amounts), _damp(row)
        listed = near.get(row.doc, ())
        direct = {row.doc, *(neighbour.doc for neighbour, _ in listed)}
        for neighbour, is_earlier in listed:
            lent = damp * (EARLIER if is_earlier else LATER) * row.reach * neighbour.reach
            _add_lent(total, neighbour, lent, stated)
            for beyond, _ in near.get(neighbour.doc, ()):
                if beyond.doc not in direct:
                    _add_lent(total, beyond, lent * SECOND * beyond.reach, stated)
        return total

    def _title_strengths(self, docs: "Iterable[int]") -> dict[int, float]:
        """By document, how surely the question names its title."""
        named: dict[int, float] = {}
        blocks = by_block(docs) if self._query.titles else {}
        for title in self._query.titles:
            for doc in self._postings.codes_at(term_key(title.label), blocks):
                named[doc] = max(named.get(doc, 0.0), title.strength)
        return named

    def _time(self, row: "Document") -> float:
        time = WHEN * (row.flags & SAYS_WHEN > 0) if self._query.asks_when else 0.0
        if self._query.periods:
            time += DATE * fitness(row.day, self._query.periods)
        return time


class _Stated:
    """What one note itself states of the question."""

    __slots__ = ("amounts", "bits", "certain", "norm", "product")

    def __init__(self, amounts: list[float], norm: float) -> None:
        self.amounts = amounts  # of each word
        self.norm = norm  # of its length
        self.bits = 0  # the words that it has, or may have
        self.certain = 0  # those of which it has a form
        self.product = 0.0  # with the query's vector


def _shares(term: QueryTerm) -> list[float]:
    """By code, what a note has of the question by this term; its length is not known yet."""
    return [term.part * share for share in _shares_of_weight(term.weight)]


@cache
def _shares_of_weight(weight: float) -> list[float]:
    amounts = [amount * weight for amount in posting_weights()]
    return [amount / (amount + SATURATION) for amount in amounts]


def _damp(row: "Document") -> float:
    return DAMP / (DAMP + row.length)


def _add_lent(
    total: list[float], row: "Document", lent: float, stated: "Mapping[int, _Stated]"
) -> None:
    """Add the words of a linked note."""
    if row.doc in stated:
        if row.flags & NOTE_ASKS:
            lent *= ASKED
        for slot, amount in enumerate(stated[row.doc].amounts):
            total[slot] += lent * amount


def _has_best(sums: "Sums", least: float) -> bool:
    """Whether enough documents have at least this."""
    amounts = chain.from_iterable(map(dict.values, sums.values()))
    return len([amount for amount in amounts if amount >= least]) >= CANDIDATES


def _largest(sums: "Sums", most: int) -> dict[int, float]:
    """The documents with the largest sums, of equals the newest; in no order."""
    amounts = sorted(chain.from_iterable(map(dict.values, sums.values())))
    least = amounts[-most] if len(amounts) > most else 0.0
    largest = {
        block * BLOCK + doc: amount
        for block, by_doc in sums.items()
        for doc, amount in by_doc.items()
        if amount >= least
    }
    if len(largest) > most:
        best = sorted(largest, key=lambda doc: (largest[doc], doc))[-most:]
        largest = {doc: largest[doc] for doc in best}
    return largest


def fitness(day: int, periods: "Sequence[Period]") -> float:
    """How well the day of a note fits the days that a question names, in [0, 1]."""
    return max(
        min(max(1 - (day - last) / (DATE_REACH + 1), 0.0), 1.0) if day >= first else 0.0
        for first, last in periods
    )
