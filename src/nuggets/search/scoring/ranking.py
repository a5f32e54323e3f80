"""How well each note answers a question: the text and vector signals, combined as documented.

Notes that have rare words of the question are weighed roughly by their postings; the most promising
ones, with the neighbours of the best, are scored exactly. The formula is in docs/search.md.
"""

from functools import cache
from math import log
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple
from nuggets.search.index.documents import ASKS as NOTE_ASKS
from nuggets.search.index.documents import SAYS_WHEN
from nuggets.search.index.postings import (
    BLOCK,
    UNWEIGHTED,
    by_block,
    decode,
    term_key,
    vector_weights,
)
from nuggets.search.query.term_expansion import CERTAIN_KINDS
from nuggets.search.scoring.weights import (
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
    from nuggets.search.index.documents import Document, Neighbour
    from nuggets.search.index.index_reader import IndexReader
    from nuggets.search.query.query import Query

    Eligible = frozenset[int]  # documents

MOST_POSTINGS = 10_000  # added up for one question, rare words and newest notes first
SHORTLIST = 1000  # notes for which the other words are looked up
CANDIDATES = 200  # notes that are scored exactly
ANY_BLOCK = 1 << 40
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
    shares: tuple[float, ...]  # in [0, 1): how far it answers each word, with its neighbours
    own: frozenset[int]  # places of the words that the note itself has, or may have
    certain: frozenset[int]  # those of which it has a form, and not a guess
    words: float  # share of the question's words that it answers
    group: float
    named: float
    time: float
    asks: float
    phrase: float
    vector: float  # in [0, 1], like the text

    @property
    def sum(self) -> float:
        return self.words + self.group + self.named + self.time + self.asks + self.phrase

    @property
    def text(self) -> float:
        return min(max(self.sum, 0.0), 1.0)

    @property
    def evidence(self) -> float:
        """Text and vector combined: relevance without the boost."""
        return VECTOR_WEIGHT * self.vector + TEXT_WEIGHT * self.text


@cache
def weigh_posting(code: int) -> float:
    """How much a note states a term, given the code of the posting."""
    title, content, tag = decode(code)
    return TITLE * title + content + TAG * tag if code != UNWEIGHTED else 1.0


@cache
def impact(code: int) -> float:
    """The term's product with a query vector, before the note's is normalised."""
    return sum(a * b for a, b in zip(vector_weights(code), QUERY_FIELDS, strict=True))


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
        self._slots = range(len(query.slots))
        self._groups: dict[int, float] | None = None  # by tag, how much of the question it has

    def signals(self, eligible: "Eligible | None") -> list[Signal]:
        """Signals of the most promising eligible notes; None: all notes are eligible."""
        self._groups = None
        return self.signals_of(self._candidates(eligible))

    # --- candidates ---------------------------------------------------------------------------

    def _candidates(self, eligible: "Eligible | None") -> list[int]:
        if eligible is not None and len(eligible) <= SHORTLIST:
            sums = dict.fromkeys(eligible, 0.0)
            self._look_up(sums, self._terms)
        else:
            sums = self._rough_sums(eligible)
        self._lend(sums, eligible)
        return _largest(sums, CANDIDATES)

    def _rough_sums(self, eligible: "Eligible | None") -> dict[int, float]:
        """By document, about how much of the question it has."""
        sums: dict[int, float] = {}
        left, unread = MOST_POSTINGS, []
        for term in sorted(self._terms, key=lambda term: (term.notes, term.key)):
            added, rest = self._add(sums, term, left, eligible)
            left -= added
            if rest is not None:
                unread.append((term, rest))
        sums = {doc: sums[doc] for doc in _largest(sums, SHORTLIST)}
        for term, block in unread:
            self._look_up(sums, [term], block)
        return sums

    def _add(
        self, sums: dict[int, float], term: QueryTerm, most: int, eligible: "Eligible | None"
    ) -> tuple[int, int | None]:
        """Add the newest postings of a term; returns how many, and the first block that is left."""
        shares, added = _shares(term), 0
        for block, docs, codes in self._postings.rows(term.key):
            if added >= most:
                return added, block
            base = block * BLOCK
            added += len(codes)
            for offset, code in zip(docs, codes, strict=True):
                doc = base + offset
                if eligible is None or doc in eligible:
                    sums[doc] = sums.get(doc, 0.0) + shares[code]
        return added, None

    def _look_up(
        self, sums: dict[int, float], terms: "Iterable[QueryTerm]", newest: int = ANY_BLOCK
    ) -> None:
        """Add what these documents have of these terms, in blocks up to the newest."""
        docs = {block: offsets for block, offsets in by_block(sums).items() if block <= newest}
        for term in terms:
            shares = _shares(term)
            for doc, code in self._postings.codes_at(term.key, docs).items():
                sums[doc] += shares[code]

    def _lend(self, sums: dict[int, float], eligible: "Eligible | None") -> None:
        """Add what the neighbours of the best get from them."""
        if not self._reader.stats.linked:
            return
        documents = self._reader.documents
        lenders = [row for row in documents.load(_largest(sums, LENDERS)) if row.links]
        documents.load_notes(note for row in lenders for note in row.links)
        lent: dict[int, float] = {}
        for row in lenders:
            for neighbour, is_earlier in documents.neighbours(row):
                # Seen from the neighbour, the link has the opposite direction in time.
                amount = (LATER if is_earlier else EARLIER) * row.reach * neighbour.reach
                borrowed = amount * sums[row.doc] * _damp(neighbour)
                lent[neighbour.doc] = lent.get(neighbour.doc, 0.0) + borrowed
        for doc, amount in lent.items():
            if eligible is None or doc in eligible:
                sums[doc] = sums.get(doc, 0.0) + amount

    # --- exact scores -------------------------------------------------------------------------

    def signals_of(self, docs: "Sequence[int]") -> list[Signal]:
        """The signals of these documents; groups are those of the candidates."""
        rows = self._reader.documents.load(docs)
        near = self._neighbours(rows)
        known = {row.doc: row for row in rows}
        for listed in near.values():
            known.update((neighbour.doc, neighbour) for neighbour, _ in listed)
        own, products, certain = self._own_words(known)
        if self._groups is None:
            self._groups = self._group_shares(rows, own)
        groups = self._groups
        named = self._title_strengths([row.doc for row in rows])
        signals = []
        for row in rows:
            total = self._with_neighbours(row, near, own)
            shares = tuple(amount / (amount + SATURATION) for amount in total)
            signals.append(
                Signal(
                    row,
                    shares,
                    frozenset(own.get(row.doc, ())),
                    frozenset(certain.get(row.doc, ())),
                    sum(part * share for part, share in zip(self._parts, shares, strict=True)),
                    GROUP * max([groups.get(group, 0.0) for group in row.groups], default=0.0),
                    NAMED * named.get(row.doc, 0.0),
                    self._time(row),
                    ASKS * _damp(row) if row.flags & NOTE_ASKS else 0.0,
                    0.0,
                    (1 + products.get(row.doc, 0.0) / max(row.norm, 1e-6)) / 2,
                )
            )
        return signals

    def _group_shares(
        self, rows: "Sequence[Document]", own: "Mapping[int, Mapping[int, float]]"
    ) -> dict[int, float]:
        """By tag, how much of the question the candidates that have it state together; words that
        few groups have weigh more. A tag of one candidate, or of most, makes no group."""
        members: dict[int, list[int]] = {}
        for row in rows:
            for group in row.groups:
                members.setdefault(group, []).append(row.doc)
        stated_words: dict[int, dict[int, float]] = {}
        for group, docs in members.items():
            if 1 < len(docs) <= len(rows) / 2:
                words = stated_words[group] = {}
                for doc in docs:
                    for slot, amount in own.get(doc, {}).items():
                        words[slot] = words.get(slot, 0.0) + amount
        count = len(stated_words)
        having = [sum(slot in words for words in stated_words.values()) for slot in self._slots]
        weights = [
            part * log(1 + (count - with_word + 0.5) / (with_word + 0.5)) / log(2 + 2 * count)
            for part, with_word in zip(self._parts, having, strict=True)
        ]
        return {
            group: sum(
                weights[slot] * amount / (amount + SATURATION) for slot, amount in words.items()
            )
            for group, words in stated_words.items()
        }

    def _own_words(
        self, documents: "Mapping[int, Document]"
    ) -> "tuple[dict[int, dict[int, float]], dict[int, float], dict[int, list[int]]]":
        """By document: how much it states each word, its product with the query's vector, and the
        words of which it has a form.

        Of several terms that answer one word the strongest counts.
        """
        mean, blocks = max(self._reader.stats.mean, 1), by_block(documents)
        own: dict[int, dict[int, float]] = {}
        products: dict[int, float] = {}
        certain: dict[int, list[int]] = {}
        for term in self._terms:
            for doc, code in self._postings.codes_at(term.key, blocks).items():
                if term.is_certain:
                    certain.setdefault(doc, []).append(term.slot)
                norm = 1 - LENGTH_SHARE + LENGTH_SHARE * documents[doc].length / mean
                amount = weigh_posting(code) * term.weight / norm
                words = own.setdefault(doc, {})
                words[term.slot] = max(words.get(term.slot, 0.0), amount)
                products[doc] = products.get(doc, 0.0) + impact(code) * term.pull
        return own, products, certain

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
        own: "Mapping[int, Mapping[int, float]]",
    ) -> list[float]:
        """How much the note states each word, with what notes up to two links away lend."""
        total, damp = [0.0] * len(self._parts), _damp(row)
        for slot, amount in own.get(row.doc, {}).items():
            total[slot] += amount
        listed = near.get(row.doc, ())
        direct = {row.doc, *(neighbour.doc for neighbour, _ in listed)}
        for neighbour, is_earlier in listed:
            lent = damp * (EARLIER if is_earlier else LATER) * row.reach * neighbour.reach
            _add_lent(total, neighbour, lent, own)
            for beyond, _ in near.get(neighbour.doc, ()):
                if beyond.doc not in direct:
                    _add_lent(total, beyond, lent * SECOND * beyond.reach, own)
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


