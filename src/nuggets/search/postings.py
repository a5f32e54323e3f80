"""Which notes have a term, and how much of it: sorted runs of integers, merged as they grow."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TF_UNIT = 4  # frequencies are kept in quarters, in one byte
IMPACT_UNIT = 65535  # impacts lie in [0, 1] and are kept in two bytes
MERGE_BELOW = 4  # a run is merged into the one before it unless that one is 4 times as long
MERGED_AT_ONCE = 10_000  # postings; less than a millisecond
MOST_RUNS = 24  # visited for every word


class Run(NamedTuple):
    """Postings of some notes, ordered by term, then by note."""

    terms: "NDArray[Any]"  # distinct, ascending
    starts: "NDArray[Any]"  # one more than terms
    slots: "NDArray[Any]"  # places of notes
    frequencies: "NDArray[Any]"  # in quarters, fields weighted
    impacts: "NDArray[Any]"  # share of the note's vector that a query for the term meets

    def moved(self, first: int) -> "Run":
        """The same, with places counted from `first` on."""
        return self._replace(slots=self.slots + self.slots.dtype.type(first))


class Piece(NamedTuple):
    """The postings of one term."""

    slots: "NDArray[Any]"
    frequencies: "NDArray[Any]"
    impacts: "NDArray[Any]"


def run_of(
    terms: "NDArray[Any]",
    slots: "NDArray[Any]",
    frequencies: "NDArray[Any]",
    impacts: "NDArray[Any]",
) -> Run:
    """A run from parallel arrays that are ordered by term already."""
    import numpy as np

    first = np.flatnonzero(np.diff(terms, prepend=-1))
    starts = np.append(first, len(terms)).astype(np.int32)
    return Run(terms[first], starts, slots, frequencies, impacts)


class Postings:
    """All runs. Longer ones come first; a lookup visits a handful of them."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def add(self, runs: list[Run]) -> None:
        """Take new runs in, as one, together with older ones that are not much longer.

        Until there are many, long ones wait: so one more note never has to move all others.
        """
        sizes = [len(run.slots) for run in self.runs]
        size, start = sum(len(run.slots) for run in runs), len(sizes)
        patient = size < MERGED_AT_ONCE and start < MOST_RUNS
        while start and sizes[start - 1] < MERGE_BELOW * size:
            if patient and size + sizes[start - 1] > MERGED_AT_ONCE:
                break
            start -= 1
            size += sizes[start]
        self.runs[start:] = [_merged([*self.runs[start:], *runs])]

    def as_one(self) -> Run:
        """All of them, merged."""
        self.runs = [_merged(self.runs)] if self.runs else []
        return self.runs[0] if self.runs else _run_of_nothing()

    def renumber(self, places: "NDArray[Any]") -> None:
        """Give every note its new place; those with -1 are gone."""
        moved = (_renumbered(run, places) for run in self.runs)
        self.runs = [run for run in moved if len(run.terms)]

    def of(self, terms: "Sequence[int]") -> list[Piece]:
        """What there is of each term, notes that are gone included."""
        import numpy as np

        asked = np.array(terms, np.int32)
        found: list[list[Piece]] = [[] for _ in terms]
        for run in self.runs:
            places = run.terms.searchsorted(asked)
            there = run.terms.take(places, mode="clip") == asked
            starts = run.starts.take(places).tolist()
            ends = run.starts.take(places + 1, mode="clip").tolist()
            for number in there.nonzero()[0].tolist():
                span = slice(starts[number], ends[number])
                found[number].append(
                    Piece(run.slots[span], run.frequencies[span], run.impacts[span])
                )
        return [joined(pieces) for pieces in found]


def joined(pieces: list[Piece]) -> Piece:
    import numpy as np

    if len(pieces) == 1:
        return pieces[0]
    if not pieces:
        return Piece(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.uint16))
    return Piece(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _run_of_nothing() -> Run:
    import numpy as np

    return run_of(np.zeros(0, np.int32), *joined([]))


def _spread(run: Run) -> "NDArray[Any]":
    import numpy as np

    return np.repeat(run.terms, np.diff(run.starts))


def _merged(runs: list[Run]) -> Run:
    import numpy as np

    if len(runs) == 1:
        return runs[0]
    terms = np.concatenate([_spread(run) for run in runs])
    order = np.argsort(terms, kind="stable")  # quick: they are sorted piece by piece
    return run_of(
        terms[order],
        np.concatenate([run.slots for run in runs])[order],
        np.concatenate([run.frequencies for run in runs])[order],
        np.concatenate([run.impacts for run in runs])[order],
    )


def _renumbered(run: Run, places: "NDArray[Any]") -> Run:
    moved = places[run.slots]
    kept = moved >= 0
    return run_of(_spread(run)[kept], moved[kept], run.frequencies[kept], run.impacts[kept])
