"""What makes keys more distinct and superpositions less noisy. Knows no note."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.complexfloating[Any, Any]]

TINY = 1e-12  # added to magnitudes, so that zero has a direction


def orthogonalize(
    keys: "NDArray[np.complex64]",
    iters: int = 1,
    step: float = 0.4,
    gram: "NDArray[np.float32] | None" = None,
    out: "NDArray[np.complex64] | None" = None,
) -> "NDArray[np.complex64]":
    """Push unit-magnitude rows apart: kᵢ − step·Σ cos(kᵢ,kⱼ)·kⱼ, then back to the unit circle.

    Who keeps Re⟨kᵢ,kⱼ⟩ of the rows hands it in as `gram`; who keeps a buffer, as `out`.
    """
    import numpy as np

    if iters <= 0 or not keys.size:
        return keys
    for _ in range(iters):
        reals = keys.view(np.float32)
        weights = (reals @ reals.T if gram is None else gram) * np.float32(-step / keys.shape[1])
        np.fill_diagonal(weights, 1)
        moved = np.empty_like(keys) if out is None else out
        np.matmul(weights, reals, out=moved.view(np.float32))
        _project(moved)
        keys, gram, out = moved, None, None
    return keys


def _project(rows: "NDArray[np.complex64]") -> None:
    """Back to the unit circle, row by row: a row fits the cache, the whole does not."""
    import numpy as np

    for row in rows:
        size = np.abs(row)
        size += np.float32(TINY)
        np.reciprocal(size, out=size)
        row *= size.astype(np.complex64)


def sharpen(z: "Vectors", p: float = 1.0) -> "Vectors":
    """z·(|z|+1e-12)^(p−1): above 1 favours what is loud, below 1 what is quiet."""
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
