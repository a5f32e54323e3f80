"""How well each note answers a question: the text and vector signals, combined as documented.

Notes that have rare words of the question are weighed roughly by their postings; the most promising
ones, with the neighbours of the best, are scored exactly. The formula is in docs/search.md.
"""

from collections import defaultdict
from functools import cache
from itertools import chain
from math import log
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple
from nuggets.search.documents import ASKS
from nuggets.search.note_analyzer import SAYS_WHEN
from nuggets.search.postings import BLOCK, by_block, impacts, posting_weights, term_key
from nuggets.search.term_expansion import CERTAIN_KINDS
from nuggets.search.weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nuggets.language.dates import Period
    from nuggets.search.documents import Document, IndexReader, Neighbour
    from nuggets.search.query import Query

    Eligible = frozenset[int]  # documents
    Sums = dict[int, dict[int, float]]  # by block, and by document within it

# Measured in 100,000 notes of random words: of 200 questions made of words of one note, 4,000
# postings find 143 of these notes among ten, 16,000 find 148, all find 149.
MOST_POSTINGS = 16_000  # added up for one question, rare words and newest notes first
SHORTLIST = 500  # notes for which the other words are looked up: five times the candidates
# Measured on LoCoMo: with 64 candidates .004 of recall is lost, with 25 lenders .002.
CANDIDATES = 100  # notes that are scored exactly, besides linked ones
LENDERS = 50  # notes whose neighbours are candidates too
# Of the rough score of the last result that is wanted, what a candidate needs. Measured on all
# families: with 0.7 .002 of recall is lost at most, with 0.8 .005; of 100 notes 50 to 80 are left.
NEAR = 0.7


class QueryTerm(NamedTuple):
    """One term that answers a word of the question."""

    slot: int
    key: int
    weight: float
    part: float  # weight of the word in the question, in [0, 1]
    shares: list[float]  # by code, what a note has of the question by this term, roughly
    pull: float  # weight of the term in the query's vector
    is_certain: bool  # whether it is a form of the word, and no guess
    notes: int  # that have the term


class Signal:
    """What speaks for one note, in numbers."""

    words = 0.0  # share of the question's words that it answers
    group = named = time = asks = phrase = 0.0
    vector = 0.5  # in [0, 1], like the text
    evidence = 0.0  # text and vector combined: relevance without the boost
    meaning = 0.0  # what meaning adds to the relevance
    relevance = 0.0

    def __init__(self, document: "Document", norm: float, amounts: list[float]) -> None:
        self.document = document
        self.norm = norm  # of its length
        self.amounts = amounts  # how much it states each word; at last with its neighbours
        self.own = 0  # the words that the note itself has, or may have, as bits
        self.certain = 0  # those of which it has a form, and not a guess
        self.product = 0.0  # with the query's vector

    @property
    def shares(self) -> list[float]:
        """How far it answers each word, in [0, 1)."""
        return [amount / (amount + WEIGHTS.saturation) for amount in self.amounts]

    @property
    def text(self) -> float:
        total = self.words + self.group + self.named + self.time + self.asks + self.phrase
        return min(max(total, 0.0), 1.0)

    def combine(self) -> None:
        """Text and vector, as documented."""
        self.evidence = WEIGHTS.vector * self.vector + WEIGHTS.text * self.text


