"""How well each note answers a question: the text and vector signals, combined as documented."""

from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING, Any

from nuggets.named_tuple import NamedTuple
from nuggets.search.index.documents import ASKS, SAYS_WHEN
from nuggets.search.index.postings import BLOCK, BLOCK_BITS
from nuggets.search.scoring.note_and_neighbour_scores import Closeness, Scorer
from nuggets.search.scoring.posting_sums import strongest
from nuggets.search.scoring.weights import (
    ASKING,
    DATE_REACH,
    DATED,
    ENOUGH_WORDS,
    GROUP,
    INFORMATIVE,
    NEAR_IN_NOTE,
    NEAR_IN_QUERY,
    NEAR_ROLES,
    SUBJECT,
    TEXT_SCALE,
    TEXT_WEIGHT,
    VECTOR_WEIGHT,
    WHEN,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from nuggets.language.dates import Period
    from nuggets.search.index.documents import Document
    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.query import Query
    from nuggets.search.scoring.posting_sums import Offsets

ROUGH_CANDIDATES = 500  # notes that pass the rough step
LENDERS = 100  # notes that pass it where notes are linked, together with their neighbours
EXACT_CANDIDATES = 60  # notes that are scored exactly, the best of the rough step
MOST_TITLED = 2000  # notes that pass the rough step by their title alone, newest first


class Extras(NamedTuple):
    """The parts of the text signal besides words."""

    group: float
    subject: float
    time: float
    prior: float


class Signal(NamedTuple):
    """What speaks for one note, in numbers."""

    document: "Document"
    text: float  # in [0, 1], like the vector
    vector: float
    words: float  # share of the question's words that it answers
    complete: bool  # whether the note itself has every word
    evidence: float  # text and vector combined: relevance without the boost

    def with_text(self, text: float) -> "Signal":
        return self._replace(text=text, evidence=combine(text, self.vector))


def combine(text: Any, vector: Any) -> Any:
    """Evidence from both signals, of one note or of several as arrays."""
    return VECTOR_WEIGHT * vector + TEXT_WEIGHT * text


class ExplainedSignal(NamedTuple):
    """The signal of one note and its parts."""

    signal: Signal
    extras: Extras
    shares: list[float]  # how far the note answers each word


class Ranking:
    """Ranks the notes of a snapshot for one question."""

    def __init__(self, query: "Query", snapshot: "Snapshot") -> None:
        self._query = query
        self._snapshot = snapshot
        self._scorer = self._new_scorer()
        self._is_timed = query.asks_when or bool(query.periods)

    def _new_scorer(self) -> Scorer:
        return Scorer(self._query, self._snapshot)

    def signals(self, eligible: "Offsets | None", most: int) -> list[Signal]:
        """Signals of the most promising eligible notes; None: all notes are eligible."""
        rough, candidates, subjects = self._candidates(eligible)
        documents = {row.doc: row for row in self._snapshot.documents.load(candidates)}
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

    def explained_signal(self, document: "Document") -> ExplainedSignal | None:
        """The signal of one note; None if neither it nor a neighbour has a word of the question."""
        close = self._scorer.closeness([document])[document.doc]
        subjects = self._subjects([document.doc])
        if not any(close.shares) and document.doc not in subjects:
            return None
        extras = self._extras(document, self._group_shares([document]), subjects)
        return ExplainedSignal(self._signal(document, extras, close), extras, close.shares)

    def _candidates(
        self, eligible: "Offsets | None"
    ) -> "tuple[dict[int, float], Collection[int], dict[int, float]]":
        """Rough scores, documents worth a closer look, and scores for titles that are named."""
        titled = list(self._query.titles)
        linked = self._snapshot.stats.linked
        alone = eligible is None and not titled
        sums = self._scorer.accumulate(LENDERS if linked and alone else ROUGH_CANDIDATES, eligible)
        lenders = sums.best(LENDERS, None) if linked else {}
        rough = dict(lenders) if linked and alone else sums.best(ROUGH_CANDIDATES, eligible)
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
        return rough, strongest(amounts, ROUGH_CANDIDATES), subjects

    def _subjects(self, docs: "Iterable[int]") -> dict[int, float]:
        """Scores of notes whose titles the question names: of these documents and the newest."""
        subjects: dict[int, float] = {}
        for label, strength, *_ in self._query.titles:
            newest = islice(self._snapshot.index.documents_with(label), MOST_TITLED)
            for doc in {*self._snapshot.index.select_having(label, docs), *newest}:
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
        return Signal(document, text, vector, words, close.complete, combine(text, vector))


def _cosine_of_all(close: Closeness) -> float:
    """Cosine with the whole vector, the neighbours' parts included."""
    query_length = sqrt(1 + NEAR_ROLES * NEAR_IN_QUERY**2)
    count = min(NEAR_ROLES, len(close.near))
    near = sum(close.near[:NEAR_ROLES]) * NEAR_IN_QUERY * NEAR_IN_NOTE * sqrt(2 / max(2, count))
    length = sqrt(1 + NEAR_IN_NOTE**2 * min(2, count))
    return (close.cosine + near) / (length * query_length)


def _fitness(day: int, periods: "Sequence[Period]") -> float:
    """How well the day of a note fits the days that a question names, in [0, 1]."""
    return max(
        min(max(1 - (day - last) / (DATE_REACH + 1), 0.0), 1.0) if day >= first else 0.0
        for first, last in periods
    )
