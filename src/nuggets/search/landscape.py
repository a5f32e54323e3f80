"""What all questions share until the next change: lengths, reach of links, groups, years."""

from datetime import date
from typing import TYPE_CHECKING, Any

from nuggets.search.dates import YEARS_BACK
from nuggets.search.languages import LANGUAGES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nuggets.search.table import NoteTable

# Frequency saturates early and length is smoothed: memories are short, and among short texts
# one word more or less must not turn the ranking.
SATURATION = 0.9
LENGTH_SHARE = 0.75
LENGTH_SMOOTHING = 40  # words
LONGEST = 6  # times the mean; a rare word inside a very long note still counts
LARGEST_GROUP = 0.25  # of all notes; a group that holds nearly everything says nothing
USUAL_LINKS = 2  # a note with more passes less on through each of them
ANSWERED = 2.0  # a note that asks passes its words on to the one that answers


class Landscape:
    """The notes that are there, with the norms that scores are measured by."""

    def __init__(self, table: "NoteTable") -> None:
        import numpy as np

        alive = table.alive.all
        self.table = table
        self.all_there = bool(alive.all())
        self.there = np.append(alive, False)  # the last place, here and below, is NOBODY
        self.notes = len(table.rows)
        self.norms = _norms(table.lengths.all, self.notes, LENGTH_SMOOTHING)
        self.linked = bool(table.degrees.all.any())
        # How much passes through each of a note's links.
        self.reach = self.there.astype(np.float32)
        if self.linked:
            self.reach[:-1] *= np.sqrt(USUAL_LINKS / np.maximum(USUAL_LINKS, table.degrees.all))
        self.lending = self.reach.copy()
        self.lending[:-1][table.asking.all] *= ANSWERED
        sizes = table.group_sizes.all
        # A group of one is the note itself; a tag that most notes have is no topic.
        self.grouping = (sizes > 1) & (sizes <= max(2, LARGEST_GROUP * self.notes))
        self.groups = int(self.grouping.sum())
        lengths = np.where(self.grouping, table.group_lengths.all, 0)
        self.group_norms = np.where(self.grouping, _norms(lengths, self.groups, 0), np.inf)
        self.years = _years(table.days.all)
        spoken = np.bincount(table.languages.all)[1:]  # other languages than English
        self.languages = tuple(LANGUAGES[place] for place in spoken.nonzero()[0].tolist())

    def around(self, rows: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """The neighbours of each note, and how much flows from them."""
        table, width = self.table, self.table.widest
        return (
            table.neighbours.all.take(rows, axis=0)[:, :width],
            table.flows.all.take(rows, axis=0)[:, :width],
        )


def _norms(lengths: "NDArray[Any]", count: int, smoothing: int) -> "NDArray[Any]":
    """How much of a word makes half an answer, by length: the longer, the more."""
    import numpy as np

    mean = int(lengths.sum(dtype=np.int64)) / max(count, 1)
    longer = SATURATION * LENGTH_SHARE / max(mean + smoothing, 1)
    norms = (lengths + smoothing) * np.float32(longer)
    np.minimum(norms, SATURATION * LENGTH_SHARE * LONGEST, out=norms)
    norms += SATURATION * (1 - LENGTH_SHARE)
    return norms


def _years(days: "NDArray[Any]") -> range:
    """The years that the notes were written in, the recent ones if there are many."""
    last = int(days.max(initial=0))
    if not last:
        return range(0)
    first = int(days.min(initial=last, where=days > 0))
    newest = date.fromordinal(last).year
    return range(max(date.fromordinal(first).year, newest - YEARS_BACK), newest + 1)