class Ranking:
    """Ranks the notes of an index for one question."""

    def __init__(self, query: "Query", reader: "IndexReader") -> None:
        self._query = query
        self._reader = reader
        self._postings = reader.postings
        self._parts = [slot.mass / query.mass for slot in query.slots]
        terms = [
            QueryTerm(
                place,
                term_key(term),
                weight,
                part,
                [part * share for share in _shares_of_weight(weight)],
                weight * slot.mass / query.length if how != "meta" else 0.0,
                how in CERTAIN_KINDS,
                self._postings.count(term),
            )
            for place, (slot, part) in enumerate(zip(query.slots, self._parts, strict=True))
            for term, weight, how, _ in slot.alternatives
        ]
        self._terms = sorted(terms, key=lambda term: (term.notes, term.key))  # rare ones first
        self._postings.read(term.key for term in self._terms if term.notes <= MOST_POSTINGS)
        self._groups: dict[str, float] | None = None  # by tag, how much of the question it has

    def signals(self, eligible: "Eligible | None", wanted: int) -> list[Signal]:
        """Signals of the most promising eligible notes, at least of so many; None: all notes are
        eligible."""
        self._groups = None
        return self.signals_of(self._candidates(eligible, wanted))

    # --- candidates ---------------------------------------------------------------------------

    def _candidates(self, eligible: "Eligible | None", wanted: int) -> "list[Document]":
        if eligible is not None and len(eligible) <= SHORTLIST:
            sums = {block: dict.fromkeys(docs, 0.0) for block, docs in by_block(eligible).items()}
            for term in self._terms:
                self._look_up(sums, term)
        else:
            sums = self._rough_sums(eligible, wanted)
        best = _largest(sums, CANDIDATES, _least_of_candidates(sums, wanted))
        rows = self._reader.documents.load(best)
        if not self._reader.stats.linked:
            return rows
        lenders = sorted((row for row in rows if row.links), key=lambda row: -best[row.doc])
        near = self._reader.documents.neighbours(lenders[:LENDERS])
        linked = {row.doc: row for listed in near.values() for row, _ in listed}
        return rows + [
            row
            for doc, row in linked.items()
            if doc not in best and (eligible is None or doc in eligible)
        ]

    def _rough_sums(self, eligible: "Eligible | None", wanted: int) -> "Sums":
        """By document, about how much of the question it has. Rare words come first; as soon as
        notes without any of them cannot be candidates, no more notes are added."""
        allowed = None if eligible is None else by_block(eligible)
        sums: Sums = {}
        left, is_complete = MOST_POSTINGS, False
        total = sum(term.part for term in self._terms)
        for place, term in enumerate(self._terms):
            rest = sum(later.part for later in self._terms[place:])  # what these can give at most
            if 2 * rest <= total:  # else no note can have enough by now
                least = _least_of_candidates(sums, wanted)
                is_complete = least >= rest
                sums = _at_least(sums, least - rest) if is_complete else sums
            if is_complete:
                self._look_up(sums, term)
                continue
            if term.notes <= left:
                self._add(sums, term, left, allowed)
                left -= term.notes
                continue
            shortlist = _largest(sums, SHORTLIST, *_nth_largest(sums, SHORTLIST))
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
        share_of = term.shares.__getitem__
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
        shares = term.shares
        for block, codes in self._postings.codes_of(term.key, sums):
            amounts = sums[block]
            for doc, code in codes.items():
                amounts[doc] += shares[code]

    # --- exact scores -------------------------------------------------------------------------

    def signals_of(self, rows: "Sequence[Document]") -> list[Signal]:
        """The signals of these documents; groups are those of the candidates."""
        near = self._neighbours(rows)
        stated = self._stated_words(rows, near)
        signals = [stated[row.doc] for row in rows]
        if self._groups is None:
            self._groups = self._group_shares(signals)
        # All are computed before any is replaced: notes lend what they state themselves.
        linked = [signal for signal in signals if signal.document.links]
        totals = [self._with_lent_words(signal, near, stated) for signal in linked]
        for signal, total in zip(linked, totals, strict=True):
            signal.amounts = total
        self._weigh(signals)
        return signals

    def _weigh(self, signals: "Sequence[Signal]") -> None:
        """Combine what is known of each note."""
        parts, groups = self._parts, self._groups or {}
        saturation = WEIGHTS.saturation
        is_in_no_group = groups.keys().isdisjoint
        titled = self._title_strengths([signal.document.doc for signal in signals])
        has_time = self._query.asks_when or self._query.periods
        for signal in signals:
            row = signal.document
            for part, amount in zip(parts, signal.amounts):  # noqa: B905  a check costs a tenth
                if amount:
                    signal.words += part * amount / (amount + saturation)
            if not is_in_no_group(row.groups):
                signal.group = WEIGHTS.group * max([groups.get(one, 0.0) for one in row.groups])
            if row.doc in titled:
                signal.named = WEIGHTS.named * titled[row.doc]
            if has_time:
                signal.time = self._time(row)
            if row.flags & ASKS:
                signal.asks = WEIGHTS.asks * _damp(row)
            signal.vector = (1 + signal.product / (row.norm or 1.0)) / 2
            signal.combine()

    def _group_shares(self, signals: "Sequence[Signal]") -> dict[str, float]:
        """By tag, how much of the question the candidates that have it state together; words that
        few groups have weigh more. A tag of one candidate, or of most, makes no group."""
        members: dict[str, list[list[float]]] = defaultdict(list)
        for signal in signals:
            for group in signal.document.groups:
                members[group].append(signal.amounts)
        sums = {
            group: [sum(amounts) for amounts in zip(*having, strict=True)]
            for group, having in members.items()
            if 1 < len(having) <= len(signals) / 2
        }
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
                weight * amount / (amount + WEIGHTS.saturation)
                for weight, amount in zip(weights, amounts, strict=True)
            )
            for group, amounts in sums.items()
        }

    def _stated_words(
        self, rows: "Sequence[Document]", near: "Mapping[int, Sequence[Neighbour]]"
    ) -> dict[int, Signal]:
        """By document, what these notes and those of their neighbours that have a word of the
        question state themselves. Of several terms that answer one word the strongest counts."""
        share = WEIGHTS.length_share
        fixed, scale = 1 - share, share / max(self._reader.stats.mean, 1)
        nothing = [0.0] * len(self._parts)
        stated = {row.doc: Signal(row, fixed + scale * row.length, nothing[:]) for row in rows}
        others = {row.doc: row for listed in near.values() for row, _ in listed}
        blocks = by_block({**stated, **others})
        for term in self._terms:
            slot, pull, own_bit = term.slot, term.pull, 1 << term.slot
            certain_bit = own_bit if term.is_certain else 0
            amounts, products = _amounts_of_weight(term.weight), impacts()
            for block, codes in self._postings.codes_of(term.key, blocks):
                first = block * BLOCK
                for place, code in codes.items():
                    doc = first + place
                    signal = stated.get(doc)
                    if signal is None:
                        row = others[doc]
                        signal = stated[doc] = Signal(row, fixed + scale * row.length, nothing[:])
                    amount = amounts[code] / signal.norm
                    if amount > signal.amounts[slot]:
                        signal.amounts[slot] = amount
                    signal.product += products[code] * pull
                    signal.own |= own_bit
                    signal.certain |= certain_bit
        return stated

    def _neighbours(self, rows: "Sequence[Document]") -> "dict[int, list[Neighbour]]":
        """By document, the neighbours of these notes and of their neighbours."""
        documents = self._reader.documents
        first = documents.neighbours(rows)
        near = {row.doc: row for listed in first.values() for row, _ in listed}
        return documents.neighbours(near.values()) | first

    def _with_lent_words(
        self,
        signal: Signal,
        near: "Mapping[int, Sequence[Neighbour]]",
        stated: "Mapping[int, Signal]",
    ) -> list[float]:
        """How much the note states each word, with what notes up to two links away lend."""
        row, total = signal.document, signal.amounts[:]
        damp, listed = _damp(row), near[row.doc]
        direct = {row.doc, *(neighbour.doc for neighbour, _ in listed)}
        for neighbour, is_earlier in listed:
            lent = (
                damp
                * (WEIGHTS.earlier if is_earlier else WEIGHTS.later)
                * row.reach
                * neighbour.reach
            )
            _add_lent(total, neighbour, lent, stated)
            for beyond, _ in near.get(neighbour.doc, ()):
                if beyond.doc not in direct:
                    _add_lent(total, beyond, lent * WEIGHTS.second * beyond.reach, stated)
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
        time = WEIGHTS.when * (row.flags & SAYS_WHEN > 0) if self._query.asks_when else 0.0
        if self._query.periods:
            time += WEIGHTS.date * fitness(row.day, self._query.periods)
        return time


