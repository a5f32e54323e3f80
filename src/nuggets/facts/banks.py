"""One page of facts as superpositions, and the decoding of its values. Knows no text.

A page is its *pattern*: for each fact in order, the number of its value among the page's distinct
values. Vectors depend on seed, configuration and pattern alone, so pages of the same pattern are
one build. Fact i lies in bank i mod banks at role i; of what the documented algorithm multiplies
in and divides out again (the sentence key, the norms of the keys) nothing is computed.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from nuggets.facts.value_keys import ValueKeys, reals
from nuggets.fhrr.algebra import role, roots
from nuggets.fhrr.cleanup import corvacs_lite, sharpen
from nuggets.fhrr.scoring import Verdict, judge, noise
from nuggets.records import NuggetConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pattern = tuple[int, ...]

POSITIONS_AT_ONCE = 64  # a usual page; of larger ones the memory would be too much


class Banks:
    """Decodes pages that share a seed; the keys of their values stay in memory."""

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        self._config = config
        self._keys = ValueKeys(config, seed)

    def decode(self, pattern: Pattern) -> list[Verdict]:
        """For each position of the page, which value the vectors hold there and how surely.

        All at once: most of the work is building, so the others cost little more than the first.
        """
        ensembles = self._keys.of(max(pattern) + 1)
        memories = [self._superposed(keys, pattern) for keys in ensembles]
        unit = noise(self._config.banks, self._config.ensembles, self._config.dims)
        return [
            judge(similarities / unit, self._config.temperature)
            for first in range(0, len(pattern), POSITIONS_AT_ONCE)
            for similarities in self._similarities(
                memories, ensembles, range(len(pattern))[first : first + POSITIONS_AT_ONCE]
            )
        ]

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
