import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fact_oracle
from nuggets.facts.fhrr import mulberry32, phasors, seed_from_text

SEEDS = st.integers(0, 2**32 - 1)


def test_mulberry32_gives_the_documented_numbers() -> None:
    first = mulberry32(42, 0, 3) / 2**32

    assert first.tolist() == [0.6011037519201636, 0.44829055899754167, 0.8524657934904099]


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ("", 0x811C9DC5),
        ("a", 0xE40C292C),
        ("project", 4106060478),
        ("title:auth", 2948515715),
        ("title:jwt", 3081826042),
        ("héllo", 1252296000),
    ],
)
def test_a_text_has_the_same_seed_in_every_release(text: str, seed: int) -> None:
    assert seed_from_text(text) == seed


def test_a_seed_has_the_same_integers_in_every_release() -> None:
    expected = [1877223457, 1419450684, 1262883613, 1682689987, 2582184372]

    assert mulberry32(seed_from_text("project"), 0, 5).tolist() == expected


@given(SEEDS, st.integers(0, 2**40), st.integers(0, 50))
def test_any_block_of_the_stream_can_be_drawn_alone(seed: int, first: int, count: int) -> None:
    whole = mulberry32(seed, first, count + 7)

    assert mulberry32(seed, first + 7, count).tolist() == whole[7:].tolist()


@given(SEEDS)
def test_the_block_equals_numbers_drawn_one_by_one(seed: int) -> None:
    stream = fact_oracle.draws(seed)

    assert (mulberry32(seed, 0, 20) / 2**32).tolist() == [next(stream) for _ in range(20)]


@pytest.mark.parametrize(("count", "dims"), [(1, 1), (3, 7), (2, 16384), (3, 20011)])
def test_phasors_are_the_draws_on_the_unit_circle(count: int, dims: int) -> None:
    seed = seed_from_text("project")
    angles = mulberry32(seed, 0, count * dims).reshape(count, dims) / 2**32

    made = phasors(seed, count, dims)

    assert made.dtype == np.complex64
    np.testing.assert_allclose(made, np.exp(2j * np.pi * angles), rtol=0, atol=6e-7)


def test_the_first_phasors_of_a_name_are_the_same_in_every_release() -> None:
    made = phasors(seed_from_text("project"), 1, 3)

    golden = [-0.922854692 + 0.385148305j, -0.48445821 + 0.874814405j, -0.27318165 + 0.961962466j]
    np.testing.assert_allclose(made[0], golden, rtol=0, atol=1e-6)


@given(SEEDS, st.integers(1, 5), st.integers(1, 40))
def test_rows_can_be_made_from_anywhere_in_the_stream(seed: int, first: int, dims: int) -> None:
    later = phasors(seed, 2, dims, first=first)

    assert later.tolist() == phasors(seed, first + 2, dims)[first:].tolist()
