"""A shelf is copied between stores of any kind, with its history: whole, or not at all."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fault_processes import environment
from nuggets import NuggetShelf
from nuggets.errors import Conflict
from nuggets.filesystem.shelf_location import DatabaseUrl
from nuggets.operations.transactions import KINDS
from nuggets.stores.postgresql.store import PostgresqlStore
from nuggets.stores.sql.store import Store
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import contents, drop, history_of, note, put, revision_of, state_of, touch

KINDS_OF_STORES = ("directory", "postgresql")


@pytest.fixture
def open_store(tmp_path: Path, postgresql_url: str) -> Callable[[str, str], Store]:
    def open_store(kind: str, name: str) -> Store:
        if kind == "directory":
            return SqliteStore(str(tmp_path / name), KINDS)
        return PostgresqlStore(DatabaseUrl(f"{postgresql_url}%20{name}"), KINDS)

    return open_store


@pytest.fixture(params=KINDS_OF_STORES)
def source(
    request: pytest.FixtureRequest, open_store: Callable[[str, str], Store]
) -> Iterator[Store]:
    """A shelf with notes, recalls, marks and a history."""
    with closing(open_store(request.param, "source")) as store:
        put(store, *(note(n) for n in range(1, 30)))
        put(store, note(1, content="newer"), note(40, nugget_name="Other", kind="note"))
        touch(store, note(2).id, "s1")
        drop(store, note(3).id)
        yield store


@pytest.fixture(params=KINDS_OF_STORES)
def target(
    request: pytest.FixtureRequest, open_store: Callable[[str, str], Store]
) -> Iterator[Store]:
    with closing(open_store(request.param, "target")) as store:
        yield store


def is_same(source: Store, target: Store) -> bool:
    states = [state_of(store) for store in (source, target)]
    with target.reading():
        complaints = [
            fault
            for kind in KINDS
            if not kind.optional
            for fault in target.indexes[kind.name].check()
        ]
    with source.reading(), target.reading():
        histories = [list(store.history.commits()) for store in (source, target)]
    return (
        list(states[0].notes.items()) == list(states[1].notes.items())
        and (states[0].nuggets, states[0].marks) == (states[1].nuggets, states[1].marks)
        and histories[0] == histories[1]
        and complaints == []
    )


def test_everything_is_copied_and_both_go_on(source: Store, target: Store) -> None:
    copied = target.copy_from(source)

    assert (copied.revision, copied.rows["notes"]) == (4, 29)
    assert is_same(source, target)
    assert put(target, note(50)) == 5
    assert put(source, note(51)) == 5


class Interruption(Exception):
    """Someone pulls the plug."""


def interrupt(text: str) -> None:
    if text == "copying commits":
        raise Interruption


def test_an_interrupted_copy_leaves_nothing_and_begins_again(source: Store, target: Store) -> None:
    with pytest.raises(Interruption):
        target.copy_from(source, interrupt)
    assert (contents(target), revision_of(target)) == ({}, 0)
    drop(source, note(1).id)
    target.copy_from(source)

    assert is_same(source, target)


KILLED = """
import os, signal, sys
from nuggets import NuggetShelf
def report(text):
    if text == "copying touches":
        os.kill(os.getpid(), signal.SIGKILL)
source, target = (NuggetShelf(url, project="") for url in sys.argv[1:])
target.copy_from(source, report=report)
"""


def test_so_does_one_that_is_killed(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path / "source", project="") as shelf:
        for number in range(30):
            shelf.remember("facts", f"key {number}", "value")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "source"), str(tmp_path / "target")]
    assert subprocess.run(command, env=environment()).returncode == -signal.SIGKILL

    with (
        NuggetShelf(tmp_path / "source", project="") as shelf,
        NuggetShelf(tmp_path / "target", project="") as copy,
    ):
        assert (len(copy), copy.list_notes()) == (0, [])
        assert copy.copy_from(shelf).rows["notes"] == 30
        assert copy.list_notes() == shelf.list_notes()


def test_a_shelf_that_is_not_empty_is_refused_and_left_alone(source: Store, target: Store) -> None:
    put(target, note(70))
    for dry_run in (True, False):
        with pytest.raises(Conflict, match="is not empty"):
            target.copy_from(source, dry_run=dry_run)

    assert contents(target) == {"key 70": "value 70"}
    assert history_of(target) == ["put"]


def test_a_dry_run_counts_and_copies_nothing(source: Store, target: Store) -> None:
    assert target.copy_from(source, dry_run=True).rows["notes"] == 29
    assert (contents(target), revision_of(target)) == ({}, 0)
