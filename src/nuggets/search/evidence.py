"""What the words of a question find: in notes, in their neighbours, in their groups.

All notes that have a word are weighed roughly first, then the most promising ones exactly: so
a question costs what its words' postings cost, however many notes and links there are.
"""

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.postings import TF_UNIT
from nuggets.search.table import NOBODY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nuggets.search.landscape import Landscape
    from nuggets.search.postings import Postings
    from nuggets.search.query import Query, Slot

# A word of a linked note counts as a part of a word here, and two links away as less. What was
# written before explains what follows better than the other way round.
NEAR, NEAR_TWICE = 0.35, 0.15
FORWARD, BACKWARD = 1.6, 0.4
PASSED_ON = 0.7  # of all notes; a word that more of them have needs no passing on

LENDERS = 300  # notes with most of the words; they and their neighbours are looked at
WORTH_A_LOOK = 0.3  # of the largest amount; where enough have that much, nobody else is asked
ENOUGH = 0.1  # of as many as are wanted
ROUNDING = 1e-12  # equal sums may differ by that much, and equals stay together


class Finds(NamedTuple):
    """What one word finds."""

    rows: "NDArray[Any]"  # of the notes that have it
    shares: "NDArray[Any]"  # in [0, 1): how far they answer it, neighbours not counted
    amounts: "NDArray[Any]"  # real: how often it stands there; imaginary: impact on the cosine
    groups: "NDArray[Any]"  # in [0, 1): how far each group answers it

    @property
    def size(self) -> int:
        return 2 * len(self.rows) + len(self.groups)


class Closeness(NamedTuple):
    """Of chosen notes, exactly."""

    shares: "NDArray[Any]"  # in [0, 1): how far they answer each word; a line a word
    complete: "NDArray[Any]"  # whether every word stands in the note itself
    cosines: "NDArray[Any]"  # with the note alone, then with each neighbour; a line a note


def find(slot: "Slot", landscape: "Landscape", postings: "Postings") -> Finds:
    """Notes with the word or a relative of it; of several relatives the strongest counts."""
    import numpy as np

    found: list[tuple[NDArray[Any], ...]] = []
    for alternative in slot.alternatives:
        rows, quarters, impacts = landscape.seen(postings.of(alternative.term))
        weight = np.float32(alternative.weight)
        found.append((rows, quarters * (weight / TF_UNIT), impacts * weight))
    if not found:
        found.append((np.zeros(0, np.int32),) * 3)
    rows, frequencies, impacts = found[0] if len(found) == 1 else _merged(found)
    rows = rows.astype(np.intp)
    amounts = np.empty(len(rows), np.complex64)
    amounts.real, amounts.imag = frequencies, impacts
    shares = frequencies / (frequencies + landscape.norms.take(rows))
    return Finds(rows, shares, amounts, _in_groups(rows, frequencies, landscape))


