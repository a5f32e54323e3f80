"""What the words of a question find: in notes, in their neighbours, in their groups.

All notes that have a word are weighed roughly first, then the most promising ones exactly: so
a question costs what its words' postings cost, however many notes and links there are.
"""

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.postings import TF_UNIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nuggets.search.landscape import Landscape
    from nuggets.search.postings import Postings
    from nuggets.search.query import Slot

# A word of a linked note counts as a part of a word here, and two links away as less. What was
# written before explains what follows better than the other way round.
NEAR, NEAR_TWICE = 0.35, 0.15
FORWARD, BACKWARD = 1.6, 0.4
PASSED_ON = 0.7  # of all notes; a word that more of them have needs no passing on

LENDERS = 200  # notes with most of the words, whose neighbours are worth looking at
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

    shares: "NDArray[Any]"  # in [0, 1), neighbours counted; a line for each word
    complete: "NDArray[Any]"  # whether every word stands in the note itself
    cosines: "NDArray[Any]"  # with the note alone
    near: "NDArray[Any]"  # the cosines with its neighbours; a line for each note


def find(slot: "Slot", landscape: "Landscape", postings: "Postings") -> Finds:
    """Notes with the word or a relative of it; of several relatives the strongest counts."""
    import numpy as np

    found = []
    for alternative in slot.alternatives:
        rows, quarters, impacts = postings.of(alternative.term)
        if not landscape.all_visible:
            seen = landscape.visible[rows]
            rows, quarters, impacts = rows[seen], quarters[seen], impacts[seen]
        weight = np.float32(alternative.weight)
        found.append((rows, quarters * (weight / TF_UNIT), impacts * weight))
    if not found:
        nothing = np.zeros(0, np.float32)
        found = [(nothing, nothing, nothing)]
    rows, frequencies, impacts = found[0] if len(found) == 1 else _strongest_of(found)
    rows = rows.astype(np.intp)
    shares = frequencies / (frequencies + landscape.norms.take(rows))
    amounts = np.empty(len(rows), np.complex64)
    amounts.real, amounts.imag = frequencies, impacts
    return Finds(rows, shares, amounts, _in_groups(rows, frequencies, landscape))


