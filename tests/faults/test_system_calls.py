"""A fault at every system call of every operation: old or new, whole, and usable right after."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fault_mutants import FORGETS_TO_COMMIT, WRITES_IN_PIECES
from fault_points import KINDS, OPERATIONS, READS, kinds_for
from fault_processes import TESTS, environment

pytestmark = pytest.mark.faults

EVERY = os.environ.get("NUGGETS_FAULT_EVERY", "1000")
PART = os.environ.get("NUGGETS_FAULT_PART", str(len(KINDS)))  # of these kinds: others each time


def run(shim: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment(LD_PRELOAD=shim),
    )


def test_every_operation_survives_a_fault_at_any_system_call(shim: str, tmp_path: Path) -> None:
    """In memory if possible: the disk's own time would add up. `make faults` fails all of the
    thousands of calls, in every way; here each operation meets one fault, and each kind of fault
    two operations or three."""
    fast = f"/dev/shm/{tmp_path.name}-{os.getpid()}" if os.path.isdir("/dev/shm") else str(tmp_path)
    try:
        done = run(shim, os.path.join(TESTS, "fault_points.py"), fast, EVERY, PART)
    finally:
        shutil.rmtree(fast, ignore_errors=True)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    tried = {name: kinds_for(name, int(PART)).values() for name in OPERATIONS}
    assert done.stdout.count("points") == sum(map(len, tried.values()))
    reads_nothing = tried["command config set"]
    assert done.stdout.count(": 0 points") == sum(label in READS for label in reads_nothing)


COUNT_SYNCS = """
import ctypes, sys
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import *
shim, directory = ctypes.CDLL(None), sys.argv[1]

def syncs(work, *arguments):
    shim.shim_arm(directory.encode(), 0, 0)
    work(*arguments)
    return shim.shim_syncs()

def write_cold(number):
    cold = open_directory(directory)
    put(cold, note(number))
    cold.close()

shim.shim_arm(directory.encode(), 0, 0)  # from here on files are known as they are opened
warm = open_directory(directory, short_lived=False)
put(warm, note(1))
print(syncs(put, warm, note(2)))
print(syncs(touch, warm, note(1).id, "s1"))
print(syncs(write_cold, 3))
warm.close()
print(syncs(write_cold, 4))
"""


def test_a_write_waits_for_the_medium_once_and_a_recall_never(shim: str, tmp_path: Path) -> None:
    """Exports are not synced: they can be made again. Whoever is alone also begins a log (its
    directory, its header) and moves it into the database at the end (the log, the database)."""
    warm, recall, beside_another, alone = run(shim, "-c", COUNT_SYNCS, str(tmp_path)).stdout.split()

    assert (warm, recall) == ("1", "0")
    assert int(beside_another) <= 2
    assert int(alone) <= 5


RUN_MUTANT = """
import sys
import fault_points
directory, name = sys.argv[1:]
in_child = fault_points.in_child

def in_child_with_a_bad_store(place, operation, k, kind):
    def operate(place):
        exec('''{mutant}''')
        return operation(place)
    return in_child(place, operate, k, kind)

fault_points.in_child = in_child_with_a_bad_store
sys.exit(fault_points.main(directory, "5", "1", name))
"""


@pytest.mark.parametrize(
    "mutant, operation", [(FORGETS_TO_COMMIT, "remember"), (WRITES_IN_PIECES, "clear")]
)
def test_the_harness_notices_a_bad_store(
    shim: str, tmp_path: Path, mutant: str, operation: str
) -> None:
    """Else the test above proves nothing."""
    script = tmp_path / "mutant.py"
    script.write_text(RUN_MUTANT.format(mutant=mutant))
    done = run(shim, str(script), str(tmp_path / "work"), operation)

    assert "at call" in done.stdout, done.stderr
