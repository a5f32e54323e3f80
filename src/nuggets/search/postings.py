"""Which notes have a term, and how much of it: sorted runs of integers, merged as they grow."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

TF_UNIT = 4  # frequencies are kept in quarters, in one byte
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

    def find(self, term: int) -> slice | None:
        import numpy as np

        place = self.terms.searchsorted(np.int32(term))
        if place == len(self.terms) or self.terms[place] != term:
            return None
        return slice(*self.starts[place : place + 2].tolist())


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

    def renumber(self, places: "NDArray[Any]") -> None:
        """Give every note its new place; those with -1 are gone."""
        self.runs = [_renumbered(run, places) for run in self.runs]

    def of(self, term: int) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
        """Places (gone ones included), frequencies and impacts of a term."""
        import numpy as np

        found = [(run, span) for run in self.runs if (span := run.find(term)) is not None]
        if len(found) == 1:
            run, span = found[0]
            return run.slots[span], run.frequencies[span], run.impacts[span]
        if not found:
            nothing = np.zeros(0, np.int32)
            return nothing, nothing, nothing
        return (
            np.concatenate([run.slots[span] for run, span in found]),
            np.concatenate([run.frequencies[span] for run, span in found]),
            np.concatenate([run.impacts[span] for run, span in found]),
        )


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
