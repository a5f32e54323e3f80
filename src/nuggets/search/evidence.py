"""What the words of a question find: in notes, in their neighbours, in their groups.

All notes that have a word are weighed roughly first, then the most promising ones exactly: so
a question costs what its words' postings cost, however many notes and links there are. The
postings of all words are worked on at once: on a few thousand numbers a call costs more than
the arithmetic in it.
"""

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.postings import IMPACT_UNIT, TF_UNIT
from nuggets.search.table import BACKWARD, FORWARD, NOBODY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.search.landscape import Landscape
    from nuggets.search.postings import Postings
    from nuggets.search.query import Query

# A word of a linked note counts as a part of a word here, and two links away as less.
NEAR, NEAR_TWICE = 0.25, 0.12
PASSED_ON = 0.7  # of all notes; a word that more of them have needs no passing on

GLANCED_AT = 1000  # notes with most of the words and the title that is asked for
LENDERS = 300  # notes with most of the words; they and their neighbours are looked at
WORTH_A_LOOK = 0.3  # of the largest amount; where enough have that much, nobody else is asked
ENOUGH = 0.1  # of as many as are wanted
ROUNDING = 1e-12  # equal sums may differ by that much, and equals stay together


class Closeness(NamedTuple):
    """Of chosen notes, exactly."""

    shares: "NDArray[Any]"  # in [0, 1): how far they answer each word; a line a word
    complete: "NDArray[Any]"  # whether every word stands in the note itself
    cosines: "NDArray[Any]"  # with the note alone, then with each neighbour; a line a note


