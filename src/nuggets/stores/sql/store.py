"""The contract of every store, and what all share: transactions, batches, recalls and history.

A writer holds the shelf's lock, decides on the current state, and commits once. A batch is one
transaction. What differs between databases is in the subclasses: how one connects, who holds the
lock between processes, and how rows are erased.

The write lock is held as long as the lock between processes, `_mutex` only while the connection is
used, so that a reader here never waits for a writer elsewhere.
"""

from __future__ import annotations

import atexit
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from nuggets.domain.marks import unfinished_purge
from nuggets.domain.records import Changes, Touch
from nuggets.errors import InvalidInput, StoreBusy, StoreError, opened_before_fork
from nuggets.stores import process_lock
from nuggets.stores.sql.commit_writer import CommitWriter, apply_touches
from nuggets.stores.sql.schema import IndexSet, existing_kinds, read_meta, table_name
from nuggets.stores.sql.state import Damage, SqlState

if TYPE_CHECKING:
    from nuggets.domain.records import Defect, ExportsStatus
    from nuggets.stores.sql.history import History
    from nuggets.stores.sql.schema import Database, IndexKind
    from nuggets.stores.sql.shelf_copy import Copied

SECOND = len("2026-01-31T12:00:00")  # of a time
DAMAGE_SHOWN = 3  # names, of many damaged records


