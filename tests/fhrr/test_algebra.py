import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nuggets.facts.fhrr import bind, bundle, phasors, role, roots, similarity, unbind

SEEDS = st.integers(0, 2**32 - 1)
DIMS = st.sampled_from([1, 2, 3, 100, 256, 1000])


def three(seed: int, dims: int) -> list[NDArray[np.complex64]]:
    return list(phasors(seed, 3, dims))


@given(SEEDS, DIMS)
def test_unbind_undoes_bind(seed: int, dims: int) -> None:
    a, b, _ = three(seed, dims)

    np.testing.assert_allclose(unbind(bind(a, b), b), a, atol=1e-6)


@given(SEEDS, DIMS)
def test_bind_commutes_and_associates(seed: int, dims: int) -> None:
    a, b, c = three(seed, dims)

    np.testing.assert_allclose(bind(a, b), bind(b, a), atol=1e-6)
    np.testing.assert_allclose(bind(bind(a, b), c), bind(a, bind(b, c)), atol=1e-6)


@given(SEEDS, st.floats(0.1, 9.0))
def test_unbind_keeps_the_magnitudes_of_the_memory(seed: int, size: float) -> None:
    a, b, _ = three(seed, 64)

    np.testing.assert_allclose(np.abs(unbind(a * np.float32(size), b)), size, rtol=1e-5)


@given(SEEDS, st.integers(2, 8))
def test_a_bundle_is_similar_to_its_parts_and_to_nothing_else(seed: int, parts: int) -> None:
    dims = 4096
    vectors = phasors(seed, parts + 1, dims)
    whole = bundle(vectors[:parts])

    crosstalk = 6 * (2 * dims) ** -0.5
    for part in vectors[:parts]:
        assert abs(similarity(whole, part) - parts**-0.5) < crosstalk
    assert abs(similarity(whole, vectors[parts])) < crosstalk
    assert abs(similarity(whole, bind(vectors[0], vectors[parts]))) < crosstalk


@given(SEEDS, DIMS)
def test_similarity_is_a_cosine(seed: int, dims: int) -> None:
    a, b, _ = three(seed, dims)

    assert similarity(a, a) == pytest.approx(1, abs=1e-6)
    assert similarity(a, -a) == pytest.approx(-1, abs=1e-6)
    assert similarity(a, b) == pytest.approx(similarity(b, 3 * a), abs=1e-6)
    assert similarity(a, 0 * a) == 0


@pytest.mark.parametrize("dims", [1, 7, 64, 16384])
@pytest.mark.parametrize("position", [0, 1, 5, 63, -3])
def test_a_role_key_is_a_row_of_the_dft_matrix(dims: int, position: int) -> None:
    expected = np.exp(2j * np.pi * ((np.arange(dims) * position) % dims) / dims)

    np.testing.assert_allclose(role(position, dims), expected, atol=1e-6)
    np.testing.assert_allclose(role(1, dims), roots(dims), atol=0)


def test_role_keys_are_orthogonal_and_their_positions_add() -> None:
    assert abs(similarity(role(3, 64), role(4, 64))) < 1e-6
    np.testing.assert_allclose(bind(role(3, 64), role(4, 64)), role(7, 64), atol=1e-6)


def test_unit_roots_of_many_dimensions_stay_right_when_old_ones_are_given_up() -> None:
    for dims in (3, 4, 5, 6, 7, 8, 3):
        assert roots(dims).size == dims
