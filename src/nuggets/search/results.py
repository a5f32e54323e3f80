"""From a question to the notes that answer it, best first."""

from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.records import NoteFilterOptions, SearchNotesResult
from nuggets.search.landscape import Landscape
from nuggets.search.query import Reader
from nuggets.search.ranking import (
    LOOKED_AT,
    PHRASE,
    TEXT_SCALE,
    TEXT_WEIGHT,
    VECTOR_WEIGHT,
    Ranking,
    Signals,
)
from nuggets.text import folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.records import MemoryNote
    from nuggets.search.collection import Collection

SHARING = 20  # results whose scores add up to 1, or as many as are asked for if that is more
TEMPERATURE = 0.35  # of the softmax, as documented
# Both without the boost, which says how far to trust a note and not what it is about. A note
# that has nothing to do with the question has 0.21, half the weight of the vector.
ANSWERS = 0.30  # the best note must have so much, or all words of the question,
AMOUNT = 5.0  # or so much rarity of them: two rare words of a small shelf, one of a large one
THRESHOLD = 0.25  # then so much is enough for a result
DIGITS = 9  # of a relevance; differences beyond are rounding, not ranking
LITERAL = 0.5  # text of a note with a sign that is no word, such as "=>"


class Ranked(NamedTuple):
    """A note that may be shown."""

    note: "MemoryNote"
    relevance: float
    vector: float
    text: float


class Search:
    """Answers questions until the next change."""

    def __init__(self, collection: "Collection") -> None:
        self._collection = collection
        self.landscape = Landscape(collection.table)
        self.reader = Reader(collection.vocabulary, self.landscape)
        self.ranking = Ranking(self.landscape, collection.postings)
        self._of_projects: dict[str, NDArray[Any]] = {}

    def results(
        self, text: str, limit: int, filters: NoteFilterOptions, project: str | None
    ) -> list[SearchNotesResult]:
        """The best notes that meet the filters, those of other projects after all others."""
        if not self.landscape.notes:
            return []
        most, pool = max(LOOKED_AT, 2 * limit), max(limit, SHARING)
        eligible = self._eligible(filters)
        signals = self.signals(text, eligible, most)
        if not _is_answered(signals):
            return []
        ranked = self._ranked(signals, pool)
        if project is not None and any(_is_foreign(one.note, project) for one in ranked[:limit]):
            ours = self._ours(project) if eligible is None else self._ours(project) & eligible
            foreign = [one for one in ranked if _is_foreign(one.note, project)]
            ranked = [*self._ranked(self.signals(text, ours, most), pool), *foreign][:pool]
        best = max(one.relevance for one in ranked)
        shares = [exp((one.relevance - best) / TEMPERATURE) for one in ranked]
        whole = sum(shares)
        return [
            SearchNotesResult(one.note, share / whole, one.vector, one.text, one.relevance)
            for one, share in zip(ranked[:limit], shares, strict=False)
        ]

    def _ranked(self, signals: Signals, most: int) -> "list[Ranked]":
        """Notes that are near enough, best first; of equals the newer, then by id."""
        evidence, table = _evidence(signals), self._collection.table
        relevance = (evidence + table.boosts.all.take(signals.rows)).clip(max=1.0).round(DIGITS)
        relevance *= evidence > THRESHOLD
        best = (-relevance).argsort(kind="stable")
        if len(best) > most and relevance[best[most]] == relevance[best[most - 1]]:
            # More equals than wanted: all of them stand for election.
            best = best[: (relevance >= relevance[best[most]]).sum()]
        else:
            best = best[:most]
        columns = (signals.rows, relevance, signals.vector, signals.text)
        ranked = [
            Ranked(table.notes[row], *values)
            for row, *values in zip(*(one.take(best).tolist() for one in columns), strict=True)
            if values[0]
        ]
        if len({one.relevance for one in ranked}) < len(ranked):
            ranked.sort(key=lambda one: one.note.id)
            ranked.sort(key=lambda one: one.note.created_at, reverse=True)
            ranked.sort(key=lambda one: one.relevance, reverse=True)
        return ranked[:most]

    def _ours(self, project: str) -> "NDArray[Any]":
        """The notes of a project and those of none."""
        import numpy as np

        if project not in self._of_projects:
            notes = self._collection.table.notes
            ours = [not _is_foreign(note, project) for note in notes]
            self._of_projects[project] = np.array([*ours, False]) & self.landscape.there
        return self._of_projects[project]

    def _eligible(self, filters: NoteFilterOptions) -> "NDArray[Any] | None":
        """The notes that meet the filters; None if those are all."""
        meeting = self._collection.meeting(filters)
        there: NDArray[Any] = self.landscape.there
        if meeting is None:
            return None if self.landscape.all_there else there
        eligible: NDArray[Any] = there & meeting
        return eligible

    def signals(self, text: str, eligible: "NDArray[Any] | None", most: int = LOOKED_AT) -> Signals:
        """What speaks for each eligible note, the wording included."""
        import numpy as np

        query = self.reader.understand(text)
        if not query.slots:
            return self._literally(text, eligible)
        signals = self.ranking.signals(query, eligible, most)
        if text.strip().isalnum():
            return signals  # a single word that is there stands there word for word
        said = signals.complete.nonzero()[0]
        if not len(said):
            return signals
        said = said[self._saying(text, signals.rows.take(said))]
        if len(said):
            signals.text[said] = np.minimum(1.0, signals.text[said] + PHRASE / TEXT_SCALE)
        return signals

    def _literally(self, text: str, eligible: "NDArray[Any] | None") -> Signals:
        """For signs that are no words: the notes in which they stand."""
        import numpy as np

        rows = np.flatnonzero(self.landscape.there if eligible is None else eligible)
        rows = rows[self._saying(text, rows)]
        alike = np.ones(len(rows))
        return Signals(rows, LITERAL * alike, 0.5 * alike, 0.0 * alike, alike > 0, 0.0)

    def _saying(self, text: str, rows: "NDArray[Any]") -> "NDArray[Any]":
        """Which of the rows have the text word for word."""
        import numpy as np

        asked = folded(text)
        whole = " ".join(asked.rstrip("?!.").split() or asked.split())
        notes = self._collection.table.notes
        said = (
            _says(notes[row].content, whole) or _says(notes[row].title, whole)
            for row in rows.tolist()
        )
        return np.fromiter(said, bool, len(rows))


def _says(text: str, whole: str) -> bool:
    text = text.lower() if text.isascii() else folded(text)
    if whole in text:
        return True
    # Few texts have other blanks than single ones, and making them even takes longest.
    uneven = "\n" in text or "  " in text or "\t" in text
    return uneven and whole in " ".join(text.split())


def _evidence(signals: Signals) -> "NDArray[Any]":
    evidence: NDArray[Any] = VECTOR_WEIGHT * signals.vector + TEXT_WEIGHT * signals.text
    return evidence


def _is_answered(signals: Signals) -> bool:
    """Whether the best of the notes is good enough for any of them to be shown."""
    evidence = _evidence(signals)
    if evidence.max(initial=0.0) > ANSWERS:
        return True
    enough = signals.complete | (signals.words * signals.mass > AMOUNT)
    return bool((enough & (evidence > THRESHOLD)).any())


def _is_foreign(note: "MemoryNote", project: str) -> bool:
    return note.project not in ("", project)