@cache
def _shares_of_weight(weight: float) -> list[float]:
    """By code, how far a note answers a word by a term of this weight; its length is not known."""
    return [amount / (amount + WEIGHTS.saturation) for amount in _amounts_of_weight(weight)]


@cache
def _amounts_of_weight(weight: float) -> list[float]:
    return [amount * weight for amount in posting_weights()]


def _damp(row: "Document") -> float:
    return WEIGHTS.damp / (WEIGHTS.damp + row.length)


def _add_lent(
    total: list[float], row: "Document", lent: float, stated: "Mapping[int, Signal]"
) -> None:
    """Add the words of a linked note."""
    if row.doc in stated:
        if row.flags & ASKS:
            lent *= WEIGHTS.asked
        for slot, amount in enumerate(stated[row.doc].amounts):
            total[slot] += lent * amount


def _nth_largest(sums: "Sums", *places: int) -> list[float]:
    """The sums at these places, the largest being first; 0 if there are fewer."""
    amounts = sorted(chain.from_iterable(map(dict.values, sums.values())))
    return [amounts[-place] if len(amounts) >= place else 0.0 for place in places]


def _least_of_candidates(sums: "Sums", wanted: int) -> float:
    """What a note must have to be a candidate, if so many results are wanted."""
    last_wanted, last = _nth_largest(sums, wanted, CANDIDATES)
    return max(NEAR * last_wanted, last)


def _at_least(sums: "Sums", least: float) -> "Sums":
    """The documents that have so much."""
    return {
        block: {doc: amount for doc, amount in amounts.items() if amount >= least}
        for block, amounts in sums.items()
    }


def _largest(sums: "Sums", most: int, least: float) -> dict[int, float]:
    """Of the documents that have so much those with the largest sums, of equals the newest; in no
    order."""
    enough = _at_least(sums, least)
    largest = {
        block * BLOCK + doc: amount
        for block, amounts in enough.items()
        for doc, amount in amounts.items()
    }
    if len(largest) > most:
        best = sorted(zip(largest.values(), largest, strict=True))[-most:]
        largest = {doc: amount for amount, doc in best}
    return largest


def fitness(day: int, periods: "Sequence[Period]") -> float:
    """How well the day of a note fits the days that a question names, in [0, 1]."""
    return max(
        min(max(1 - (day - last) / (WEIGHTS.date_reach + 1), 0.0), 1.0) if day >= first else 0.0
        for first, last in periods
    )
