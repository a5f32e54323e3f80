"""Phase-vector algebra: seeded unit phasors; binding, superposing, comparing, sharpening and
orthogonalising them; and how sure a comparison is. Knows no note.

The same text gives the same vectors everywhere, rounding aside. The state of Mulberry32 is a
counter, so draw n follows from n alone: any part of a stream is one array expression, and needs no
earlier draws.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.complexfloating[Any, Any]]


INCREMENT = 0x6D2B79F5  # Mulberry32's step from draw to draw
WORD = 0xFFFFFFFF


def seed_from_text(text: str) -> int:
    """32-bit FNV-1a over all UTF-8 bytes of the text."""
    seed = 0x811C9DC5
    for byte in text.encode():
        seed = (seed ^ byte) * 0x01000193 & WORD
    return seed


def mulberry32(seed: int, first: int, count: int) -> "NDArray[np.uint32]":
    """Draws `first` to `first + count` of the stream; divided by 2³² they lie in [0, 1)."""
    import numpy as np

    u32 = np.uint32
    state = np.arange(1, count + 1, dtype=u32)
    state *= u32(INCREMENT)
    state += u32((seed + first * INCREMENT) & WORD)
    spare = state >> u32(15)
    spare ^= state
    state |= u32(1)
    spare *= state
    mixed = spare >> u32(7)
    mixed ^= spare
    np.bitwise_or(spare, u32(61), out=state)
    mixed *= state
    mixed += spare
    mixed ^= spare
    np.right_shift(mixed, u32(14), out=spare)
    mixed ^= spare
    return mixed


def phasors(seed: int, count: int, dims: int, first: int = 0) -> "NDArray[np.complex64]":
    """Rows `first` to `first + count` of e^{2πi·draw}, all of one stream, row after row."""
    import numpy as np

    draws = mulberry32(seed, first * dims, count * dims)
    angles = draws.view(np.int32).astype(np.float32)  # from -π to π: more exact than to 2π
    angles *= np.float32(2 * np.pi / 2**32)
    rows = np.empty(count * dims, np.complex64)
    rows.real, rows.imag = np.cos(angles), np.sin(angles)
    return rows.reshape(count, dims)


# --- algebra --------------------------------------------------------------------------------------


TINY = 1e-12  # added to magnitudes, as documented: zero has a direction
ROOTS_KEPT = 4  # dimensions whose unit roots are cached: a shelf rarely uses more


def bind(a: "Vectors", b: "Vectors") -> "Vectors":
    """Phases add."""
    return a * b


def unbind(memory: "Vectors", key: "Vectors") -> "Vectors":
    """Phases subtract; the magnitudes of the memory stay."""
    return memory * key.conj()


def bundle(vectors: "Vectors") -> "Vectors":
    """The superposition of all rows."""
    total: Vectors = vectors.sum(axis=0)
    return total


def similarity(a: "Vectors", b: "Vectors") -> float:
    """Cosine, the real part of the inner product; nothing is similar to a zero vector."""
    import numpy as np

    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(np.vdot(b, a).real) / lengths if lengths else 0.0


@lru_cache(ROOTS_KEPT)
def roots(dims: int) -> "NDArray[np.complex64]":
    """e^{2πi·d/dims} for every d: role key 1; all other role keys are powers of it."""
    import numpy as np

    angle = np.arange(dims) * (2 * np.pi / dims)
    circle = np.empty(dims, np.complex64)
    circle.real, circle.imag = np.cos(angle), np.sin(angle)
    circle.flags.writeable = False
    return circle


def role(position: int, dims: int) -> "NDArray[np.complex64]":
    """Role key of a position: row `position` of the DFT matrix, picked from the unit roots."""
    import numpy as np

    return roots(dims)[np.arange(dims) * (position % dims) % dims]


def sharpen(z: "Vectors", p: float = 1.0) -> "Vectors":
    """z·(|z|+1e-12)^(p−1): p > 1 favours large magnitudes, p < 1 small ones."""
    if p == 1.0:
        return z
    import numpy as np

    sharper: Vectors = z * (np.abs(z) + TINY) ** (p - 1)
    return sharper


def corvacs_lite(z: "Vectors", a: float = 0.0) -> "Vectors":
    """A soft limiter of magnitudes, z·tanh(a·m)/m with m = |z|+1e-12."""
    if a <= 0.0:
        return z
    import numpy as np

    size = np.abs(z) + TINY
    limited: Vectors = z * (np.tanh(a * size) / size)
    return limited


# --- orthogonalising ------------------------------------------------------------------------------


def orthogonalize(
    keys: "NDArray[np.complex64]",
    iters: int = 1,
    step: float = 0.4,
    gram: "NDArray[np.float32] | None" = None,
) -> "NDArray[np.complex64]":
    """Push unit-magnitude rows apart: kᵢ − step·Σ cos(kᵢ,kⱼ)·kⱼ, then back to the unit circle.

    `gram`: Re⟨kᵢ,kⱼ⟩ of the rows, if it is known.
    """
    import numpy as np

    if iters <= 0 or not keys.size:
        return keys
    for _ in range(iters):
        reals = keys.view(np.float32)
        weights = (reals @ reals.T if gram is None else gram) * np.float32(-step / keys.shape[1])
        np.fill_diagonal(weights, 1)
        keys, gram = (weights @ reals).view(np.complex64), None
        keys *= np.reciprocal(np.abs(keys) + np.float32(TINY))  # back to the unit circle
    return keys


# --- confidence and margin ------------------------------------------------------------------------

COLDEST = 1e-6  # a temperature of 0 is allowed, and divides


class Verdict(NamedTuple):
    """The best candidate, its probability, and the gap to the second."""

    best: int
    confidence: float
    margin: float


def softmax(
    x: "NDArray[np.floating[Any]]", temperature: float = 1.0
) -> "NDArray[np.floating[Any]]":
    """Probabilities along the last axis; large inputs do not overflow."""
    import numpy as np

    powers = np.exp((x - x.max(axis=-1, keepdims=True)) / max(temperature, COLDEST))
    shares: NDArray[np.floating[Any]] = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def noise(banks: int, ensembles: int, dims: int) -> float:
    """Standard deviation of a summed similarity that is only crosstalk."""
    return float((banks * ensembles / (2 * dims)) ** 0.5)


def judge(similarities: "NDArray[np.floating[Any]]", temperature: float) -> list[Verdict]:
    """Of each row confidence and margin by softmax; the margin of a lone candidate is its
    confidence."""
    import numpy as np

    shares = softmax(similarities, temperature)
    rows = np.arange(len(shares))
    best = similarities.argmax(axis=-1)  # shares may be equal where similarities are not
    confidence = shares[rows, best]
    shares[rows, best] = 0.0
    margin = confidence - shares.max(axis=-1)
    columns = (best.tolist(), confidence.tolist(), margin.tolist())
    return [Verdict(*row) for row in zip(*columns, strict=True)]
