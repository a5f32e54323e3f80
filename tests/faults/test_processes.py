"""Many processes at once, and processes that are killed: nothing acknowledged is lost."""

import json
import os
import random
from pathlib import Path

import pytest

from fault_mutants import WITHOUT_LOCK
from fault_processes import (
    MANNERS,
    collect,
    kept_keys,
    kill_round,
    line_of,
    problems_in,
    start_writer,
    write_after,
)
from nuggets import NuggetShelf
from store_samples import open_directory, state_of

pytestmark = pytest.mark.faults

ROUNDS = int(os.environ.get("NUGGETS_KILL_ROUNDS", "3"))


def test_sixteen_processes_keep_all_that_they_write(tmp_path: Path) -> None:
    directory = str(tmp_path)
    processes = [start_writer(directory, f"p{n}", 6, *MANNERS[n % 4]) for n in range(16)]
    acknowledged = collect(processes)

    assert [process.returncode for process in processes] == [0] * 16
    assert len(acknowledged) == 16 * 6 + 4 * 6
    assert kept_keys(directory) == acknowledged
    write_after(directory, "all")
    assert problems_in(directory) == []


def test_killing_writers_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    moments = random.Random(2)
    for number in range(ROUNDS):
        outcome = kill_round(str(tmp_path), f"r{number}", moments.randint(1, 12))

        assert outcome.lost == set()
        assert outcome.problems == []
        assert len(outcome.acknowledged) > 4


COUNTER = """
import sys
from nuggets.domain.records import Changes
from nuggets.stores.sqlite.store import SqliteStore
directory, _, count = sys.argv[1:]
store = SqliteStore(directory)
store.write(Changes(marks={}, action="begin"))
print("ready", flush=True)
sys.stdin.readline()  # all begin together
for _ in range(int(count)):
    with store.exclusive():
        seen = store.state.marks.get("count", 0)
        store.write(Changes(marks={"count": seen + 1}, action="count"))
store.close()
"""


def counted(directory: Path, program: str) -> int:
    """How far four processes get that count to 40 each, one on top of the other."""
    processes = [
        start_writer(str(directory), f"p{n}", 40, program=program, waits=True, quiet=True)
        for n in range(4)
    ]
    for process in processes:
        line_of(process)
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    collect(processes)
    return int(state_of(open_directory(directory)).marks.get("count", 0))


def test_what_is_decided_on_what_was_read_is_never_lost(tmp_path: Path) -> None:
    assert counted(tmp_path, COUNTER) == 160


def test_the_harness_notices_a_missing_lock(tmp_path: Path) -> None:
    """Else the test above proves nothing."""
    assert counted(tmp_path, WITHOUT_LOCK + COUNTER) < 160


SAVES = int(os.environ.get("NUGGETS_EDITOR_SAVES", "12"))


def test_an_editor_that_saves_in_place_against_two_writers_loses_no_save(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path, project="", short_lived=True) as shelf:
        shelf.create_note("edited", "First", "one")
    writers = [start_writer(str(tmp_path), name, 10**6, "short-lived") for name in "ab"]
    try:
        for number in range(SAVES):
            for writer in writers:
                line_of(writer)
            path, title = tmp_path / "graph" / "graph.json", f"saved {number}"
            shape = json.loads(path.read_text())
            shape["notes"].append({"nuggetName": "edited", "title": title, "content": "x"})
            with path.open("r+") as file:
                file.truncate(0)
                file.write(json.dumps(shape))
            while title not in kept_keys(str(tmp_path)):
                pass  # until a writer has imported it
    finally:
        for writer in writers:
            writer.kill()
        collect(writers)
