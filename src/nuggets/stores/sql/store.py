"""The store in a SQL database: transactions, batches, recalls and history.

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

from nuggets.domain.records import Changes, Touch
from nuggets.errors import InvalidInput, StoreError, opened_before_fork
from nuggets.stores import process_lock
from nuggets.stores.process_lock import WriteLock
from nuggets.stores.sql.commit_writer import CommitWriter, apply_touches
from nuggets.stores.sql.schema import IndexSet, existing_kinds, read_meta, record_format, table_name
from nuggets.stores.sql.state import Damage, SqlState

if TYPE_CHECKING:
    from nuggets.domain.records import Commit, CommitSummary, EarlierImage
    from nuggets.stores.base import Database, Store
    from nuggets.stores.recall_file import RecallFile
    from nuggets.stores.sql.schema import IndexKind
    from nuggets.stores.sql.shelf_copy import Copied

SECOND = len("2026-01-31T12:00:00")  # of a time
DAMAGE_SHOWN = 3  # names, of many damaged records


class SqlStore(ABC):
    """What stores in SQL databases have in common."""

    directory: str

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
        self._lock = WriteLock(self._take_process_lock, self._release_process_lock)
        self._mutex = threading.RLock()
        self._batch: CommitWriter | None = None
        self._batch_depth = 0
        self._deferred_touches: list[Touch] = []  # reported while another thread wrote
        self._kept_touches: dict[str, Touch] = {}  # by note: merely shown, and not written yet
        self._touched_in = ""  # the second in which notes that were merely shown were last written
        self._has_committed = False  # since the lock was taken
        _stores.add(self)

    def _refuse_inherited(self) -> None:
        if self.process != os.getpid():
            raise opened_before_fork()

    @abstractmethod
    def follow_exports(self) -> None: ...

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """All reads inside see one revision."""

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

    @property
    def indexes(self) -> Mapping[str, Any]:
        return self._indexes.ask()

    def has_index(self, name: str) -> bool:
        kind = self._indexes.kind(name)
        return kind is not None and bool(existing_kinds(read_meta(self._asked()), [kind]))

    def enable_index(self, name: str) -> None:
        kind = self._indexes.kind(name)
        if kind is None:
            raise InvalidInput(f"this store keeps no index for {name}; a directory does")
        with self.exclusive():
            if self.has_index(name):
                return
            with self._alone_in_transaction():
                self._make_tables(kind)
                self._asked().execute(record_format(kind))
                self._forget_indexes()
                self.indexes[name].rebuild(self.state.notes.with_places())

    def disable_index(self, name: str) -> None:
        kind = self._indexes.kind(name)
        with self.exclusive():
            if kind is None or not self.has_index(name):
                return
            with self._alone_in_transaction():
                self._drop_tables(kind)
                self._asked().execute("DELETE FROM meta WHERE name = ?", (f"index {name}",))
                self._forget_indexes()

    def _make_tables(self, kind: IndexKind) -> None:
        """Make the tables of an optional index."""
        for statement in kind.tables:
            self._asked().execute(statement)

    def _drop_tables(self, kind: IndexKind) -> None:
        for statement in kind.tables:
            self._asked().execute(f"DROP TABLE {table_name(statement)}")

    def _forget_indexes(self) -> None:
        self._indexes.forget()

    @property
    def has_unsaved(self) -> bool:
        return self._indexes.has_unsaved

    @property
    def position(self) -> tuple[int, str]:
        return self.state.position

    def commits(
        self, since: int = 0, note: str | None = None, *, newest_first: bool = False
    ) -> Iterator[Commit]:
        from nuggets.stores.sql.history import commits

        return commits(self._asked(), since, note, newest_first=newest_first, damage=self._damage)

    def commit_summaries(self, since: int = 0) -> Iterator[CommitSummary]:
        from nuggets.stores.sql.history import commit_summaries

        return commit_summaries(self._asked(), since, self._damage)

    def earlier_images(self, note: str) -> Iterator[EarlierImage]:
        from nuggets.stores.sql.history import earlier_images

        return earlier_images(self._asked(), note, self._damage)

    @property
    def notices(self) -> tuple[str, ...]:
        if not self._damage:
            return ()
        names = ", ".join(map(str, list(self._damage)[:DAMAGE_SHOWN]))  # an id may be lost
        return (
            f"{len(self._damage)} records in the database are damaged and were passed over: "
            f"{names}. `nuggets doctor --fix` takes them out; `nuggets purge` or `nuggets note "
            "delete --hard` does so for one, by its id",
        )

    def hits(self) -> Iterator[Touch]:
        from nuggets.stores.sql.history import counted_hits

        return counted_hits(self._asked())

    # --- writing ----------------------------------------------------------------------------

    @contextmanager
    def exclusive(
        self, wait_seconds: float | None = None, *, import_edits: bool = True
    ) -> Iterator[None]:
        self._refuse_inherited()
        longest = process_lock.LOCK_SECONDS if wait_seconds is None else wait_seconds
        self._lock.take_thread(longest)
        try:
            with self._explain_errors():
                self._take_lock(longest, import_edits=import_edits)
                try:
                    yield
                finally:
                    self._release_lock()
        finally:
            self._lock.release_thread()
        self._count_deferred()

    def _take_lock(self, wait_seconds: float, *, import_edits: bool = True) -> None:
        if self._lock.take(wait_seconds):
            try:
                self._prepare(import_edits=import_edits)
            except BaseException:
                self._release_lock()
                raise

    def _release_lock(self) -> None:
        has_committed = self._lock.depth == 1 and self._has_committed
        if has_committed:
            self._has_committed = False
        self._lock.release()
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
        if self._lock.depth:  # a copy in memory needs none
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
        self._lock.take_thread(process_lock.LOCK_SECONDS)
        try:
            if self._batch is not None:  # it holds the lock, and has prepared everything
                with self._explain_errors(), self._mutex:
                    return self._write_in_batch(changes)
        finally:
            self._lock.release_thread()
        with self.exclusive(), self._mutex:
            if self._batch_depth:
                return self._write_in_batch(changes)
            return self._write_alone(changes)

    def _write_alone(self, changes: Changes) -> int:
        with self._recall_file.take() as waiting, self._transaction():
            if waiting or self._kept_touches:
                touches = (*waiting, *self._kept_touches.values(), *changes.touches)
                changes = changes._replace(touches=touches)
            revision = self._write_commit(changes)
        self._kept_touches.clear()
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
        writer.finish(self._clock())

    # --- batches ----------------------------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock.thread(process_lock.LOCK_SECONDS):
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
        self._count_deferred()

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
            self.state.nuggets.keep()
        self._apply(self._batch, changes)
        if changes.put_nuggets or changes.drop_nuggets:
            self.state.nuggets.keep()  # anew
        return self._batch.revision

    def _savepoint(self) -> Any:
        """What an inner batch rolls back to if it fails; None if nothing was written yet."""
        if self._batch is None:
            return None
        self._indexes.update()
        before = self._batch.copy()
        self._asked().execute(f"SAVEPOINT batch{self._batch_depth}")
        return before

    def _abandon(self, before: Any) -> None:
        if self._batch is None:
            return
        if before is not None:
            self._asked().execute(f"ROLLBACK TO batch{self._batch_depth}")
            self._forget_indexes()
            self.state.nuggets.keep()  # anew
            self._batch = before
        else:
            self._roll_back()
            self.state.nuggets.forget()
            self._batch = None
            self._release_lock()

    def _commit_batch(self) -> None:
        writer, self._batch = self._batch, None
        if writer is None:
            return
        self.state.nuggets.forget()
        try:
            with self._recall_file.take() as waiting:
                writer.count((*waiting, *self._kept_touches.values()))
                self._finish(writer)
                self._commit()
            self._kept_touches.clear()
            self._has_committed = True
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._release_lock()

    # --- recalls ----------------------------------------------------------------------------

    def touch(self, touches: Sequence[Touch]) -> None:
        if not self._lock.try_thread():
            self._deferred_touches += touches
            self._count_deferred()  # the other thread may be done by now
            return
        try:
            if self._batch is not None:
                with self._mutex, suppress(UnicodeError):  # a session's name need not be text
                    self._batch.count(touches)
            elif not self._keep(touches):
                self._count_with_kept(touches)
        finally:
            self._lock.release_thread()

    def _keep(self, touches: Sequence[Touch]) -> bool:
        """Keep back notes that were merely shown, if such notes were written in the same second: a
        process that searches often would spend a tenth of its time on their times of access."""
        if not touches or any(touch.session for touch in touches):
            return False
        second = touches[-1].at[:SECOND]
        is_soon = second == self._touched_in
        self._touched_in = second
        if is_soon:
            self._kept_touches.update((touch.note_id, touch) for touch in touches)
        return is_soon

    def _count_with_kept(self, touches: Sequence[Touch]) -> None:
        kept, self._kept_touches = self._kept_touches, {}
        self._count((*kept.values(), *touches))

    def flush_touches(self) -> None:
        if self._kept_touches and self._lock.try_thread():
            try:
                if not self._lock.depth:  # else this thread is about to write
                    with suppress(OSError, StoreError):
                        self._count_with_kept(())
            finally:
                self._lock.release_thread()

    def _count_deferred(self) -> None:
        """Count recalls that were reported while another thread wrote, unless one still writes."""
        while self._deferred_touches and self._lock.try_thread():
            try:
                if self._lock.depth or self._batch_depth:
                    return
                touches, self._deferred_touches = self._deferred_touches, []
                self._count(touches)
            finally:
                self._lock.release_thread()

    def _count(self, touches: Sequence[Touch]) -> None:
        """Count at once if no other process is writing, without waiting for a sync.

        External edits are left to the next read or write: nothing here depends on them.
        """
        try:
            with self._mutex:
                if not self._lock.depth:  # that of whoever has read what is counted
                    self._asked().rollback()
            with (
                self.exclusive(wait_seconds=0, import_edits=False),
                self._mutex,
                self._transaction(durable=False),
            ):
                self._write_recalls(touches)
        except (OSError, StoreError, UnicodeError):
            if self.directory:
                self._recall_file.append(touches)

    @cached_property
    def _recall_file(self) -> RecallFile:
        from nuggets.stores.recall_file import RecallFile  # a read needs none of it

        return RecallFile(self.directory)

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

        with self._recall_file.take() as waiting, self._transaction():
            apply_touches(self._asked(), waiting)
            erase(self._asked(), note_ids)
            for index in self._indexes.all():
                index.forget_traces(note_ids)

    def copy_from(
        self,
        source: Store,
        report: Callable[[str], None] = lambda text: None,
        *,
        dry_run: bool = False,
    ) -> Copied:
        from nuggets.stores.sql.shelf_copy import copy_rows, plan_copy, tables_to_copy

        assert isinstance(source, SqlStore)  # there are no others
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
        from nuggets.stores.sql.history import believed_time

        with self.reading():
            return believed_time(self._asked(), self._clock())

    def prune_history(self, before: str) -> None:
        """Delete old commits in small transactions, so that nobody waits long."""
        from nuggets.stores.sql.history import prune_some

        more = True
        while more:
            with self.exclusive(), self._mutex, self._transaction(durable=False):
                more = prune_some(self._asked(), before, self._clock())


_stores: WeakSet[SqlStore] = WeakSet()


@atexit.register
def _finish() -> None:
    """A program may end without closing its shelves."""
    for store in list(_stores):
        if store.process == os.getpid():
            store.flush_touches()
            store.follow_exports()
