"""A shelf is copied between stores of any kind, with its history; interrupted, the copy goes on."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from nuggets.engine.indexes import KINDS
from nuggets.errors import Conflict
from nuggets.filesystem.database_url import DatabaseUrl
from nuggets.stores.base import Store
from nuggets.stores.postgresql.store import PostgresqlStore
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
        histories = [list(store.commits()) for store in (source, target)]
    return (
        list(states[0].notes.items()) == list(states[1].notes.items())
        and (states[0].nuggets, states[0].marks) == (states[1].nuggets, states[1].marks)
        and histories[0] == histories[1]
        and complaints == []
    )


def test_everything_is_copied_and_both_go_on(source: Store, target: Store) -> None:
    copied = target.copy_from(source)

    assert (copied.revision, copied.rows["notes"], copied.resumed) == (4, 29, False)
    assert is_same(source, target)
    assert put(target, note(50)) == 5
    assert put(source, note(51)) == 5


class Interruption(Exception):
    """Someone pulls the plug."""


def interrupt_at(table: str) -> Callable[[str], None]:
    def report(text: str) -> None:
        if text.startswith(f"{table}: "):
            raise Interruption

    return report


@pytest.mark.parametrize("table", ["notes", "search_recent", "commits"])
def test_an_interrupted_copy_goes_on(source: Store, target: Store, table: str) -> None:
    with suppress(Interruption):
        target.copy_from(source, interrupt_at(table))
    tables: list[str] = []
    copied = target.copy_from(source, lambda text: tables.append(text.partition(":")[0]))

    assert copied.resumed
    assert table not in tables
    assert is_same(source, target)


def test_an_interrupted_copy_of_what_has_changed_since_begins_again(
    source: Store, target: Store
) -> None:
    with suppress(Interruption):
        target.copy_from(source, interrupt_at("notes"))
    put(source, note(60))
    drop(source, note(1).id)

    assert not target.copy_from(source).resumed
    assert is_same(source, target)


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
