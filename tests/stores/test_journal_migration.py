"""A journal of the version before the database is taken over once, whole, whatever interrupts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fault_processes import environment
from journal_samples import (
    busy_shelf,
    line,
    log_of,
    snapshot_of,
    write_documented_files,
    write_journal,
)
from nuggets import NuggetShelf
from nuggets.errors import StoreCorrupt, StoreError

LOG = "log-000000000001.jsonl"


def opened(directory: Path) -> NuggetShelf:
    return NuggetShelf(directory, project="")


def test_notes_history_and_recalls_come_over_whole(tmp_path: Path) -> None:
    old = busy_shelf()
    write_journal(tmp_path, old)
    with opened(tmp_path) as shelf:
        assert shelf.list_notes(include_hidden=True) == old.list_notes(include_hidden=True)
        assert shelf.commits() == old.commits()
        assert shelf.list() == old.list()
        assert shelf.revision == old.revision
        assert shelf.undo().changes.action == old.history()[0].changes.action
    assert not (tmp_path / "journal").exists()
    assert (tmp_path / "journal.old" / LOG).exists()


def test_recalls_that_waited_are_counted(tmp_path: Path) -> None:
    old = busy_shelf()
    note = old.facts("facts")[0]
    later = "2099-01-01T00:00:00.000Z"
    write_journal(tmp_path, old, hits=[[note.id, "friday", later], ["gone", "x", later], "torn"])

    assert opened(tmp_path).facts("facts")[0].hits == note.hits + 1


def test_a_snapshot_and_what_came_after_it_are_one_history(tmp_path: Path) -> None:
    old = busy_shelf()
    journal = write_journal(tmp_path, old)
    before, snapshot = old.revision, snapshot_of(old)
    old.remember("facts", "later", "than the snapshot")
    (journal / f"snapshot-{before:012d}.jsonl").write_bytes(snapshot)
    (journal / f"log-{before + 1:012d}.jsonl").write_bytes(log_of(old.commits(before)))

    shelf = opened(tmp_path)
    assert shelf.commits() == old.commits()
    assert shelf.list_notes(include_hidden=True) == old.list_notes(include_hidden=True)


def test_a_snapshot_alone_keeps_its_revision(tmp_path: Path) -> None:
    old = busy_shelf()
    journal = write_journal(tmp_path, old)
    (journal / LOG).unlink()
    (journal / f"snapshot-{old.revision:012d}.jsonl").write_bytes(snapshot_of(old))

    shelf = opened(tmp_path)
    assert shelf.revision == old.revision
    assert shelf.history() == []
    shelf.remember("facts", "new", "one")
    assert shelf.own_revision == old.revision + 1


def test_what_was_torn_at_the_end_never_was(tmp_path: Path) -> None:
    old = busy_shelf()
    log = write_journal(tmp_path, old) / LOG
    log.write_bytes(log.read_bytes() + line({"revision": 99})[:-5])

    assert opened(tmp_path).commits() == old.commits()


def test_a_damaged_journal_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    log = write_journal(tmp_path, busy_shelf()) / LOG
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b"Step 1", b"Step X", 1))

    for _ in range(2):
        with pytest.raises(StoreCorrupt, match=r"damaged.*doctor --fix"):
            opened(tmp_path).list()
    assert not (tmp_path / "nuggets.db").exists()
    assert log.exists()


def test_a_newer_journal_is_left_alone(tmp_path: Path) -> None:
    log = write_journal(tmp_path, busy_shelf()) / LOG
    log.write_bytes(line({"format": 99}))

    with pytest.raises(StoreError, match="newer version"):
        opened(tmp_path).list()
    assert log.read_bytes() == line({"format": 99})


def test_the_doctor_saves_what_comes_before_the_damage(tmp_path: Path) -> None:
    log = write_journal(tmp_path, busy_shelf()) / LOG
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b"Step 2", b"Step X", 1))

    shelf = opened(tmp_path)
    assert [one.kind for one in shelf.checkup()] == ["damaged journal"]
    assert all(one.mended for one in shelf.checkup(fix=True))
    assert [note.title for note in shelf.list_notes(kind="note")] == ["Plan 0", "Plan 1"]
    assert (tmp_path / "journal.old" / LOG).exists()


def test_the_doctor_says_that_the_old_files_may_go(tmp_path: Path) -> None:
    write_journal(tmp_path, busy_shelf())
    shelf = opened(tmp_path)
    shelf.list()
    [found] = shelf.checkup()

    assert found.kind == "old journal"
    assert not found.harmful


def test_a_purge_takes_the_old_files_away(tmp_path: Path) -> None:
    write_journal(tmp_path, busy_shelf())
    shelf = opened(tmp_path)
    done = shelf.purge("Plan 4")

    assert str(tmp_path / "journal.old") in done.history
    assert not any(b"Plan 4" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


# --- the documented files ---------------------------------------------------------------------


def test_files_that_nobody_touched_are_known_as_ours(tmp_path: Path) -> None:
    old = busy_shelf()
    write_documented_files(tmp_path, old)
    write_journal(tmp_path, old)
    with opened(tmp_path) as shelf:
        assert shelf.commits() == old.commits()
    assert opened(tmp_path).commits() == old.commits()


def test_an_edit_from_before_is_taken_in_afterwards(tmp_path: Path) -> None:
    old = busy_shelf()
    write_documented_files(tmp_path, old)
    path = tmp_path / "facts.nugget.json"
    path.write_text(path.read_text().replace("another value", "by hand"))
    write_journal(tmp_path, old)
    with opened(tmp_path) as shelf:
        assert shelf.recall("key 1").answer == "by hand"
        assert shelf.commits()[: len(old.commits())] == old.commits()
        assert len(shelf.history()) == len(old.history()) + 1


# --- killed on the way ------------------------------------------------------------------------

MOVE = """
import os, signal, sys
from nuggets.engine.indexes import KINDS
from nuggets.stores.journal_migration.migrate import migrate_with_lock
directory, doom = sys.argv[1:]
def die(): os.kill(os.getpid(), signal.SIGKILL)
def report(text):
    if text.startswith(doom): die()
