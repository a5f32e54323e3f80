"""Builds one page of facts as superpositions and decodes its values. Knows no text.

A page is described by its *pattern*: for each fact in order, the number of its value among the
page's distinct values. Vectors depend only on seed, configuration and pattern, so pages with equal
patterns have equal vectors. Fact i is stored in bank i mod banks with role key i. Factors that the
documented algorithm multiplies in and later divides out (the sentence key, the norms of the keys)
are not computed.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from nuggets.domain.records import NuggetConfig
from nuggets.facts.capacity import page_size
from nuggets.facts.fhrr import (
    Verdict,
    corvacs_lite,
    judge,
    noise,
    orthogonalize,
    phasors,
    role,
    roots,
    sharpen,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pattern = tuple[int, ...]

POSITIONS_AT_ONCE = 64  # a page of the default size; larger pages are decoded in parts


class Banks:
    """Decodes the pages of one seed and keeps the keys of their values in memory."""

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        self._config = config
        self._keys = _ValueVectors(config, seed)

    def decode(self, pattern: Pattern) -> list[Verdict]:
        """The value stored at each position of the page, with its confidence and margin.

        Decodes all positions together, because building the vectors is most of the work.
        """
        ensembles = self._keys.first(max(pattern) + 1)
        memories = [self._superpose(keys, pattern) for keys in ensembles]
        unit = noise(self._config.banks, self._config.ensembles, self._config.dims)
        positions = range(len(pattern))
        verdicts: list[Verdict] = []
        for first in range(0, len(pattern), POSITIONS_AT_ONCE):
            chunk = positions[first : first + POSITIONS_AT_ONCE]
            similarities = self._similarities(memories, ensembles, chunk) / unit
            verdicts += judge(similarities, self._config.temperature)
        return verdicts

    def _superpose(
        self, keys: "NDArray[np.complex64]", pattern: Pattern
    ) -> "NDArray[np.complex64]":
        """The sum of all banks, each normalised as the cosine requires.

        Similarity is linear in the memory, and the nonlinearities depend on magnitudes, which
        unbinding keeps. So both are applied here once for all positions.
        """
        import numpy as np

        config, turn = self._config, roots(self._config.dims)
        stride = role(config.banks, config.dims)
        total = np.zeros(config.dims, np.complex64)
        for bank in reversed(range(min(config.banks, len(pattern)))):
            vector = _horner(keys, pattern[bank :: config.banks], stride)
            if config.sharpen_p != 1.0 or config.corvacs_a > 0.0:
                vector *= np.float32(len(pattern[bank :: config.banks]) ** -0.5)
                vector = corvacs_lite(sharpen(vector, config.sharpen_p), config.corvacs_a)
            length = float(np.linalg.norm(vector))
            if length:
                vector *= np.float32(1 / (length * config.dims**0.5))
            total *= turn  # the role keys of bank b begin at b
            total += vector
        return total

    def _similarities(
        self,
        memories: "list[NDArray[np.complex64]]",
        ensembles: "list[NDArray[np.complex64]]",
        positions: range,
    ) -> "NDArray[np.float64]":
        """Cosines with every value, summed over banks and ensembles: one row per position."""
        import numpy as np

        dims = self._config.dims
        first, back = role(-positions[0], dims), roots(dims).conj()
        total: NDArray[np.float64] = np.zeros((len(positions), len(ensembles[0])))
        unbound = np.empty((len(positions), dims), np.complex64)
        for keys, memory in zip(ensembles, memories, strict=True):
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


class _ValueVectors:
    """The value keys of a nugget, orthogonalised among the values of a page.

    Raw keys are rows of one seeded stream. They and their inner products do not depend on the
    number of values, so both are cached and extended. Ensemble e begins at row e·(values + 1);
    the last row of an ensemble belongs to the sentence key.
    """

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        import numpy as np

        self._config = config
        self._seed = seed
        self._rows = 0  # generated rows of the stream
        self._raw = np.empty((0, self._config.dims), np.complex64)
        self._gram = np.empty((0, 0), np.float32)
        self._buffer = self._raw  # for the orthogonalised keys
        self._values = 0
        self._keys: list[NDArray[np.complex64]] = []

    def first(self, values: int) -> "list[NDArray[np.complex64]]":
        """The keys of the first `values` values, one array for each ensemble."""
        if values != self._values:
            self._values = 0  # the buffer is about to be overwritten
            self._generate(self._config.ensembles * (values + 1) - 1)
            self._keys = [self._orthogonalize(e, values) for e in range(self._config.ensembles)]
            self._values = values
        return self._keys

    def _generate(self, rows: int) -> None:
        """Extend the raw keys and their inner products to this number of rows."""
        if rows > len(self._raw):
            self._allocate(rows)
        first = self._rows
        if rows <= first:
            return
        fresh = self._raw[first:rows]
        phasors(self._seed, rows - first, self._config.dims, first=first, out=fresh)
        if self._config.ortho_iters > 0:
            products = _reals(fresh) @ _reals(self._raw[:rows]).T
            self._gram[first:rows, :rows] = products
            self._gram[:rows, first:rows] = products.T
        self._rows = rows

    def _allocate(self, rows: int) -> None:
        """Allocate for a full page at once: untouched memory costs nothing."""
        import numpy as np

        dims = self._config.dims
        rows = max(rows, self._config.ensembles * (page_size(dims) + 1))
        self._rows = 0
        self._raw = np.empty((rows, dims), np.complex64)
        self._gram = np.empty((rows, rows), np.float32)
        if self._config.ortho_iters > 0:
            self._buffer = np.empty((rows, dims), np.complex64)

    def _orthogonalize(self, ensemble: int, values: int) -> "NDArray[np.complex64]":
        first = ensemble * (values + 1)
        rows = slice(first, first + values)
        return orthogonalize(
            self._raw[rows],
            self._config.ortho_iters,
            gram=self._gram[rows, rows],
            out=self._buffer[rows],
        )


def _reals(rows: "NDArray[np.complex64]") -> "NDArray[np.float32]":
    """The same memory as real numbers: an inner product of rows is then Re⟨a,b⟩."""
    import numpy as np

    return rows.view(np.float32)