def _shares(term: QueryTerm) -> list[float]:
    """By code, what a note has of the question by this term; its length is not known yet."""
    amounts = [weigh_posting(code) * term.weight for code in range(256)]
    return [term.part * amount / (amount + SATURATION) for amount in amounts]


def _damp(row: "Document") -> float:
    return DAMP / (DAMP + row.length)


def _add_lent(
    total: list[float], row: "Document", lent: float, own: "Mapping[int, Mapping[int, float]]"
) -> None:
    """Add the words of a linked note."""
    if row.doc in own:
        if row.flags & NOTE_ASKS:
            lent *= ASKED
        for slot, amount in own[row.doc].items():
            total[slot] += lent * amount


def _largest(sums: "Mapping[int, float]", most: int) -> list[int]:
    """The documents with the largest sums, of equals the newest; in no order."""
    if len(sums) <= most:
        return list(sums)
    least = sorted(sums.values())[-most]
    above = [doc for doc, amount in sums.items() if amount > least]
    equal = sorted((doc for doc, amount in sums.items() if amount == least), reverse=True)
    return above + equal[: most - len(above)]


def fitness(day: int, periods: "Sequence[Period]") -> float:
    """How well the day of a note fits the days that a question names, in [0, 1]."""
    return max(
        min(max(1 - (day - last) / (DATE_REACH + 1), 0.0), 1.0) if day >= first else 0.0
        for first, last in periods
    )
