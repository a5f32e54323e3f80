"""What the words of a question find: in notes, in their neighbours, in their groups.

All notes that have a word are weighed roughly first, then the most promising ones exactly: so
a question costs what its words' postings cost, however many notes and links there are. The
postings of all words are worked on at once: on a few thousand numbers a call costs more than
the arithmetic in it.
"""

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.postings import IMPACT_UNIT, TF_UNIT, joined
from nuggets.search.table import BACKWARD, FORWARD, NOBODY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.search.landscape import Landscape
    from nuggets.search.postings import Postings
    from nuggets.search.query import Query

# A word of a linked note counts as a part of a word here, and two links away as less.
NEAR, NEAR_TWICE = 0.3, 0.15
PASSED_ON = 0.7  # of all notes; a word that more of them have needs no passing on

LENDERS = 300  # notes with most of the words; they and their neighbours are looked at
WORTH_A_LOOK = 0.3  # of the largest amount; where enough have that much, nobody else is asked
ENOUGH = 0.1  # of as many as are wanted
ROUNDING = 1e-12  # equal sums may differ by that much, and equals stay together


class Finds(NamedTuple):
    """What the terms of a question find, term after term; all columns are equally long."""

    rows: "NDArray[Any]"  # of notes
    heard: "NDArray[Any]"  # how often the term stands there
    pulled: "NDArray[Any]"  # what that brings to the cosine
    sizes: list[int]  # how many notes each term found
    words: list[int]  # which word each term answers


class Closeness(NamedTuple):
    """Of chosen notes, exactly."""

    shares: "NDArray[Any]"  # in [0, 1): how far they answer each word; a line a word
    complete: "NDArray[Any]"  # whether every word stands in the note itself
    cosines: "NDArray[Any]"  # with the note alone, then with each neighbour; a line a note


def find(query: "Query", landscape: "Landscape", postings: "Postings") -> Finds:
    """Notes with the words of the question, or with relatives of them."""
    import numpy as np

    asked = [(word, one) for word, slot in enumerate(query.slots) for one in slot.alternatives]
    pieces = postings.of([one.term for _, one in asked])
    words = [word for word, _ in asked]
    sizes = [len(piece.slots) for piece in pieces]
    rows, heard, pulled = joined(pieces)
    rows = rows.astype(np.intp)
    heard = heard.astype(np.float32)
    weights = np.array([one.weight for _, one in asked], np.float32)
    heard *= (weights / TF_UNIT).repeat(sizes)
    pulls = [query.slots[word].mass / (query.length * IMPACT_UNIT) for word in words]
    pulled = pulled * (weights * np.array(pulls, np.float32)).repeat(sizes)
    if landscape.all_visible:
        return Finds(rows, heard, pulled, sizes, words)
    seen = landscape.visible.take(rows)
    lines = np.arange(len(sizes)).repeat(sizes)[seen]
    sizes = np.bincount(lines, minlength=len(sizes)).tolist()
    return Finds(rows[seen], heard[seen], pulled[seen], sizes, words)


