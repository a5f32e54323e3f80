"""A soak notices what grows, however slowly, and only that."""

import sys
from pathlib import Path
from random import Random

import pytest

from fault_mutants import KEEPS_EVERY_WRITE
from fault_soak import Moment, NotSurvived, Sample, compare, soak

LONG = 90_000  # operations of a soak of half an hour
EARLIER_LEAK = 220  # kilobytes in 1,000 operations, as the servers once grew


def moments(operations: int, kilobytes: float, *, descriptors: float = 0) -> list[Moment]:
    """A server that grows by so much in 1,000 operations, after it has become warm."""
    chance = Random(1)
    found = []
    for done in range(0, operations, 60):
        warming = 4000 * min(1, done / 15_000)
        noise = chance.uniform(-1500, 1500)
        size = 100_000 + warming + noise + kilobytes * done / 1000
        sample = Sample(size, 11 + descriptors * done / 1000)
        found.append(Moment(done, {"serve": sample, "disk": Sample(6000 + noise / 10)}))
    return found


def is_flat(found: list[Moment]) -> bool:
    return all(flat for _, flat in compare(found))


def test_a_server_that_does_not_grow_is_flat() -> None:
    assert is_flat(moments(LONG, 0))
    assert is_flat(moments(600, 0))


def test_a_third_of_the_growth_that_was_found_once_is_noticed() -> None:
    assert not is_flat(moments(LONG, EARLIER_LEAK))
    assert not is_flat(moments(LONG, EARLIER_LEAK / 3))


def test_descriptors_that_stay_open_are_noticed() -> None:
    assert not is_flat(moments(LONG, 0, descriptors=0.2))


@pytest.mark.faults
def test_a_soak_notices_a_server_that_keeps_every_write(tmp_path: Path) -> None:
    mutant = (sys.executable, "-P", "-c", KEEPS_EVERY_WRITE, "500000")
    with pytest.raises(NotSurvived) as noticed:
        list(soak(str(tmp_path / "shelf"), 1, mutant))

    assert "not flat: serve" in str(noticed.value)
    assert "not flat: schedule" not in str(noticed.value)
