"""The default store: one SQLite database in a directory, shared with any number of processes.

    ~/.nuggets/
      nuggets.db, -wal, -shm    the truth
      nuggets.lock              held while anything is committed or checkpointed
      recalls.jsonl             recalls that found the store locked; the next commit counts them
      *.nugget.json, graph/     the documented files, exports of the database (stores/exports/)

Readers never wait: SQLite gives each a snapshot. How a writer works is in `stores/sql/store.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from nuggets.domain import times
from nuggets.domain.marks import UNFINISHED_PURGE, describe_unfinished
from nuggets.domain.records import Changes, ExportsStatus, Touch
from nuggets.errors import StoreBusy, StoreError
from nuggets.filesystem.atomic_files import file_identity, private_directory
from nuggets.stores.exports import Exports, StoreAccess
from nuggets.stores.exports.register import UNFINISHED_ERASURE, Registers, read_registers
from nuggets.stores.process_lock import LockFile, hold_shelf_lock, shelf_lock
from nuggets.stores.sql import schema
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.store import Store
from nuggets.stores.sqlite.database import Database, create, explain_errors, refuse_orphaned_log

if TYPE_CHECKING:
    from nuggets.domain.records import Defect
    from nuggets.stores.exports.edits import DecideEdit

WRITER_SECONDS = 1.0  # that exports wait for a thread that writes, which takes milliseconds
READER_SECONDS = 1.0  # that an erasure waits for readers of an older state: the same
DATABASE = "nuggets.db"


class SqliteStore(Store):
    """A shelf in a directory, or in memory without one."""

    is_remote = False
    _asked: Callable[[], Database]

    def __init__(
        self,
        directory: str,
        kinds: Sequence[IndexKind] = (),
        decide_edit: DecideEdit | None = None,
        *,
        short_lived: bool = False,
        clock: Callable[[], str] = times.now,
    ) -> None:
        """`decide_edit`: what an external edit means; None: without documented files."""
        self.directory = directory
        self._short_lived = short_lived
        self._path = os.path.join(directory, DATABASE) if directory else ""
        self._registers: Registers | None = None  # as they were last read from this connection
        self._is_current = False  # are they those of the transaction that reads?
        self._prepared: int | None = None  # version of the database that needs no preparation
        self._process_lock = LockFile(shelf_lock(directory))
        self._database: Database | None = None  # opened when it is first used
        self._file: tuple[int, int] | None = None  # its device and inode; None: a stand-in
        super().__init__(self._open, kinds, clock)
        self._exports: Exports | None = None
        if decide_edit is not None and directory:
            access = StoreAccess(
                self._asked,
                self._current_registers,
                lambda: self._mutex,
                self.exclusive,
                self._alone_in_transaction,
                self._write_commit,
            )
            self._exports = Exports(
                directory, access, decide_edit, clock=clock, short_lived=short_lived
            )

    # --- the database: the file in the directory, or an empty one in memory while there is none ---

    def _open(self) -> Database:
        if self._database is not None:
            return self._database
        if self.directory and os.path.lexists(self.directory) and not os.path.isdir(self.directory):
            private_directory(self.directory)  # raises an error that names what is there instead
        if self._path and os.path.lexists(self._path):
            self._database = Database(self._path)
            self._file = file_identity(self._path)
            return self._database
        refuse_orphaned_log(self._path)
        self._database = database = Database("")
        for statement in self._statements():
            database.execute(statement)
        return database

    def _close_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = self._file = None
            self._forget_indexes()

    def _follow_file(self) -> None:
        """Close the database if another file is there now, such as a restored backup."""
        database = self._database
        if database is None or database.in_transaction or not self._path:
            return
        if file_identity(self._path) != self._file:
            self._close_database()

    @property
    def _blocks_others(self) -> bool:
        """Must it be closed after each use, because it locks other connections out?"""
        return self._database is not None and self._database.blocks_others

    def _statements(self) -> Iterator[str]:
        yield from schema.statements()
        for kind in self._kinds:
            if not kind.optional:
                yield from kind.tables
                yield schema.record_format(kind)

    def _forget_indexes(self) -> None:
        super()._forget_indexes()
        self._registers = self._prepared = None

    # --- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._explain_errors(), self._mutex:
            self._follow_file()
            if self._asked().in_transaction:
                yield
                return
            try:
                self._begin_reading()
                self.state.keep()
                yield
            finally:
                self._end_reading()

    def _begin_reading(self) -> None:
        """Begin a transaction; before it, what others left to be done."""
        self._asked().begin(writing=False)
        task = self._look()
        if task is None:
            return
        self._end_reading()
        self._mutex.release()  # a writer waits for it while it holds the lock
        try:
            task()
        finally:
            self._mutex.acquire()
        self._follow_file()
        self._asked().begin(writing=False)

    def _end_reading(self) -> None:
        self._is_current = False
        self.state.forget()
        if self._database is not None:
            self._asked().rollback()
        if self._blocks_others:
            self._close_database()

    def _look(self) -> Callable[[], None] | None:
        """What has to be done before this transaction reads: the tables migrated, or edits of the
        documented files imported. Looks at the beginning, and then every half second."""
        if not self._path or self._depth:
            return None
        is_due = self._exports is not None and self._exports.is_look_due
        if self._registers is not None and not is_due:
            return None
        if self._current_registers().is_outdated(self._kinds):
            return self._migrate
        if self._exports is None:
            return None
        if self._exports.look():
            is_new = not self.position[0]
            return lambda: self._import_edits(is_new=is_new)
        self._exports.start_refresher()
        return None

    def _current_registers(self) -> Registers:
        """The registers of this transaction."""
        if self._registers is None or not self._is_current:
            database = self._asked()
            self._registers = registers = read_registers(database)
            self._indexes.set_existing(schema.existing_kinds(registers.meta, self._kinds))
            self._is_current = database.in_transaction and database.only_reads
            is_sound = not registers.has_unfinished_erasure
            if is_sound and not registers.is_outdated(self._kinds):
                self._prepared = registers.version
        return self._registers

    def needs_migration(self) -> bool:
        with self._mutex, self._explain_errors():
            self._follow_file()
            return self._current_registers().is_outdated(self._kinds)

    def _migrate(self) -> None:
        """Migrate tables and indexes that another version wrote."""
        with self.exclusive():
            pass  # `_prepare` has done it

    def _import_edits(self, *, is_new: bool) -> None:
        """Import external edits of the documented files, as a writer does with the lock."""
        if self._threads.acquire(blocking=False):
            try:
                with self.exclusive(None if is_new else 0):
                    pass  # `_take_lock` imports them
            except StoreError:  # someone writes, or nothing can be written: what is there is read
                if is_new:
                    raise
            finally:
                self._threads.release()

    # --- writing ----------------------------------------------------------------------------

    def _take_process_lock(self, wait_seconds: float) -> None:
        if self.directory:
            self._process_lock.take(wait_seconds)

    def _release_process_lock(self) -> None:
        if not self.directory:
            return
        try:
            if self._blocks_others:
                with self._mutex:
                    self._close_database()
        finally:
            self._process_lock.release()

    def _refuse_if_lock_was_lost(self) -> None:
        if self.directory and not self._process_lock.is_still_held():
            raise StoreBusy(
                f"the lock file in {self.directory} was removed while it was held. "
                "Nothing was changed; try again"
            )

    def _explain_errors(self) -> AbstractContextManager[None]:
        return explain_errors(self._path, self._find_damage)

    def _find_damage(self) -> str:
        """What is wrong with the database, if anything is: a row that is damaged fails where
        nobody expects it."""
        from nuggets.stores.doctor.database_defects import find_database_defects

        defects = find_database_defects(self._path, self._kinds) if self._path else ()
        return next((defect.problem for defect in defects), "")

    def _prepare(self, *, import_edits: bool) -> None:
        if not self.directory:
            return
        self._prepare_file()
        if import_edits and self._exports is not None and self._exports.import_edits():
            self._has_committed = True

    def _follow_commits(self) -> None:
        if self._exports is not None:
            self._exports.note_commit()
            if self._database is not None:  # else it would lock others out
                self._exports.start_refresher()

    def _prepare_file(self) -> None:
        """Make sure that there is a database with current tables and indexes."""
        with self._mutex:
            self._follow_file()
            if self._file is None:
                if not os.path.lexists(self._path):
                    create(self._path, self._statements())
                self._follow_file()
            if self._prepared is not None and self._prepared == self._asked().version():
                return
            if self._update_tables().has_unfinished_erasure:
                overwrite(self._asked(), wait_seconds=0)
                self._current_registers()  # says whether that was possible

    def _update_tables(self) -> Registers:
        """Bring the tables to today's schema, and rebuild each index of another format."""
        database, registers = self._asked(), self._current_registers()
        if not registers.is_outdated(self._kinds):
            return registers
        schema.migrate(database, registers.meta)
        with self._transaction():
            self._rebuild_indexes(schema.outdated_kinds(registers.meta, self._kinds))
        return self._current_registers()

    def _prepare_tables(self, kind: IndexKind) -> None:
        schema.recreate(self._asked(), kind)

    # --- recalls ----------------------------------------------------------------------------

    def _count(self, touches: Sequence[Touch]) -> None:
        """Count recalls in the transaction that read, if that is possible."""
        with self._mutex:
            if self._count_in_snapshot(touches):
                return
        super()._count(touches)

    def _count_in_snapshot(self, touches: Sequence[Touch]) -> bool:
        """Count recalls in the transaction that read; False if someone else is writing or has
        written since, or if something has to be done before anything is written."""
        database = self._database
        if database is None or not (database.in_transaction and database.only_reads):
            return False
        is_prepared = self._is_current and self._prepared is not None
        if not is_prepared or database.commits_wait or self._file is None:
            return False
        try:
            self._take_lock(0, prepare=False)
        except StoreError:
            return False
        try:
            self._write_recalls(touches)
            self._commit()
        except (OSError, StoreError, UnicodeError):
            self._roll_back()
            return False
        finally:
            self._release_lock()
        return True

    # --- the rest ---------------------------------------------------------------------------

    def erase(self, note_ids: Collection[str]) -> list[str]:
        from nuggets.stores.backup import remove_copies

        with self.exclusive(), self._mutex:
            # Copies and exports go before the history. It says what is to be erased: killed on the
            # way, the same erasure can be repeated.
            erased = [self._path, *remove_copies(self.directory)] if self._path else ["memory"]
            if self._exports is not None:
                self._exports.refresh()
            with self._transaction():
                begin_overwriting(self._asked())
            self._erase_rows(note_ids)
            self._registers = self._prepared = None  # the next writer goes on if this cannot finish
            overwrite(self._asked(), wait_seconds=READER_SECONDS)
            return erased

    def copy_to(self, path: str) -> None:
        """Copy the current state into an empty file; others may write meanwhile."""
        with self.reading():
            self._asked().copy_to_file(path)

    def private_copy(self) -> SqliteStore:
        with self.reading():
            copy = SqliteStore("", self._kinds, clock=self._clock)
            copy._database = Database("")
            self._asked().copy_to(copy._database)
            return copy

    def _write_commit(self, changes: Changes) -> int:
        if UNFINISHED_PURGE in changes.marks:
            self._registers = self._prepared = None  # they tell of it
        return super()._write_commit(changes)

    @property
    def has_unfinished_purge(self) -> bool:
        with self._mutex:
            return bool((self._registers or self._current_registers()).unfinished_purge)

    @property
    def unfinished_erasure(self) -> str:
        """Why a file may still hold erased bytes; "" if none does."""
        if self._file is None:
            return ""
        with self._mutex:
            registers = self._registers if self._short_lived else None
            registers = registers or self._current_registers()
        if not registers.has_unfinished_erasure:
            return describe_unfinished({UNFINISHED_PURGE: registers.unfinished_purge})
        return (
            f"{self._path} and its log may still hold what was erased: another program reads an "
            "older state, or there is no room to rewrite it. The first write after that does so"
        )

    # --- the documented files ---------------------------------------------------------------

    def refresh_exports(self) -> None:
        if self._exports is not None:
            with self.exclusive():
                pass  # `_take_lock` imports external edits
            self._exports.stop_refresher()
            self._exports.refresh(renew=True)

    def follow_exports(self) -> None:
        if self._exports is None or not self._exports.is_due or not os.path.isfile(self._path):
            return
        with (
            suppress(OSError, StoreError),
            self._explain_errors(),
            self._one_thread(WRITER_SECONDS),
        ):
            if not self._depth:  # else this thread is writing
                self._exports.follow()

    def exports_status(self) -> ExportsStatus | None:
        if self._exports is None:
            return None
        with self.reading():
            return self._exports.status()

    @property
    def warnings(self) -> tuple[str, ...]:
        return () if self._exports is None else self._exports.warnings

    @property
    def notices(self) -> tuple[str, ...]:
        exports = () if self._exports is None else self._exports.notices
        return (*super().notices, *exports)

    def find_defects(self, *, fix: bool) -> list[Defect]:
        from nuggets.stores.doctor.examination import examine
        from nuggets.stores.doctor.repair import repair

        if not self.directory:
            return []
        if not fix:
            return examine(self.directory, self._kinds)
        self.close()  # the repair may replace the database
        return repair(self.directory, self._kinds, self.refresh_exports)

    def close(self) -> None:
        """Close the files; a shelf in memory stays usable."""
        self.flush_touches()
        self.follow_exports()
        if not self._path or self._database is None:
            return
        with ExitStack() as stack:
            if self._file is not None and os.path.isdir(self.directory):
                with suppress(OSError, StoreError), self._explain_errors():
                    stack.enter_context(hold_shelf_lock(self.directory, 0))
            with self._mutex:
                self._close_database()
        if self._exports is not None:
            self._exports.forget_look()


