"""Orthogonalises keys. Knows no note."""

from typing import TYPE_CHECKING

from nuggets.fhrr.algebra import TINY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def orthogonalize(
    keys: "NDArray[np.complex64]",
    iters: int = 1,
    step: float = 0.4,
    gram: "NDArray[np.float32] | None" = None,
    out: "NDArray[np.complex64] | None" = None,
) -> "NDArray[np.complex64]":
    """Push unit-magnitude rows apart: kᵢ − step·Σ cos(kᵢ,kⱼ)·kⱼ, then back to the unit circle.

    `gram`: Re⟨kᵢ,kⱼ⟩ of the rows, if it is known. `out`: a buffer for the result.
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
    """Project to the unit circle, row by row: one row fits the processor's cache."""
    import numpy as np

    for row in rows:
        size = np.abs(row)
        size += np.float32(TINY)
        np.reciprocal(size, out=size)
        row *= size.astype(np.complex64)
