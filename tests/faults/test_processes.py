"""Many processes at once, and processes that are killed: nothing acknowledged is lost."""

import os
import random
from pathlib import Path

import pytest

from fault_processes import WRITER, collect, kept_keys, kill_round, line_of, start_writer
from store_samples import pictures_agree

pytestmark = pytest.mark.faults

ROUNDS = int(os.environ.get("NUGGETS_KILL_ROUNDS", "8"))

WITHOUT_LOCK = """
import os, sys, time
from contextlib import contextmanager
from nuggets.shelf import NuggetShelf
from nuggets.stores import json_files
from nuggets.stores.journal import Journal

@contextmanager
def unlocked(path, wait_seconds=0):
    yield lambda: True

def careless(self, descriptor, path, start):
    time.sleep(0.002)  # another one comes in between
    os.ftruncate(descriptor, start)
    os.lseek(descriptor, start, os.SEEK_SET)

json_files.locked = unlocked
Journal._cut_torn_tail = careless
print("ready", flush=True)
sys.stdin.readline()  # all begin together
"""


def test_eight_processes_keep_all_of_fifty_facts_each(tmp_path: Path) -> None:
    processes = [
        start_writer(str(tmp_path), f"p{n}", 50, *(["short-lived"] * (n % 2))) for n in range(8)
    ]
    acknowledged = collect(processes)
    kept = kept_keys(str(tmp_path))

    assert [process.returncode for process in processes] == [0] * 8
    assert len(acknowledged) == 400
    assert kept == acknowledged
    assert pictures_agree(tmp_path)


def test_the_harness_notices_a_missing_lock(tmp_path: Path) -> None:
    """Without it the same processes lose facts, or fail: else the test above proves nothing."""
    processes = [
        start_writer(str(tmp_path), f"p{n}", 40, program=WITHOUT_LOCK + WRITER, waits=True)
        for n in range(4)
    ]
    assert {line_of(process) for process in processes} == {"ready"}
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    acknowledged = collect(processes)
    try:
        lost = acknowledged - kept_keys(str(tmp_path))
    except Exception:
        lost = acknowledged

    assert lost or any(process.returncode for process in processes)


def test_killing_writers_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    moments = random.Random(2)
    for number in range(ROUNDS):
        outcome = kill_round(str(tmp_path), f"r{number}", moments.uniform(0.0, 0.2))

        assert outcome.lost == set()
        assert outcome.agree
        assert outcome.litter == []
        assert outcome.seconds_to_next_write < 5
        assert len(outcome.acknowledged) > 4
