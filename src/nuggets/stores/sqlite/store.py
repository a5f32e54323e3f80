"""The default store: one SQLite database in a directory, shared with any number of processes.

    ~/.nuggets/
      nuggets.db, -wal, -shm    the truth
      nuggets.lock              held while anything is committed or checkpointed
      recalls.jsonl             recalls that found the store locked; the next commit counts them
      *.nugget.json, graph/     the documented files, exports of the database (stores/exports/)

Readers never wait: SQLite gives each a snapshot. How a writer works is in `stores/sql/store.py`.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from nuggets.domain import times
from nuggets.domain.purge_marks import describe_unfinished
from nuggets.domain.records import ExportsStatus, Touch
from nuggets.errors import StoreBusy, StoreCorrupt, StoreError
from nuggets.stores import journal_migration
from nuggets.stores.base import IndexKind
from nuggets.stores.exports.export_sync import ExportSync, StoreAccess
from nuggets.stores.process_lock import shelf_lock
from nuggets.stores.recall_file import RecallFile
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_writer import apply_touches
from nuggets.stores.sql.store import SqlStore
from nuggets.stores.sqlite.database import Database, ExplainErrors, create
from nuggets.stores.sqlite.database_provider import Connection
from nuggets.stores.sqlite.overwriting import begin_overwriting, is_unfinished, overwrite

if TYPE_CHECKING:
    from nuggets.stores.doctor.defects import Defect
    from nuggets.stores.exports.edit_import import DecideEdit

FORK_SECONDS = 5.0  # how long a fork waits for a thread that reads or writes
READER_SECONDS = 1.0  # how long an erasure waits for readers of an older state
DATABASE = "nuggets.db"


class SqliteStore(SqlStore):
    """A shelf in a directory, or in memory without one."""

    is_remote = False
    _asked: Callable[[], Database]

    def __init__(
        self,
        directory: str,
        kinds: Sequence[IndexKind] = (),
        decide_edit: "DecideEdit | None" = None,
        *,
        short_lived: bool = False,
        clock: Callable[[], str] = times.now,
    ) -> None:
        """`decide_edit`: what an external edit means; None: without documented files."""
        self.directory = directory
        self._path = os.path.join(directory, DATABASE) if directory else ""
        self._recall_file = RecallFile(directory)
        self._prepared: int | None = None  # version of the database that needs no preparation
        self._connection = Connection(self._path, self._statements, self._forget_indexes)
        super().__init__(self._connection.database, kinds, clock)
        self._exports: ExportSync | None = None
        if decide_edit is not None and directory:
            access = StoreAccess(
                self._asked,
                self.exclusive,
                self._alone_in_transaction,
                self._write_commit,
                self._is_busy,
            )
            self._exports = ExportSync(
                directory, access, decide_edit, clock=clock, short_lived=short_lived
            )
        self.begin_in_this_process()
        _stores[id(self)] = self

    def begin_in_this_process(self) -> None:
        """In a forked child: new locks and a new connection; other threads do not exist there."""
        super().begin_in_this_process()
        self._process_lock = shelf_lock(self.directory)
        if not self._path and self._connection.is_in_transaction:
            self._roll_back()  # begun by a thread that exists only in the parent
        if self._exports is not None:
            self._exports.begin_in_this_process()
        if self._path:
            self._connection.leave_to_parent()

    def prepare_fork(self) -> None:
        """Wait for a thread that uses the connection, and close it. Not if a thread is in a batch:
        then the child can read, and not write.
        """
        if self._mutex.acquire(timeout=FORK_SECONDS):
            _held_mutexes.append(self._mutex)
            if self._path and not self._is_busy():
                self._connection.close()

    def _statements(self) -> Iterator[str]:
        yield from schema.statements()
        for kind in self._kinds:
            if not kind.optional:
                yield from kind.tables
                yield schema.record_format(kind)

    def _forget_indexes(self) -> None:
        super()._forget_indexes()
        self._prepared = None

    # --- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        self._migrate()
        self._look_for_edits()
        with self._mutex, ExplainErrors(self._path):
            self._connection.follow_file()
            database = self._asked()
            if database.in_transaction:
                yield
                return
            database.begin(writing=False)
            try:
                yield
            finally:
                database.rollback()
                if self._connection.blocks_others:
                    self._connection.close()

    def _migrate(self) -> None:
        """Before the first read: migrate tables and indexes that another version wrote."""
        if not self._path:
            return
        with self._mutex, ExplainErrors(self._path):
            self._connection.follow_file()
            if self._connection.is_open:
                return
            has_journal = journal_migration.has_unmigrated_journal(self.directory)
            if not has_journal and not schema.is_outdated(self._asked(), self._kinds):
                return
        try:
            with self.exclusive():
                pass  # `_prepare` has done it
        except (StoreBusy, StoreCorrupt):
            raise
        except StoreError as problem:
            if has_journal:
                raise journal_migration.migration_error(self.directory, problem) from problem
            with self._mutex:  # nothing can be written: the indexes are rebuilt in memory
                self._connection.work_on_copy()
                self._update_tables()

    def _is_busy(self) -> bool:
        return self._lock.depth > 0 or self._connection.is_in_transaction

    def _look_for_edits(self) -> None:
        """Import external edits of the documented files, as a writer does with the lock."""
        if self._exports is None or self._lock.depth:
            return
        with self._mutex:
            self._connection.follow_file()
            if self._asked().in_transaction:
                return
            look = self._exports.check_files()
            is_new = look.edited and not self.position[0]
        if look.stale:
            self._exports.refresh_later()
        if look.edited and self._lock.try_thread():
            try:
                with self.exclusive(None if is_new else 0):
                    pass  # `_take_lock` imports them
            except (StoreBusy, StoreCorrupt):
                if is_new:
                    raise
            except StoreError:
                self._show_edits()
            finally:
                self._lock.release_thread()

    def _show_edits(self) -> None:
        """Where nothing can be written, import the edits into a copy in memory."""
        with self._mutex:
            if self._exports is None or self._exports.are_only_copies():
                return
            self._connection.work_on_copy()
            self._exports.forget_register()
            self._exports.import_edits()

    # --- writing ----------------------------------------------------------------------------

    def _take_process_lock(self, wait_seconds: float) -> None:
        if self.directory:
            self._process_lock.take(wait_seconds)

    def _release_process_lock(self) -> None:
        if not self.directory:
            return
        try:
            if self._connection.blocks_others:
                with self._mutex:
                    self._connection.close()
        finally:
            self._process_lock.release()

    def _refuse_if_lock_was_lost(self) -> None:
        if self.directory and not self._process_lock.is_still_held():
            raise StoreBusy(
                f"the lock file in {self.directory} was removed while it was held. "
                "Nothing was changed; try again"
            )

    def _explain_errors(self) -> ExplainErrors:
        return ExplainErrors(self._path)

    def _prepare(self, *, import_edits: bool) -> None:
        if not self.directory:
            return
        has_changed = self._prepare_file()
        if self._exports is None:
            return
        if has_changed:
            self._exports.forget_register()
        if import_edits and self._exports.import_edits():
            self._has_committed = True

    def _finish_commits(self) -> None:
        if self._exports is not None:
            self._exports.refresh_after_commit()

    def _take_waiting_recalls(self) -> AbstractContextManager[tuple[Touch, ...]]:
        return self._recall_file.take()

    def _defer_recalls(self, touches: Sequence[Touch]) -> None:
        if self.directory:
            self._recall_file.append(touches)

    def _prepare_file(self) -> bool:
        """Make sure that there is a database with current tables and indexes; False if that is
        known, because nobody else has written."""
        with self._mutex:
            self._connection.follow_file()
            if not self._connection.is_of_file:
                self._find_or_create_file()
            version = self._asked().version()
            if version == self._prepared:
                return False
            self._indexes.look_for_others()
            self._update_tables()
            if is_unfinished(self._asked()):
                overwrite(self._asked(), wait_seconds=0)
            if not is_unfinished(self._asked()):
                self._prepared = version
            return True

    def _find_or_create_file(self) -> None:
        if journal_migration.has_unmigrated_journal(self.directory):
            from nuggets.stores.journal_migration.migrate import migrate_journal

            migrate_journal(self.directory, self._kinds)
        if not os.path.lexists(self._path):
            create(self._path, self._statements())
        self._connection.follow_file()

    def _update_tables(self) -> None:
        """Bring the tables to today's schema, and rebuild each index of another format."""
        database = self._asked()
        schema.refuse_newer(database)  # which another process may have made of it meanwhile
        schema.migrate(database)
        stale = schema.outdated_kinds(database, self._kinds)
        if not stale:
            return
        with self._transaction():
            for kind in stale:
                schema.recreate(database, kind)
                self._forget_indexes()
                self.indexes[kind.name].rebuild(self.state.notes.with_places())

    # --- the rest ---------------------------------------------------------------------------

    def erase(self, note_ids: Collection[str]) -> list[str]:
        from nuggets.stores.set_aside_files import remove_copies
        from nuggets.stores.sql.erasure import erase

        with self.exclusive(), self._mutex:
            # Copies and exports go before the history. It says what is to be erased: killed on the
            # way, the same erasure can be repeated.
            erased = [self._path, *remove_copies(self.directory)] if self._path else ["memory"]
            if self._exports is not None:
                self._exports.refresh_here()  # needs the history that is erased next
            with self._recall_file.take() as waiting, self._transaction():
                apply_touches(self._asked(), waiting)
                begin_overwriting(self._asked())
                erase(self._asked(), note_ids)
                for index in self._indexes.all():
                    index.forget_traces(note_ids)
            self._prepared = None  # the next writer continues if this cannot finish
            overwrite(self._asked(), wait_seconds=READER_SECONDS)
            return erased

    def copy_to(self, path: str) -> None:
        """Copy the current state into an empty file; others may write meanwhile."""
        with self.reading():
            self._asked().backup_to(path)

    @property
    def unfinished_erasure(self) -> str:
        """Why a file may still hold erased bytes; "" if none does."""
        if not self._connection.is_of_file:
            return ""
        if not is_unfinished(self._asked()):
            return describe_unfinished(self.state.marks)
        return (
            f"{self._path} and its log may still hold what was erased: another program reads an "
            "older state, or there is no room to rewrite it. The first write after that does so"
        )

    # --- the documented files ---------------------------------------------------------------

    def refresh_exports(self) -> None:
        if self._exports is not None:
            with self.exclusive():
                pass  # `_take_lock` imports external edits
            self._exports.refresh(renew=True)

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
        return () if self._exports is None else self._exports.notices

    def find_defects(self, *, fix: bool) -> "list[Defect]":
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
        if not self._path or not self._connection.is_open:
            return
        with ExitStack() as stack:
            if self._connection.is_of_file and os.path.isdir(self.directory):
                with suppress(OSError, StoreError):
                    if self._exports is not None:
                        self._exports.finish_background_refresh()
                with suppress(OSError, StoreError), ExplainErrors(self._path):
                    stack.enter_context(self.exclusive(wait_seconds=0))
                    if self._exports is not None:
                        self._exports.refresh_before_close()
            with self._mutex:
                self._connection.close()


_stores: WeakValueDictionary[int, SqliteStore] = WeakValueDictionary()  # by their ids
_fork_turn = threading.Lock()  # one thread forks at a time
_held_mutexes: list[threading.RLock] = []  # by the thread that forks


def _prepare_fork() -> None:
    _fork_turn.acquire()
    for reference in _stores.valuerefs():
        if (store := reference()) is not None:
            store.prepare_fork()


def _finish_fork() -> None:
    for mutex in _held_mutexes:
        mutex.release()
    _held_mutexes.clear()
    _fork_turn.release()


def _begin_again() -> None:
    _finish_fork()
    for store in _stores.values():
        store.begin_in_this_process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_prepare_fork, after_in_parent=_finish_fork, after_in_child=_begin_again
    )
