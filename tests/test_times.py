"""Moments as text: their order."""

import pytest

from nuggets.domain.times import commit_time, moment_after

NOW = "2026-01-31T09:00:00.000Z"


@pytest.mark.parametrize(
    ("last", "dated"),
    [
        ("2026-01-31T08:59:59.999Z", NOW),
        (NOW, "2026-01-31T09:00:00.001Z"),
        ("2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"),
        ("", NOW),
    ],
)
def test_what_comes_later_is_dated_later_wherever_the_clock_is(last: str, dated: str) -> None:
    assert moment_after(last, NOW) == dated


def test_time_has_an_end() -> None:
    assert moment_after("9999-12-31T23:59:59.999Z", NOW) == "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize(
    ("last", "now", "dated"),
    [
        ("", NOW, NOW),
        ("2026-01-31T18:00:00.000Z", NOW, "2026-01-31T18:00:00.001Z"),  # clocks differ
        ("2099-01-01T00:00:00.000Z", NOW, NOW),  # that clock was wrong
        (NOW, "1970-01-01T00:00:00.000Z", "2026-01-31T09:00:00.001Z"),  # this one is
    ],
)
def test_a_commit_from_the_future_does_not_date_later_ones(last: str, now: str, dated: str) -> None:
    assert commit_time(last, now) == dated
