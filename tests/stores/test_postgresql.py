"""A shelf in a PostgreSQL database: what differs from a shelf in files."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import psycopg
import pytest

from nuggets import NuggetShelf
from nuggets.domain.records import Changes, Touch
from nuggets.errors import SettingsError, StoreBusy, StoreError
from nuggets.filesystem.shelf_location import DatabaseUrl
from nuggets.operations.transactions import KINDS
from nuggets.stores import process_lock
from nuggets.stores.postgresql import connections
from nuggets.stores.postgresql import database as module
from nuggets.stores.postgresql.store import PostgresqlStore
from nuggets.stores.sql import schema
from nuggets.stores.sql.schema import IndexKind
from postgresql_server import PASSWORD, Server
from store_samples import NOW, contents, note, put, revision_of, touch

MOST_ROUND_TRIPS = 12  # of a question of some words, none of which was asked before


def opened(url: str, kinds: tuple[IndexKind, ...] = KINDS) -> PostgresqlStore:
    return PostgresqlStore(DatabaseUrl(url), kinds)


@pytest.fixture
def store(postgresql_url: str) -> Iterator[PostgresqlStore]:
    with_indexes = opened(postgresql_url)
    yield with_indexes
    with_indexes.close()


@pytest.fixture
def admin(postgresql_url: str) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Someone else who works on the server."""
    with psycopg.connect(DatabaseUrl(postgresql_url).address, autocommit=True) as connection:
        yield connection


def end_connections(admin: "psycopg.Connection[tuple[object, ...]]") -> None:
    """As an administrator or a network does."""
    admin.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE application_name LIKE 'nuggets %'"
    )


def test_shelves_of_one_database_do_not_see_each_other(postgresql_server: Server) -> None:
    stores = [opened(postgresql_server.url(f"neighbour {n}")) for n in range(2)]
    put(stores[0], note(1), note(2))
    put(stores[1], note(1, content="mine"))
    touch(stores[0], note(1).id, "s1")

    assert contents(stores[0]) == {"key 1": "value 1", "key 2": "value 2"}
    assert contents(stores[1]) == {"key 1": "mine"}
    assert [revision_of(one) for one in stores] == [2, 1]
    for one in stores:
        one.close()


def test_facts_notes_search_history_and_undo_work_as_in_files(postgresql_url: str) -> None:
    with NuggetShelf(postgresql_url, project="") as shelf:
        shelf.remember("learnings", "deploy command", "make ship")
        shelf.create_note("notes", "Database", "The orders are in PostgreSQL.")

        assert shelf.recall("deploy comand").answer == "make ship"
        hits = shelf.search_notes("where are the orders")
        assert [hit.note.title for hit in hits] == ["Database"]
        shelf.forget("learnings", "deploy command")
        assert not shelf.recall("deploy command").found
        shelf.undo()
        assert shelf.recall("deploy command").answer == "make ship"
        assert [commit.changes.action for commit in shelf.commits()][:2] == [
            "remember",
            "create_note",
        ]
        assert shelf.checkup() == []


def test_many_rows_at_once_are_the_same_as_few(store: PostgresqlStore) -> None:
    special = "tab\t backslash \\N \\. line\n'quote' 設定"
    notes = [
        note(n, title=f"key {n} {special}", content=f"value {n} {special}") for n in range(1, 400)
    ]
    put(store, *notes)

    with store.reading():
        assert list(store.state.notes.values()) == notes
        assert [kind.name for kind in KINDS if _complaints(store, kind)] == []
        assert next(store.history.commits()).changes.put == tuple(notes)


def _complaints(store: PostgresqlStore, kind: IndexKind) -> list[str]:
    return [] if kind.optional else store.indexes[kind.name].check()


def test_a_recall_that_finds_the_shelf_locked_is_counted_by_the_next_write(
    postgresql_url: str, store: PostgresqlStore
) -> None:
    put(store, note(1))
    other = opened(postgresql_url)
    with store.exclusive():
        other.touch([Touch(note(1).id, "s1", NOW)])
        assert note(1).id in store.state.notes
    put(store, note(2))
    other.close()

    with store.reading():
        assert store.state.notes[note(1).id].hits == 1


