"""Moments as text: their order."""

import pytest

from nuggets.times import moment_after

NOW = "2026-01-31T09:00:00.000Z"


@pytest.mark.parametrize(
    ("last", "dated"),
    [
        ("2026-01-31T08:59:59.999Z", NOW),
        (NOW, "2026-01-31T09:00:00.001Z"),
        ("2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("", NOW),
    ],
)
def test_what_comes_later_is_dated_later_wherever_the_clock_is(last: str, dated: str) -> None:
    assert moment_after(last, NOW) == dated
