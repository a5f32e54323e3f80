"""A fault at every system call of every operation: old or new, whole, and usable right after."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fault_points import KINDS, OPERATIONS
from fault_processes import TESTS, environment
from system_programs import program

pytestmark = pytest.mark.faults

EVERY = os.environ.get("NUGGETS_FAULT_EVERY", "15")


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = program("cc", "gcc", "libc6-dev")
    if compiler is None or sys.platform != "linux":
        pytest.skip("a C compiler on Linux is needed to fail system calls")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True
    )
    return str(library)


def run(shim: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=1000,
        env=environment(LD_PRELOAD=shim),
    )


def test_every_operation_survives_a_fault_at_any_system_call(shim: str, tmp_path: Path) -> None:
    """In memory if possible: the disk's own time would add up. NUGGETS_FAULT_EVERY=1 fails all of
    the thousands of calls, which takes a quarter of an hour."""
    fast = f"/dev/shm/{tmp_path.name}-{os.getpid()}" if os.path.isdir("/dev/shm") else str(tmp_path)
    try:
        done = run(shim, os.path.join(TESTS, "fault_points.py"), fast, EVERY)
    finally:
        shutil.rmtree(fast, ignore_errors=True)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.count("points") == len(OPERATIONS) * len(KINDS)


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


FORGETS_TO_COMMIT = """
from nuggets.stores.sqlite.database import Database
Database.commit = Database.rollback  # says it wrote, and did not
"""

WRITES_IN_PIECES = """
from nuggets.records import Changes
from nuggets.stores.sqlite.store import SqliteStore
whole = SqliteStore._write_alone

def in_pieces(self, changes):
    for note_id in changes.drop:
        whole(self, Changes(drop=(note_id,)))
    return whole(self, changes._replace(drop=()))

SqliteStore._write_alone = in_pieces
"""


RUN_MUTANT = """
import os, sys
import fault_points
directory, name = sys.argv[1:]
parent, operation = os.getpid(), fault_points.OPERATIONS[name]

def with_a_bad_store(shelf):
    if os.getpid() != parent:  # what may be found is known from a good one
        exec('''{mutant}''')
    return operation(shelf)

fault_points.OPERATIONS[name] = with_a_bad_store
sys.exit(fault_points.main(directory, "5", name))
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
