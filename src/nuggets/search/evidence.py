"""What one word of a question finds: in notes, in their neighbours, in their groups."""

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.search.postings import TF_UNIT
from nuggets.search.table import NOBODY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.search.landscape import Landscape
    from nuggets.search.postings import Postings
    from nuggets.search.query import Slot

# A word of a linked note counts as a part of a word here, and two links away as less. What was
# written before explains what follows better than the other way round.
NEAR, NEAR_TWICE = 0.35, 0.15
FORWARD, BACKWARD = 1.6, 0.4
PASSED_ON = 0.7  # of all notes; a word that more of them have needs no passing on
DENSE = 0.08  # of all rows; from here on adding whole arrays is quicker than picking rows
ANSWERED = 2.5  # a note that asks passes its words on to the one that answers


class Evidence(NamedTuple):
    """Of one word; shares in [0, 1) before they are weighed by the word's mass."""

    rows: "NDArray[Any] | slice"  # a slice: all of them
    shares: "NDArray[Any]"
    met: "NDArray[Any] | slice"  # rows whose vectors have the word
    impacts: "NDArray[Any]"
    groups: "NDArray[Any]"
    group_shares: "NDArray[Any]"

    @property
    def size(self) -> int:
        return len(self.shares) + len(self.impacts) + len(self.groups)


def gather(slot: "Slot", landscape: "Landscape", postings: "Postings") -> Evidence:
    """All the notes that a word speaks for."""
    import numpy as np

    rows, frequencies, impacts = _direct(slot, landscape, postings)
    groups, group_shares = _in_groups(rows, frequencies, landscape)
    met = rows
    if landscape.linked and 0 < len(rows) <= PASSED_ON * landscape.notes:
        rows, frequencies = _spread(rows, frequencies, landscape)
    shares = (frequencies / (frequencies + landscape.norms[rows])).astype(np.float32)
    impacts = impacts.astype(np.float32)
    count = len(landscape.visible)
    return Evidence(
        *_packed(rows, shares, count), *_packed(met, impacts, count), groups, group_shares
    )


def _packed(
    rows: "NDArray[Any]", values: "NDArray[Any]", count: int
) -> "tuple[NDArray[Any] | slice, NDArray[Any]]":
    """The same values for all rows, if there are so many that this is quicker to add up."""
    import numpy as np

    if len(rows) < DENSE * count:
        return rows, values
    whole = np.zeros(count, np.float32)
    whole[rows] = values
    return slice(0, count), whole


def _direct(
    slot: "Slot", landscape: "Landscape", postings: "Postings"
) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    """Notes with the word or a relative of it; of several relatives the strongest counts."""
    import numpy as np

    found = []
    for alternative in slot.alternatives:
        rows, quarters, impacts = postings.of(alternative.term)
        if not landscape.all_visible:
            seen = landscape.visible[rows]
            rows, quarters, impacts = rows[seen], quarters[seen], impacts[seen]
        weight = alternative.weight
        found.append((rows, quarters * (weight / TF_UNIT), impacts * np.float64(weight)))
    if len(found) == 1:
        return found[0]
    rows, frequencies, impacts = (np.concatenate(column) for column in zip(*found, strict=True))
    order = rows.argsort(kind="stable")
    rows = rows[order]
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(first) == len(rows):
        return rows, frequencies[order], impacts[order]
    strongest = np.maximum.reduceat(frequencies[order], first)
    return rows[first], strongest, np.add.reduceat(impacts[order], first)


def _spread(
    rows: "NDArray[Any]", frequencies: "NDArray[Any]", landscape: "Landscape"
) -> "tuple[NDArray[Any], NDArray[Any]]":
    """Linked notes get their part of the word; it does not come back to where it started."""
    import numpy as np

    asking = landscape.table.asking.all[rows]
    once = _passed_on(rows, np.where(asking, ANSWERED, 1.0) * frequencies, landscape)
    reached = np.flatnonzero(once > 0)
    twice = _passed_on(reached, once[reached], landscape)
    twice[rows] = 0.0
    total = NEAR * once + NEAR_TWICE * twice
    total[rows] += frequencies
    touched = np.flatnonzero(total > 0)
    return touched, total[touched]


def _passed_on(
    rows: "NDArray[Any]", amounts: "NDArray[Any]", landscape: "Landscape"
) -> "NDArray[Any]":
    import numpy as np

    table = landscape.table
    width = table.widest
    others = table.neighbours.all[rows, :width]
    passed = np.where(table.later.all[rows, :width], FORWARD, BACKWARD)
    passed *= (amounts * landscape.reach[rows])[:, None]
    passed *= landscape.reach[others]
    linked = others != NOBODY
    received = np.bincount(others[linked], passed[linked], minlength=len(table))
    return received if landscape.all_visible else received * landscape.visible


def _in_groups(
    rows: "NDArray[Any]", frequencies: "NDArray[Any]", landscape: "Landscape"
) -> "tuple[NDArray[Any], NDArray[Any]]":
    """Groups that speak of the word; one that few groups have tells them apart better."""
    import numpy as np

    if not landscape.groups or not len(rows):
        nothing = np.zeros(0, np.int32)
        return nothing, nothing
    table = landscape.table
    heard = np.zeros(len(landscape.grouping))
    for place in range(table.most_groups):
        members = table.groups.all[rows, place]
        heard += np.bincount(members, frequencies, minlength=len(heard))
    groups = np.flatnonzero((heard > 0) & landscape.grouping)
    amounts = heard[groups]
    total, having = landscape.groups, len(groups)
    rare = log(1 + (total - having + 0.5) / (having + 0.5)) / log(2 + 2 * total)
    return groups, rare * amounts / (amounts + landscape.group_norms[groups])
