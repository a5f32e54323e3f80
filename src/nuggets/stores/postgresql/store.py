"""A shelf in a PostgreSQL database, which any number of processes, machines and shelves may share.

A reader sees one snapshot (REPEATABLE READ) and never waits. A writer holds an advisory lock of the
shelf on a connection of its own, so that waiting for it blocks no reader of the same process. That
a revision is the key of a commit makes sure that no two writers write the same one, should the
connection with the lock be lost.

A lost connection is opened again when the next operation begins. Inside an operation it is an
error: the server has rolled back by then.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from nuggets.domain import times
from nuggets.domain.marks import describe_unfinished
from nuggets.errors import StoreBusy, StoreError
from nuggets.stores.postgresql.database import ConnectionLost, Database
from nuggets.stores.postgresql.schema import (
    LOCKS,
    find_or_create_shelf,
    prepare_tables,
    refuse_newer,
)
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_writer import INSERT_COMMIT
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.store import Store

if TYPE_CHECKING:
    from nuggets.domain.records import Defect
    from nuggets.filesystem.shelf_location import DatabaseUrl
    from nuggets.stores.sqlite.store import SqliteStore

T = TypeVar("T")
_HOLDER = (
    "SELECT a.application_name || ' at ' || coalesce(host(a.client_addr), 'the server itself')"
    " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.classid = ?::bigint::oid"
    " AND l.objid = ?::bigint::oid"
)


class PostgresqlStore(Store):
    """One shelf of a database."""

    is_remote = True
    _asked: Callable[[], Database]

    def __init__(
        self,
        url: "DatabaseUrl",
        kinds: Sequence[IndexKind] = (),
        *,
        clock: Callable[[], str] = times.now,
    ) -> None:
        self.directory = url.directory
        self._url = url
        self._connected: Database | None = None
        self._locking: Database | None = None  # holds the lock, in a session of its own
        self._checked: Database | None = None  # the connection on which all indexes are current
        self._shelf = 0  # its number; 0: not known yet
        super().__init__(self._database, kinds, clock)

    def _database(self) -> Database:
        if self._connected is None:
            self._connect()
        assert self._connected is not None
        return self._connected

    def _connect(self) -> None:
        database = Database(self._url)
        try:
            prepare_tables(database, self._kinds)
            self._shelf = find_or_create_shelf(database, self._url.shelf, self._kinds)
        except BaseException:
            database.close()
            raise
        self._connected = database

    def _disconnect(self) -> None:
        if self._connected is not None:
            self._connected.close()
            self._connected = None
            self._forget_indexes()

    def _begin_anew(self, begin: Callable[[Database], T]) -> T:
        """Begin an operation; once more on a new connection if the old one was lost meanwhile."""
        try:
            return begin(self._asked())
        except ConnectionLost:
            self._disconnect()
            return begin(self._asked())

    # --- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._mutex:
            if self._connected is not None and self._connected.in_transaction:
                yield
                return
            if self._batch is not None:  # its connection was lost
                raise ConnectionLost(f"the connection to {self._url.shown} was lost in a batch")
            if self._begin_anew(self._has_stale_index):
                with self.exclusive():
                    pass  # `_prepare` has built it
            self._begin_anew(lambda database: database.begin(writing=False))
            self.state.keep()
            try:
                yield
            finally:
                self.state.forget()
                self._asked().rollback()

    def _has_stale_index(self, database: Database) -> bool:
        if self._checked is database or self._depth:
            return False
        if schema.outdated_kinds(schema.read_meta(database), self._kinds):
            return True
        self._checked = database
        return False

    # --- writing ----------------------------------------------------------------------------

    def _take_process_lock(self, wait_seconds: float) -> None:
        self._begin_anew(lambda database: None)  # the shelf's number must be known
        self._take_advisory_lock(wait_seconds)

    def _release_process_lock(self) -> None:
        lock = self._locking
        assert lock is not None
        try:
            lock.run(f"SELECT pg_advisory_unlock({LOCKS}, {self._shelf})")
        except StoreError:
            lock.disconnect()  # which unlocks, too
        else:
            lock.let_go()

    def _refuse_if_lock_was_lost(self) -> None:
        """That no revision is written twice is the key's business."""

    def _take_advisory_lock(self, wait_seconds: float) -> None:
        if self._locking is None:
            self._locking = Database(self._url, is_session=True)
        key = f"({LOCKS}, {self._shelf})"
        script = f"SELECT pg_try_advisory_lock{key}"
        if wait_seconds:
            timeout = f"SET LOCAL lock_timeout = {wait_seconds * 1000:.0f}"
            script = f"{timeout}; SELECT pg_advisory_lock{key} IS NOT NULL"
        try:
            try:
                is_held = self._locking.run(script)
            except ConnectionLost:
                is_held = self._locking.run(script)
        except StoreBusy:
            is_held = False
        if not is_held:
            raise self._busy(self._locking)

    def _busy(self, lock: Database) -> StoreBusy:
        holder = lock.value(_HOLDER, (LOCKS, self._shelf)) or "another process"
        lock.let_go()
        return StoreBusy(
            f"{holder} is writing to {self._url.shown}. Nothing was changed; try again"
        )

    def _commit(self) -> None:
        """If the answer is lost, look whether the commit is there."""
        row = self._asked().waiting_row(INSERT_COMMIT)
        try:
            super()._commit()
        except ConnectionLost as problem:
            try:
                is_there = row is not None and self._has_commit(row)
            except StoreError:
                raise StoreError(
                    f"the connection to {self._url.shown} was lost while a change was committed, "
                    "and cannot be opened again. Look whether the change is there before you "
                    "repeat it"
                ) from problem
            if not is_there:
                raise

    def _has_commit(self, row: Sequence[Any]) -> bool:
        """Was this commit made? If the server is still at it, inserting the same key waits.

        The number of a transaction would not do: after a failover another one may have it.
        """
        database = Database(self._url)
        try:
            database.shelf = self._shelf
            database.begin(writing=True)
            insert = f"{INSERT_COMMIT} ON CONFLICT (revision) DO NOTHING"
            if database.execute(insert, row).rowcount:
                return False
            sql = "SELECT revision, at, action, client, rest FROM commits WHERE revision = ?"
            return tuple(database.execute(sql, row[:1]).fetchone() or ()) == tuple(row)
        finally:
            database.rollback()
            database.close()

    def _explain_errors(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _prepare(self, *, import_edits: bool) -> None:
        with self._mutex:
            meta = self._begin_anew(lambda database: refuse_newer(database, self._kinds))
            self._indexes.set_existing(schema.existing_kinds(meta, self._kinds))
            stale = schema.outdated_kinds(meta, self._kinds)
            if stale:
                with self._transaction():
                    self._rebuild_indexes(stale)

    def _prepare_tables(self, kind: IndexKind) -> None:
        """They are there, for all shelves."""
        self._asked().execute(schema.record_format(kind))

    # --- the rest ---------------------------------------------------------------------------

    def erase(self, note_ids: Collection[str]) -> list[str]:
        with self.exclusive(), self._mutex:
            self._erase_rows(note_ids)
            return [self._url.shown]

    def private_copy(self) -> "SqliteStore":
        """In SQLite, on this machine."""
        from nuggets.stores.sqlite.store import SqliteStore

        with self.reading():
            kinds = schema.existing_kinds(schema.read_meta(self._asked()), self._kinds)
            kept = [kind._replace(optional=False) for kind in kinds]  # so its rows are copied, too
            copy = SqliteStore("", kept, clock=self._clock)
            copy.copy_from(self)
            return copy

    def copy_to(self, path: str) -> None:
        from tempfile import TemporaryDirectory

        from nuggets.stores.sqlite.store import SqliteStore

        with TemporaryDirectory(prefix="nuggets-backup-") as directory:
            copy = SqliteStore(directory, self._kinds)
            try:
                copy.copy_from(self)
                copy.copy_to(path)
            finally:
                copy.close()

    @property
    def unfinished_erasure(self) -> str:
        return "" if self._connected is None else describe_unfinished(self.state.marks)

    def find_defects(self, *, fix: bool) -> list["Defect"]:
        from nuggets.stores.doctor.database_defects import (
            derive_columns_again,
            describe_damaged,
            find_damaged_records,
            find_wrong_rows,
            take_out_damaged,
        )

        with self.reading():
            damaged = find_damaged_records(self._asked())
            defects = list(describe_damaged(damaged, self._asked().path))
            if not damaged:
                defects += find_wrong_rows(self._asked(), self._kinds)
        if not fix or not defects:
            return defects
        if damaged:
            with self.exclusive(), self._mutex, self._transaction():
                self._write_commit(take_out_damaged(self._asked(), damaged))
            self._damage.clear()
        with self.exclusive(), self._mutex, self._transaction():
            derive_columns_again(self._asked())
            meta = schema.read_meta(self._asked())
            self._rebuild_indexes(schema.existing_kinds(meta, self._kinds))
        return [defect._replace(mended=True) for defect in defects]

    def close(self) -> None:
        self.flush_touches()
        with self._mutex:
            self._disconnect()
            if self._locking is not None:
                self._locking.close()
                self._locking = None