class Store(ABC):
    """All notes of one shelf, at a revision that grows by one with every write.

    What is abstract here is what a backend has to add.
    """

    directory: str  # where its files are; "" if it has none
    is_remote: bool  # on a database server? Then the directory holds what stays on this machine
    process: int  # that opened it; no other may use it, which a forked child could
    state: SqlState  # the current one; read it inside `reading` or `exclusive`

    def __init__(
        self,
        database: Callable[[], Database],
        kinds: Sequence[IndexKind],
        clock: Callable[[], str],
    ) -> None:
        self._asked = database
        self._kinds = kinds
        self._clock = clock
        self._damage: Damage = {}
        self.state = SqlState(database, self._damage)
        self._indexes = IndexSet(kinds, database, self.state)
        self.process = os.getpid()
        self._threads = threading.RLock()  # one of them writes
        self._depth = 0  # how often that one has taken the lock between processes
        self._mutex = threading.RLock()
        self._batch: CommitWriter | None = None
        self._batch_depth = 0
        self._kept_touches: list[Touch] = []  # not written yet
        self._touched_in = ""  # the second in which notes that were merely shown were last written
        self._has_committed = False  # since the lock was taken
        _stores.add(self)

    def _refuse_inherited(self) -> None:
        if self.process != os.getpid():
            raise opened_before_fork()

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """All reads inside see one revision. Never waits for a writer."""

    @abstractmethod
    def _take_process_lock(self, wait_seconds: float) -> None:
        """Keep other processes from writing until `_release_process_lock`."""

    @abstractmethod
    def _release_process_lock(self) -> None: ...

    @abstractmethod
    def _refuse_if_lock_was_lost(self) -> None:
        """Before a commit: raise an error if another process may write."""

    @abstractmethod
    def _explain_errors(self) -> AbstractContextManager[None]:
        """Errors of the database inside become errors that say what to do."""

    @abstractmethod
    def _prepare(self, *, import_edits: bool) -> None:
        """When the lock was taken: make sure that tables and indexes are current."""

    def _follow_commits(self) -> None:  # noqa: B027
        """After the lock was released, if anything was committed."""

    @abstractmethod
    def erase(self, note_ids: Collection[str]) -> list[str]:
        """Erase dropped notes from the history and all files; the paths. Cannot be undone."""

    @abstractmethod
    def private_copy(self) -> Store:
        """A temporary store that holds what this one holds now, or at the moment that is being
        read. Nobody else sees what is written to it."""

    @abstractmethod
    def copy_to(self, path: str) -> None:
        """Copy everything into an empty file; others may write meanwhile."""

    @property
    def has_unfinished_purge(self) -> bool:
        """Was a purge interrupted? Asked by a writer, when it holds the lock."""
        return bool(unfinished_purge(self.state.marks))

    @property
    @abstractmethod
    def unfinished_erasure(self) -> str:
        """Why a file may still hold what was erased; "" if none does."""

    @abstractmethod
    def find_defects(self, *, fix: bool) -> list[Defect]:
        """What is not in order with files, rows and indexes; `fix` mends what can be."""

    @abstractmethod
    def close(self) -> None:
        """Finish what is outstanding, and close all files."""

    # --- the documented files: a store may have none ------------------------------------------

    def refresh_exports(self) -> None:  # noqa: B027
        """Write all documented files at the current revision, however long that takes."""

    def follow_exports(self) -> None:  # noqa: B027
        """Write the documented files of a small shelf, and have those of a larger one written by
        another process. Never fails."""

    def exports_status(self) -> ExportsStatus | None:
        """The revision of the documented files; None if there are none."""
        return None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should do something about, such as files that cannot be read."""
        return ()

    # --- indexes, history ---------------------------------------------------------------------

    def needs_migration(self) -> bool:
        """Will the first read migrate tables or index all notes, which may take long?"""
        return False

    @property
    def indexes(self) -> Mapping[str, Any]:
        """The indexes of the current state by name."""
        self._indexes.follow_changes()
        return self._indexes

    def has_index(self, name: str) -> bool:
        """Does this shelf have the index? Read it inside `reading` or `exclusive`."""
        kind = self._indexes.kind(name)
        return kind is not None and bool(existing_kinds(read_meta(self._asked()), [kind]))

    def enable_index(self, name: str) -> None:
        """Make an optional index, unless the shelf has it."""
        kind = self._indexes.kind(name)
        if kind is None:
            raise InvalidInput(f"this store keeps no index for {name}; a directory does")
        with self.exclusive():
            if not self.has_index(name):
                with self._alone_in_transaction():
                    self._rebuild_indexes([kind])

    def disable_index(self, name: str) -> None:
        """Forget an optional index, and empty its tables."""
        kind = self._indexes.kind(name)
        with self.exclusive():
            if kind is None or not self.has_index(name):
                return
            with self._alone_in_transaction():
                for statement in kind.tables:
                    self._asked().execute(f"DELETE FROM {table_name(statement)}")
                self._asked().execute("DELETE FROM meta WHERE name = ?", (f"index {name}",))
                self._forget_indexes()

    @abstractmethod
    def _prepare_tables(self, kind: IndexKind) -> None:
        """Make sure that the tables of an index have today's form, and record that."""

    def _rebuild_indexes(self, kinds: Sequence[IndexKind]) -> None:
        """Make indexes from all notes. Inside a transaction."""
        for kind in kinds:
            self._prepare_tables(kind)
            self._forget_indexes()
            self.indexes[kind.name].rebuild(self.state.notes.with_places())

    def _forget_indexes(self) -> None:
        self._indexes.forget()

    @property
    def has_unsaved(self) -> bool:
        """Did an index compute anything that the next `touch` should save?"""
        return self._indexes.has_unsaved

    @property
    def position(self) -> tuple[int, str]:
        """The last revision and its time; 0 and "" at the beginning."""
        return self.state.position

    @property
    def history(self) -> History:
        """The commits that are still kept. Read it inside `reading` or `exclusive`."""
        from nuggets.stores.sql.history import History

        return History(self._asked(), self._damage)

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know of: no file that a purge would have to look into."""
        if not self._damage:
            return ()
        names = ", ".join(map(str, list(self._damage)[:DAMAGE_SHOWN]))  # an id may be lost
        return (
            f"{len(self._damage)} records in the database are damaged and were passed over: "
            f"{names}. `nuggets doctor --fix` takes them out; `nuggets purge` does so for one, by "
            "its id",
        )

    # --- writing ----------------------------------------------------------------------------

    @contextmanager
    def exclusive(
        self,
        wait_seconds: float | None = None,
        *,
        import_edits: bool = True,
        prepare: bool = True,
    ) -> Iterator[None]:
        """Nobody else writes inside. May be nested.

        If another holds the lock for too long, `StoreBusy` names it. `prepare`: make tables and
        indexes current first, and write in the end what `touch` kept back.
        """
        self._refuse_inherited()
        longest = process_lock.LOCK_SECONDS if wait_seconds is None else wait_seconds
        with self._one_thread(longest), self._explain_errors():
            self._take_lock(longest, import_edits=import_edits, prepare=prepare)
            try:
                yield
            finally:
                self._release_lock()
        if prepare:
            self.flush_touches()

    @contextmanager
    def _one_thread(self, wait_seconds: float) -> Iterator[None]:
        """Keep other threads of this process from writing."""
        if not self._threads.acquire(timeout=wait_seconds):
            raise StoreBusy("another thread of this process is writing; try again")
        try:
            yield
        finally:
            self._threads.release()

    def _take_lock(
        self, wait_seconds: float, *, import_edits: bool = True, prepare: bool = True
    ) -> None:
        """Keep other processes from writing until `_release_lock`. It is counted: a batch keeps the
        lock beyond the write that took it."""
        if not self._depth:
            self._take_process_lock(wait_seconds)
        self._depth += 1
        if prepare and self._depth == 1:
            try:
                self._prepare(import_edits=import_edits)
            except BaseException:
                self._release_lock()
                raise

    def _release_lock(self) -> None:
        self._depth -= 1
        if self._depth:
            return
        has_committed, self._has_committed = self._has_committed, False
        self._release_process_lock()
        if has_committed:
            self._follow_commits()

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
        if self._depth:  # a copy in memory needs none
            self._refuse_if_lock_was_lost()
        self._asked().commit()

    @contextmanager
    def _alone_in_transaction(self, *, durable: bool = True) -> Iterator[None]:
        with self._mutex, self._transaction(durable=durable):
            yield

    def _roll_back(self) -> None:
        """Roll back, and drop indexes, which may hold data of the transaction."""
        self._asked().rollback()
        self._forget_indexes()

    def write(self, changes: Changes) -> int:
        """Write all changes or none, durably unless in a batch; the new revision."""
        with self.exclusive(), self._mutex:
            if self._batch_depth:
                return self._write_in_batch(changes)
            if waiting := self._waiting_touches():
                changes = changes._replace(touches=(*waiting, *changes.touches))
            with self._transaction():
                revision = self._write_commit(changes)
            self._forget_waiting_touches()
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
        self._indexes.follow_changes()
        self._indexes.save()
        writer.finish(self._clock())

    # --- batches ----------------------------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        """All writes inside become one commit at the end; after an error, none."""
        with self._one_thread(process_lock.LOCK_SECONDS):
            before = self._savepoint()
            self._batch_depth += 1
            try:
                yield
            except BaseException:
                self._batch_depth -= 1
                if self.process == os.getpid():  # else it is the transaction of the parent
                    with self._mutex:
                        self._abandon(before)
                raise
            self._refuse_inherited()
            self._batch_depth -= 1
            if not self._batch_depth:
                with self._mutex:
                    self._commit_batch()
        self.flush_touches()

    def _write_in_batch(self, changes: Changes) -> int:
        """The first write of a batch takes the lock, until its end."""
        if self._batch is None:
            self._take_lock(process_lock.LOCK_SECONDS)
            try:
                self._asked().begin(writing=True)
            except BaseException:
                self._release_lock()
                raise
            self._batch = CommitWriter(self._asked(), self.state)
            self.state.keep(notes=False)
        self._apply(self._batch, changes)
        if changes.put_nuggets or changes.drop_nuggets or changes.marks:
            self.state.keep(notes=False)  # anew
        return self._batch.revision

    def _savepoint(self) -> Any:
        """What an inner batch rolls back to if it fails; None if nothing was written yet."""
        if self._batch is None:
            return None
        self._indexes.follow_changes()
        before = self._batch.copy()
        self._asked().execute(f"SAVEPOINT batch{self._batch_depth}")
        return before

    def _abandon(self, before: Any) -> None:
        if self._batch is None:
            return
        if before is not None:
            self._asked().execute(f"ROLLBACK TO batch{self._batch_depth}")
            self._forget_indexes()
            self.state.keep(notes=False)  # anew
            self._batch = before
        else:
            self._roll_back()
            self.state.forget()
            self._batch = None
            self._release_lock()

    def _commit_batch(self) -> None:
        writer, self._batch = self._batch, None
        if writer is None:
            return
        self.state.forget()
        try:
            writer.count(self._waiting_touches())
            self._finish(writer)
            self._commit()
            self._forget_waiting_touches()
            self._has_committed = True
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._release_lock()

    # --- recalls ----------------------------------------------------------------------------

    def touch(self, touches: Sequence[Touch]) -> None:
        """Count recalls. Never waits and never fails.

        A power cut may lose the last ones; a store that cannot be written counts none. Notes that
        were merely shown may be kept back for the next write, `flush_touches` or `close`.
        """
        if not self._threads.acquire(blocking=False):
            self._kept_touches += touches
            self.flush_touches()  # the other thread may be done by now
            return
        try:
            if self._batch is not None:
                with self._mutex, suppress(UnicodeError):  # a session's name need not be text
                    self._batch.count(touches)
            elif self._may_wait(touches):
                self._kept_touches += touches
            else:
                kept, self._kept_touches = self._kept_touches, []
                self._count((*kept, *touches))
        finally:
            self._threads.release()

    def _may_wait(self, touches: Sequence[Touch]) -> bool:
        """Were notes merely shown, and such notes written in the same second? A process that
        searches often would spend a fifth of its time on their times of access."""
        if not touches or any(touch.session for touch in touches):
            return False
        earlier, self._touched_in = self._touched_in, touches[-1].at[:SECOND]
        return self._touched_in == earlier

    def flush_touches(self) -> None:
        """Write what `touch` keeps back, so that the state shows it. Never waits and never
        fails."""
        if self._kept_touches and self._threads.acquire(blocking=False):
            try:
                if not self._depth and not self._batch_depth:  # else this thread is about to write
                    kept, self._kept_touches = self._kept_touches, []
                    self._count(kept)
            finally:
                self._threads.release()

    def _waiting_touches(self) -> tuple[Touch, ...]:
        """All recalls that wait for a commit. The caller holds the lock, and forgets them after the
        commit that counts them."""
        self._kept_waiting = len(self._kept_touches)  # other threads may add some meanwhile
        return (*self._recall_file.read(), *self._kept_touches)

    def _forget_waiting_touches(self) -> None:
        self._recall_file.forget_read()
        del self._kept_touches[: self._kept_waiting]

    def _count(self, touches: Sequence[Touch]) -> None:
        """Count at once if no other process is writing, without waiting for a sync.

        External edits are left to the next read or write: nothing here depends on them.
        """
        try:
            with self._mutex:
                if not self._depth:  # that of whoever has read what is counted
                    self._asked().rollback()
                    self.state.forget()
            with (
                self.exclusive(wait_seconds=0, import_edits=False),
                self._mutex,
                self._transaction(durable=False),
            ):
                self._write_recalls(touches)
        except (OSError, StoreError, UnicodeError):
            if self.directory:
                self._recall_file.append(touches)

    def count_waiting_recalls(self) -> None:
        """Count the recalls that met a locked shelf, before something is decided by recalls."""
        if self._batch is None and (self._kept_touches or not self._recall_file.is_empty()):
            with self.exclusive(), self._mutex:
                waiting = self._waiting_touches()
                with self._transaction():
                    self._write_recalls(waiting)
                self._forget_waiting_touches()

    @cached_property
    def _recall_file(self) -> process_lock.RecallFile:
        return process_lock.RecallFile(self.directory)

    def _write_recalls(self, touches: Sequence[Touch]) -> None:
        """Inside a transaction."""
        writer = CommitWriter(self._asked(), self.state)
        if writer.count(touches):
            writer.apply(Changes(action="recall"))
            self._finish(writer)
        self._indexes.save()

    # --- the rest ---------------------------------------------------------------------------

    def _erase_rows(self, note_ids: Collection[str]) -> None:
        """Erase dropped notes from the history and the indexes, in one transaction."""
        from nuggets.stores.sql.history import erase

        waiting = self._waiting_touches()
        with self._transaction():
            apply_touches(self._asked(), self.state.notes, waiting)
            erase(self._asked(), note_ids)
            for index in self._indexes.all():
                index.forget_traces(note_ids)
        self._forget_waiting_touches()

    def copy_from(
        self,
        source: Store,
        report: Callable[[str], None] = lambda text: None,
        *,
        dry_run: bool = False,
    ) -> Copied:
        """Copy everything from another store into this one, which must be empty. An interrupted
        copy leaves nothing. `report` is told what is being copied."""
        from nuggets.stores.sql.shelf_copy import copy_rows, plan_copy, tables_to_copy

        target_lock = self.reading() if dry_run else self.exclusive()
        with source.reading(), target_lock, self._mutex:
            theirs, tables = source._asked(), tables_to_copy(self._kinds)
            copied = plan_copy(theirs, self._asked(), tables)
            if not dry_run:
                with self._transaction():
                    copy_rows(theirs, self._asked(), tables, report)
                self._has_committed = True
                self._forget_indexes()
        return copied

    def believed_time(self) -> str:
        """Now; or an earlier moment if the clock has jumped ahead of all changes, which nothing has
        confirmed yet."""
        from nuggets.stores.sql.history import believed_time

        with self.reading():
            return believed_time(self._asked(), self._clock())

    def prune_history(self, before: str) -> None:
        """Delete the commits before a moment, except the last and those that exports need."""
        from nuggets.stores.sql.history import prune

        with self.exclusive(), self._mutex, self._transaction(durable=False):
            prune(self._asked(), before, self._clock())


_stores: WeakSet[Store] = WeakSet()


@atexit.register
def _finish() -> None:
    """A program may end without closing its shelves."""
    for store in list(_stores):
        if store.process == os.getpid():
            store.flush_touches()
            store.follow_exports()
