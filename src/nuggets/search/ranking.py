"""How well each note answers a question: the text and vector signals, combined as documented."""

from functools import reduce
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.evidence import GLANCED_AT, Closeness, Evidence, strongest
from nuggets.search.table import ASKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nuggets.search.dates import Period
    from nuggets.search.landscape import Landscape
    from nuggets.search.postings import Postings
    from nuggets.search.query import Query

# Weights of the combined score, as documented.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.42, 0.48

# The text signal, in shares of the query's words found in a note and its neighbours (1.0).
GROUP = 0.6  # the note's group (a sitting, a topic) as a whole
SUBJECT = 0.3  # the question names the note's title
WHEN = 0.12  # asked when, and the note says when
DATED = 0.35  # the question names the note's day
PHRASE = 0.2  # the question stands in the note word for word
TEXT_SCALE = 1.5  # brings the sum into [0, 1]; all of it at once does not happen
DATE_REACH = 7  # days after an event in which one still speaks of it

# The vector holds the note itself and, each under its own role key, its newest neighbours.
NEAR_ROLES = 4
NEAR_IN_NOTE = 0.8
NEAR_IN_QUERY = 0.5

LOOKED_AT = 100  # notes weighed exactly: the best by a rough estimate


class Signals(NamedTuple):
    """One value for each note that has something to do with the question."""

    rows: "NDArray[Any]"
    text: "NDArray[Any]"  # in [0, 1], like the vector
    vector: "NDArray[Any]"
    words: "NDArray[Any]"  # how much of the question they answer
    complete: "NDArray[Any]"  # whether every word stands in the note itself
    mass: float  # of the question


class Ranking:
    """Puts questions to all notes of a landscape."""

    def __init__(self, landscape: "Landscape", postings: "Postings") -> None:
        self.landscape = landscape
        self.postings = postings

    def evidence(self, query: "Query") -> Evidence:
        """What the words of the question find."""
        return Evidence(query, self.landscape, self.postings)

    def signals(self, query: "Query", eligible: "NDArray[Any] | None", most: int) -> Signals:
        """The answers of the most promising of the eligible notes; None says all of them."""
        import numpy as np

        evidence = self.evidence(query)
        subjects = self.subjects(query)
        rows, rough = evidence.roughly()
        if subjects is not None or eligible is not None:
            amounts = rough if subjects is None else rough + subjects
            rows = strongest(amounts if eligible is None else amounts * eligible, GLANCED_AT)
        beside = self.beside(query, evidence, rows, subjects)
        extra: NDArray[Any] = sum(beside.values(), beside.pop("prior"))
        if len(rows) > most:
            best = strongest(rough.take(rows) + extra - ASKING, most)
            rows, extra = rows.take(best), extra.take(best)
        close = evidence.closely(rows)
        words = evidence.words(close)
        text = np.minimum(np.maximum((words + extra) / TEXT_SCALE, 0.0), 1.0)
        vector = (1 + self._surroundings(close, rows)) / 2
        return Signals(rows, text, vector, words, close.complete, query.mass)

    def subjects(self, query: "Query") -> "NDArray[Any] | None":
        """How far each note is what the question names; None if it names no title."""
        import numpy as np

        if not query.titles:
            return None
        subjects = np.zeros(len(self.landscape.reach))
        for title in query.titles:
            rows = self.postings.notes_with(title.label)
            subjects[rows] = np.maximum(subjects[rows], SUBJECT * title.strength)
        return subjects

    def beside(
        self,
        query: "Query",
        evidence: Evidence,
        rows: "NDArray[Any]",
        subjects: "NDArray[Any] | None",
    ) -> "dict[str, NDArray[Any]]":
        """What speaks for notes besides the words that they have, as parts of the text signal."""
        import numpy as np

        table = self.landscape.table
        parts = {"prior": table.priors.all.take(rows)}
        if self.landscape.groups:
            heard = GROUP * evidence.in_groups()
            members = (heard.take(groups.all.take(rows)) for groups in table.used_groups)
            parts["group"] = reduce(np.maximum, members)
        if subjects is not None:
            parts["subject"] = subjects.take(rows)
        if query.asks_when:
            parts["time"] = WHEN * table.timed.all.take(rows)
        if query.periods:
            fitting = DATED * _fitting(table.days.all.take(rows), query.periods)
            parts["time"] = parts.get("time", 0.0) + fitting
        return parts

    def _surroundings(self, close: Closeness, rows: "NDArray[Any]") -> "NDArray[Any]":
        """The cosine with the whole vector: the note's own part and its neighbours' parts."""
        import numpy as np

        asked = sqrt(1 + NEAR_ROLES * NEAR_IN_QUERY**2)
        if not self.landscape.linked:
            return close.cosines[:, 0] / asked
        near = close.cosines[:, 1 : 1 + NEAR_ROLES].sum(axis=1)
        held = np.minimum(NEAR_ROLES, self.landscape.table.degrees.all.take(rows))
        near = near * (NEAR_IN_QUERY * NEAR_IN_NOTE) * np.sqrt(2 / np.maximum(2, held))
        length = np.sqrt(1 + NEAR_IN_NOTE**2 * np.minimum(2, held))
        around: NDArray[Any] = (close.cosines[:, 0] + near) / (length * asked)
        return around


def _fitting(days: "NDArray[Any]", periods: "Sequence[Period]") -> "NDArray[Any]":
    """How well notes of these days fit the days that a question names."""
    import numpy as np

    fits = np.zeros(len(days))
    for first, last in periods:
        fading = np.clip(1 - (days - last) / (DATE_REACH + 1), 0.0, 1.0)
        fits = np.maximum(fits, fading * (days >= first))
    return fits
