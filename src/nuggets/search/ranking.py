"""How well each note answers a question: the text and vector signals, combined as documented."""

from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.accumulator import strongest
from nuggets.search.documents import ASKS, SAYS_WHEN
from nuggets.search.postings import BLOCK, BLOCK_BITS
from nuggets.search.scorer import Closeness, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nuggets.search.accumulator import Offsets
    from nuggets.search.dates import Period
    from nuggets.search.documents import Document
    from nuggets.search.query import Query
    from nuggets.search.snapshot import Snapshot

# Weights of the combined score, as documented.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.42, 0.48

# The text signal, in shares of the query's words found in a note and its neighbours (1.0).
GROUP = 0.6  # the note's group (a sitting, a topic) as a whole
SUBJECT = 0.3  # the question names the note's title
WHEN = 0.12  # asked when, and the note says when
DATED = 0.35  # the question names the note's day
PHRASE = 0.2  # the question stands in the note word for word
ASKING = -0.08  # a note that asks rarely answers
INFORMATIVE = 0.06  # a note with something to say:
ENOUGH_WORDS = 15  # significant ones
TEXT_SCALE = 1.5  # brings the sum into [0, 1]; all of it at once does not happen
DATE_REACH = 7  # days after an event in which one still speaks of it

# The vector holds the note itself and, each under its own role key, its newest neighbours.
NEAR_ROLES = 4
NEAR_IN_NOTE = 0.8
NEAR_IN_QUERY = 0.5

GLANCED_AT = 500  # notes with most of the words and the title that is asked for
LENDERS = 100  # notes with most of the words; they and their neighbours are looked at
LOOKED_AT = 60  # notes weighed exactly: the best by a rough estimate
MOST_TITLED = 2000  # notes of one title that are considered for the title alone, the newest


class Extras(NamedTuple):
    """What speaks for a note besides the words that it has, as parts of the text signal."""

    group: float
    subject: float
    time: float
    prior: float


class Signal(NamedTuple):
    """What speaks for one note."""

    document: "Document"
    text: float  # in [0, 1], like the vector
    vector: float
    words: float  # how much of the question it answers
    complete: bool  # whether every word stands in the note itself
    extras: Extras
    close: Closeness | None

    @property
    def evidence(self) -> float:
        return VECTOR_WEIGHT * self.vector + TEXT_WEIGHT * self.text


class Ranking:
    """Puts one question to the notes of a snapshot."""

    def __init__(self, query: "Query", snapshot: "Snapshot") -> None:
        self._query = query
        self._snapshot = snapshot
        self._scorer = Scorer(query, snapshot)
        self._is_timed = query.asks_when or bool(query.periods)

    def signals(self, eligible: "Offsets | None", most: int) -> list[Signal]:
        """Of the most promising of the eligible notes; None says that all are eligible."""
        rough, candidates, subjects = self._candidates(eligible)
        documents = self._snapshot.documents.load(candidates)
        groups = self._group_shares(documents.values())
        if len(documents) > most:
            amounts = {
                doc: rough[doc] + sum(self._extras(row, groups, subjects)) - ASKING
                for doc, row in documents.items()
            }
            documents = {doc: documents[doc] for doc in strongest(amounts, most)}
        close = self._scorer.closeness(documents.values())
        return [
            self._signal(row, self._extras(row, groups, subjects), close[doc])
            for doc, row in documents.items()
        ]

    def signal_of(self, document: "Document") -> Signal | None:
        """Of one note; None if it has no word of the question, nor a neighbour of it."""
        close = self._scorer.closeness([document])[document.doc]
        subjects = self._subjects([document.doc])
        if not any(close.shares) and document.doc not in subjects:
            return None
        extras = self._extras(document, self._group_shares([document]), subjects)
        return self._signal(document, extras, close)

    def _candidates(
        self, eligible: "Offsets | None"
    ) -> "tuple[dict[int, float], Iterable[int], dict[int, float]]":
        """About how much of the question notes have, those worth a look, and what is named."""
        titled = list(self._query.titles)
        linked = self._snapshot.stats.linked
        alone = eligible is None and not titled
        sums = self._scorer.accumulate(LENDERS if linked and alone else GLANCED_AT, eligible)
        lenders = sums.best(LENDERS, None) if linked else {}
        rough = dict(lenders) if linked and alone else sums.best(GLANCED_AT, eligible)
        for doc, amount in self._scorer.lend(lenders).items():
            rough[doc] = rough.get(doc, 0.0) + amount
        if alone:
            return rough, rough, {}
        subjects = self._subjects(rough)
        for doc in subjects:
            rough.setdefault(doc, 0.0)
        amounts = {
            doc: amount + subjects.get(doc, 0.0)
            for doc, amount in rough.items()
            if eligible is None or doc & BLOCK - 1 in eligible.get(doc >> BLOCK_BITS, ())
        }
        return rough, strongest(amounts, GLANCED_AT), subjects

    def _subjects(self, known: "Iterable[int]") -> dict[int, float]:
        """How far notes are what the question names: known ones, and the newest besides."""
        subjects: dict[int, float] = {}
        for label, strength in self._query.titles:
            named = islice(self._snapshot.index.documents_with(label), MOST_TITLED)
            for doc in {*self._snapshot.index.select_having(label, known), *named}:
                subjects[doc] = max(subjects.get(doc, 0.0), SUBJECT * strength)
        return subjects

    def _group_shares(self, rows: "Iterable[Document]") -> dict[int, float]:
        if not self._snapshot.stats.groups:
            return {}
        return self._scorer.group_shares({group for row in rows for group in row.groups})

    def _extras(
        self, row: "Document", groups: dict[int, float], subjects: dict[int, float]
    ) -> Extras:
        prior = INFORMATIVE * min(row.length / ENOUGH_WORDS, 1.0)
        return Extras(
            GROUP * max([groups.get(group, 0.0) for group in row.groups], default=0.0),
            subjects.get(row.doc, 0.0) if subjects else 0.0,
            self._time(row) if self._is_timed else 0.0,
            prior + ASKING if row.flags & ASKS else prior,
        )

    def _time(self, row: "Document") -> float:
        time = WHEN * (row.flags & SAYS_WHEN > 0) if self._query.asks_when else 0.0
        if self._query.periods:
            time += DATED * _fitness(row.day, self._query.periods)
        return time

    def _signal(self, document: "Document", extras: Extras, close: Closeness) -> Signal:
        parts = zip(self._scorer.parts, close.shares, strict=True)
        words = sum(part * share for part, share in parts)
        text = min(max((words + sum(extras)) / TEXT_SCALE, 0.0), 1.0)
        vector = (1 + _cosine_of_all(close)) / 2
        return Signal(document, text, vector, words, close.complete, extras, close)


def _cosine_of_all(close: Closeness) -> float:
    """With the whole vector: the note's own part and its neighbours' parts."""
    asked = sqrt(1 + NEAR_ROLES * NEAR_IN_QUERY**2)
    held = min(NEAR_ROLES, len(close.near))
    near = sum(close.near[:NEAR_ROLES]) * NEAR_IN_QUERY * NEAR_IN_NOTE * sqrt(2 / max(2, held))
    length = sqrt(1 + NEAR_IN_NOTE**2 * min(2, held))
    return (close.cosine + near) / (length * asked)


def _fitness(day: int, periods: "Sequence[Period]") -> float:
    """How well a note of this day fits the days that a question names."""
    return max(
        min(max(1 - (day - last) / (DATE_REACH + 1), 0.0), 1.0) if day >= first else 0.0
        for first, last in periods
    )