def _merged(
    found: "list[tuple[NDArray[Any], ...]]",
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    import numpy as np

    rows, frequencies, impacts = (np.concatenate(column) for column in zip(*found, strict=True))
    order = rows.argsort(kind="stable")
    rows, frequencies, impacts = rows.take(order), frequencies.take(order), impacts.take(order)
    first = np.append(True, rows[1:] != rows[:-1]).nonzero()[0]
    if len(first) == len(rows):
        return rows, frequencies, impacts
    strongest_ones = np.maximum.reduceat(frequencies, first)
    return rows.take(first), strongest_ones, np.add.reduceat(impacts, first)


def _in_groups(
    rows: "NDArray[Any]", frequencies: "NDArray[Any]", landscape: "Landscape"
) -> "NDArray[Any]":
    """How far groups speak of the word; one that few groups have tells them apart better."""
    import numpy as np

    if not landscape.groups:
        return np.zeros(len(landscape.grouping))
    table = landscape.table
    members = table.groups.all.take(rows, axis=0)
    count = len(landscape.grouping)
    heard = np.bincount(members[:, 0], frequencies, minlength=count)
    for place in range(1, table.most_groups):
        heard += np.bincount(members[:, place], frequencies, minlength=count)
    heard *= landscape.grouping
    total, having = landscape.groups, int(np.count_nonzero(heard))
    rare = log(1 + (total - having + 0.5) / (having + 0.5)) / log(2 + 2 * total)
    answered: NDArray[Any] = heard * rare / (heard + landscape.group_norms)
    return answered


class Evidence:
    """What all words of a question find together."""

    def __init__(self, query: "Query", finds: "Sequence[Finds]", landscape: "Landscape") -> None:
        import numpy as np

        self._finds, self._landscape = finds, landscape
        masses = np.array([slot.mass for slot in query.slots])
        self._parts, self._pulls = masses / query.mass, masses / query.length
        shares = [part * found.shares for part, found in zip(self._parts, finds, strict=True)]
        self._direct = np.bincount(  # how much of the question each note has; the last is NOBODY
            np.concatenate([found.rows for found in finds]),
            np.concatenate(shares),
            minlength=len(landscape.reach),
        )

    def roughly(self) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Notes that have most of the question, themselves or next to them, and about how much."""
        import numpy as np

        landscape = self._landscape
        best = strongest(self._direct, LENDERS)
        if not landscape.linked:
            return best, self._direct
        rough = self._direct.copy()
        others, later = landscape.around(best)
        lent = NEAR * rough.take(best) * landscape.lending.take(best)
        lent = np.where(later, FORWARD, BACKWARD) * lent[:, None] * landscape.reach.take(others)
        np.add.at(rough, others, lent)
        promising = np.zeros(len(rough), bool)
        promising[best] = promising[others] = True
        promising[NOBODY] = False
        return promising.nonzero()[0], rough

    def in_groups(self) -> "NDArray[Any]":
        """How much of the question each group speaks of."""
        import numpy as np

        spoken: NDArray[Any] = self._parts @ np.array([found.groups for found in self._finds])
        return spoken

    def words(self, close: Closeness) -> "NDArray[Any]":
        """How much of the whole question the notes answer."""
        answered: NDArray[Any] = self._parts @ close.shares
        return answered

    def closely(self, rows: "NDArray[Any]") -> Closeness:
        """What the words find in these notes and up to two links around them."""
        import numpy as np

        landscape, pulls = self._landscape, self._pulls[:, None, None]
        norms = landscape.norms.take(rows)
        if not landscape.linked:
            held = self._held_at(rows[:, None])
            direct = held.real[:, :, 0]
            cosines = (pulls * held.imag).sum(axis=0)
            return Closeness(direct / (direct + norms), np.logical_and.reduce(direct), cosines)
        near, flow = _flowing(rows, landscape)
        beyond, further = _flowing(near.ravel(), landscape)
        further *= (flow * landscape.reach.take(near)).reshape(-1, 1)
        beyond = beyond.reshape(len(rows), near.shape[1] ** 2)
        further = further.reshape(beyond.shape) * landscape.lending.take(beyond)
        flow *= landscape.lending.take(near)
        held = self._held_at(np.concatenate([rows[:, None], near, beyond], axis=1))
        width = 1 + near.shape[1]
        direct = held.real[:, :, 0]
        once = (held.real[:, :, 1:width] * flow).sum(axis=2)
        twice = (held.real[:, :, width:] * further).sum(axis=2)
        twice[direct > 0] = 0.0  # a word does not come back to where it stands
        total = direct + self._passed_on() * (NEAR * once + NEAR_TWICE * twice)
        cosines = (pulls * held.imag[:, :, :width]).sum(axis=0)
        return Closeness(total / (total + norms), np.logical_and.reduce(direct), cosines)

    def _passed_on(self) -> "NDArray[Any]":
        """Whether a word is lent to neighbours at all; a line a word."""
        import numpy as np

        most = PASSED_ON * self._landscape.notes
        return np.array([[float(len(found.rows) <= most)] for found in self._finds], np.float32)

    def _held_at(self, places: "NDArray[Any]") -> "NDArray[Any]":
        """The amounts of each word at these places; nothing where NOBODY is."""
        import numpy as np

        held = np.empty((len(self._finds), *places.shape), np.complex64)
        for line, found in zip(held, self._finds, strict=True):
            everywhere = np.zeros(len(self._direct), np.complex64)
            everywhere[found.rows] = found.amounts
            line[:] = everywhere.take(places)
        return held


def _flowing(rows: "NDArray[Any]", landscape: "Landscape") -> "tuple[NDArray[Any], NDArray[Any]]":
    """The neighbours of notes, and how much flows from each; what came later explains less."""
    import numpy as np

    others, later = landscape.around(rows)
    flow = np.where(later, np.float32(BACKWARD), np.float32(FORWARD))
    return others, flow * landscape.reach.take(rows)[:, None]


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
