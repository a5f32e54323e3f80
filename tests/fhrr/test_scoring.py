import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fact_oracle
from nuggets.facts.fhrr import judge, noise, phasors, softmax

SCORES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@given(SCORES, st.floats(0.0, 10.0))
def test_softmax_gives_probabilities(scores: list[float], temperature: float) -> None:
    shares = softmax(np.array(scores), temperature)

    assert shares.sum() == pytest.approx(1)
    assert shares.max() == shares[scores.index(max(scores))]


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=20), st.floats(0.1, 5.0))
def test_confidence_is_the_top_probability_and_margin_the_gap_to_the_second(
    scores: list[float], temperature: float
) -> None:
    (verdict,) = judge(np.array([scores]), temperature)

    expected = fact_oracle.confidence_and_margin(scores, temperature)
    assert scores[verdict.best] == max(scores)
    assert (verdict.confidence, verdict.margin) == pytest.approx(expected, abs=1e-12)


def test_a_lone_candidate_has_all_the_margin() -> None:
    assert judge(np.array([[-3.0]]), 0.9) == [(0, 1.0, 1.0)]


def test_a_temperature_of_zero_is_the_coldest_there_is() -> None:
    np.testing.assert_allclose(softmax(np.array([1.0, 1.1]), 0.0), [0, 1])


def test_several_rows_are_scored_each_by_itself() -> None:
    shares = softmax(np.array([[1.0, 2.0], [3.0, 3.0]]), 1.0)

    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares[1], 0.5)


def test_noise_is_that_of_random_similarities() -> None:
    dims, banks, ensembles = 512, 4, 2
    rows = phasors(7, 400 * banks * ensembles + 1, dims)
    cosines = (rows[1:] @ rows[0].conj()).real / dims
    summed = cosines.reshape(400, -1).sum(axis=1)

    assert summed.std() == pytest.approx(noise(banks, ensembles, dims), rel=0.15)
