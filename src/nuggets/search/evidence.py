"""What the words of a question find: in notes, in their neighbours, in their groups.

First all notes that have a word are weighed roughly, then the most promising ones exactly: so
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
    from nuggets.search.query import Slot

# A word of a linked note counts as a part of a word here, and two links away as less. What was
# written before explains what follows better than the other way round.
NEAR, NEAR_TWICE = 0.35, 0.15
FORWARD, BACKWARD = 1.6, 0.4
PASSED_ON = 0.7  # of all notes; a word that more of them have needs no passing on

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
    near: "NDArray[Any] | None"  # the cosines with its neighbours


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
        return Finds(np.zeros(0, np.intp), nothing, nothing, nothing)
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
        self,
        finds: "Sequence[Finds]",
        parts: "Sequence[float]",  # of the question, word by word
        pulls: "Sequence[float]",  # on the cosine
        landscape: "Landscape",
    ) -> None:
        import numpy as np

        sizes = [len(found.rows) for found in finds]
        self._landscape = landscape
        self._rows, self._frequencies, shares, self._impacts = (
            np.concatenate(column) for column in zip(*finds, strict=True)
        )
        self._words = np.repeat(np.arange(len(finds)), sizes)
        self.parts, self._pulls = np.array(parts), np.array(pulls)
        self._passed_on = np.array(sizes) <= PASSED_ON * landscape.notes
        direct = np.bincount(
            self._rows, self.parts.take(self._words) * shares, minlength=len(landscape.visible)
        )
        # About how much of the question each note has, itself or next to it.
        self.rough = direct + NEAR * _lent(direct, landscape) if landscape.linked else direct

    def closely(self, rows: "NDArray[Any]") -> Closeness:
        """What the words find in these notes and up to two links around them."""
        import numpy as np

        landscape = self._landscape
        places = np.zeros(len(self.rough) + 1, np.intp)  # the last one: NOBODY
        places[rows] = 1
        if landscape.linked:
            near, later = landscape.around(rows)
            places[near] = 1
            places[NOBODY] = 0
            inner = places.nonzero()[0]
            around, around_later = landscape.around(inner)
            places[around] = 1
            places[NOBODY] = 0
        known = places.nonzero()[0]
        places[known] = np.arange(1, len(known) + 1)  # 0 stays for all others
        found, cosines = self._found_in(places, len(known) + 1)
        here = places.take(rows)
        direct = found.take(here, axis=1)
        norms = landscape.norms.take(rows)
        if not landscape.linked:
            return Closeness(direct, direct / (direct + norms), cosines.take(here), None)
        columns = np.append(NOBODY, known)
        near = places.take(near)
        lent = found * landscape.lending.take(columns) * self._passed_on[:, None]
        once = np.zeros_like(lent)
        once[:, places.take(inner)] = _received(
            lent, places.take(around), around_later, landscape.reach.take(inner)
        )
        lent = once * landscape.reach.take(columns)
        twice = _received(lent, near, later, landscape.reach.take(rows))
        twice[direct > 0] = 0.0  # a word does not come back to where it stands
        total = direct + NEAR * once.take(here, axis=1) + NEAR_TWICE * twice
        return Closeness(
            direct, total / (total + norms), cosines.take(here), cosines.take(near)
        )

    def _found_in(self, places: "NDArray[Any]", count: int) -> "tuple[NDArray[Any], NDArray[Any]]":
        """How much of each word stands at each place, and the cosines; nothing at place 0."""
        import numpy as np

        at = places.take(self._rows)
        met = at.nonzero()[0]
        at, words = at.take(met), self._words.take(met)
        found = np.zeros((len(self.parts), count), np.float32)
        found[words, at] = self._frequencies.take(met)
        impacts = self._impacts.take(met) * self._pulls.take(words)
        return found, np.bincount(at, impacts, minlength=count)

    def in_groups(self) -> "NDArray[Any]":
        """How much of the question each group speaks of.

        A word that few groups have tells them apart better.
        """
        import numpy as np

        landscape = self._landscape
        count = len(landscape.grouping)
        table = landscape.table
        heard = np.zeros(len(self.parts) * count)
        first = self._words * count
        for place in range(table.most_groups):
            members = first + table.groups.all[:, place].take(self._rows)
            heard += np.bincount(members, self._frequencies, minlength=len(heard))
        heard = heard.reshape(-1, count) * landscape.grouping
        having = np.count_nonzero(heard, axis=1)
        total = landscape.groups
        rare = np.log(1 + (total - having + 0.5) / (having + 0.5)) / log(2 + 2 * total)
        spoken: NDArray[Any] = (self.parts * rare) @ (heard / (heard + landscape.group_norms))
        return spoken


def _lent(direct: "NDArray[Any]", landscape: "Landscape") -> "NDArray[Any]":
    """About what the notes with most of the words lend to those linked to them."""
    import numpy as np

    lenders = strongest(direct, LENDERS)
    others, later = landscape.around(lenders)
    amounts = direct.take(lenders) * landscape.lending.take(lenders)
    passed = np.where(later, FORWARD, BACKWARD) * amounts[:, None]
    received = np.bincount(others.ravel() + 1, passed.ravel(), minlength=len(direct) + 1)
    return received[1:] * landscape.reach[:-1]  # the first one is where nobody is linked


def _received(
    lent: "NDArray[Any]", near: "NDArray[Any]", later: "NDArray[Any]", reach: "NDArray[Any]"
) -> "NDArray[Any]":
    """What notes get from those around them; what came later explains less."""
    import numpy as np

    flow = np.where(later, np.float32(BACKWARD), np.float32(FORWARD)) * reach[:, None]
    received: NDArray[Any] = (lent.take(near, axis=1) * flow).sum(axis=2)
    return received


def strongest(amounts: "NDArray[Any]", most: int) -> "NDArray[Any]":
    """Places of the largest amounts above zero; equals of the last one are all there."""
    import numpy as np

    if len(amounts) > most:
        least = np.partition(amounts, len(amounts) - most)[len(amounts) - most]
        if least > 0:
            return (amounts >= least - ROUNDING).nonzero()[0]
    return (amounts > 0).nonzero()[0]
