"""One page of facts as superpositions, and the decoding of its values. Knows no text.

A page is its *pattern*: for each fact in order, the number of its value among the page's distinct
values. Vectors depend on seed, configuration and pattern alone, so pages of the same pattern are
one build. Fact i lies in bank i mod banks at role i; of what the documented algorithm multiplies
in and divides out again (the sentence key, the norms of the keys) nothing is computed.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from nuggets.facts.capacity import page_size
from nuggets.fhrr.algebra import role, roots
from nuggets.fhrr.cleanup import corvacs_lite, orthogonalize, sharpen
from nuggets.fhrr.phasors import phasors
from nuggets.fhrr.scoring import Verdict, judge, noise
from nuggets.records import NuggetConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pattern = tuple[int, ...]

BUILDS_BEFORE_ALL = 3  # a page built so often is decoded as a whole, lest it be built for ever
PATTERNS_KEPT = 1024  # decodes of so many pages are remembered: some megabytes at most
POSITIONS_AT_ONCE = 8  # decoded by one product when a whole page is wanted


class Page:
    """What is known of the pages of one pattern."""

    def __init__(self) -> None:
        self.builds = 0
        self.verdicts: dict[int, Verdict] = {}  # by position


class Banks:
    """Decodes positions of pages that share a seed; holds the vectors of one page at a time."""

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        self._config = config
        self._stream = KeyStream(config, seed)
        self._pages: dict[Pattern, Page] = {}
        self._built: Pattern = ()
        self._memory: list[NDArray[np.complex64]] = []  # one per ensemble, banks summed

    def decode(self, pattern: Pattern, position: int) -> Verdict:
        """Which value the vectors hold at this position of the page, and how surely."""
        page = self._pages.get(pattern) or self._new_page(pattern)
        if position not in page.verdicts:
            if pattern != self._built:
                self._build(pattern)
                page.builds += 1
            wanted = range(position, position + 1)
            if page.builds >= BUILDS_BEFORE_ALL:
                wanted = range(len(pattern))
            page.verdicts.update(zip(wanted, self._verdicts(wanted), strict=True))
        return page.verdicts[position]

    def release(self) -> None:
        """Give the vectors' memory back; what was decoded stays known."""
        self._built = ()
        self._memory = []
        self._stream.release()

    def _new_page(self, pattern: Pattern) -> Page:
        while len(self._pages) >= PATTERNS_KEPT:
            del self._pages[next(iter(self._pages))]
        return self._pages.setdefault(pattern, Page())

    def _build(self, pattern: Pattern) -> None:
        keys = self._stream.keys(max(pattern) + 1)
        self._memory = [self._superposed(rows, pattern) for rows in keys]
        self._built = pattern

    def _superposed(
        self, keys: "NDArray[np.complex64]", pattern: Pattern
    ) -> "NDArray[np.complex64]":
        """All banks as one vector, each at the length that a cosine gives it.

        A similarity is linear in the memory, and the nonlinearities look at magnitudes, which
        unbinding keeps: both can be settled here, once for all positions.
        """
        import numpy as np

        config, turn = self._config, roots(self._config.dims)
        stride = role(config.banks, config.dims)
        total = np.zeros(config.dims, np.complex64)
        for bank in reversed(range(min(config.banks, len(pattern)))):
            one = _horner(keys, pattern[bank :: config.banks], stride)
            if config.sharpen_p != 1.0 or config.corvacs_a > 0.0:
                one *= np.float32(len(pattern[bank :: config.banks]) ** -0.5)
                one = corvacs_lite(sharpen(one, config.sharpen_p), config.corvacs_a)
            length = float(np.linalg.norm(one))
            if length:
                one *= np.float32(1 / (length * config.dims**0.5))
            total *= turn  # bank b's roles begin at b: one turn each, as it is passed over
            total += one
        return total

    def _verdicts(self, positions: range) -> list[Verdict]:
        config = self._config
        unit = noise(config.banks, config.ensembles, config.dims)
        chunks = [
            positions[start : start + POSITIONS_AT_ONCE]
            for start in range(0, len(positions), POSITIONS_AT_ONCE)
        ]
        return [
            judge(similarities / unit, config.temperature)
            for chunk in chunks
            for similarities in self._similarities(chunk)
        ]

    def _similarities(self, positions: range) -> "NDArray[np.float64]":
        """Cosines with every value, summed over banks and ensembles: one row per position."""
        import numpy as np

        dims, values = self._config.dims, max(self._built) + 1
        first, back = role(-positions[0], dims), roots(dims).conj()
        total: NDArray[np.float64] = np.zeros((len(positions), values))
        unbound = np.empty((len(positions), dims), np.complex64)
        for keys, memory in zip(self._stream.keys(values), self._memory, strict=True):
            np.multiply(memory, first, out=unbound[0])
            for last, after in pairwise(unbound):
                np.multiply(last, back, out=after)
            total += _reals(unbound) @ _reals(keys).T
        return total


