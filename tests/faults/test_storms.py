"""All doors at once on one shelf, in processes that are killed and stopped."""

from pathlib import Path

import pytest

from fault_mutants import FORGETS_TO_COMMIT
from fault_processes import WRITER, collect, start_writer
from fault_storm import lost_writes
from nuggets import NuggetShelf

pytestmark = pytest.mark.faults


def test_a_storm_notices_writes_that_were_never_committed(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path, project="") as shelf:
        shelf.remember("storm", "before", "it")
    program = FORGETS_TO_COMMIT + WRITER
    said = collect([start_writer(str(tmp_path), "w", 1, program=program)])

    assert said
    assert lost_writes(str(tmp_path), said, set()) == sorted(said)
