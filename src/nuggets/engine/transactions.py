"""Every operation is a transaction: read the current state, decide, write.

Safe to share between threads and to use beside other processes. Knows no operation: the shelf
decides what changes.

With `auto_save` every operation is written at once, and a batch is one transaction of the store.
Without it, operations are pending (`batching.PendingOperation`) on top of the stored state until
`save`, which decides them again if someone else wrote meanwhile.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from nuggets.domain.purge_marks import UNFINISHED_PURGE, unfinished_purge
from nuggets.domain.records import NO_CHANGES, Changes, Touch
from nuggets.domain.state import Overlay, State, read_marks
from nuggets.engine.batching import (
    Batch,
    PendingOperation,
    inapplicable_error,
    redecide_operations,
    unite_operations,
)
from nuggets.errors import Conflict, NuggetsError, StoreBusy, StoreError
from nuggets.named_tuple import NamedTuple
from nuggets.operations.membership import TEAM, is_team, refuse_private

if TYPE_CHECKING:
    from nuggets.facts.fact_index import FactIndex
    from nuggets.search.search_index import SearchIndex
    from nuggets.stores.base import Store

TURN_SECONDS = 10.0  # how long a writer waits for another thread, which is stuck after that

T = TypeVar("T")
Decision = tuple[Changes, T]


class View(NamedTuple):
    """One revision as a reader sees it, with the indexes over it."""

    state: State
    indexes: Mapping[str, Any]

    @property
    def facts(self) -> "FactIndex":
        index: FactIndex = self.indexes["fact"]
        return index

    @property
    def search(self) -> "SearchIndex":
        index: SearchIndex = self.indexes["search"]
        return index


class Transactions:
    """A store, and the operations on it that are not written yet."""

    def __init__(
        self,
        store: "Store",
        *,
        draw: Callable[[], str],
        auto_save: bool,
        finish_purge: Callable[[], None] = lambda: None,
    ) -> None:
        """`finish_purge`: called by the first writer after a purge that was interrupted."""
        self.store = store
        self._finish_purge = finish_purge
        self._new_digits = draw
        self._drawn: list[str] = []  # digits of the operation that is being decided
        self._pending: list[PendingOperation] | None = None if auto_save else []
        self._pending_since = (0, "")  # where the store was when the first one was decided
        self._overlay: Overlay | None = None  # the store's state with the pending ones on top
        self._batch: Batch | None = None  # the outermost one
        self._batch_has_written = False
        self._has_read = False
        self._is_team: bool | None = None  # whether the shelf is one, if that was asked
        self._own = threading.local()
        self.begin_in_this_process()
        _all.add(self)

    def begin_in_this_process(self) -> None:
        """In a forked child: drop locks and batches of threads that exist only in the parent."""
        self.lock = threading.RLock()  # guards pending operations; never waits for the store
        self._writing = threading.RLock()  # one writer of this process at a time
        self._known_digits: Iterator[str] = iter(())  # of an operation that is decided again
        self._waiting_touches: list[Touch] = []
        self._guest_touches: list[Touch] = []  # recalls by other tasks than the batch's owner
        self._readers = 0  # nested; under the lock
        self._is_previewing = False  # under the lock
        batch = self._batch
        if batch is not None and not batch.is_of_this_thread():
            if self._pending is not None:
                self._restore_pending(batch.before or ())
            self._batch = None

    @property
    def state(self) -> State:
        """The stored state with pending changes on top. Read it inside `reading` or `exclusive`."""
        if not self._pending or self._is_previewing:
            return self.store.state
        if self._overlay is None:
            self._overlay = Overlay(self.store.state)
            for operation in self._pending:
                self._overlay.apply(operation.changes)
        return self._overlay

    # --- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self, *, flush: bool = True) -> Iterator[View]:
        """A view of one revision, which does not change inside. Never waits for a writer.

        Recalls that are reported inside (`touch`) are counted when it ends. `flush`: notes that
        earlier queries have shown are written first.
        """
        with self._reading(flush=flush) as view:
            yield view

    @contextmanager
    def _reading(self, *, flush: bool) -> Iterator[View]:
        with self.lock:
            if self._readers:  # nested: the same revision, and the lock is held already
                yield self._view(self.state)
                return
        if flush:
            self.store.flush_touches()
        self._prepare_first_read()
        with self.lock, self._touch_scope(), self.store.reading():
            yield self._view(self.state)

    def _prepare_first_read(self) -> None:
        """The first read may import edited files or migrate tables, so it waits for writers."""
        if not self._has_read:
            with self._writer_turn(), self.store.reading():
                self._has_read = True

    @contextmanager
    def reading_indexes(self) -> Iterator[View]:
        """The same for queries to an index. Indexes know only written notes, so pending changes are
        written in a transaction that is rolled back at the end. Notes that earlier queries have
        shown need not be written first."""
        with self.lock:
            shows_pending = self._is_previewing or not self._has_waiting_changes
        if shows_pending:
            with self._reading(flush=False) as view:
                yield view
            return
        with (
            self._writer_turn(),
            self.store.exclusive(),
            self.lock,
            self._touch_scope(),
            self.store.preview(unite_operations(self._pending or ())),
        ):
            self._is_previewing = True
            try:
                yield self._view(self.store.state)
            finally:
                self._is_previewing = False

    def _view(self, state: State) -> View:
        return View(state, self.store.indexes)

    @contextmanager
    def _touch_scope(self) -> Iterator[None]:
        self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                touches, self._waiting_touches = tuple(self._waiting_touches), []
                if touches:
                    self._count(touches)
                elif self.store.has_unsaved:
                    self.store.touch(())

    def touch(self, touches: tuple[Touch, ...]) -> None:
        """Count recalls at the end of `reading`, without waiting for a writer."""
        self._waiting_touches += touches

    def _count(self, touches: tuple[Touch, ...]) -> None:
        guest = self._batch is not None and not self._batch.is_ours()
        if self._pending is None:
            if guest:  # they must not be lost with another task's batch
                self._guest_touches += touches
            else:
                self.store.touch(touches)
            return
        changes = Changes(touches=touches)
        self._add_pending(PendingOperation(lambda: (changes, None), (), changes, guest))

    # --- writing ----------------------------------------------------------------------------

    def update(self, action: str, client: str, decide: Callable[[], Decision[T]]) -> T:
        """Decide on the current state, write the changes in the client's name; the result."""

        def decide_for_client() -> "Decision[T]":  # quoted: it would be computed at every update
            changes, result = decide()
            if changes != NO_CHANGES:
                changes = changes._replace(action=changes.action or action, client=client)
            return changes, result

        with self._writer_turn():
            self._drawn = []
            if self._pending is None:
                with self.store.exclusive(), self.lock:
                    self._has_read = True
                    self._finish_interrupted_purge()
                    changes, result = decide_for_client()
                    if changes != NO_CHANGES:
                        self.write(changes)
                    return result
            with self.lock, self.store.reading():
                changes, result = decide_for_client()
                if changes != NO_CHANGES:
                    self._add_pending(
                        PendingOperation(decide_for_client, tuple(self._drawn), changes)
                    )
                return result

    def _finish_interrupted_purge(self) -> None:
        """Inside the lock. A failure is told by the shelf's warnings; the write goes on."""
        if self._batch is not None:
            return
        marks = read_marks(self.store.state.marks, (UNFINISHED_PURGE, TEAM))
        self._is_team = is_team(marks)
        if unfinished_purge(marks):
            with suppress(NuggetsError, OSError):
                self._finish_purge()

    @contextmanager
    def _writer_turn(self) -> Iterator[None]:
        """One writer of this process at a time."""
        writing = self._writing  # a child that is forked inside has another
        if not writing.acquire(timeout=TURN_SECONDS):
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
            writing.release()

    @contextmanager
    def exclusive(self) -> Iterator[State]:
        """Nobody else writes inside, and the state is the newest.

        Readers are not blocked while this waits for its turn.
        """
        self.store.flush_touches()
        with self._writer_turn(), self.store.exclusive(), self.lock:
            self._has_read = True
            if self._batch is None:
                self._is_team = None
            yield self.state

    def write(self, changes: Changes) -> None:
        """Must be called inside `exclusive`."""
        refuse_private(self._is_of_team, changes.put)
        self._own.revision = self.store.write(changes)
        if self._batch is None:
            self._is_team = None  # once the lock is let go anyone may add a member
        self._batch_has_written = self._batch is not None
        self._overlay = None

    def _is_of_team(self) -> bool:
        """Inside the lock."""
        if self._is_team is None:
            self._is_team = is_team(self.store.state.marks)
        return self._is_team

    @property
    def own_revision(self) -> int:
        """The revision of the last write by this thread; 0 if there was none."""
        return getattr(self._own, "revision", 0)

    def draw(self) -> str:
        """Random digits; the same again when a pending operation is decided again."""
        self._drawn.append(next(self._known_digits, "") or self._new_digits())
        return self._drawn[-1]

    # --- batches and pending operations -------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        """All changes inside become one write at the end; after an error, none of them is made."""
        with self._writer_turn():
            self._prepare_first_read()
            outer, before = self._batch, None if self._pending is None else list(self._pending)
            self._batch = outer or Batch.begin(before)
            if outer is None:
                self._is_team = None
            try:
                if self._pending is None:
                    with self.store.batch():
                        yield
                else:
                    yield
            except BaseException:
                if before is not None:
                    with self.lock:
                        self._restore_pending(before)
                raise
            finally:
                self._batch = outer
                self._batch_has_written = self._batch_has_written and outer is not None
                if outer is None and self._guest_touches:
                    touches, self._guest_touches = self._guest_touches, []
                    self.store.touch(touches)

    @property
    def defers_writes(self) -> bool:
        """Is this a batch, or are operations written later?"""
        return self._pending is not None or self._batch is not None

    @property
    def has_pending_changes(self) -> bool:
        """Is there anything but recalls that is not written yet?"""
        return self._has_waiting_changes or self._batch_has_written

    @property
    def _has_waiting_changes(self) -> bool:
        return any(operation.changes.action for operation in self._pending or ())

    def settle(self) -> None:
        """Save everything pending before something that cannot be undone; refused in a batch."""
        with self._writer_turn():
            if self._batch is not None:
                raise Conflict("a batch that fails could not take this back; do it after the batch")
            self.save()

    def save(self) -> None:
        """Write all pending operations as one change, or none.

        The error names those that no longer apply, and drops them: the next `save` writes the rest.
        """
        with self._writer_turn():
            if not self._pending:
                return
            with self.exclusive():
                self._finish_interrupted_purge()
                operations = self._pending
                try:
                    changes = unite_operations(self._redecide_if_stale(operations))
                    self.write(changes)
                    self._pending = []
                except BaseException:
                    self._pending = operations  # they can be saved again
                    raise
                finally:
                    self._overlay = None

    def close(self) -> None:
        """Save what is pending, and close the store."""
        with self._writer_turn():
            try:
                self.save()
            except NuggetsError as problem:
                if not isinstance(problem, StoreError):
                    with suppress(NuggetsError):
                        self.save()  # the remaining operations: this is the last chance
                    self.store.close()
                raise
            self.store.close()

    def _restore_pending(self, before: Sequence[PendingOperation]) -> None:
        """Drop pending operations that a failed batch added; those of other tasks stay."""
        earlier_ids = set(map(id, before))
        self._pending = [
            operation
            for operation in self._pending or ()
            if operation.guest or id(operation) in earlier_ids
        ]
        self._overlay = None

    def _add_pending(self, operation: PendingOperation) -> None:
        assert self._pending is not None
        with self.store.reading():
            if not self._pending:
                self._pending_since = self.store.position
            self._pending.append(operation)
            if self._overlay is not None:
                self._overlay.apply(operation.changes)

    def _redecide_if_stale(self, operations: list[PendingOperation]) -> Sequence[PendingOperation]:
        """The operations, decided again if someone else wrote meanwhile. Those that no longer apply
        are removed from the list, and named in an error."""
        if self.store.position == self._pending_since:
            return operations
        self._pending, self._overlay = (
            [],
            None,
        )  # the state that they are decided on must not contain them
        done, stuck = redecide_operations(operations, self._decide_again)
        if not stuck:
            return done
        stuck_ids = {id(operation) for operation, _ in stuck}
        operations[:] = [operation for operation in operations if id(operation) not in stuck_ids]
        way_out = ": these are dropped; save_all again writes the rest"
        raise inapplicable_error(stuck, way_out) from stuck[0][1]

    def _decide_again(self, operation: PendingOperation) -> PendingOperation:
        """The same operation decided on the current state; notes that it creates keep their ids."""
        self._known_digits = iter(operation.drawn)
        try:
            changes, _ = operation.decide()
        finally:
            self._known_digits = iter(())
        again = operation._replace(changes=changes)
        self._add_pending(again)
        return again


_all: WeakSet[Transactions] = WeakSet()


def _begin_again() -> None:
    for transactions in list(_all):
        transactions.begin_in_this_process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
