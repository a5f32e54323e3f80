"""Which notes have a term, and how much of it: sorted runs of integers, merged as they grow."""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TF_UNIT = 4  # frequencies are kept in quarters, in one byte
IMPACT_UNIT = 65535  # impacts lie in [0, 1] and are kept in two bytes
MERGE_BELOW = 4  # a run is merged into the one before it unless that one is 4 times as long
MERGED_AT_ONCE = 10_000  # postings; less than a millisecond
MOST_RUNS = 24  # visited for every word


@cache
def _posting() -> Any:
    """Place of the note, impact and frequency of the term, in eight bytes.

    Held as one integer, because those are joined and put in order in one go.
    """
    import numpy as np

    formats = {"slot": "i4", "impact": "u2", "frequency": "u1"}
    return np.dtype({"names": list(formats), "formats": list(formats.values()), "itemsize": 8})


class Run(NamedTuple):
    """Postings of some notes, ordered by term, then by note."""

    terms: "NDArray[Any]"  # distinct, ascending
    starts: "NDArray[Any]"  # one more than terms
    postings: "NDArray[Any]"

    def moved(self, first: int) -> "Run":
        """The same, with places counted from `first` on."""
        moved = self.postings.copy()
        moved.view(_posting())["slot"] += first
        return self._replace(postings=moved)


class Found(NamedTuple):
    """Postings of several terms."""

    slots: "NDArray[Any]"
    impacts: "NDArray[Any]"
    frequencies: "NDArray[Any]"
    terms: "NDArray[Any]"  # numbered as they were asked for, once for each piece of postings
    sizes: "NDArray[Any]"  # of the pieces

    def spread(self, values: "NDArray[Any]") -> "NDArray[Any]":
        """A value of each term, given to all its postings."""
        return values.take(self.terms).repeat(self.sizes)

    def only(self, chosen: "NDArray[Any]") -> "Found":
        """The chosen ones of the postings."""
        import numpy as np

        pieces = np.arange(len(self.sizes)).repeat(self.sizes)[chosen]
        return Found(
            self.slots[chosen],
            self.impacts[chosen],
            self.frequencies[chosen],
            self.terms,
            np.bincount(pieces, minlength=len(self.sizes)),
        )


def packed(
    slots: "NDArray[Any]", impacts: "NDArray[Any]", frequencies: "NDArray[Any]"
) -> "NDArray[Any]":
    """Postings from parallel arrays."""
    import numpy as np

    postings = np.zeros(len(slots), np.int64)
    fields = postings.view(_posting())
    fields["slot"], fields["impact"], fields["frequency"] = slots, impacts, frequencies
    return postings


def firsts(ordered: "NDArray[Any]") -> "NDArray[Any]":
    """Where each new value begins."""
    import numpy as np

    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new.nonzero()[0]


def run_of(terms: "NDArray[Any]", postings: "NDArray[Any]") -> Run:
    """A run from postings that are ordered by term already."""
    import numpy as np

    first = firsts(terms)
    return Run(terms[first], np.append(first, len(terms)).astype(np.int32), postings)


class Postings:
    """All runs. Longer ones come first; a lookup visits a handful of them."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def add(self, runs: list[Run]) -> None:
        """Take new runs in, as one, together with older ones that are not much longer.

        Until there are many, long ones wait: so one more note never has to move all others.
        """
        sizes = [len(run.postings) for run in self.runs]
        size, start = sum(len(run.postings) for run in runs), len(sizes)
        patient = size < MERGED_AT_ONCE and start < MOST_RUNS
        while start and sizes[start - 1] < MERGE_BELOW * size:
            if patient and size + sizes[start - 1] > MERGED_AT_ONCE:
                break
            start -= 1
            size += sizes[start]
        self.runs[start:] = [_merged([*self.runs[start:], *runs])]

    def as_one(self) -> Run:
        """All of them, merged."""
        import numpy as np

        nothing = run_of(np.zeros(0, np.int32), np.zeros(0, np.int64))
        self.runs = [_merged(self.runs or [nothing])]
        return self.runs[0]

    def renumber(self, places: "NDArray[Any]") -> None:
        """Give every note its new place; those with -1 are gone."""
        moved = (_renumbered(run, places) for run in self.runs)
        self.runs = [run for run in moved if len(run.terms)]

    def of(self, terms: "Sequence[int]") -> Found:
        """What there is of the terms, notes that are gone included."""
        import numpy as np

        asked = np.array(terms, np.int32)
        numbers: list[int] = []
        pieces: list[NDArray[Any]] = []
        for run in self.runs:
            places = run.terms.searchsorted(asked)
            there = (run.terms.take(places, mode="clip") == asked).nonzero()[0]
            places = places.take(there)
            starts, ends = run.starts.take(places).tolist(), run.starts.take(places + 1).tolist()
            pieces += [run.postings[a:b] for a, b in zip(starts, ends, strict=True)]
            numbers += there.tolist()
        sizes = np.array([len(piece) for piece in pieces], np.intp)
        together = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
        fields = together.view(_posting())
        return Found(
            fields["slot"].astype(np.intp),
            fields["impact"],
            fields["frequency"],
            np.array(numbers, np.intp),
            sizes,
        )

    def notes_with(self, term: int) -> "NDArray[Any]":
        """The places of the notes that have a term, those that are gone included."""
        import numpy as np

        pieces = [np.zeros(0, np.int64)]
        for run in self.runs:
            place = run.terms.searchsorted(term)
            if place < len(run.terms) and run.terms[place] == term:
                pieces.append(run.postings[run.starts[place] : run.starts[place + 1]])
        slots: NDArray[Any] = np.concatenate(pieces).view(_posting())["slot"]
        return slots


def _terms_of(run: Run) -> "NDArray[Any]":
    """The term of each posting."""
    import numpy as np

    return run.terms.repeat(np.diff(run.starts))


def _merged(runs: list[Run]) -> Run:
    import numpy as np

    if len(runs) == 1:
        return runs[0]
    terms = np.concatenate([_terms_of(run) for run in runs])
    order = np.argsort(terms, kind="stable")  # quick: they are sorted piece by piece
    return run_of(terms[order], np.concatenate([run.postings for run in runs])[order])


def _renumbered(run: Run, places: "NDArray[Any]") -> Run:
    postings = run.postings.copy()
    slots = postings.view(_posting())["slot"]
    slots[:] = places[slots]
    kept = slots >= 0
    return run_of(_terms_of(run)[kept], postings[kept])