class Evidence:
    """What the words of a question find, or relatives of them."""

    def __init__(self, query: "Query", landscape: "Landscape", postings: "Postings") -> None:
        import numpy as np

        self._landscape = landscape
        self._parts = np.array([slot.mass / query.mass for slot in query.slots], np.float32)
        words: list[int] = []  # which word each term answers
        terms: list[int] = []
        weights: list[float] = []
        pulls: list[float] = []  # what the term brings to the cosine
        for word, slot in enumerate(query.slots):
            pull = slot.mass / (query.length * IMPACT_UNIT)
            for term, weight, *_ in slot.alternatives:
                words.append(word)
                terms.append(term)
                weights.append(weight)
                pulls.append(weight * pull)
        found = postings.of(terms)
        if not landscape.all_there:
            found = found.only(landscape.there.take(found.slots))
        self._found = found
        self._pulls = np.array(pulls, np.float32)
        self._words = np.array(words, np.intp)
        self._term_parts = self._parts.take(self._words)
        self._lines = found.spread(np.arange(len(terms)))
        # How often the term stands in the note.
        self._heard = found.frequencies * found.spread(np.array(weights, np.float32) / TF_UNIT)
        shares = self._heard / (self._heard + landscape.norms.take(found.slots))
        shares *= found.spread(self._term_parts)
        # How much of the question each note has itself, the last one being NOBODY.
        self.direct = np.bincount(found.slots, shares, minlength=len(landscape.reach))

    def roughly(self) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Notes that have most of the question, themselves or next to them, and about how much."""
        import numpy as np

        landscape, rough = self._landscape, self.direct
        if not landscape.linked:
            return strongest(rough, GLANCED_AT), rough
        best = strongest(rough, LENDERS)
        others, flows = landscape.around(best)
        lent = NEAR * rough.take(best) * landscape.lending.take(best)
        # What flows in on a link flows out the other way with the opposite sense of time.
        lent = (FORWARD + BACKWARD - flows) * lent[:, None] * landscape.reach.take(others)
        others = others.ravel().astype(np.intp)
        rough = rough.copy()
        np.add.at(rough, others, lent.ravel())
        promising = np.zeros(len(rough), bool)
        promising[best] = promising[others] = True
        promising[NOBODY] = False
        return promising.nonzero()[0], rough

    def in_groups(self) -> "NDArray[Any]":
        """How much of the question each group speaks of; a word that few have tells them apart."""
        import numpy as np

        landscape = self._landscape
        count = len(landscape.grouping)
        lines = self._lines * count
        spoken = np.zeros((len(self._term_parts), count))
        for groups in landscape.table.used_groups:
            cells = groups.all.take(self._found.slots)
            cells += lines
            spoken += np.bincount(cells, self._heard, spoken.size).reshape(spoken.shape)
        spoken /= spoken + landscape.group_norms
        total, having = landscape.groups, (spoken > 0).sum(axis=1).tolist()
        rare = [log(1 + (total - some + 0.5) / (some + 0.5)) for some in having]
        answered: NDArray[Any] = (self._term_parts / log(2 + 2 * total) * rare) @ spoken
        return answered

    def words(self, close: Closeness) -> "NDArray[Any]":
        """How much of the whole question the notes answer."""
        answered: NDArray[Any] = self._parts @ close.shares
        return answered

    def closely(self, rows: "NDArray[Any]") -> Closeness:
        """What the words find in these notes and up to two links around them."""
        import numpy as np

        landscape = self._landscape
        norms = landscape.norms.take(rows)
        if not landscape.linked:
            direct, cosines = self._at(rows)
            return Closeness(
                direct / (direct + norms), np.logical_and.reduce(direct), cosines[:, None]
            )
        near, flow = landscape.around(rows)
        beyond, further = landscape.around(near.ravel())
        flow = flow * landscape.reach.take(rows)[:, None]
        further = further * (landscape.reach.take(near) ** 2 * flow).reshape(-1, 1)
        beyond = beyond.reshape(len(rows), near.shape[1] ** 2)
        further = further.reshape(beyond.shape) * landscape.lending.take(beyond)
        flow *= landscape.lending.take(near)
        held, cosines = self._at(np.concatenate([rows[:, None], near, beyond], axis=1))
        width = 1 + near.shape[1]
        direct = held[:, :, 0]
        once = np.einsum("wrk,rk->wr", held[:, :, 1:width], flow)
        twice = np.einsum("wrk,rk->wr", held[:, :, width:], further)
        twice[direct > 0] = 0.0  # a word does not come back to where it stands
        total = direct + self._passed_on() * (NEAR * once + NEAR_TWICE * twice)
        return Closeness(total / (total + norms), np.logical_and.reduce(direct), cosines[:, :width])

    def _passed_on(self) -> "NDArray[Any]":
        """Whether a word is lent to neighbours at all; a line a word."""
        import numpy as np

        most = PASSED_ON * self._landscape.notes
        words = self._words.take(self._found.terms)
        found = np.bincount(words, self._found.sizes, len(self._parts))
        return (found <= most).astype(np.float32)[:, None]

    def _at(self, places: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """How often each word stands at these places, and how near their own vectors are.

        Of several terms that answer one word the strongest counts. Nothing is where NOBODY is.
        """
        import numpy as np

        count = places.size
        columns = np.full(len(self.direct), -1)
        columns[places] = np.arange(count).reshape(places.shape)  # of a place met twice, one
        column = columns.take(self._found.slots)
        chosen = (column >= 0).nonzero()[0]
        column, line = column.take(chosen), self._lines.take(chosen)
        held = np.zeros((len(self._parts), count), np.float32)
        cells = self._words.take(line) * count + column
        np.maximum.at(held.reshape(-1), cells, self._heard.take(chosen))
        pulled = self._found.impacts.take(chosen) * self._pulls.take(line)
        cosines = np.bincount(column, pulled, count)
        columns = columns.take(places)
        return held.take(columns, axis=1), cosines.take(columns)


def strongest(amounts: "NDArray[Any]", most: int) -> "NDArray[Any]":
    """Places of the largest amounts above zero, about so many: equals stay together."""
    import numpy as np

    if not len(amounts):
        return np.zeros(0, np.intp)
    best = (amounts > WORTH_A_LOOK * amounts.max()).nonzero()[0]
    if len(best) < ENOUGH * most:
        best = (amounts > 0).nonzero()[0]
    if len(best) <= most:
        return np.asarray(best)
    amounts = amounts.take(best)
    least = np.partition(amounts, -most)[-most]
    chosen = amounts > least - ROUNDING
    if np.count_nonzero(chosen) > 2 * most and amounts.max() > least + ROUNDING:
        chosen = amounts > least + ROUNDING
    wanted: NDArray[Any] = best[chosen]
    return wanted
