"""Whatever a power cut leaves of unsynced writes, nothing that was acknowledged is lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fault_crashes import RECORD
from fault_mutants import TAKES_TORN_FILES_FOR_EDITS, WITHOUT_SYNC
from fault_processes import environment

pytestmark = pytest.mark.faults

STATES = os.environ.get("NUGGETS_CRASH_STATES", "90")
REPLAY = """
import sys
{mutant}
import fault_crashes
sys.exit(fault_crashes.main(*sys.argv[1:]))
"""


def replay(
    shim: str, work: Path, *, recording: str = RECORD, mutant: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Record a run and recover from states that a power cut may have left."""
    command = [sys.executable, "-c", REPLAY.format(mutant=mutant), shim, str(work), STATES, "1"]
    return subprocess.run(
        [*command, recording], capture_output=True, text=True, check=False, env=environment()
    )


def test_every_state_that_a_power_cut_may_leave_is_recovered(shim: str, tmp_path: Path) -> None:
    done = replay(shim, tmp_path)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert f"{STATES} states of " in done.stdout


def test_the_replay_notices_missing_syncs(shim: str, tmp_path: Path) -> None:
    done = replay(shim, tmp_path, recording=WITHOUT_SYNC + RECORD)

    assert done.returncode == 1, done.stderr
    assert "lost [" in done.stdout or "StoreCorrupt" in done.stdout


def test_the_replay_notices_files_that_are_never_written_again(shim: str, tmp_path: Path) -> None:
    assert "JSONDecodeError" in replay(shim, tmp_path, mutant=TAKES_TORN_FILES_FOR_EDITS).stdout
