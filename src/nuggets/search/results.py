"""From a question to the notes that answer it, best first."""

from math import exp
from typing import TYPE_CHECKING, Any

from nuggets.records import NoteFilterOptions, SearchNotesResult
from nuggets.search.landscape import Landscape
from nuggets.search.query import Reader
from nuggets.search.ranking import (
    PHRASE,
    ROUNDING,
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

POOL = 20  # results that share one softmax, or as many as are asked for if that is more
TEMPERATURE = 0.35  # of the softmax, as documented
# Without the boost, which says how far to trust a note and not what it is about. A note that
# has nothing to do with the question has 0.21, half the weight of the vector.
THRESHOLD = 0.28
DIGITS = 9  # of a relevance; differences beyond are rounding, not ranking
READ_CLOSELY = 20  # notes with most of the words are searched for the question word for word
MANY_WORDS = 0.6  # of what the best note has; with fewer it cannot have all of them
LITERAL = 0.5  # text of a note with a sign that is no word, such as "=>"


class Search:
    """Answers questions until the next change."""

    def __init__(self, collection: "Collection", include_hidden: bool) -> None:
        self._collection = collection
        self.landscape = Landscape(collection.table, include_hidden)
        self.reader = Reader(collection.vocabulary, self.landscape.notes, self.landscape.years)
        self.ranking = Ranking(self.landscape, collection.postings)

    def results(self, text: str, limit: int, filters: NoteFilterOptions) -> list[SearchNotesResult]:
        """The best notes that meet the filters."""
        import numpy as np

        if not len(self.landscape.visible):
            return []
        table = self._collection.table
        meeting = self._collection.meeting(filters)
        visible = self.landscape.visible
        signals = self.signals(text, visible if meeting is None else visible & meeting)
        evidence = VECTOR_WEIGHT * signals.vector + TEXT_WEIGHT * signals.text
        found = np.flatnonzero(evidence > THRESHOLD)
        boosts = table.boosts.all[signals.rows[found]]
        relevance = np.minimum(np.round(evidence[found] + boosts, DIGITS), 1.0)
        pool = max(limit, POOL)
        if len(found) > pool:
            least = np.partition(relevance, -pool)[-pool]
            found, relevance = found[relevance >= least], relevance[relevance >= least]
        notes = [table.notes[row] for row in signals.rows[found].tolist()]
        ranked = _ordered(notes, relevance.tolist(), found.tolist())[:pool]
        shares = [exp((value - ranked[0][1]) / TEMPERATURE) for _, value, _ in ranked]
        whole = sum(shares)
        return [
            SearchNotesResult(
                note, share / whole, float(signals.vector[place]), float(signals.text[place]), value
            )
            for (note, value, place), share in zip(ranked[:limit], shares, strict=False)
        ]

    def signals(self, text: str, eligible: "NDArray[Any]") -> Signals:
        """What speaks for each eligible note, the wording included."""
        import numpy as np

        query = self.reader.understand(text)
        if not query.slots:
            return self._literally(text, eligible)
        signals = self.ranking.signals(query, eligible)
        if text.strip().isalnum() or not all(slot.is_known for slot in query.slots):
            return signals  # one word, or words that no note has: it stands nowhere like that
        best = np.flatnonzero(signals.words > MANY_WORDS * signals.words.max(initial=0.0))
        if len(best) > READ_CLOSELY:
            least = np.partition(signals.words[best], -READ_CLOSELY)[-READ_CLOSELY]
            best = best[signals.words[best] >= least - ROUNDING]
        said = best[self._saying(text, signals.rows[best])]
        signals.text[said] = np.minimum(1.0, signals.text[said] + PHRASE / TEXT_SCALE)
        return signals

    def _literally(self, text: str, eligible: "NDArray[Any]") -> Signals:
        """For signs that are no words: the notes in which they stand."""
        import numpy as np

        rows = np.flatnonzero(eligible)
        rows = rows[self._saying(text, rows)]
        alike = np.ones(len(rows))
        return Signals(rows, LITERAL * alike, 0.5 * alike, 0.0 * alike, 0.0, 0.0, 0.0, 0.0)

    def _saying(self, text: str, rows: "NDArray[Any]") -> "NDArray[Any]":
        """Which of the rows have the text word for word."""
        import numpy as np

        wording = folded(text).rstrip("?!.").split() or folded(text).split()
        telling, whole = max(wording, key=len), " ".join(wording)
        notes = self._collection.table.notes
        said = (
            _says(notes[row].content, telling, whole) or _says(notes[row].title, telling, whole)
            for row in rows.tolist()
        )
        return np.fromiter(said, bool, len(rows))


def _says(text: str, telling: str, whole: str) -> bool:
    text = text.lower() if text.isascii() else folded(text)
    # Most texts fail at one long word, before their blanks are made even.
    return telling in text and whole in " ".join(text.split())


def _ordered(
    notes: "list[MemoryNote]", relevance: list[float], places: list[int]
) -> "list[tuple[MemoryNote, float, int]]":
    """Best first; of equals the newer, then by id."""
    ranked = sorted(zip(notes, relevance, places, strict=True), key=lambda one: one[0].id)
    ranked.sort(key=lambda one: one[0].created_at, reverse=True)
    ranked.sort(key=lambda one: one[1], reverse=True)
    return ranked
