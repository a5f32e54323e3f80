from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fact_oracle
from example_counts import example_count
from nuggets.domain.records import NuggetConfig
from nuggets.facts.capacity import page_size
from nuggets.facts.fhrr import Verdict, seed_from_text
from nuggets.facts.memory_banks import decode_page

CONFIGS = st.builds(
    NuggetConfig,
    name=st.sampled_from(["project", "héllo", "x"]),
    dims=st.sampled_from([16, 61, 150]),
    banks=st.integers(1, 5),
    ensembles=st.integers(1, 3),
    sharpen_p=st.sampled_from([1.0, 0.5, 1.7]),
    corvacs_a=st.sampled_from([0.0, 0.8]),
    temperature=st.sampled_from([0.9, 0.3]),
    ortho_iters=st.integers(0, 2),
    max_facts=st.just(0),
    fuzzy_threshold=st.just(0.55),
    extra=st.just({}),
)
VALUES = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=7)


def pattern(values: list[str]) -> tuple[int, ...]:
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in values)


def decode(config: NuggetConfig, page: Sequence[int]) -> list[Verdict]:
    return decode_page(config, seed_from_text(config.name), tuple(page))


def assert_as_documented(config: NuggetConfig, values: list[str]) -> None:
    vocabulary = list(dict.fromkeys(values))
    expected = fact_oracle.decoded(values, config)
    # A power below 1 makes a root out of what rounding leaves where two roles cancel.
    close = 1e-5 if config.sharpen_p >= 1 else 1e-3
    verdicts = decode(config, pattern(values))
    for verdict, (answer, confidence, margin) in zip(verdicts, expected, strict=True):
        assert verdict.confidence == pytest.approx(confidence, abs=close)
        assert verdict.margin == pytest.approx(margin, abs=close)
        if margin > 2 * close:
            assert vocabulary[verdict.best] == answer


class Golden(NamedTuple):
    confidence: float
    margin: float


GOLDEN_ON_RAW_COSINES = [
    Golden(0.357369451736, 0.193624554676),
    Golden(0.429507364845, 0.284554873540),
    Golden(0.434552680707, 0.291543091861),
    Golden(0.437353803159, 0.295752945346),
    Golden(0.355144710022, 0.192458782605),
]


def test_the_oracle_reproduces_the_golden_values() -> None:
    rows = fact_oracle.all_similarities([f"val{i}" for i in range(5)], NuggetConfig("project"))

    for row, golden in zip(rows, GOLDEN_ON_RAW_COSINES, strict=True):
        assert fact_oracle.confidence_and_margin(row, 0.9) == pytest.approx(golden, abs=1e-11)


@settings(max_examples=example_count(60), deadline=None)
@given(CONFIGS, VALUES)
def test_decoding_equals_the_documented_algorithm(config: NuggetConfig, values: list[str]) -> None:
    assert_as_documented(config, values)


@settings(max_examples=example_count(25), deadline=None)
@given(CONFIGS, st.lists(VALUES, min_size=2, max_size=4))
def test_what_was_built_before_does_not_show(config: NuggetConfig, pages: list[list[str]]) -> None:
    for values in pages:
        decode(config, pattern(values))
    for values in pages:
        assert_as_documented(config, values)


@pytest.mark.parametrize("ortho_iters", [0, 1, 2])
def test_a_page_grown_fact_by_fact_equals_one_built_at_once(ortho_iters: int) -> None:
    config = NuggetConfig("project", dims=1000, ensembles=2, ortho_iters=ortho_iters)
    other = config._replace(name="other")
    slowly = {size: decode(config, range(size)) for size in range(1, 11)}

    for size in (10, 3, 7, 1):
        decode(other, range(size))
        for ours, theirs in zip(slowly[size], decode(config, range(size)), strict=True):
            assert ours == pytest.approx(theirs, abs=1e-6)


def test_a_full_page_of_the_default_size_is_decoded_surely() -> None:
    config = NuggetConfig("project")
    page = tuple(range(page_size(config.dims)))

    verdicts = decode(config, page)

    assert [verdict.best for verdict in verdicts] == list(page)
    assert min(verdict.confidence for verdict in verdicts) > 0.999
    assert min(verdict.margin for verdict in verdicts) > 0.999


def test_pages_that_take_turns_are_decoded_rightly() -> None:
    config = NuggetConfig("project", dims=1024)
    ours, other = range(20), range(9)
    expected = decode(config, ours)

    for _ in range(3):
        decode(config, other)
        for verdict, first in zip(decode(config, ours), expected, strict=True):
            assert verdict == pytest.approx(first, abs=1e-6)

    assert [verdict.best for verdict in expected] == list(ours)
