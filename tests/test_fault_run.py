from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_processes import Outcome
from fault_run import NotSurvived, require_all, run


def lose_something() -> Iterator[str]:
    yield "storm 1 of 2: 0 lost"
    require_all([Outcome({"a", "b"}, {"b"}, [])])


def test_the_long_run_goes_on_after_a_part_that_failed_and_says_so(directory: Path) -> None:
    report = directory / "report"
    failures = run({"Storms": lose_something, "Soak": lambda: iter(["flat"])}, str(report))

    assert failures == 1
    assert report.read_text() == (
        "- storm 1 of 2: 0 lost\n- FAILED: Storms: lost ['b'], not in order: []\n- flat\n"
    )


@pytest.mark.parametrize(
    "outcome", [Outcome({"a"}, {"a"}, []), Outcome({"a"}, set(), ["the database is damaged"])]
)
def test_nuggets_may_lose_nothing_and_must_be_in_order(outcome: Outcome) -> None:
    require_all([Outcome({"a"}, set(), [])])
    with pytest.raises(NotSurvived):
        require_all([outcome])
