"""From similarities to how sure one may be. Knows no note."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

COLDEST = 1e-6  # a temperature of zero would divide by it


class Verdict(NamedTuple):
    """The best candidate, its probability, and the gap to the second."""

    best: int
    confidence: float
    margin: float


def softmax(
    x: "NDArray[np.floating[Any]]", temperature: float = 1.0
) -> "NDArray[np.floating[Any]]":
    """Probabilities along the last axis; no input is too large for it."""
    import numpy as np

    powers = np.exp((x - x.max(axis=-1, keepdims=True)) / max(temperature, COLDEST))
    shares: NDArray[np.floating[Any]] = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def noise(banks: int, ensembles: int, dims: int) -> float:
    """Standard deviation of a summed similarity that is crosstalk alone."""
    return float((banks * ensembles / (2 * dims)) ** 0.5)


def judge(similarities: "NDArray[np.floating[Any]]", temperature: float) -> Verdict:
    """Confidence and margin by softmax; a lone candidate has no second, its margin is all."""
    shares = softmax(similarities, temperature)
    best = int(similarities.argmax())  # shares may be equal where similarities are not
    confidence = float(shares[best])
    others = [*shares[:best].tolist(), *shares[best + 1 :].tolist()]
    return Verdict(best, confidence, confidence - max(others, default=0.0))
