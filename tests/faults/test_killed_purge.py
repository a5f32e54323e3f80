"""A purge that is killed anywhere is finished by the next writer, or by the same purge again."""

import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf
from nuggets.errors import NotFound

EVERY = int(
    os.environ.get("NUGGETS_PURGE_STEPS", "4")
)  # steps at which it is killed: one of so many
SECRET = "zebra-quartz-4711"
PURGE = """
import os, signal, sqlite3, sys
from nuggets import NuggetShelf

directory, fatal = sys.argv[1], int(sys.argv[2])
steps = 0

def count_step():
    global steps
    steps += 1
    if steps == fatal:
        os.kill(os.getpid(), signal.SIGKILL)

def trace(statement):
    if statement.startswith(("COMMIT", "VACUUM", "PRAGMA wal_checkpoint")):
        count_step()

def audit(event, arguments):
    if event in ("os.rename", "os.remove") and directory in str(arguments[0]):
        count_step()

def connect(*arguments, **options):
    connection = plain_connect(*arguments, **options)
    connection.set_trace_callback(trace)
    return connection

sys.addaudithook(audit)
plain_connect, sqlite3.connect = sqlite3.connect, connect
with NuggetShelf(directory, project="", short_lived=True) as shelf:
    shelf.purge_fact("learn", "code")
"""


def purge_and_kill(directory: Path, step: int) -> bool:
    """Purge in another process, which is killed at a step; was it?"""
    command = [sys.executable, "-c", PURGE, str(directory), str(step)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode != 0


def files_with_secret(directory: Path) -> list[Path]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return [path for path in files if SECRET.encode() in path.read_bytes()]


def fill_shelf(directory: Path, memory: Path) -> None:
    """A memory in every place that a purge looks at."""
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        shelf.remember("learn", "code", f"once {SECRET}")
        shelf.remember("learn", "code", SECRET)
        shelf.remember("learn", "port", "8080")
        session = shelf.create_note("s", "Told", SECRET, source="system", scope="session")
        shelf.delete_note(session.id)
        for name in ENOUGH_SESSIONS:
            shelf.recall("code", session=name)
        shelf.promote(memory)
        shelf.backup()
    memory.with_name(f"{memory.name}.{0x7FFFFFFF:x}-ab.tmp").write_text(SECRET)
    for name in (
        *("replaced-1/graph.json", "nuggets.db.damaged-1"),
        *("hooks/sessions/one", "hooks/inbox", "graph/graph.json.1a-2b.tmp"),
        *("nuggets.db.1a-2b.tmp-wal", "backups/nuggets.db.1a-2b.tmp"),
    ):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(SECRET)


@pytest.mark.faults
def test_a_purge_that_is_killed_anywhere_is_told_and_finished_by_the_next_writer(
    tmp_path: Path,
) -> None:
    """Also if that is killed as well: the same steps again are no harm."""
    place, filled = tmp_path / "place", tmp_path / "filled"
    directory = place / "shelf"
    fill_shelf(directory, place / "m" / "MEMORY.md")
    assert len(files_with_secret(place)) > 10
    place.rename(filled)
    reported = 0
    for step in count(1, EVERY):
        shutil.copytree(filled, place)
        was_killed = purge_and_kill(directory, step)
        with NuggetShelf(directory, project="", short_lived=True) as shelf:
            defects = [defect.kind for defect in shelf.checkup()]
            reported += "unfinished purge" in defects
            is_decided = not shelf.recall("code", session=None).found
            shelf.remember("learn", "next", "writer")
            assert shelf.recall("port").answer == "8080"
            assert shelf.warnings == ()
            if not is_decided:  # killed before the intent was written: nothing has changed
                shelf.purge_fact("learn", "code")
            assert "unfinished purge" not in [defect.kind for defect in shelf.checkup()]
        assert files_with_secret(place) == []
        shutil.rmtree(place)
        if not was_killed:
            break
    assert step > 20
    assert reported > 15 // EVERY


@pytest.mark.faults
def test_the_same_purge_again_finishes_the_one_that_was_killed(tmp_path: Path) -> None:
    fill_shelf(tmp_path / "shelf", tmp_path / "m" / "MEMORY.md")
    assert purge_and_kill(tmp_path / "shelf", 8)
    with NuggetShelf(tmp_path / "shelf", project="", short_lived=True) as shelf:
        assert shelf.recall("port", session=None).found
        assert shelf.warnings[0].startswith("a purge was interrupted")
        shelf.purge_fact("learn", "code")
        with pytest.raises(NotFound):
            shelf.purge_fact("learn", "code")

    assert files_with_secret(tmp_path) == []
