import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import fact_oracle
from nuggets.facts.fhrr import corvacs_lite, orthogonalize, phasors, sharpen

SEEDS = st.integers(0, 2**32 - 1)


def largest_cosine(keys: NDArray[np.complex64]) -> float:
    cosines = np.abs((keys @ keys.conj().T).real / keys.shape[1])
    np.fill_diagonal(cosines, 0)
    return float(cosines.max())


@given(SEEDS, st.integers(1, 9), st.sampled_from([64, 250]), st.integers(1, 3))
def test_orthogonalize_is_the_documented_formula(
    seed: int, count: int, dims: int, iters: int
) -> None:
    keys = phasors(seed, count, dims)

    made = orthogonalize(keys, iters)

    expected = fact_oracle.orthogonalized(list(keys.astype(complex)), iters)
    np.testing.assert_allclose(made, np.array(expected), atol=2e-5)


@given(SEEDS, st.sampled_from([0.1, 0.25]))
def test_orthogonalize_takes_a_step(seed: int, step: float) -> None:
    keys = phasors(seed, 4, 64)

    made = orthogonalize(keys, 1, step)

    expected = fact_oracle.orthogonalized(list(keys.astype(complex)), 1, step)
    np.testing.assert_allclose(made, np.array(expected), atol=2e-5)


@given(SEEDS, st.integers(2, 12))
def test_orthogonalize_keeps_magnitudes_and_lowers_the_largest_cosine(
    seed: int, count: int
) -> None:
    keys = phasors(seed, count, 1024)

    apart = orthogonalize(keys)

    orthogonal_already = 0.1 * (2 * 1024) ** -0.5  # a tenth of what chance gives
    np.testing.assert_allclose(np.abs(apart), 1, atol=1e-6)
    assert largest_cosine(apart) < max(largest_cosine(keys), orthogonal_already)


@pytest.mark.parametrize("iters", [0, -1])
def test_without_iterations_keys_stay(iters: int) -> None:
    keys = phasors(1, 3, 50)

    assert orthogonalize(keys, iters).tolist() == keys.tolist()


def test_no_keys_are_already_orthogonal() -> None:
    assert orthogonalize(np.empty((0, 8), np.complex64)).shape == (0, 8)


def test_orthogonalize_leaves_what_it_was_given() -> None:
    keys = phasors(1, 4, 64)
    before = keys.copy()
    gram = (keys @ keys.conj().T).real.astype(np.float32)

    made = orthogonalize(keys, 1, gram=gram)

    np.testing.assert_array_equal(keys, before)
    np.testing.assert_allclose(made, orthogonalize(keys, 1), atol=1e-6)


def test_equal_keys_that_cancel_do_not_divide_by_zero() -> None:
    keys = np.ones((2, 8), np.complex64)

    assert np.isfinite(orthogonalize(keys, 1, step=1.0)).all()


def test_sharpen_raises_magnitudes_to_a_power_and_keeps_phases() -> None:
    z = np.array([0, 0.5j, -2, 3 + 4j], np.complex64)

    np.testing.assert_allclose(sharpen(z, 2.0), z * np.abs(z), atol=1e-6)
    np.testing.assert_allclose(sharpen(z, 0.5)[1:], (z / np.sqrt(np.abs(z) + 1e-12))[1:], atol=1e-6)
    assert sharpen(z, 1.0) is z


def test_corvacs_lite_limits_magnitudes_softly() -> None:
    z = np.array([0, 0.001, 0.5j, -2, 30 + 40j], np.complex64)

    limited = corvacs_lite(z, 0.7)

    np.testing.assert_allclose(np.abs(limited), np.tanh(0.7 * np.abs(z)), atol=1e-6)
    np.testing.assert_allclose(np.angle(limited[1:]), np.angle(z[1:]), atol=1e-6)
    assert corvacs_lite(z, 0.0) is z
    assert corvacs_lite(z, -1.0) is z
