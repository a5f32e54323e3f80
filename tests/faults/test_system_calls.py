"""A fault at every system call of every operation: old or new, whole, and usable right after."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fault_processes import TESTS, environment
from system_programs import program

pytestmark = pytest.mark.faults


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
        timeout=110,
        env=environment(LD_PRELOAD=shim),
    )


def test_every_operation_survives_a_fault_at_every_system_call(shim: str, tmp_path: Path) -> None:
    """In memory if possible: the disk's own time would add up."""
    fast = f"/dev/shm/{tmp_path.name}-{os.getpid()}" if os.path.isdir("/dev/shm") else str(tmp_path)
    try:
        done = run(shim, os.path.join(TESTS, "fault_points.py"), fast)
    finally:
        shutil.rmtree(fast, ignore_errors=True)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.count("points") == 30


ONE_WRITE = """
import ctypes, sys
from store_samples import *
store = open_json(sys.argv[1], paint_seconds=60)
put(store, note(1))
put(store, note(2))
ctypes.CDLL(None).shim_arm(sys.argv[1].encode(), 0, 0)
put(store, note(3))
print(ctypes.CDLL(None).shim_syncs())
cold = open_json(sys.argv[1])
put(cold, note(4))
print(ctypes.CDLL(None).shim_syncs())
"""


def test_a_write_is_exactly_one_fsync(shim: str, tmp_path: Path) -> None:
    """Warm and cold: the pictures are not synced, they can be painted again."""
    assert run(shim, "-c", ONE_WRITE, str(tmp_path)).stdout.split() == ["1", "2"]


NEVER_WRITES = """
from nuggets.stores import journal
journal.write_all = lambda descriptor, content: None  # says it wrote, and did not
"""

WRITES_IN_PIECES = """
from nuggets.records import Changes
from nuggets.stores.json_files import JsonFileStore
whole = JsonFileStore._commit

def in_pieces(self, changes):
    for note_id in changes.drop:
        whole(self, Changes(drop=(note_id,)))
    whole(self, changes._replace(drop=()))

JsonFileStore._commit = in_pieces
"""


@pytest.mark.parametrize(
    "mutant, operation", [(NEVER_WRITES, "remember"), (WRITES_IN_PIECES, "clear")]
)
def test_the_harness_notices_a_bad_store(
    shim: str, tmp_path: Path, mutant: str, operation: str
) -> None:
    """Else the test above proves nothing."""
    script = tmp_path / "mutant.py"
    run_points = "import sys, fault_points\nsys.exit(fault_points.main(*sys.argv[1:]))\n"
    script.write_text(mutant + run_points)
    done = run(shim, str(script), str(tmp_path / "work"), operation)

    assert "at call" in done.stdout, done.stderr
