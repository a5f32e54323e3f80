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
from nuggets.facts.value_vectors import ValueVectors, reals
from nuggets.fhrr.algebra import corvacs_lite, role, roots, sharpen
from nuggets.fhrr.confidence import Verdict, judge, noise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pattern = tuple[int, ...]

POSITIONS_AT_ONCE = 64  # a page of the default size; larger pages are decoded in parts


class Banks:
    """Decodes the pages of one seed and keeps the keys of their values in memory."""

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        self._config = config
        self._keys = ValueVectors(config, seed)

    def decode(self, pattern: Pattern) -> list[Verdict]:
        """The value stored at each position of the page, with its confidence and margin.

        Decodes all positions together, because building the vectors is most of the work.
        """
        ensembles = self._keys.first(max(pattern) + 1)
        memories = [self._superpose(keys, pattern) for keys in ensembles]
        unit = noise(self._config.banks, self._config.ensembles, self._config.dims)
        return [
            judge(similarities / unit, self._config.temperature)
            for first in range(0, len(pattern), POSITIONS_AT_ONCE)
            for similarities in self._similarities(
                memories, ensembles, range(len(pattern))[first : first + POSITIONS_AT_ONCE]
            )
        ]

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
            total += reals(unbound) @ reals(keys).T
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
