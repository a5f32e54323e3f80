"""The default store: one SQLite database in a directory, shared with any number of processes.

    ~/.nuggets/
      nuggets.db, -wal, -shm    the truth
      nuggets.lock              held while anything is committed or checkpointed
      recalls.jsonl             recalls that found the store locked; the next commit counts them
      *.nugget.json, graph/     the documented files, exports of the database (stores/exports/)

Readers never wait: SQLite gives each a snapshot. How a writer works is in `stores/sql/store.py`.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from nuggets.domain import times
from nuggets.domain.purge_marks import describe_unfinished
from nuggets.domain.records import ExportsStatus, Touch
from nuggets.errors import StoreBusy, StoreCorrupt, StoreError
from nuggets.stores.base import IndexKind
from nuggets.stores.exports import Exports, StoreAccess
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
    from nuggets.stores.exports.edits import DecideEdit

WRITER_SECONDS = 1.0  # how long exports wait for a thread that writes
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
        self._process_lock = shelf_lock(directory)
        self._connection = Connection(self._path, self._statements, self._forget_indexes)
        super().__init__(self._connection.database, kinds, clock)
        self._exports: Exports | None = None
        if decide_edit is not None and directory:
            access = StoreAccess(
                self._asked,
                lambda: self._mutex,
                self.exclusive,
                self._alone_in_transaction,
                self._write_commit,
            )
            self._exports = Exports(
                directory, access, decide_edit, clock=clock, short_lived=short_lived
            )

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
            if not schema.is_outdated(self._asked(), self._kinds):
                return
        try:
            with self.exclusive():
                pass  # `_prepare` has done it
        except (StoreBusy, StoreCorrupt):
            raise
        except StoreError:
            with self._mutex:  # nothing can be written: the indexes are rebuilt in memory
                self._connection.work_on_copy()
                self._update_tables()

    def _look_for_edits(self) -> None:
        """Import external edits of the documented files, as a writer does with the lock."""
        if self._exports is None or self._lock.depth:
            return
        with self._mutex:
            self._connection.follow_file()
            if self._asked().in_transaction:
                return
            is_edited = self._exports.look()
            is_new = is_edited and not self.position[0]
        if not is_edited:
            self._exports.start_refresher()
        elif self._lock.try_thread():
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
        self._prepare_file()
        if import_edits and self._exports is not None and self._exports.import_edits():
            self._has_committed = True

    def _follow_commits(self) -> None:
        if self._exports is not None:
            self._exports.note_commit()
            if self._connection.is_open:  # else it would lock others out
                self._exports.start_refresher()

    def _take_waiting_recalls(self) -> AbstractContextManager[tuple[Touch, ...]]:
        return self._recall_file.take()

    def _defer_recalls(self, touches: Sequence[Touch]) -> None:
        if self.directory:
            self._recall_file.append(touches)

    def _prepare_file(self) -> None:
        """Make sure that there is a database with current tables and indexes."""
        with self._mutex:
            self._connection.follow_file()
            if not self._connection.is_of_file:
                self._find_or_create_file()
            version = self._asked().version()
            if version == self._prepared:
                return
            self._indexes.look_for_others()
            self._update_tables()
            if is_unfinished(self._asked()):
                overwrite(self._asked(), wait_seconds=0)
            if not is_unfinished(self._asked()):
                self._prepared = version

    def _find_or_create_file(self) -> None:
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
                self._exports.refresh()
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

    def private_copy(self) -> "SqliteStore":
        with self.reading():
            copy = SqliteStore("", self._kinds, clock=self._clock)
            copy._connection.begin_with_copy(self._asked())
            return copy

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

    def follow_exports(self) -> None:
        if self._exports is None or not self._exports.is_due or not os.path.isfile(self._path):
            return
        with (
            suppress(OSError, StoreError),
            ExplainErrors(self._path),
            self._lock.thread(WRITER_SECONDS),
        ):
            if not self._lock.depth:  # else this thread is writing
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
        self.follow_exports()
        if not self._path or not self._connection.is_open:
            return
        with ExitStack() as stack:
            if self._connection.is_of_file and os.path.isdir(self.directory):
                with suppress(OSError, StoreError), ExplainErrors(self._path):
                    stack.enter_context(self.exclusive(wait_seconds=0, import_edits=False))
            with self._mutex:
                self._connection.close()
        if self._exports is not None:
            self._exports.forget_look()
