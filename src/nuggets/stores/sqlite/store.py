"""The default store: one SQLite database in a directory, shared with any number of processes.

    ~/.nuggets/
      nuggets.db, -wal, -shm    the truth
      nuggets.lock              held while anything is committed or checkpointed
      recalls.jsonl             recalls that found the store locked; the next commit counts them
      *.nugget.json, graph/     the documented files, exports of the database (stores/exports/)

Readers never wait: SQLite gives each a snapshot. A writer holds the lock file, decides on what is
there, and commits once. A batch is one transaction.

The write lock is held as long as the lock file, `_mutex` only while the connection is used, so
that a reader here never waits for a writer elsewhere.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from nuggets import times
from nuggets.errors import StoreBusy, StoreCorrupt, StoreError
from nuggets.records import Changes, Commit, ExportsStatus, Touch
from nuggets.stores import moving_in
from nuggets.stores.base import IndexKind
from nuggets.stores.exports.exports import Access, Exports
from nuggets.stores.recall_file import RecallFile
from nuggets.stores.sqlite import commits, schema
from nuggets.stores.sqlite.connection import Connection
from nuggets.stores.sqlite.database import create, explaining
from nuggets.stores.sqlite.index_set import IndexSet
from nuggets.stores.sqlite.overwriting import begin_overwriting, is_unfinished, overwrite
from nuggets.stores.sqlite.state import SqliteState
from nuggets.stores.sqlite.write_lock import WriteLock
from nuggets.stores.sqlite.writing import CommitWriter, apply_touches

if TYPE_CHECKING:
    from nuggets.stores.exports.intake import Adopt

LOCK_SECONDS = 10.0  # longer than any write here takes; then someone is stuck and should be named
READER_SECONDS = 1.0  # how long an erasure waits for someone who reads an older state
DATABASE = "nuggets.db"


class SqliteStore:
    """A shelf in a directory, or in memory without one."""

    def __init__(
        self,
        directory: str,
        kinds: Sequence[IndexKind] = (),
        adopt: "Adopt | None" = None,
        *,
        short_lived: bool = False,
        clock: Callable[[], str] = times.now,
    ) -> None:
        """`adopt`: what an edit of a documented file means; None: without such files."""
        self.directory = directory
        self._path = os.path.join(directory, DATABASE) if directory else ""
        self._kinds = kinds
        self._clock = clock
        self._recall_file = RecallFile(directory)
        self._connection = Connection(self._path, self._statements, self._forget_indexes)
        self._asked = self._connection.database
        self.state = SqliteState(self._asked)
        self._indexes = IndexSet(kinds, self._asked, self.state)
        self._exports: Exports | None = None
        if adopt is not None and directory:
            access = Access(
                self._asked,
                self.exclusive,
                self._alone_in_transaction,
                self._write_commit,
                self._is_busy,
            )
            self._exports = Exports(directory, access, adopt, clock=clock, short_lived=short_lived)
        self.begin_in_this_process()
        _stores.add(self)

    def begin_in_this_process(self) -> None:
        """Threads, their locks and connections do not live on in a forked child."""
        self._lock = WriteLock(self.directory)
        self._mutex = threading.RLock()
        if self._connection.is_in_transaction and not self._path:
            self._roll_back()  # what a thread had begun that is not here
        self._batch: CommitWriter | None = None
        self._batch_depth = 0
        self._deferred_touches: list[Touch] = []  # that came while another thread wrote
        self._has_committed = False  # since the lock was taken
        if self._exports is not None:
            self._exports.begin_in_this_process()
        if self._path:
            self._connection.leave_to_parent()

    def prepare_fork(self) -> None:
        """SQLite would believe in a child that it holds the locks of its parent, which it does
        not: others could take the log away from under it. So no child inherits a connection,
        unless a thread is using it right now."""
        if self._path and self._mutex.acquire(blocking=False):
            try:
                if not self._is_busy():
                    self._connection.close()
            finally:
                self._mutex.release()

    def _statements(self) -> Iterator[str]:
        yield from schema.statements()
        for kind in self._kinds:
            yield from kind.tables
            yield schema.record_format(kind)

    @property
    def indexes(self) -> Mapping[str, Any]:
        return self._indexes.ask()

    def _forget_indexes(self) -> None:
        self._indexes.forget()

    @property
    def has_unsaved(self) -> bool:
        return self._indexes.has_unsaved

    @property
    def position(self) -> tuple[int, str]:
        return self.state.position

    # --- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        self._move_in()
        self._look_for_edits()
        with self._mutex, explaining(self._path):
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
                if database.holds_others_up:
                    self._connection.close()

    def commits(
        self, since: int = 0, note: str | None = None, *, newest_first: bool = False
    ) -> Iterator[Commit]:
        return commits.commits(self._asked(), since, note, newest_first=newest_first)

    def _move_in(self) -> None:
        """The files of an earlier version, if this is the first to meet them."""
        if self._path and not self._connection.is_open and moving_in.is_needed(self.directory):
            try:
                with self.exclusive():
                    pass  # on the way
            except (StoreBusy, StoreCorrupt):
                raise
            except StoreError as problem:
                raise moving_in.unmoved(self.directory, problem) from problem

    def _is_busy(self) -> bool:
        return self._lock.depth > 0 or self._connection.is_in_transaction

    def _look_for_edits(self) -> None:
        """Take in what others wrote into the documented files; whoever is writing does so too."""
        if self._exports is None or self._lock.depth:
            return
        with self._mutex:
            self._connection.follow_file()
            if self._asked().in_transaction:
                return
            look = self._exports.look()
            is_new = not self.position[0]
        if look.stale:
            self._exports.refresh_later()
        if look.edited and self._lock.try_thread():
            try:
                with self.exclusive(LOCK_SECONDS if is_new else 0):
                    pass  # on the way
            except (StoreBusy, StoreCorrupt):
                if is_new:
                    raise
            except StoreError:
                self._show_edits()
            finally:
                self._lock.release_thread()

    def _show_edits(self) -> None:
        """Where nothing can be written, they are taken into a copy in memory."""
        with self._mutex:
            if self._exports is None or self._exports.are_only_copies():
                return
            self._connection.work_on_copy()
            self._exports.take_in()

    # --- writing ----------------------------------------------------------------------------

    @contextmanager
    def exclusive(self, wait_seconds: float | None = None) -> Iterator[None]:
        longest = LOCK_SECONDS if wait_seconds is None else wait_seconds
        with self._lock.thread(longest), explaining(self._path):
            self._take_lock(longest)
            try:
                yield
            finally:
                self._release_lock()
        self._count_deferred()

    def _take_lock(self, wait_seconds: float) -> None:
        if self._lock.take(wait_seconds) and self.directory:
            try:
                self._prepare()
                if self._exports is not None and self._exports.take_in():
                    self._has_committed = True
            except BaseException:
                self._release_lock()
                raise

    def _release_lock(self) -> None:
        if self._lock.depth == 1 and self._has_committed:
            self._has_committed = False
            if self._exports is not None:
                self._exports.follow()
        self._lock.release()

    def _prepare(self) -> None:
        """Inside the lock: a database to write to, with tables and indexes as we know them."""
        with self._mutex:
            if moving_in.is_needed(self.directory):
                from nuggets.stores.moving_in.move import move_in

                move_in(self.directory, self._kinds)
            if not os.path.lexists(self._path):
                create(self._path, self._statements())
            self._connection.follow_file()
            database = self._asked()
            schema.migrate(database)
            if is_unfinished(database):
                overwrite(database, wait_seconds=0)
            stale = [kind for kind in self._kinds if not schema.is_current(database, kind)]
            if stale:
                self._rebuild(stale)

    def _rebuild(self, kinds: Sequence[IndexKind]) -> None:
        database = self._asked()
        with self._transaction():
            for kind in kinds:
                schema.recreate(database, kind)
                self._forget_indexes()
                self.indexes[kind.name].rebuild(self.state.notes.placed())

    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[None]:
        database = self._asked()
        if not durable:
            database.set_durable(False)
        try:
            database.begin(writing=True)
            try:
                yield
                self._commit()
            except BaseException:
                self._roll_back()
                raise
        finally:
            if not durable:
                database.set_durable(True)

    def _commit(self) -> None:
        self._lock.refuse_if_lost()
        self._asked().commit()

    @contextmanager
    def _alone_in_transaction(self, *, durable: bool = True) -> Iterator[None]:
        with self._mutex, self._transaction(durable=durable):
            yield

    def _roll_back(self) -> None:
        """What an index remembers of a transaction that never was would be wrong later."""
        self._asked().rollback()
        self._forget_indexes()

    def write(self, changes: Changes) -> int:
        with self.exclusive(), self._mutex:
            if self._batch_depth:
                return self._write_in_batch(changes)
            return self._write_alone(changes)

    def _write_alone(self, changes: Changes) -> int:
        with self._recall_file.taken() as waiting, self._transaction():
            revision = self._write_commit(changes._replace(touches=(*waiting, *changes.touches)))
        self._has_committed = True
        return revision

    def _write_commit(self, changes: Changes) -> int:
        """Inside a transaction."""
        writer = CommitWriter(self._asked(), self.state)
        self._apply(writer, changes)
        self._finish(writer)
        return writer.revision

    def _apply(self, writer: CommitWriter, changes: Changes) -> None:
        self._indexes.add(writer.apply(changes))

    def _finish(self, writer: CommitWriter) -> None:
        self._indexes.update()
        self._indexes.save()
        _, last = self.state.position
        writer.finish(times.moment_after(last, self._clock()))

    # --- batches ----------------------------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock.thread(LOCK_SECONDS):
            before = self._savepoint()
            self._batch_depth += 1
            try:
                yield
            except BaseException:
                self._batch_depth -= 1
                with self._mutex:
                    self._abandon(before)
                raise
            self._batch_depth -= 1
            if not self._batch_depth:
                with self._mutex:
                    self._commit_batch()
        self._count_deferred()

    def _write_in_batch(self, changes: Changes) -> int:
        """The first write of a batch takes the lock, until its end."""
        if self._batch is None:
            self._take_lock(LOCK_SECONDS)
            try:
                self._asked().begin(writing=True)
            except BaseException:
                self._release_lock()
                raise
            self._batch = CommitWriter(self._asked(), self.state)
        self._apply(self._batch, changes)
        return self._batch.revision

    def _savepoint(self) -> Any:
        """What an inner batch goes back to if it fails; None if there is nothing yet."""
        if self._batch is None:
            return None
        self._indexes.update()
        self._asked().execute(f"SAVEPOINT batch{self._batch_depth}")
        return self._batch.copy()

    def _abandon(self, before: Any) -> None:
        if self._batch is None:
            return
        if before is not None:
            self._asked().execute(f"ROLLBACK TO batch{self._batch_depth}")
            self._forget_indexes()
            self._batch = before
        else:
            self._roll_back()
            self._batch = None
            self._release_lock()

    def _commit_batch(self) -> None:
        writer, self._batch = self._batch, None
        if writer is None:
            return
        try:
            with self._recall_file.taken() as waiting:
                apply_touches(self._asked(), waiting)
                self._finish(writer)
                self._commit()
            self._has_committed = True
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._release_lock()

    @contextmanager
    def preview(self, changes: Changes) -> Iterator[None]:
        with self.exclusive(), self._mutex:
            self._asked().begin(writing=True)
            try:
                self._apply(CommitWriter(self._asked(), self.state), changes)
                yield
            finally:
                self._roll_back()

    # --- recalls ----------------------------------------------------------------------------

    def touch(self, touches: Sequence[Touch]) -> None:
        if not self._lock.try_thread():
            self._deferred_touches += touches
            self._count_deferred()  # the other thread may be done by now
            return
        try:
            if self._batch is not None:
                with self._mutex, suppress(UnicodeError):  # a session's name need not be text
                    apply_touches(self._asked(), touches)
            else:
                self._count(touches)
        finally:
            self._lock.release_thread()

    def _count_deferred(self) -> None:
        """Recalls that came while another thread was writing; if one still is, it counts them."""
        while self._deferred_touches and self._lock.try_thread():
            try:
                if self._lock.depth or self._batch_depth:
                    return
                touches, self._deferred_touches = self._deferred_touches, []
                self._count(touches)
            finally:
                self._lock.release_thread()

    def _count(self, touches: Sequence[Touch]) -> None:
        """At once, if no other process is writing; not waiting for the medium."""
        try:
            with self.exclusive(wait_seconds=0), self._mutex, self._transaction(durable=False):
                if apply_touches(self._asked(), touches):
                    writer = CommitWriter(self._asked(), self.state)
                    writer.apply(Changes(action="recall"))
                    self._finish(writer)
                self._indexes.save()
        except (OSError, StoreError, UnicodeError):
            if self.directory:
                self._recall_file.append(touches)

    # --- the rest ---------------------------------------------------------------------------

    def erase(self, note_ids: Collection[str]) -> list[str]:
        from nuggets.stores.set_aside import remove_copies
        from nuggets.stores.sqlite.erasing import erase

        with self.exclusive(), self._mutex:
            if self._exports is not None:
                self._exports.refresh_here()  # while the history still says what they must not
            with self._recall_file.taken() as waiting, self._transaction():
                apply_touches(self._asked(), waiting)
                begin_overwriting(self._asked())
                erase(self._asked(), note_ids)
                for index in self._indexes.all():
                    index.forget_traces(note_ids)
            overwrite(self._asked(), wait_seconds=READER_SECONDS)
            return [self._path, *remove_copies(self.directory)] if self._path else ["memory"]

    def prune_history(self, before: str) -> None:
        """Forget what was done before a moment; a little at a time, so that nobody waits long."""
        from nuggets.stores.sqlite.retention import prune_some

        more = True
        while more:
            with self.exclusive(), self._mutex, self._transaction(durable=False):
                more = prune_some(self._asked(), before)

    def copy_to(self, path: str) -> None:
        """A copy of what is there now, into an empty file; others may write meanwhile."""
        with self.reading():
            self._asked().backup_to(path)

    @property
    def unfinished_erasure(self) -> str:
        """Why what was erased may still stand in a file; "" if it does not."""
        if not self._connection.is_of_file or not is_unfinished(self._asked()):
            return ""
        return (
            f"{self._path} and its log may still hold what was erased: another program reads an "
            "older state, or there is no room to rewrite it. The first write after that does so"
        )

    # --- the documented files ---------------------------------------------------------------

    def refresh_exports(self) -> None:
        if self._exports is not None:
            with self.exclusive():
                pass  # what others wrote is taken in first
            self._exports.refresh(renew=True)

    def exports_status(self) -> ExportsStatus | None:
        if self._exports is None:
            return None
        with self.reading():
            return self._exports.status()

    def oldest_export_revision(self) -> int | None:
        """History is kept from here on: edits of an export are compared with what it shows."""
        if self._exports is None:
            return None
        with self.reading():
            return self._exports.oldest_revision()

    @property
    def warnings(self) -> tuple[str, ...]:
        return () if self._exports is None else self._exports.warnings

    def close(self) -> None:
        """A shelf in memory stays: using it again goes on."""
        if not self._path or not self._connection.is_open:
            return
        with ExitStack() as stack:
            if self._connection.is_of_file and os.path.isdir(self.directory):
                with suppress(OSError, StoreError):
                    if self._exports is not None:
                        self._exports.settle()
                with suppress(OSError, StoreError), explaining(self._path):
                    stack.enter_context(self.exclusive(wait_seconds=0))
                    if self._exports is not None:
                        self._exports.leave_current()
            with self._mutex:
                self._connection.close()


_stores: WeakSet[SqliteStore] = WeakSet()


def _prepare_fork() -> None:
    for store in list(_stores):
        store.prepare_fork()


def _begin_again() -> None:
    for store in list(_stores):
        store.begin_in_this_process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare_fork, after_in_child=_begin_again)
