"""Builds one page of facts as superpositions and decodes its values. Knows no text.

A page is described by its *pattern*: for each fact in order, the number of its value among the
page's distinct values. Vectors depend only on seed, configuration and pattern, so pages with equal
patterns have equal vectors. Fact i is stored in bank i mod banks with role key i. Factors that the
documented algorithm multiplies in and later divides out (the sentence key, the norms of the keys)
are not computed.
"""

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from nuggets.domain.records import NuggetConfig
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
NUGGETS_KEPT = 2  # whose vectors stay in memory, 8 MB each with pages of the default size


def decode_page(config: NuggetConfig, seed: int, pattern: Pattern) -> list[Verdict]:
    """The value stored at each position of the page, with its confidence and margin.

    Decodes all positions together, because building the vectors is most of the work.
    """
    ensembles = _value_keys(config, seed, max(pattern) + 1)
    memories = [_superpose(config, keys, pattern) for keys in ensembles]
    unit = noise(config.banks, config.ensembles, config.dims)
    positions = range(len(pattern))
    verdicts: list[Verdict] = []
    for first in range(0, len(pattern), POSITIONS_AT_ONCE):
        chunk = positions[first : first + POSITIONS_AT_ONCE]
        similarities = _similarities(config, memories, ensembles, chunk) / unit
        verdicts += judge(similarities, config.temperature)
    return verdicts


def _superpose(
    config: NuggetConfig, keys: "NDArray[np.complex64]", pattern: Pattern
) -> "NDArray[np.complex64]":
    """The sum of all banks, each normalised as the cosine requires.

    Similarity is linear in the memory, and the nonlinearities depend on magnitudes, which unbinding
    keeps. So both are applied here once for all positions.
    """
    import numpy as np

    turn, stride = roots(config.dims), role(config.banks, config.dims)
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
    config: NuggetConfig,
    memories: "list[NDArray[np.complex64]]",
    ensembles: "list[NDArray[np.complex64]]",
    positions: range,
) -> "NDArray[np.float64]":
    """Cosines with every value, summed over banks and ensembles: one row per position."""
    import numpy as np

    first, back = role(-positions[0], config.dims), roots(config.dims).conj()
    total: NDArray[np.float64] = np.zeros((len(positions), len(ensembles[0])))
    unbound = np.empty((len(positions), config.dims), np.complex64)
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


def _value_keys(config: NuggetConfig, seed: int, values: int) -> "list[NDArray[np.complex64]]":
    """The keys of so many values, orthogonalised among them, one array for each ensemble.

    Raw keys are rows of one seeded stream. Ensemble e begins at row e·(values + 1); the last row of
    an ensemble belongs to the sentence key.
    """
    count = config.ensembles * (values + 1) - 1
    enough = 1 << (count - 1).bit_length()  # for the next facts too
    raw, ensembles = _raw_keys(seed, config.dims, enough), []
    for ensemble in range(config.ensembles):
        first = ensemble * (values + 1)
        rows = slice(first, first + values)
        gram = _products(seed, config.dims, enough)[rows, rows] if config.ortho_iters else None
        ensembles.append(orthogonalize(raw[rows], config.ortho_iters, gram=gram))
    return ensembles


@lru_cache(NUGGETS_KEPT)
def _raw_keys(seed: int, dims: int, count: int) -> "NDArray[np.complex64]":
    return phasors(seed, count, dims)


@lru_cache(NUGGETS_KEPT)
def _products(seed: int, dims: int, count: int) -> "NDArray[np.float32]":
    """The inner products of the raw keys."""
    reals = _reals(_raw_keys(seed, dims, count))
    products: NDArray[np.float32] = reals @ reals.T
    return products


def _reals(rows: "NDArray[np.complex64]") -> "NDArray[np.float32]":
    """The same memory as real numbers: an inner product of rows is then Re⟨a,b⟩."""
    import numpy as np

    return rows.view(np.float32)
