"""The documented files follow memory: at once, by the refresher, or on demand."""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from command_line import Nuggets, run_process
from fault_processes import kill_all, refreshers
from nuggets import NuggetShelf
from nuggets.domain.records import Changes
from nuggets.operations.transactions import KINDS
from nuggets.stores import exports
from nuggets.stores.exports import refresher
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import (
    contents,
    exports_agree,
    files_of,
    note,
    open_directory,
    put,
    revision_of,
    shape_of,
)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUGGETS_DIR", str(tmp_path / "shelf"))
    return tmp_path / "shelf"


def fill(directory: Path, count: int, words: str = "some words") -> None:
    """Facts in the database; no file follows."""
    with closing(SqliteStore(str(directory), KINDS)) as store:
        put(store, *(note(number, content=f"{words} {number}") for number in range(count)))


def wait_for_refresher(directory: Path) -> None:
    """Until it has let its lock go."""
    with (directory / "graph" / "refresher.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def test_a_command_leaves_current_files_however_large_a_nugget_is(directory: Path) -> None:
    fill(directory, 400, "a fact that takes its time to tell " * 5)
    done = run_process("remember", "learnings", "port", "8080")

    assert done.code == 0, done.err
    assert (directory / "learnings.nugget.json").stat().st_size > 90_000
    assert exports_agree(directory)


COMMANDS = (
    *("remember learnings port 8080", "list", "status", "doctor", "search words", "backup"),
    *("recall port", "history", "note list", "reflect --dry-run"),
)


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("count", [3, exports.SMALL_NOTES + 1])
def test_every_command_that_finds_the_files_behind_sees_to_it_that_they_follow(
    directory: Path, words: str, count: int
) -> None:
    fill(directory, count)
    run_process(*words.split())
    if count > exports.SMALL_NOTES:
        wait_for_refresher(directory)

    assert exports_agree(directory, access_times=False)


def test_a_hook_does_so_too(directory: Path) -> None:
    fill(directory, 3)
    run_process("hook", "user-prompt", stdin=b'{"session_id": "s", "prompt": "Which words?"}')

    assert exports_agree(directory, access_times=False)


def test_no_request_is_lost_that_arrives_while_files_are_refreshed(directory: Path) -> None:
    with NuggetShelf(directory, project="") as shelf:
        for batch in range(30):
            with shelf.batch():
                for number in range(100):
                    shelf.create_note("many", f"note {batch} {number}", "some words")
        graph = directory / "graph" / "graph.json"
        while not graph.exists() or len(shape_of(graph)["notes"]) < 3000:
            time.sleep(0.05)  # whoever took its lock meanwhile would be taken for another one
        wait_for_refresher(directory)

        assert len(shape_of(graph)["notes"]) == 3000


def test_a_process_that_lives_on_starts_a_refresher_and_writes_nothing_itself(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed: list[str] = []
    real = os.replace

    def counted(source: str, target: str) -> None:
        placed.append(target)
        real(source, target)

    monkeypatch.setattr(os, "replace", counted)
    with NuggetShelf(directory, project="") as shelf:
        shelf.remember("learnings", "port", "8080")
        wait_for_refresher(directory)

        assert not placed
        assert exports_agree(directory)


@pytest.mark.parametrize("finish", [NuggetShelf.close, NuggetShelf.save_all])
def test_a_small_shelf_that_is_closed_or_saved_has_current_files_and_no_refresher(
    directory: Path, finish: Callable[[NuggetShelf], None]
) -> None:
    shelf = NuggetShelf(directory, project="")
    shelf.remember("learnings", "port", "8080")
    finish(shelf)

    assert exports_agree(directory)
    assert not list(refreshers(directory))
    shelf.close()


def test_a_refresher_that_is_killed_leaves_whole_files_and_the_next_command_another(
    directory: Path,
) -> None:
    fill(directory, exports.SMALL_NOTES + 1)
    run_process("list")
    kill_all(refreshers(directory))
    run_process("list")
    wait_for_refresher(directory)

    assert exports_agree(directory, access_times=False)


def test_a_refresher_ends_when_its_shelf_is_removed_and_makes_nothing(directory: Path) -> None:
    fill(directory, exports.SMALL_NOTES + 1)
    run_process("list")
    with (directory / "graph" / "refresher.lock").open() as file:
        os.rename(directory, directory.with_name("elsewhere"))
        fcntl.flock(file, fcntl.LOCK_EX)

    assert not directory.exists()


def test_a_large_shelf_is_refreshed_on_demand_and_the_status_says_how_old_its_files_are(
    directory: Path, monkeypatch: pytest.MonkeyPatch, nuggets: Nuggets
) -> None:
    put(open_directory(directory), note(1))
    before = files_of(directory / "graph")
    monkeypatch.setattr(exports, "SMALL_NOTES", 1)
    monkeypatch.setattr(refresher, "MOST_NOTES", 2)
    fill(directory, 3)
    nuggets("remember", "learnings", "port", "8080")
    assert files_of(directory / "graph").items() >= before.items()
    assert "2 changes behind" in nuggets("status").out
    nuggets("export", "json")

    assert exports_agree(directory)
    assert revision_of(open_directory(directory)) == 3


def test_a_file_that_was_put_in_place_by_a_process_that_then_died_takes_nothing_back(
    directory: Path,
) -> None:
    """Its row in the register was not written, so it looks like a file that someone put there."""
    with closing(open_directory(directory)) as store:
        put(store, note(1))
        rows = register(directory)
        put(store, note(2))
    register(directory, rows)
    with closing(SqliteStore(str(directory))) as dying:
        put(dying, note(3))
    os.utime(directory / "graph" / "graph.json")  # someone has touched it since

    assert contents(open_directory(directory)).keys() == {"key 1", "key 2", "key 3"}
    assert exports_agree(directory)


def register(directory: Path, rows: Sequence[Sequence[object]] = ()) -> list[Sequence[object]]:
    """The register of the files; `rows`: what it shall be."""
    with closing(sqlite3.connect(directory / "nuggets.db")) as database, database:
        sql = "INSERT OR REPLACE INTO exports VALUES (?, ?, ?, ?, ?, ?, ?)"
        database.executemany(sql, rows)
        return database.execute("SELECT * FROM exports").fetchall()


def test_a_refresher_is_looked_for_no_more_often_than_one_listens(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is at work listens for that long after it has let its lock go."""
    now = 1000.0
    asked: list[float] = []
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def is_wanted() -> bool:
        asked.append(now)
        return False

    def look() -> None:
        refresher.start(str(directory), is_wanted)

    (directory / "graph").mkdir(parents=True)
    with (directory / "graph" / "refresher.lock").open("w") as at_work:
        fcntl.flock(at_work, fcntl.LOCK_EX)
        look()
    now += refresher.QUIET_SECONDS / 2
    look()
    assert not asked

    now += refresher.QUIET_SECONDS
    look()
    assert asked == [now]


def test_what_is_written_while_a_refresher_listens_is_followed(directory: Path) -> None:
    with closing(SqliteStore(str(directory), KINDS, lambda *edit: (Changes(), 0))) as store:
        put(store, *(note(number) for number in range(exports.SMALL_NOTES + 1)))
        for number in range(3):
            put(store, note(9000 + number))
            time.sleep(refresher.QUIET_SECONDS / 2)
    wait_for_refresher(directory)

    assert exports_agree(directory)
