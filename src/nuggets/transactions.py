"""Every operation is a transaction: read what is there, decide, write.

Safe to share between threads; safe beside other processes. Knows no operation: what is decided is
the shelf's matter.

With `auto_save` every operation is written at once, and a batch is one transaction of the store.
Without it, operations wait (`batching.PendingOperation`) on top of what is stored until `save`,
which decides them again if someone else wrote meanwhile.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakSet

from nuggets.batching import Batch, PendingOperation, decided_again, no_longer_possible, united
from nuggets.errors import Conflict, NuggetsError, StoreBusy, StoreError
from nuggets.records import Changes, Touch
from nuggets.state import Overlay, State

if TYPE_CHECKING:
    from nuggets.facts.index import FactIndex
    from nuggets.search.index import SearchIndex
    from nuggets.stores.base import Store

TURN_SECONDS = 10.0  # as long as one waits for another thread; then someone is stuck

T = TypeVar("T")
Decision = tuple[Changes, T]


class View(NamedTuple):
    """What a reader sees: one revision, and the indexes over it."""

    state: State
    revision: int
    indexes: Mapping[str, Any]

    @property
    def facts(self) -> "FactIndex":
        found: FactIndex = self.indexes["fact"]
        return found

    @property
    def search(self) -> "SearchIndex":
        found: SearchIndex = self.indexes["search"]
        return found


class Transactions:
    """A store, and the operations on it that are not written yet."""

    def __init__(self, store: "Store", *, draw: Callable[[], str], auto_save: bool) -> None:
        self.store = store
        self._new_digits = draw
        self._drawn: list[str] = []  # digits of the operation that is being decided
        self._pending: list[PendingOperation] | None = None if auto_save else []
        self._pending_since = (0, "")  # where the store was when the first one was decided
        self._overlay: Overlay | None = None  # the store's state with the pending ones on top
        self._batch: Batch | None = None  # the outermost one
        self._batch_has_written = False
        self._has_read = False
        self._own = threading.local()
        self.begin_in_this_process()
        _all.add(self)

    def begin_in_this_process(self) -> None:
        """Other threads do not live on in a forked child, but what they hold and gather would."""
        self.lock = threading.RLock()  # around what is pending; nobody waits for a store inside it
        self._writing = threading.RLock()  # one writer of this process at a time
        self._known_digits: Iterator[str] = iter(())  # of an operation that is decided again
        self._waiting_touches: list[Touch] = []
        self._guest_touches: list[Touch] = []  # recalls by others than the one whose batch it is
        self._readers = 0  # nested; under the lock
        batch = self._batch
        if batch is not None and not batch.is_of_this_thread():
            if self._pending is not None:
                self._cut_back(batch.before or ())
            self._batch = None

    @property
    def state(self) -> State:
        """What is stored, with what is pending on top. Ask inside `reading` or `alone`."""
        if not self._pending:
            return self.store.state
        if self._overlay is None:
            self._overlay = Overlay(self.store.state)
            for operation in self._pending:
                self._overlay.apply(operation.changes)
        return self._overlay

    # --- reading ----------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[View]:
        """What is there now; it stays so inside. Whoever reads never waits for a writer.

        Recalls that are counted inside are written when it ends.
        """
        self._first_look()
        with self.lock, self._counting(), self.store.reading():
            yield self._view(self.state)

    def _first_look(self) -> None:
        """The first read may have to write what it finds, such as files of another program, and
        takes its turn."""
        if not self._has_read:
            with self._turn(), self.store.reading():
                self._has_read = True

    @contextmanager
    def reading_indexes(self) -> Iterator[View]:
        """The same for questions to an index, which knows only what is written: pending changes
        are shown to it as if they were."""
        if not self._changes_wait:
            with self.reading() as view:
                yield view
            return
        with (
            self._turn(),
            self.store.exclusive(),
            self.lock,
            self._counting(),
            self.store.preview(united(self._pending or ())),
        ):
            yield self._view(self.store.state)

    def _view(self, state: State) -> View:
        return View(state, self.store.position[0], self.store.indexes)

    @contextmanager
    def _counting(self) -> Iterator[None]:
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
        """Memories were shown; counted at the end of `reading`, and never waiting for a writer."""
        self._waiting_touches += touches

    def _count(self, touches: tuple[Touch, ...]) -> None:
        guest = self._batch is not None and not self._batch.is_ours()
        if self._pending is None:
            if guest:  # another task's: they must not go with its batch if that fails
                self._guest_touches += touches
            else:
                self.store.touch(touches)
            return
        changes = Changes(touches=touches)
        self._add_pending(PendingOperation(lambda: (changes, None), (), changes, guest))

    # --- writing ----------------------------------------------------------------------------

    def update(self, action: str, client: str, decide: Callable[[], Decision[T]]) -> T:
        """Decide on what is there now, write it as the client's doing, and give the result."""

        def decided() -> Decision[T]:
            changes, result = decide()
            if changes != Changes():
                changes = changes._replace(action=changes.action or action, client=client)
            return changes, result

        with self._turn():
            self._drawn = []
            if self._pending is None:
                with self.alone():
                    changes, result = decided()
                    if changes != Changes():
                        self.write(changes)
                    return result
            with self.lock, self.store.reading():
                changes, result = decided()
                if changes != Changes():
                    self._add_pending(PendingOperation(decided, tuple(self._drawn), changes))
                return result

    @contextmanager
    def _turn(self) -> Iterator[None]:
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
    def alone(self) -> Iterator[State]:
        """Nobody else writes inside, and the state is the newest.

        Whoever waits to get in holds up no reader.
        """
        with self._turn(), self.store.exclusive(), self.lock:
            self._has_read = True
            yield self.state

    def write(self, changes: Changes) -> None:
        """Must be called inside `alone`."""
        self._own.revision = self.store.write(changes)
        self._batch_has_written = self._batch is not None
        self._overlay = None

    @property
    def own_revision(self) -> int:
        """Of the last write by this thread; 0 if there was none."""
        return getattr(self._own, "revision", 0)

    def draw(self) -> str:
        """Random digits; the same again when a pending operation is decided again."""
        self._drawn.append(next(self._known_digits, "") or self._new_digits())
        return self._drawn[-1]

    # --- batches and pending operations -------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        """All changes inside become one write at the end; an error inside leaves what there was
        before, written or pending."""
        with self._turn():
            self._first_look()
            outer, before = self._batch, None if self._pending is None else list(self._pending)
            self._batch = outer or Batch.begun(before)
            try:
                if self._pending is None:
                    with self.store.batch():
                        yield
                else:
                    yield
            except BaseException:
                if before is not None:
                    with self.lock:
                        self._cut_back(before)
                raise
            finally:
                self._batch = outer
                self._batch_has_written = self._batch_has_written and outer is not None
                if outer is None and self._guest_touches:
                    touches, self._guest_touches = self._guest_touches, []
                    self.store.touch(touches)

    @property
    def has_pending_changes(self) -> bool:
        """Is there anything but recalls that is not written yet?"""
        return self._changes_wait or self._batch_has_written

    @property
    def _changes_wait(self) -> bool:
        return any(one.changes.action for one in self._pending or ())

    def settle(self) -> None:
        """For what nothing can take back: it builds on no change that is not written."""
        with self._turn():
            if self._batch is not None:
                raise Conflict("a batch that fails could not take this back; do it after the batch")
            self.save()

    def save(self) -> None:
        """Write what is pending, as one change: all of it or nothing.

        What cannot be done any more is told and let go: the next `save` writes the rest.
        """
        with self._turn():
            if not self._pending:
                return
            with self.alone():
                operations = self._pending
                try:
                    changes = united(self._possible(operations))
                    self.write(changes)
                    self._pending = []
                except BaseException:
                    self._pending = operations  # nothing else is lost: save again
                    raise
                finally:
                    self._overlay = None

    def close(self) -> None:
        """Save what is pending and leave the store in order."""
        with self._turn():
            try:
                self.save()
            except NuggetsError as problem:
                if not isinstance(problem, StoreError):
                    with suppress(NuggetsError):
                        self.save()  # the rest: nobody comes after this to do so
                    self.store.close()
                raise
            self.store.close()

    def _cut_back(self, before: Sequence[PendingOperation]) -> None:
        """To what was pending before, as far as it is not written by now."""
        known = set(map(id, before))
        self._pending = [one for one in self._pending or () if one.guest or id(one) in known]
        self._overlay = None

    def _add_pending(self, operation: PendingOperation) -> None:
        assert self._pending is not None
        with self.store.reading():
            if not self._pending:
                self._pending_since = self.store.position
            self._pending.append(operation)
            if self._overlay is not None:
                self._overlay.apply(operation.changes)

    def _possible(self, operations: list[PendingOperation]) -> Sequence[PendingOperation]:
        """Decided again if someone else wrote in between. What cannot be done any more goes from
        the list."""
        if self.store.position == self._pending_since:
            return operations
        self._pending, self._overlay = [], None  # not on top of what they are decided on
        done, stuck = decided_again(operations, self._decide_again)
        if not stuck:
            return done
        gone = {id(operation) for operation, _ in stuck}
        operations[:] = [one for one in operations if id(one) not in gone]
        way_out = ": save_all again for the rest, this is let go"
        raise no_longer_possible(stuck, way_out) from stuck[0][1]

    def _decide_again(self, operation: PendingOperation) -> PendingOperation:
        """The same operation on what is there now; what it made keeps its ids."""
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
