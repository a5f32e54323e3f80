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

PATTERNS_KEPT = 1024  # decodes of so many pages are remembered: some megabytes at most
POSITIONS_AT_ONCE = 8  # decoded together when a page had to be built again


class Banks:
    """Decodes positions of pages that share a seed; holds the vectors of one page at a time."""

    def __init__(self, config: NuggetConfig, seed: int) -> None:
        self._config = config
        self._keys = ValueKeys(config, seed)
        self._decoded: dict[Pattern, dict[int, Verdict]] = {}  # by position
        self._built: Pattern = ()
        self._memory: list[NDArray[np.complex64]] = []  # one per ensemble, banks summed

    def decode(self, pattern: Pattern, position: int) -> Verdict:
        """Which value the vectors hold at this position of the page, and how surely."""
        known = self._decoded.get(pattern)
        if known is None:
            known = self._new_page(pattern)
        if position not in known:
            wanted = range(position, position + 1)
            if pattern != self._built:
                if known:  # built before and given up since: decode more of it this time
                    first = position - position % POSITIONS_AT_ONCE
                    wanted = range(len(pattern))[first : first + POSITIONS_AT_ONCE]
                self._build(pattern)
            known.update(zip(wanted, self._verdicts(wanted), strict=True))
        return known[position]

    def release(self) -> None:
        """Give the vectors' memory back; what was decoded stays known."""
        self._built = ()
        self._memory = []
        self._keys.release()

    def _new_page(self, pattern: Pattern) -> dict[int, Verdict]:
        while len(self._decoded) >= PATTERNS_KEPT:
            del self._decoded[next(iter(self._decoded))]
        return self._decoded.setdefault(pattern, {})

    def _build(self, pattern: Pattern) -> None:
        ensembles = self._keys.of(max(pattern) + 1)
        self._memory = [self._superposed(keys, pattern) for keys in ensembles]
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
        rows = self._similarities(positions) / unit
        return [judge(similarities, config.temperature) for similarities in rows]

    def _similarities(self, positions: range) -> "NDArray[np.float64]":
        """Cosines with every value, summed over banks and ensembles: one row per position."""
        import numpy as np

        dims, values = self._config.dims, max(self._built) + 1
        first, back = role(-positions[0], dims), roots(dims).conj()
        total: NDArray[np.float64] = np.zeros((len(positions), values))
        unbound = np.empty((len(positions), dims), np.complex64)
        for keys, memory in zip(self._keys.of(values), self._memory, strict=True):
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