# --- overwriting erased bytes -----------------------------------------------------------------
# SQLite leaves the bytes of deleted rows, and of those that it moved, on their pages, so the
# database is rewritten (`VACUUM`). They also stand in the write-ahead log until that is truncated.
# A crash, a reader that still needs the log or a full disk can interrupt this: a row in `meta` says
# what remains, and the next writer, which opens the database, goes on.


_REWRITE, _TRUNCATE_LOG = "rewrite", "cut log"


def begin_overwriting(database: Database) -> None:
    """Inside the transaction that erases: record that the files are still to be overwritten."""
    sql = (
        "INSERT INTO meta (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )
    database.execute(sql, (UNFINISHED_ERASURE, _REWRITE))


def overwrite(database: Database, *, wait_seconds: float) -> None:
    """Overwrite erased bytes, as far as possible now. The caller holds the shelf's lock."""
    with suppress(StoreError):
        step = database.value("SELECT value FROM meta WHERE name = ?", (UNFINISHED_ERASURE,))
        if step == _REWRITE:
            database.execute("VACUUM")
            sql = "UPDATE meta SET value = ? WHERE name = ?"
            database.execute(sql, (_TRUNCATE_LOG, UNFINISHED_ERASURE))
        if database.checkpoint(wait_seconds):
            database.execute("DELETE FROM meta WHERE name = ?", (UNFINISHED_ERASURE,))