def _horner(
    keys: "NDArray[np.complex64]", members: Pattern, stride: "NDArray[np.complex64]"
) -> "NDArray[np.complex64]":
    """Σ keys[member]·strideⁿ, n counting the members."""
    total: NDArray[np.complex64] = keys[members[-1]].copy()
    for member in members[-2::-1]:
        total *= stride
        total += keys[member]
    return total


class KeyStream:
    """The value keys of a nugget, orthogonalised for as many values as a page has.

    Raw keys are rows of one seeded stream and do not depend on how many there are, nor do their
    inner products; both are kept and only ever extended. Ensemble e begins at row e·(values + 1):
    the row between is the sentence key's.
    """

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        self._config = config
        self._seed = seed
        self.release()

    def release(self) -> None:
        """Give the memory back."""
        import numpy as np

        self._rows = 0  # of the stream, generated so far
        self._raw = np.empty((0, self._config.dims), np.complex64)
        self._gram = np.empty((0, 0), np.float32)
        self._room = self._raw  # the orthogonalised keys go here
        self._values = 0
        self._keys: list[NDArray[np.complex64]] = []

    def keys(self, values: int) -> "list[NDArray[np.complex64]]":
        """The keys of value 0, 1, …, one array for each ensemble."""
        if values != self._values:
            self._reach(self._config.ensembles * (values + 1) - 1)
            self._keys = [self._distinct(e, values) for e in range(self._config.ensembles)]
            self._values = values
        return self._keys

    def _reach(self, rows: int) -> None:
        if rows <= self._rows:
            return
        if rows > len(self._raw):
            self._allocate(rows)
        known, self._rows = self._rows, rows
        fresh = self._raw[known:rows]
        phasors(self._seed, rows - known, self._config.dims, first=known, out=fresh)
        if self._config.ortho_iters > 0:
            products = _reals(fresh) @ _reals(self._raw[:rows]).T
            self._gram[known:rows, :rows] = products
            self._gram[:rows, known:rows] = products.T

    def _allocate(self, rows: int) -> None:
        """Room for a full page at once: memory never touched costs nothing."""
        import numpy as np

        dims, page = self._config.dims, page_size(self._config.dims)
        rows = max(rows, self._config.ensembles * (page + 1))
        raw, gram = np.empty((rows, dims), np.complex64), np.empty((rows, rows), np.float32)
        raw[: self._rows] = self._raw[: self._rows]
        gram[: self._rows, : self._rows] = self._gram[: self._rows, : self._rows]
        self._raw, self._gram = raw, gram
        if self._config.ortho_iters > 0:
            self._room = np.empty((rows, dims), np.complex64)

    def _distinct(self, ensemble: int, values: int) -> "NDArray[np.complex64]":
        first = ensemble * (values + 1)
        rows = slice(first, first + values)
        return orthogonalize(
            self._raw[rows],
            self._config.ortho_iters,
            gram=self._gram[rows, rows],
            out=self._room[rows],
        )


def _reals(rows: "NDArray[np.complex64]") -> "NDArray[np.float32]":
    import numpy as np

    return rows.view(np.float32)
