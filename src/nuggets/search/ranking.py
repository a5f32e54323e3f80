"""How well each note answers a question: the text and vector signals, combined as documented."""

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.evidence import Evidence, gather

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.search.landscape import Landscape
    from nuggets.search.postings import Postings
    from nuggets.search.query import Query, Slot

# Weights of the combined score, as documented.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.42, 0.48

# The text signal, in shares of the query's words found in a note and its neighbours (1.0).
GROUP = 0.5  # the note's group (a sitting, a topic) as a whole
SUBJECT = 0.3  # the question names the note's title
WHEN = 0.11  # asked when, and the note says when
DATED = 0.25  # the question names the note's day
ASKING = -0.08  # a note that asks rarely answers
INFORMATIVE = 0.06  # a note with something to say
PHRASE = 0.2  # the question stands in the note word for word
TEXT_SCALE = 1.5  # brings the sum into [0, 1]; all of it at once does not happen
INFORMED_AT = 15  # significant words
DATE_REACH = 7  # days after an event in which one still speaks of it

# The vector holds the note itself and, each under its own role key, its newest neighbours.
NEAR_ROLES = 4
NEAR_IN_NOTE = 0.8
NEAR_IN_QUERY = 0.5

LOOKED_AT = 250  # notes with most of the words; hardly any other can come out on top
CACHED_ROWS = 1_000_000  # found by words that may be asked again: about 20 MB


class Signals(NamedTuple):
    """One value for each note that has something to do with the question."""

    rows: "NDArray[Any]"
    text: "NDArray[Any]"  # in [0, 1], like the vector
    vector: "NDArray[Any]"
    words: "NDArray[Any]"
    groups: "NDArray[Any] | float"
    subjects: "NDArray[Any] | float"
    times: "NDArray[Any] | float"
    priors: "NDArray[Any] | float"


class Ranking:
    """Puts questions to all notes of a landscape; remembers what each word found."""

    def __init__(self, landscape: "Landscape", postings: "Postings") -> None:
        import numpy as np

        table = landscape.table
        self.landscape = landscape
        self.postings = postings
        self._finds: dict[str, Finds] = {}  # by word
        self._room = CACHED_ROWS
        informed = np.minimum(1.0, table.lengths.all / INFORMED_AT)
        self._priors = ASKING * table.asking.all + INFORMATIVE * informed

    def _find(self, slot: "Slot") -> Finds:
        """What a word finds, from memory if it was asked before."""
        known = self._finds.get(slot.word)
        if known is None:
            known = find(slot, self.landscape, self.postings)
            if len(known.rows) < self._room:
                self._finds[slot.word] = known
                self._room -= len(known.rows)
        return known

    def evidence(self, query: "Query") -> Evidence:
        """What the words of the question find, those that nobody uses left out."""
        slots = [slot for slot in query.slots if slot.alternatives]
        return Evidence(
            [self._find(slot) for slot in slots],
            [slot.mass / query.mass for slot in slots],
            [slot.mass / query.length for slot in slots],
            self.landscape,
        )

    def signals(
        self, query: "Query", eligible: "NDArray[Any] | None", most: int = LOOKED_AT
    ) -> Signals:
        """The answers of the most promising of the eligible notes (None: of all)."""
        evidence = self.evidence(query)
        named = self._subjects(query)
        rows = evidence.promising(most, None if named is None else SUBJECT * named, eligible)
        return self.weigh(query, evidence, rows, 0.0 if named is None else named.take(rows))

    def weigh(
        self, query: "Query", evidence: "Evidence", rows: "NDArray[Any]", subjects: "NDArray[Any] | float"
    ) -> Signals:
        import numpy as np

        close = evidence.closely(rows)
        words = evidence.parts @ close.shares
        in_groups = self._in_groups(evidence, rows)
        times = self._times(query, rows)
        priors = self._priors.take(rows)
        total = words + GROUP * in_groups + SUBJECT * subjects + times + priors
        text = np.minimum(np.maximum(total / TEXT_SCALE, 0.0), 1.0)
        vector = (1 + self._surroundings(close, rows)) / 2
        return Signals(rows, text, vector, close, in_groups, subjects, times, priors)

    def _in_groups(self, groups: "NDArray[Any]", rows: "NDArray[Any]") -> "NDArray[Any] | float":
        """The best of each note's groups."""
        import numpy as np

        table = self.landscape.table
        best: NDArray[Any] | float = 0.0
        for place in range(table.most_groups):
            best = np.maximum(best, groups[table.groups.all[rows, place]])
        return best

    def _subjects(self, query: "Query") -> "NDArray[Any] | None":
        """How far each note is what the question names; None if it names no title."""
        import numpy as np

        if not query.titles:
            return None
        subjects = np.zeros(len(self.landscape.table))
        for title in query.titles:
            rows = self.postings.of(title.label)[0]
            subjects[rows] = np.maximum(subjects[rows], title.strength)
        return subjects

    def _times(self, query: "Query", rows: "NDArray[Any]") -> "NDArray[Any] | float":
        import numpy as np

        table = self.landscape.table
        times: NDArray[Any] | float = 0.0
        if query.asks_when:
            times = WHEN * table.timed.all[rows]
        if query.periods:
            days = table.days.all[rows]
            fits = np.zeros(len(rows))
            for first, last in query.periods:
                fading = np.clip(1 - (days - last) / (DATE_REACH + 1), 0.0, 1.0)
                fits = np.maximum(fits, fading * (days >= first))
            times = times + DATED * fits
        return times

    def _surroundings(self, cosines: "NDArray[Any]", rows: "NDArray[Any]") -> "NDArray[Any]":
        """The cosine with the whole vector: the note's own part and its neighbours' parts."""
        import numpy as np

        whole: NDArray[Any] = cosines[rows]
        asked = sqrt(1 + NEAR_ROLES * NEAR_IN_QUERY**2)
        table = self.landscape.table
        if not self.landscape.linked:
            whole /= asked
            return whole
        near = np.zeros(len(rows))
        for place in range(min(NEAR_ROLES, table.widest)):
            near += cosines[table.neighbours.all[rows, place]]
        held = np.minimum(NEAR_ROLES, table.degrees.all[rows])
        near *= NEAR_IN_QUERY * NEAR_IN_NOTE * np.sqrt(2 / np.maximum(2, held))
        length = np.sqrt(1 + NEAR_IN_NOTE**2 * np.minimum(2, held))
        around: NDArray[Any] = (whole + near) / (length * asked)
        return around


def _promising(amounts: "NDArray[Any]", eligible: "NDArray[Any]") -> "NDArray[Any]":
    """Rows with something in common with the question; of very many, the best."""
    import numpy as np

    rows = np.flatnonzero((amounts > 0) & eligible)
    if len(rows) <= LOOKED_AT:
        return rows
    amounts = amounts[rows]
    least = np.partition(amounts, -LOOKED_AT)[-LOOKED_AT]
    best: NDArray[Any] = rows[amounts >= least - ROUNDING]
    return best
