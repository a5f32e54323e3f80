"""Every operation is a transaction: read the current state, decide, write. And the indexes that
every store keeps over the notes.

Safe to share between threads and to use beside other processes. Knows no operation: the shelf
decides what changes.

With `auto_save` every operation is written at once, and a batch is one transaction of the store.
Without it, everything is read from a private copy of the store that has the unsaved changes in it,
until `save` writes them (`unsaved_changes.py`).
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from nuggets import encoder, facts, search
from nuggets.domain.records import NO_CHANGES, Changes, Touch
from nuggets.domain.state import Database, State
from nuggets.errors import Conflict, NuggetsError, StoreBusy, opened_before_fork
from nuggets.named_tuple import NamedTuple
from nuggets.operations.permissions import refuse_private
from nuggets.stores.sql.schema import IndexKind

if TYPE_CHECKING:
    from nuggets.encoder.vector_index import VectorIndex
    from nuggets.facts.fact_index import FactIndex
    from nuggets.operations.unsaved_changes import UnsavedChanges
    from nuggets.search.search_index import SearchIndex
    from nuggets.stores.sql.state import SqlState
    from nuggets.stores.sql.store import Store


# --- the indexes over a shelf's notes, as every store makes them ----------------------------------


def _facts(database: Database, state: State) -> "FactIndex":
    from nuggets.facts.fact_index import FactIndex

    return FactIndex(database, state.notes.many, lambda: state.nuggets)


def _search(database: Database, state: State) -> "SearchIndex":
    from nuggets.search.search_index import SearchIndex

    return SearchIndex(database, state.notes.many, state.notes.values)


def _vectors(database: Database, state: State) -> "VectorIndex":
    from nuggets.encoder.vector_index import VectorIndex

    return VectorIndex(database, state.notes.many, state.notes.values)


KINDS = (
    IndexKind("fact", facts.FORMAT, facts.TABLES, _facts),
    IndexKind("search", search.FORMAT, search.TABLES, _search),
    IndexKind("encoder", encoder.FORMAT, encoder.TABLES, _vectors, optional=True),
)


# --- reading and writing --------------------------------------------------------------------------


TURN_SECONDS = 10.0  # how long a writer waits for another thread, which is stuck after that

T = TypeVar("T")
Decision = tuple[Changes, T]


class View(NamedTuple):
    """One revision as a reader sees it, with the indexes over it."""

    state: "SqlState"
    indexes: Mapping[str, Any]

    @property
    def facts(self) -> "FactIndex":
        index: FactIndex = self.indexes["fact"]
        return index

    @property
    def search(self) -> "SearchIndex":
        index: SearchIndex = self.indexes["search"]
        return index


class Batch(NamedTuple):
    """The owner of a batch."""

    thread: int
    task: object  # None outside of asyncio: then everything in the thread belongs to the batch

    def is_ours(self) -> bool:
        return self.thread == threading.get_ident() and self.task in (None, _current_task())


class Transactions:
    """A store, and the changes of it that are not written yet."""

    def __init__(
        self,
        store: "Store",
        *,
        auto_save: bool,
        finish_purge: Callable[[], None] = lambda: None,
    ) -> None:
        """`finish_purge`: called by the first writer after a purge that was interrupted."""
        self._store = store
        self._finish_purge = finish_purge
        self._unsaved = None if auto_save else _unsaved_changes(store)
        self._batch: Batch | None = None  # the outermost one
        self._batch_has_written = False
        self._has_read = False
        self._own = threading.local()
        self.lock = threading.RLock()  # guards unsaved changes; never waits for the store
        self._writing = threading.RLock()  # one writer of this process at a time
        self._waiting_touches: list[Touch] = []
        self._view: View | None = None  # of who reads, under the lock

    @property
    def store(self) -> "Store":
        """Refused in a forked child, where a thread of the parent may seem to hold the locks."""
        if self._store.process != os.getpid():
            raise opened_before_fork()
        return self._store

    @property
    def state(self) -> "SqlState":
        """The stored state, or that with the unsaved changes. Read it inside `reading` or
        `exclusive`."""
        return self._current().state

    def _current(self) -> "Store":
        return self.store if self._unsaved is None else self._unsaved.current()

    @contextmanager
    def _read_current(self) -> Iterator[View]:
        """Inside `reading` of the store."""
        current = self._current()
        with nullcontext() if current is self._store else current.reading():
            yield View(current.state, current.indexes)

    # --- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self, *, flush: bool = True) -> Iterator[View]:
        """A view of one revision, which does not change inside. Never waits for a writer.

        Recalls that are reported inside (`touch`) are counted when it ends. `flush`: notes that
        earlier queries have shown are written first; a query to an index does without.
        """
        store = self.store
        with self.lock:
            if self._view is not None:  # nested: the same revision, and the lock is held already
                yield self._view
                return
        if flush:
            store.flush_touches()
        with ExitStack() as first_turn:
            if not self._has_read:  # it may import edited files, so its beginning waits for writers
                first_turn.enter_context(self._writer_turn())
            with self.lock, store.reading(), self._read_current() as view:
                self._has_read, self._view = True, view
                first_turn.close()
                try:
                    yield view
                finally:
                    self._view = None
                    touches, self._waiting_touches = tuple(self._waiting_touches), []
                    if touches:
                        self._count(touches)
                    elif store.has_unsaved:
                        store.touch(())

    def touch(self, touches: tuple[Touch, ...]) -> None:
        """Count recalls at the end of `reading`, without waiting for a writer."""
        self._waiting_touches += touches

    def _count(self, touches: tuple[Touch, ...]) -> None:
        if self._unsaved is None:
            self.store.touch(touches)
        else:
            with self.store.reading():
                self._unsaved.add(Changes(touches=touches), self.store.state)

    # --- writing ----------------------------------------------------------------------------

    def update(self, action: str, client: str, decide: Callable[[], Decision[T]]) -> T:
        """Decide on the current state, write the changes in the client's name; the result."""

        def decide_for_client() -> "Decision[T]":  # quoted: it would be computed at every update
            changes, result = decide()
            if changes != NO_CHANGES:
                changes = changes._replace(action=changes.action or action, client=client)
            return changes, result

        with self._writer_turn():
            if self._unsaved is None:
                with self.store.exclusive(), self.lock:
                    self._has_read = True
                    self._finish_interrupted_purge()
                    changes, result = decide_for_client()
                    if changes != NO_CHANGES:
                        self.write(changes)
                    return result
            with self.lock, self.store.reading(), self._read_current() as view:
                changes, result = decide_for_client()
                if changes != NO_CHANGES:
                    self._unsaved.add(changes, view.state)
                return result

    def _finish_interrupted_purge(self) -> None:
        """Inside the lock. A failure is told by the shelf's warnings; the write goes on."""
        if self._batch is None and self.store.has_unfinished_purge:
            with suppress(NuggetsError, OSError):
                self._finish_purge()

    @contextmanager
    def _writer_turn(self) -> Iterator[None]:
        """One writer of this process at a time."""
        if self._store.process != os.getpid():
            raise opened_before_fork()
        if not self._writing.acquire(timeout=TURN_SECONDS):
            what = "in a batch: write in the thread of the batch, or" if self._batch else "writing:"
            raise StoreBusy(f"another thread is {what} try again later. Nothing was changed")
        try:
            if self._batch is not None and not self._batch.is_ours():
                raise StoreBusy(
                    "another task is in a batch, and waits in it: let there be no await inside, or "
                    "try again later. Nothing was changed"
                )
            yield
        finally:
            self._writing.release()

    @contextmanager
    def exclusive(self) -> "Iterator[SqlState]":
        """Nobody else writes inside, and the state is the newest.

        Readers are not blocked while this waits for its turn.
        """
        self.store.flush_touches()
        with self._writer_turn(), self.store.exclusive(), self.lock:
            self._has_read = True
            current = self._current()
            with nullcontext() if current is self.store else current.reading():
                yield current.state

    def write(self, changes: Changes) -> None:
        """Must be called inside `exclusive`."""
        refuse_private(self.store.state.marks, changes.put)
        self._own.revision = self.store.write(changes)
        self._batch_has_written = self._batch is not None

    @property
    def own_revision(self) -> int:
        """The revision of the last write by this thread; 0 if there was none."""
        return getattr(self._own, "revision", 0)

    # --- batches and unsaved changes ----------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        """All changes inside become one write at the end; after an error, none of them is made."""
        with self._writer_turn():
            if not self._has_read:
                with self.store.reading():
                    self._has_read = True
            outer, unsaved_before = self._batch, list(self._unsaved or ())
            self._batch = outer or Batch(threading.get_ident(), _current_task())
            try:
                if self._unsaved is None:
                    with self.store.batch():
                        yield
                else:
                    yield
            except BaseException:
                if self._unsaved is not None:
                    with self.lock:
                        self._unsaved.keep(unsaved_before)
                raise
            finally:
                self._batch = outer
                self._batch_has_written = self._batch_has_written and outer is not None

    @property
    def defers_writes(self) -> bool:
        """Is this a batch, or are changes written later?"""
        return self._unsaved is not None or self._batch is not None

    @property
    def has_pending_changes(self) -> bool:
        """Is there anything but recalls that is not written yet?"""
        has_unsaved = self._unsaved is not None and not self._unsaved.are_only_recalls
        return has_unsaved or self._batch_has_written

    def settle(self) -> None:
        """Save everything before something that cannot be undone; refused in a batch."""
        with self._writer_turn():
            if self._batch is not None:
                raise Conflict("a batch that fails could not take this back; do it after the batch")
            self.save()

    def save(self, *, partly: bool = False) -> None:
        """Write all unsaved changes as one, or none: `Conflict` names what others have changed as
        well, and all stay unsaved. `partly`: only these stay, and the rest is written."""
        with self._writer_turn():
            if self._unsaved:
                with self.exclusive():
                    self._finish_interrupted_purge()
                    self._unsaved.save(self.write, partly=partly)

    def discard(self, name: str | None) -> None:
        """Drop all unsaved changes, or those of one note, nugget or mark."""
        with self._writer_turn(), self.lock:
            if self._unsaved is not None:
                self._unsaved.discard(name)

    def close(self) -> None:
        """Save what can be saved, and close the store; a forked child leaves that to its parent."""
        if self._store.process != os.getpid():
            return
        with self._writer_turn():
            try:
                self.save(partly=True)
            finally:
                self.store.close()


def _unsaved_changes(store: "Store") -> "UnsavedChanges":
    from nuggets.operations.unsaved_changes import UnsavedChanges  # few shelves need it

    return UnsavedChanges(store)


def _current_task() -> object:
    """The current asyncio task, or None. Does not import asyncio, which is slow to load."""
    current = getattr(sys.modules.get("asyncio"), "current_task", None)
    if current is not None:
        with suppress(RuntimeError):  # no loop runs in this thread
            return current()
    return None
