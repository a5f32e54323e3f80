"""Binding, superposing, comparing and sharpening phasor vectors. Knows no seed and no note."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.complexfloating[Any, Any]]

TINY = 1e-12  # added to magnitudes, so that zero has a direction
ROOTS_KEPT = 4  # dimensions whose unit roots are cached: a shelf rarely uses more

_roots: "dict[int, NDArray[np.complex64]]" = {}


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


def roots(dims: int) -> "NDArray[np.complex64]":
    """e^{2πi·d/dims} for every d: role key 1; all other role keys are powers of it."""
    import numpy as np

    if dims not in _roots:
        while len(_roots) >= ROOTS_KEPT:
            _roots.pop(next(iter(_roots)), None)
        angle = np.arange(dims) * (2 * np.pi / dims)
        circle = np.empty(dims, np.complex64)
        np.cos(angle, out=circle.real, casting="same_kind")
        np.sin(angle, out=circle.imag, casting="same_kind")
        circle.flags.writeable = False
        _roots[dims] = circle
    return _roots[dims]


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