rename = os.rename
def renamed(source, target):
    if doom == "before " + os.path.basename(target): die()
    rename(source, target)
    if doom == "after " + os.path.basename(target): die()
os.rename = renamed
migrate_with_lock(directory, KINDS, report)
"""


@pytest.mark.parametrize(
    "doom",
    [
        "reading",
        "notes",
        "history",
        "search",
        "before nuggets.db",
        "after nuggets.db",
        "before journal.old",
        "after journal.old",
    ],
)
def test_whoever_is_killed_loses_nothing_and_the_next_one_finishes(
    tmp_path: Path, doom: str
) -> None:
    old = busy_shelf()
    write_journal(tmp_path, old)
    command = [sys.executable, "-c", MOVE, str(tmp_path)]
    killed = subprocess.run([*command, doom], env=environment(), check=False)
    assert killed.returncode == -9, "it has not come to this point"
    subprocess.run([*command, "never"], env=environment(), check=True)

    assert opened(tmp_path).commits() == old.commits()
    assert not (tmp_path / "journal").exists()
    assert [one.kind for one in opened(tmp_path).checkup(fix=True) if not one.mended] == [
        "old journal"
    ]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_two_at_once_move_it_once(tmp_path: Path) -> None:
    old = busy_shelf(50)
    write_journal(tmp_path, old)
    command = [sys.executable, "-c", MOVE, str(tmp_path), "never"]
    both = [subprocess.Popen(command, env=environment()) for _ in range(2)]

    assert [one.wait() for one in both] == [0, 0]
    assert opened(tmp_path).commits() == old.commits()
    assert sorted(path.name for path in tmp_path.glob("journal*")) == ["journal.old"]