def _strongest_of(
    found: "list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]",
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    import numpy as np

    rows, frequencies, impacts = (np.concatenate(column) for column in zip(*found, strict=True))
    order = rows.argsort(kind="stable")
    rows, frequencies, impacts = rows[order], frequencies[order], impacts[order]
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(first) == len(rows):
        return rows, frequencies, impacts
    return (
        rows[first],
        np.maximum.reduceat(frequencies, first),
        np.add.reduceat(impacts, first),
    )


def _in_groups(
    rows: "NDArray[Any]", frequencies: "NDArray[Any]", landscape: "Landscape"
) -> "NDArray[Any]":
    """How far groups speak of the word; one that few groups have tells them apart better."""
    import numpy as np

    heard = np.zeros(len(landscape.grouping))
    if not landscape.groups:
        return heard
    table = landscape.table
    members = table.groups.all.take(rows, axis=0)
    for place in range(table.most_groups):
        heard += np.bincount(members[:, place], frequencies, minlength=len(heard))
    heard *= landscape.grouping
    total, having = landscape.groups, int(np.count_nonzero(heard))
    rare = log(1 + (total - having + 0.5) / (having + 0.5)) / log(2 + 2 * total)
    return heard * rare / (heard + landscape.group_norms)


class Evidence:
    """What all words of a question find together."""

    def __init__(
        self,
        finds: "Sequence[Finds]",
        parts: "Sequence[float]",  # of the question, word by word
        pulls: "Sequence[float]",  # on the cosine
        landscape: "Landscape",
    ) -> None:
        import numpy as np

        self._finds, self._landscape = finds, landscape
        self._parts, self._pulls = np.array(parts), np.array(pulls)
        self._notes = len(landscape.visible)
        many = PASSED_ON * landscape.notes
        self._passed_on = np.array([[len(found.rows) <= many] for found in finds])
        direct = np.bincount(
            np.concatenate([found.rows for found in finds]),
            np.concatenate(
                [part * found.shares for part, found in zip(parts, finds, strict=True)]
            ),
            minlength=self._notes,
        )
        # About how much of the question each note has, itself or next to it.
        self.rough = direct + NEAR * _lent(direct, landscape) if landscape.linked else direct

    def words(self, close: Closeness) -> "NDArray[Any]":
        """How much of the whole question the notes answer."""
        answered: NDArray[Any] = self._parts @ close.shares
        return answered

    def in_groups(self) -> "NDArray[Any]":
        """How much of the question each group speaks of."""
        return sum(part * found.groups for part, found in zip(self._parts, self._finds, strict=True))

    def closely(self, rows: "NDArray[Any]") -> Closeness:
        """What the words find in these notes and up to two links around them."""
        import numpy as np

        landscape = self._landscape
        around = rows[:, None]
        if landscape.linked:
            near, flow = _flowing(rows, landscape)
            beyond, further = _flowing(near.ravel(), landscape)
            through = flow * landscape.reach.take(near)
            twice_near = beyond.reshape(len(rows), -1)
            around = np.concatenate([around, near, twice_near], axis=1)
        held = self._held_at(around)
        total = direct = held[:, :, 0].real
        own, width = 1, 1
        if landscape.linked:
            width += near.shape[1]
            flow *= landscape.lending.take(near)
            further = further.reshape(*near.shape, -1) * through[:, :, None]
            further = further.reshape(len(rows), -1) * landscape.lending.take(twice_near)
            once = (held[:, :, own:width].real * flow).sum(axis=2)
            twice = (held[:, :, width:].real * further).sum(axis=2)
            twice[direct > 0] = 0.0  # a word does not come back to where it stands
            total = direct + self._passed_on * (NEAR * once + NEAR_TWICE * twice)
        cosines = np.tensordot(self._pulls, held[:, :, :width].imag, 1)
        shares = total / (total + landscape.norms.take(rows))
        return Closeness(shares, direct.all(axis=0), cosines[:, 0], cosines[:, own:])

    def _held_at(self, places: "NDArray[Any]") -> "NDArray[Any]":
        """The amounts of each word at these places; nothing where NOBODY is."""
        import numpy as np

        held = np.empty((len(self._finds), *places.shape), np.complex64)
        for line, found in zip(held, self._finds, strict=True):
            everywhere = np.zeros(self._notes + 1, np.complex64)
            everywhere[found.rows] = found.amounts
            everywhere.take(places, out=line, mode="wrap")
        return held


def _lent(direct: "NDArray[Any]", landscape: "Landscape") -> "NDArray[Any]":
    """About what the notes with most of the words lend to those linked to them."""
    import numpy as np

    lenders = strongest(direct, LENDERS)
    others, later = landscape.around(lenders)
    amounts = direct.take(lenders) * landscape.lending.take(lenders)
    passed = np.where(later, FORWARD, BACKWARD) * amounts[:, None]
    received = np.bincount(others.ravel() + 1, passed.ravel(), minlength=len(direct) + 1)
    return received[1:] * landscape.reach[:-1]  # the first one is where nobody is linked


def _flowing(
    rows: "NDArray[Any]", landscape: "Landscape"
) -> "tuple[NDArray[Any], NDArray[Any]]":
    """The neighbours of notes, and how much flows from each; what came later explains less."""
    import numpy as np

    others, later = landscape.around(rows)
    flow = np.where(later, np.float32(BACKWARD), np.float32(FORWARD))
    return others, flow * landscape.reach.take(rows)[:, None]


def strongest(amounts: "NDArray[Any]", most: int) -> "NDArray[Any]":
    """Places of the largest amounts above zero, about so many: equals stay together."""
    import numpy as np

    if len(amounts) <= most:
        return (amounts > 0).nonzero()[0]
    least = max(0.0, np.partition(amounts, -most)[-most] - ROUNDING)
    best = (amounts > least).nonzero()[0]
    if len(best) <= 2 * most:
        return best
    clear = (amounts > least + 2 * ROUNDING).nonzero()[0]
    return clear if len(clear) else best
