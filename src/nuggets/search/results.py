"""From a question to the notes that answer it, best first."""

from math import exp
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from nuggets.records import SHARING, NoteFilterOptions, SearchNotesResult
from nuggets.search.evidence import strongest
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

TEMPERATURE = 0.35  # of the softmax, as documented
# Both without the boost, which says how far to trust a note and not what it is about. A note
# that has nothing to do with the question has 0.21, half the weight of the vector.
ANSWERS = 0.30  # the best note must have so much, or all words of the question
THRESHOLD = 0.25  # then so much is enough for a result
DIGITS = 9  # of a relevance; differences beyond are rounding, not ranking
READ_CLOSELY = 20  # notes with most of the words are searched for the question word for word
LITERAL = 0.5  # text of a note with a sign that is no word, such as "=>"


class Search:
    """Answers questions until the next change."""

    def __init__(self, collection: "Collection", include_hidden: bool) -> None:
        self._collection = collection
        self.landscape = Landscape(collection.table, include_hidden)
        self.reader = Reader(collection.vocabulary, self.landscape)
        self.ranking = Ranking(self.landscape, collection.postings)

    def results(self, text: str, limit: int, filters: NoteFilterOptions) -> list[SearchNotesResult]:
        """The best notes that meet the filters."""

        if not self.landscape.notes:
            return []
        table = self._collection.table
        most = max(LOOKED_AT, 2 * limit)
        signals = self.signals(text, self._eligible(filters), most)
        evidence = VECTOR_WEIGHT * signals.vector + TEXT_WEIGHT * signals.text
        near = evidence > THRESHOLD
        if not (near & (signals.complete | (evidence > ANSWERS))).any():
            return []
        relevance = (evidence + table.boosts.all.take(signals.rows)) * near
        ranked = _ordered(relevance, signals.rows, table.notes, max(limit, SHARING))
        shares = [exp((value - ranked[0][1]) / TEMPERATURE) for _, value, _ in ranked]
        whole = sum(shares)
        return [
            SearchNotesResult(
                note, share / whole, float(signals.vector[place]), float(signals.text[place]), value
            )
            for (note, value, place), share in zip(ranked[:limit], shares, strict=False)
        ]

    def _eligible(self, filters: NoteFilterOptions) -> "NDArray[Any] | None":
        """The visible notes that meet the filters; None if those are all."""
        meeting = self._collection.meeting(filters)
        visible: NDArray[Any] = self.landscape.visible
        if meeting is None:
            return None if self.landscape.all_visible else visible
        eligible: NDArray[Any] = visible & meeting
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
        if len(said) > READ_CLOSELY:
            said = said.take(strongest(signals.words.take(said), READ_CLOSELY))
        said = said[self._saying(text, signals.rows.take(said))]
        if len(said):
            signals.text[said] = np.minimum(1.0, signals.text[said] + PHRASE / TEXT_SCALE)
        return signals

    def _literally(self, text: str, eligible: "NDArray[Any] | None") -> Signals:
        """For signs that are no words: the notes in which they stand."""
        import numpy as np

        rows = np.flatnonzero(self.landscape.visible if eligible is None else eligible)
        rows = rows[self._saying(text, rows)]
        alike = np.ones(len(rows))
        return Signals(rows, LITERAL * alike, 0.5 * alike, 0.0 * alike, alike > 0)

    def _saying(self, text: str, rows: "NDArray[Any]") -> "NDArray[Any]":
        """Which of the rows have the text word for word."""
        import numpy as np

        asked = folded(text)
        wording = asked.rstrip("?!.").split() or asked.split()
        telling, whole = max(wording, key=len), " ".join(wording)
        notes = self._collection.table.notes
        said = (
            _says(notes[row].content, telling, whole) or _says(notes[row].title, telling, whole)
            for row in rows.tolist()
        )
        return np.fromiter(said, bool, len(rows))


def _says(text: str, telling: str, whole: str) -> bool:
    text = text.lower() if text.isascii() else folded(text)
    if telling not in text:
        return False
    # Few texts have other blanks than single ones, and making them even takes longest.
    uneven = "  " in text or not text.isprintable()
    return whole in (" ".join(text.split()) if uneven else text)


def _ordered(
    relevance: "NDArray[Any]", rows: "NDArray[Any]", notes: "list[MemoryNote]", most: int
) -> "list[tuple[MemoryNote, float, int]]":
    """Note, relevance and place of the best, best first; of equals the newer, then by id."""
    relevance = relevance.clip(max=1.0).round(DIGITS)
    best = (-relevance).argsort(kind="stable")
    if len(best) > most and relevance[best[most]] == relevance[best[most - 1]]:
        # More equals than wanted: all of them stand for election.
        best = best[: (relevance >= relevance[best[most]]).sum()]
    else:
        best = best[:most]
    values = relevance.take(best).tolist()
    ranked = [
        (notes[row], value, place)
        for row, value, place in zip(rows.take(best).tolist(), values, best.tolist(), strict=True)
        if value
    ]
    if len(set(values)) < len(values):
        ranked.sort(key=lambda one: one[0].id)
        ranked.sort(key=lambda one: one[0].created_at, reverse=True)
        ranked.sort(key=itemgetter(1), reverse=True)
    return ranked[:most]