def test_a_clock_that_goes_back_dates_no_commit_before_the_last(postgresql_url: str) -> None:
    moments = iter(["2026-01-02T00:00:00.000Z", "2026-01-01T00:00:00.000Z"])
    store = PostgresqlStore(DatabaseUrl(postgresql_url), clock=lambda: next(moments))
    store.write(Changes(put=(note(1),)))
    store.write(Changes(put=(note(2),)))

    with closing(store), store.reading():
        first, second = store.history.commits()
        assert first.at < second.at


def test_old_history_is_pruned_and_facts_keep_what_they_were(store: PostgresqlStore) -> None:
    put(store, note(1))
    put(store, note(1, content="newer"), note(2))
    put(store, note(1, content="newest"))
    store.prune_history("9999-01-01T00:00:00.000Z")

    with store.reading():
        assert [commit.revision for commit in store.history.commits()] == [3]
        assert len(list(store.history.earlier_images(note(1).id))) == 2
    assert contents(store) == {"key 1": "newest", "key 2": "value 2"}


def test_a_purge_leaves_no_row_with_the_memory_and_says_what_it_cannot_reach(
    postgresql_url: str, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    with NuggetShelf(postgresql_url, project="") as shelf:
        shelf.remember("learnings", "quixotic key", "zanzibar value")
        shelf.remember("learnings", "quixotic key", "zanzibar again")
        shelf.create_note("notes", "Other", "It stays.")
        assert shelf.recall("quixotic key", session="s1").found
        purged = shelf.purge("quixotic key")

        assert any("write-ahead log" in place for place in purged.not_reached)
        assert shelf.checkup() == []
    tables = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'nuggets'")
    for (table,) in tables.fetchall():
        sql: Any = f"SELECT count(*) FROM nuggets.{table} t WHERE t::text ~ 'zanzib|quixot'"
        assert admin.execute(sql).fetchone() == (0,), table


def test_a_write_that_waits_too_long_names_who_writes(
    postgresql_url: str, store: PostgresqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_lock, "LOCK_SECONDS", 0.05)
    other = opened(postgresql_url)
    with store.exclusive(), pytest.raises(StoreBusy, match=f"nuggets {os.getpid()} at the server"):
        put(other, note(1))
    assert put(other, note(1)) == 1
    other.close()


# --- connections that are lost -------------------------------------------------------------------


def test_a_connection_that_was_lost_between_operations_is_opened_again(
    store: PostgresqlStore, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    put(store, note(1))
    end_connections(admin)
    assert contents(store) == {"key 1": "value 1"}
    end_connections(admin)
    assert put(store, note(2)) == 2
    end_connections(admin)
    touch(store, note(1).id, "s1")

    with store.reading():
        assert store.state.notes[note(1).id].hits == 1


def test_a_connection_that_is_lost_inside_a_batch_leaves_nothing_of_it(
    store: PostgresqlStore, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    put(store, note(1))
    with pytest.raises(StoreError, match="was lost"), store.batch():
        put(store, note(2))
        end_connections(admin)
        with suppress(StoreError):
            put(store, note(3))
        put(store, note(4))  # it must not be written outside of the batch

    assert contents(store) == {"key 1": "value 1"}
    assert put(store, note(5)) == 2


def test_a_commit_that_did_not_happen_is_an_error(
    store: PostgresqlStore, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    put(store, note(1))
    with pytest.raises(StoreError, match="Nothing was changed"), store.batch():
        put(store, note(2))
        end_connections(admin)

    assert contents(store) == {"key 1": "value 1"}


def test_a_commit_whose_answer_is_lost_is_looked_up(
    store: PostgresqlStore,
    admin: "psycopg.Connection[tuple[object, ...]]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(store, note(1))
    commit = module.Database.commit

    def lose_answer(database: module.Database) -> None:
        monkeypatch.undo()
        commit(database)
        end_connections(admin)
        database.run("SELECT 1")

    monkeypatch.setattr(module.Database, "commit", lose_answer)
    assert put(store, note(2)) == 2
    assert contents(store) == {"key 1": "value 1", "key 2": "value 2"}
    assert put(store, note(3)) == 3


def test_a_commit_of_another_writer_is_not_taken_for_the_lost_one(
    store: PostgresqlStore,
    postgresql_url: str,
    admin: "psycopg.Connection[tuple[object, ...]]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a failover another writer may have the same revision, and even transaction number."""
    put(store, note(1))
    other, commit = opened(postgresql_url), module.Database.commit

    def overtake(database: module.Database) -> None:
        monkeypatch.undo()
        end_connections(admin)
        assert put(other, note(9)) == 2
        commit(database)

    monkeypatch.setattr(module.Database, "commit", overtake)
    with pytest.raises(StoreError, match="Nothing was changed"):
        put(store, note(2))
    other.close()
    assert contents(store) == {"key 1": "value 1", "key 9": "value 9"}


def test_a_batch_whose_connection_was_lost_writes_nothing_more(
    store: PostgresqlStore, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    put(store, note(1))
    with pytest.raises(StoreError, match="Nothing was changed"), store.batch():
        put(store, note(2))
        end_connections(admin)
        for number in (3, 4):
            with suppress(StoreError):
                put(store, note(number))

    assert contents(store) == {"key 1": "value 1"}
    assert put(store, note(5)) == 2


# --- shared connections --------------------------------------------------------------------------


def test_shelves_that_are_open_in_one_process_share_connections(
    postgresql_url: str, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    stores = [opened(f"{postgresql_url}{letter}") for letter in "abcdefghijklmnopqrst"]
    for number, one in enumerate(stores):
        put(one, note(number))

    assert [list(contents(one)) for one in stores] == [[f"key {n}"] for n in range(len(stores))]
    mine = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
    (count,) = admin.execute(mine, (f"nuggets {os.getpid()}",)).fetchone() or ()
    for one in stores:
        one.close()
    assert isinstance(count, int) and 0 < count < len(stores)


def test_a_shared_connection_shows_each_shelf_its_own_rows_after_an_error_too(
    postgresql_url: str,
) -> None:
    one, other = (module.Database(DatabaseUrl(postgresql_url)) for _ in range(2))
    one.shelf, other.shelf = 1, 2
    shown = "SELECT current_setting('nuggets.shelf')"
    with closing(one), closing(other):
        assert one.value(shown) == "1"
        with pytest.raises(StoreError, match="division by zero"):
            other.execute("SELECT 1 / 0")
        assert (other.value(shown), one.value(shown)) == ("2", "1")
        other.begin(writing=True)
        assert (other.value(shown), one.value(shown)) == ("2", "1")
        with pytest.raises(StoreError, match="division by zero"):
            other.execute("SELECT 1 / 0")
        other.rollback()
        assert (other.value(shown), one.value(shown)) == ("2", "1")


def test_a_warm_search_makes_few_round_trips(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each costs as long as the server is away, however little it asks for."""
    asked: list[str] = []

    def counted(method: Any) -> Any:
        def call(self: module.Database, sql: str, *rest: Any) -> Any:
            asked.append(sql)
            return method(self, sql, *rest)

        return call

    with NuggetShelf(postgresql_url, project="") as shelf:
        with shelf.batch():
            for number in range(80):
                text = f"The harbour crane {number} lifts containers at the northern terminal."
                shelf.create_note("notes", f"Crane {number}", text, [f"group-{number // 4}"])
        shelf.search_notes("northern terminal")
        for name in ("execute", "run"):
            monkeypatch.setattr(module.Database, name, counted(getattr(module.Database, name)))
        found = shelf.search_notes("which cranes lift containers in the harbour", session=None)

    assert found
    assert len(asked) <= MOST_ROUND_TRIPS, asked


# --- schemas -------------------------------------------------------------------------------------


@pytest.fixture
def own_database(postgresql_server: Server) -> Iterator[str]:
    """A database that no other test uses, because its tables change."""
    admin_address = DatabaseUrl(postgresql_server.url("x")).address
    with psycopg.connect(admin_address, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS own WITH (FORCE)")
        connection.execute("CREATE DATABASE own")
    yield postgresql_server.url("shelf", "own")


def test_a_later_version_migrates_the_tables_with_all_that_they_hold(
    own_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(own_database)) as before:
        put(before, note(1))
    number = schema.SCHEMA + 1
    step = ("CREATE TABLE places (number INTEGER PRIMARY KEY, note TEXT NOT NULL)",)
    monkeypatch.setattr(schema, "SCHEMA", number)
    monkeypatch.setattr(schema, "MIGRATIONS", {number: step})
    with closing(opened(own_database)) as store:
        assert contents(store) == {"key 1": "value 1"}
        with store.reading():
            assert [name for name in store.indexes if store.indexes[name].check()] == []
    with psycopg.connect(DatabaseUrl(own_database).address) as sql:
        assert sql.execute("SELECT to_regclass('nuggets.places')").fetchone() != (None,)


def test_newer_tables_are_refused_and_left_alone(
    own_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "SCHEMA", 99)
        patch.setattr(schema, "MIGRATIONS", {})
        with closing(opened(own_database)) as later_version:
            later_version.write(Changes(put=(note(1),)))
    store = opened(own_database)
    for use in (lambda: contents(store), lambda: put(store, note(2))):
        with pytest.raises(StoreError, match="newer version of Nuggets"):
            use()


def test_an_index_of_another_format_is_built_again(postgresql_url: str) -> None:
    with closing(opened(postgresql_url, ())) as without_indexes:
        without_indexes.write(Changes(put=(note(1),), action="put"))
    store = opened(postgresql_url)
    with store.reading():
        names = [kind.name for kind in KINDS if not kind.optional]
        assert [name for name in names if store.indexes[name].check()] == []
        assert store.state.notes.keys() == {note(1).id}
    store.close()


# --- bad input -----------------------------------------------------------------------------------


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "RETRY_SECONDS", 0.0)
    with pytest.raises(StoreError, match="Is the server running") as refused:
        contents(opened("postgresql://me:hunter2@127.0.0.1:1/db"))

    assert "hunter2" not in str(refused.value)


def test_a_database_that_is_not_there(postgresql_server: Server) -> None:
    with pytest.raises(StoreError, match="createdb"):
        contents(opened(postgresql_server.url("x", "none")))


def test_a_wrong_password_is_never_shown(capfd: pytest.CaptureFixture[str]) -> None:
    server = Server(passwords=True)
    try:
        url = server.url("s").replace("@", ":wr0ng%20one@")
        with pytest.raises(StoreError, match="refuses this user or password") as refused:
            contents(opened(url))
        right = opened(server.url("s").replace("@", f":{PASSWORD}@"))
        put(right, note(1))
        right.close()
    finally:
        server.remove()

    said = str(refused.value) + "".join(capfd.readouterr())
    assert "wr0ng" not in said and PASSWORD not in said


def test_a_full_disk_changes_nothing_and_says_what_to_do(
    store: PostgresqlStore, admin: "psycopg.Connection[tuple[object, ...]]"
) -> None:
    """The server reports it at any statement, also when it commits."""
    put(store, note(1))
    admin.execute(
        "CREATE FUNCTION nuggets.fill_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE"
        " 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"
    )
    for moment in ("", "DEFERRABLE INITIALLY DEFERRED"):
        admin.execute(
            f"CREATE CONSTRAINT TRIGGER full_disk AFTER INSERT ON nuggets.commits {moment}"
            " FOR EACH ROW EXECUTE FUNCTION nuggets.fill_disk()"
        )
        try:
            with pytest.raises(StoreError, match=r"No space left.*nothing was changed"):
                put(store, note(2))
        finally:
            admin.execute("DROP TRIGGER full_disk ON nuggets.commits")
        assert contents(store) == {"key 1": "value 1"}
    admin.execute("DROP FUNCTION nuggets.fill_disk")
    assert put(store, note(3)) == 2


def test_a_server_that_can_only_be_read_still_answers(
    postgresql_server: Server, postgresql_url: str
) -> None:
    first = opened(postgresql_url)
    put(first, note(1))
    first.close()
    options = "&options=-c%20default_transaction_read_only%3Don"
    store = opened(postgresql_url + options)
    store.touch([Touch(note(1).id, "s1", NOW)])

    assert contents(store) == {"key 1": "value 1"}
    with pytest.raises(StoreError, match="can only be read"):
        put(store, note(2))
    store.close()


def test_without_its_package_the_command_that_installs_it_is_printed(tmp_path: object) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from nuggets import NuggetShelf\n"
        "NuggetShelf('postgresql://h/db', project='').list_notes()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert "pip install 'nuggets-memory[postgresql]'" in done.stderr


@pytest.mark.parametrize(
    "url", ["postgresql://h/db?shelf=", "postgresql://h/db?shelf=" + "x" * 201]
)
def test_a_shelf_needs_a_name(url: str) -> None:
    with pytest.raises(SettingsError, match="the name of a shelf"):
        DatabaseUrl(url)