class Evidence:
    """What all words of a question find together."""

    def __init__(self, query: "Query", finds: Finds, landscape: "Landscape") -> None:
        import numpy as np

        self._finds, self._landscape = finds, landscape
        self._parts = np.array([slot.mass / query.mass for slot in query.slots], np.float32)
        self._term_parts = self._parts[finds.words]
        shares = finds.heard / (finds.heard + landscape.norms.take(finds.rows))
        shares *= self._term_parts.repeat(finds.sizes)
        # Of each note, the last one being NOBODY: how much of the question it has itself, and
        # how near its own vector is.
        self.direct = np.bincount(finds.rows, shares, minlength=len(landscape.reach))
        self.cosines = np.bincount(finds.rows, finds.pulled, minlength=len(landscape.reach))

    def roughly(self) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Notes that have most of the question, themselves or next to them, and about how much."""
        import numpy as np

        landscape, rough = self._landscape, self.direct
        best = strongest(rough, LENDERS)
        if not landscape.linked:
            return best, rough
        others, flows = landscape.around(best)
        lent = NEAR * rough.take(best) * landscape.lending.take(best)
        # What flows in on a link flows out the other way with the opposite sense of time.
        lent = (FORWARD + BACKWARD - flows) * lent[:, None] * landscape.reach.take(others)
        rough = rough.copy()
        np.add.at(rough, others, lent)
        promising = np.zeros(len(rough), bool)
        promising[best] = promising[others] = True
        promising[NOBODY] = False
        return promising.nonzero()[0], rough

    def in_groups(self) -> "NDArray[Any]":
        """How much of the question each group speaks of; a word that few have tells them apart."""
        import numpy as np

        landscape = self._landscape
        rows, heard, _, sizes, _ = self._finds
        count = len(landscape.grouping)
        lines = np.arange(0, len(sizes) * count, count).repeat(sizes)
        summed = np.zeros(len(sizes) * count)
        for groups in landscape.table.used_groups:
            members = groups.all.take(rows)
            members += lines
            summed += np.bincount(members, heard, minlength=len(summed))
        spoken = summed.reshape(-1, count)
        spoken /= spoken + landscape.group_norms
        total, having = landscape.groups, (spoken > 0).sum(axis=1)
        rare = np.log(1 + (total - having + 0.5) / (having + 0.5)) / log(2 + 2 * total)
        answered: NDArray[Any] = (self._term_parts * rare) @ spoken
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
            direct = self._held_at(rows)
            cosines = self.cosines.take(rows)[:, None]
            return Closeness(direct / (direct + norms), np.logical_and.reduce(direct), cosines)
        near, flow = landscape.around(rows)
        beyond, further = landscape.around(near.ravel())
        flow = flow * landscape.reach.take(rows)[:, None]
        further = further * (landscape.reach.take(near) ** 2 * flow).reshape(-1, 1)
        beyond = beyond.reshape(len(rows), near.shape[1] ** 2)
        further = further.reshape(beyond.shape) * landscape.lending.take(beyond)
        flow *= landscape.lending.take(near)
        around = np.concatenate([rows[:, None], near, beyond], axis=1)
        held = self._held_at(around)
        width = 1 + near.shape[1]
        direct = held[:, :, 0]
        once = np.einsum("wrk,rk->wr", held[:, :, 1:width], flow)
        twice = np.einsum("wrk,rk->wr", held[:, :, width:], further)
        twice[direct > 0] = 0.0  # a word does not come back to where it stands
        total = direct + self._passed_on() * (NEAR * once + NEAR_TWICE * twice)
        cosines = self.cosines.take(around[:, :width])
        return Closeness(total / (total + norms), np.logical_and.reduce(direct), cosines)

    def _passed_on(self) -> "NDArray[Any]":
        """Whether a word is lent to neighbours at all; a line a word."""
        import numpy as np

        most = PASSED_ON * self._landscape.notes
        found = np.bincount(self._finds.words, self._finds.sizes, minlength=len(self._parts))
        return (found <= most).astype(np.float32)[:, None]

    def _held_at(self, places: "NDArray[Any]") -> "NDArray[Any]":
        """How often each word stands at these places, never where NOBODY is.

        Of several terms that answer one word the strongest counts.
        """
        import numpy as np

        rows, heard, _, sizes, words = self._finds
        everywhere = np.zeros(len(self.direct), np.float32)
        held = np.zeros((len(self._parts), *places.shape), np.float32)
        start = 0
        for word, size in zip(words, sizes, strict=True):
            term = slice(start, start := start + size)
            everywhere[rows[term]] = heard[term]
            line = held[word]
            np.maximum(line, everywhere.take(places), out=line)
            everywhere[rows[term]] = 0.0
        return held


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
