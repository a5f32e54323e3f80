"""From similarities to confidence and margin. Knows no note."""

from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

COLDEST = 1e-6  # avoids a division by zero


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
