"""What the words of a question find: in notes, in their neighbours, in their groups.

First all notes that have a word are weighed roughly, then the most promising ones exactly: so
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
ANSWERED = 2.5  # a note that asks passes its words on to the one that answers

LENDERS = 500  # notes with most of the words, whose neighbours are worth looking at
ROUNDING = 1e-12  # equal sums may differ by that much, and equals stay together


class Finds(NamedTuple):
    """Notes that have a word, side by side with how much of it they have."""

    rows: "NDArray[Any]"
    frequencies: "NDArray[Any]"
    shares: "NDArray[Any]"  # in [0, 1), saturated by length; neighbours not counted
    impacts: "NDArray[Any]"  # on the cosine


class Closeness(NamedTuple):
    """Of chosen notes, exactly: one line for each word, one column for each note."""

    direct: "NDArray[Any]"  # how much of the word stands there
    shares: "NDArray[Any]"  # in [0, 1): the same with neighbours, saturated
    cosines: "NDArray[Any]"  # with the note alone
    near: "NDArray[Any]"  # sum of the cosines with its neighbours, one line a neighbour


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
    rows, frequencies, impacts = found[0] if len(found) == 1 else _strongest(found)
    rows = rows.astype(np.intp)
    shares = frequencies / (frequencies + landscape.norms.take(rows))
    return Finds(rows, frequencies, shares, impacts)


def _strongest(
    found: "list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]",
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    import numpy as np

    rows, frequencies, impacts = (np.concatenate(column) for column in zip(*found, strict=True))
    order = rows.argsort(kind="stable")
    rows, frequencies, impacts = rows[order], frequencies[order], impacts[order]
    if not len(rows):
        return rows, frequencies, impacts
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    return (
        rows[first],
        np.maximum.reduceat(frequencies, first),
        np.add.reduceat(impacts, first),
    )


class Evidence:
    """What all words of a question find, in one piece."""

    def __init__(
        self, finds: "Sequence[Finds]", parts: "Sequence[float]", landscape: "Landscape"
    ) -> None:
        import numpy as np

        sizes = [len(found.rows) for found in finds]
        self._landscape = landscape
        self._rows, self._frequencies, shares, self._impacts = (
            np.concatenate(column) for column in zip(*finds, strict=True)
        )
        self._words = np.repeat(np.arange(len(finds)), sizes)
        self._parts = np.array(parts)  # of the question, word by word
        self._passed_on = np.array(sizes) <= PASSED_ON * landscape.notes
        self._direct = np.bincount(
            self._rows, self._parts.take(self._words) * shares, minlength=len(landscape.visible)
        )

    def promising(
        self, most: int, extra: "NDArray[Any] | None", eligible: "NDArray[Any] | None"
    ) -> "NDArray[Any]":
        """The rows that have most of the question, themselves or next to them."""
        amounts = self._direct
        if self._landscape.linked:
            amounts = amounts + NEAR * self._lent()
        if extra is not None:
            amounts = amounts + extra
        if eligible is not None:
            amounts = amounts * eligible
        return strongest(amounts, most)

    def _lent(self) -> "NDArray[Any]":
        """About what the notes with most of the words lend to those linked to them."""
        import numpy as np

        landscape = self._landscape
        lenders = strongest(self._direct, LENDERS)
        others = landscape.neighbours(lenders)
        amounts = self._direct.take(lenders) * landscape.lending.take(lenders)
        passed = landscape.leading(lenders, FORWARD, BACKWARD) * amounts[:, None]
        size = len(landscape.visible) + 1  # the last one: where there is no neighbour
        received = np.bincount(others.ravel(), passed.ravel(), minlength=size)[:-1]
        return received * landscape.reach[:-1]

    def closely(self, rows: "NDArray[Any]") -> Closeness:
        """What the words find in these notes and up to two links around them."""
        import numpy as np

        landscape = self._landscape
        nobody = len(landscape.visible)
        places = np.zeros(nobody + 1, np.intp)  # of rows in what follows; 0 for all others
        if landscape.linked:
            near = landscape.neighbours(rows)
            places[rows] = 1
            places[near] = 1
            places[nobody] = 0
            inner = places.nonzero()[0]
            around = landscape.neighbours(inner)
            places[around] = 1
            places[nobody] = 0
        else:
            places[rows] = 1
        known = places.nonzero()[0]
        places[known] = np.arange(1, len(known) + 1)
        table, cosines = self._table(places, len(known) + 1)
        here = places.take(rows)
        direct = table.take(here, axis=1)
        total = direct
        nearby = np.zeros((0, len(rows)))
        if landscape.linked:
            once = np.zeros_like(table)
            asking = landscape.lending.take(known, axis=0)
            lent = table * self._passed_on[:, None]
            lent[:, 1:] *= asking
            once[:, places.take(inner)] = self._received(lent, inner, places.take(around))
            near = places.take(near)
            twice = self._received(once * landscape_reach(landscape, known), rows, near)
            twice[direct > 0] = 0.0  # a word does not come back to where it stands
            total = direct + NEAR * once.take(here, axis=1) + NEAR_TWICE * twice
            nearby = cosines.take(near).T
        shares = total / (total + landscape.norms.take(rows))
        return Closeness(direct, shares, cosines.take(here), nearby)
