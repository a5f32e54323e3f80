"""All doors at once on one shelf, in processes that are killed and stopped."""

import os
import sys
from pathlib import Path

import pytest

from fault_mutants import FORGETS_TO_COMMIT
from fault_processes import WRITER, collect, start_writer
from fault_storm import ONE_OF_EACH, Storm, lost_writes, run_storm
from nuggets import NuggetShelf

pytestmark = pytest.mark.faults

WRITES = int(os.environ.get("NUGGETS_STORM_WRITES", "8"))


def test_a_storm_of_all_doors_loses_nothing_and_leaves_order(tmp_path: Path) -> None:
    outcome = run_storm(str(tmp_path / "shelf"), WRITES, seed=1, doors=ONE_OF_EACH)

    assert outcome.lost == []
    assert outcome.problems == []
    assert outcome.acknowledged >= WRITES
    assert outcome.kills + outcome.stops > 0


def test_a_storm_notices_writes_that_were_never_committed(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path, project="") as shelf:
        shelf.remember("storm", "before", "it")
    program = FORGETS_TO_COMMIT + WRITER
    said = collect([start_writer(str(tmp_path), "w", 1, program=program)])

    assert said
    assert lost_writes(str(tmp_path), said, set()) == sorted(said)


def crash_always(storm: Storm, name: str) -> None:
    for _ in storm.keys(name):
        with storm.process(sys.executable, "-c", "raise SystemExit(77)"):
            pass


def test_a_door_that_never_opens_ends_the_storm(tmp_path: Path) -> None:
    outcome = run_storm(str(tmp_path / "shelf"), 1, seed=1, doors=(crash_always,))

    assert any("ended with 77" in problem for problem in outcome.problems)
