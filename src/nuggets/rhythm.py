"""The rhythm of every operation: read what is new, decide, write, index.

Safe to share between threads; safe beside other processes. Knows no operation: what is decided is
the shelf's matter.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from nuggets.errors import Conflict, NuggetsError, StaleWrite, StoreBusy, StoreError
from nuggets.gathering import Batch, Step, as_one, decided_again, not_any_more
from nuggets.picture import Picture
from nuggets.records import Changes, Touch
from nuggets.state import State

if TYPE_CHECKING:
    from nuggets.stores.base import Store

TURN_SECONDS = 10.0  # as long as one waits for another process; then someone is stuck

T = TypeVar("T")
Decision = tuple[Changes, T]


class Rhythm:
    """A store, the picture of it in this process, and what is gathered but not written yet."""

    def __init__(self, store: "Store", *, draw: Callable[[], str], auto_save: bool) -> None:
        self.store = store
        self.picture = self._new_picture()
        self._has_read = False
        self._new_digits = draw
        self._drawn: list[str] = []  # digits of the step that is being decided
        self._steps: list[Step] | None = None if auto_save else []
        self._gathered_at = 0  # the revision on which the first step was decided
        self._batch: Batch | None = None  # the outermost one
        self._own = threading.local()
        self.lock = threading.RLock()
        self.begin_in_this_process()
        _rhythms.add(self)

    def begin_in_this_process(self) -> None:
        """Other threads do not live on in a forked child, but what they hold and gather would."""
        if not self.lock.acquire(blocking=False):
            self.picture = self._new_picture()  # one of them may have been changing it
        self.lock = threading.RLock()  # around the picture; nobody waits for a store inside it
        self._writing = threading.RLock()  # one writer of this process at a time
        self._known_digits: Iterator[str] = iter(())  # of a step that is decided again
        batch = self._batch
        if batch is not None and not batch.is_of_this_thread():
            self._cut_back(batch.before or ())
            self._steps = None if batch.before is None else self._steps
            self._batch = None

    def _new_picture(self) -> Picture:
        return Picture(lambda: self.store.kept("search"))

    @property
    def state(self) -> State:
        return self.picture.state

    def update(self, action: str, client: str, decide: Callable[[], Decision[T]]) -> T:
        """Decide on what is there now, write it as the client's doing, and give the result."""

        def decided() -> Decision[T]:
            changes, result = decide()
            if changes != Changes():
                changes = changes._replace(action=changes.action or action, client=client)
            return changes, result

        with self._turn():
            self._drawn = []
            if self._steps is None:
                with self.alone():
                    changes, result = decided()
                    if changes != Changes():
                        self.write(changes)
                    return result
            with self.lock:
                self.catch_up()
                changes, result = decided()
                if changes != Changes():
                    self._gather(Step(decided, tuple(self._drawn), changes))
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
    def reading(self) -> Iterator[Picture]:
        """What is there now; it stays so inside. Whoever reads never waits for a store.

        But for the first time: that may have to write what it finds, and takes its turn.
        """
        with nullcontext() if self._has_read else self._turn(), self.lock:
            self.catch_up()
            yield self.picture

    @contextmanager
    def alone(self) -> Iterator[State]:
        """Nobody else writes inside, and the state is the newest.

        Whoever waits to get in holds up no reader.
        """
        with self._turn(), self.store.exclusive(), self.lock:
            yield self.catch_up()

    def write(self, changes: Changes) -> None:
        """For whoever is alone."""
        self.store.write(changes, expected=self.picture.revision)
        self.catch_up()
        self._own.revision = self.picture.revision

    @property
    def own_revision(self) -> int:
        """Of the last write by this thread; 0 if there was none."""
        return getattr(self._own, "revision", 0)

    def catch_up(self) -> State:
        """Bring the picture to the store's revision; what was gathered stays on top."""
        try:
            changes, revision = self.store.read(since=max(0, self.picture.revision))
        except StaleWrite:  # too far behind for a difference, or on a history that is gone
            self.picture = self._new_picture()
            self._gathered_at = self.picture.revision
            changes, revision = self.store.read(since=0)
        self._has_read = True
        self.picture.apply(changes)
        if revision != self.picture.revision:
            self.picture.revision = revision
            for step in self._steps or ():
                self.picture.apply(step.changes)
        return self.picture.state

    def touch(self, touches: tuple[Touch, ...]) -> None:
        """Memories were shown; this never waits for a writer."""
        changes = Changes(touches=touches)
        if not touches:
            return
        if self._steps is not None:
            guest = self._batch is not None and not self._batch.is_ours()
            self._gather(Step(lambda: (changes, None), (), changes, guest))
            return
        self.picture.apply(changes)
        self.store.touch(touches)

    def draw(self) -> str:
        """Random digits; the same again when a gathered operation is decided again."""
        self._drawn.append(next(self._known_digits, "") or self._new_digits())
        return self._drawn[-1]

    def forget_picture(self) -> None:
        """Read everything anew: what the store ever said may have changed."""
        self.picture = self._new_picture()
        self.catch_up()

    # --- gathering ----------------------------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Gather all changes inside into one write at the end; an error inside leaves what there
        was before, written or gathered."""
        with self._turn():
            with self.reading():
                outer, before = self._batch, self._steps
                self._batch = outer or Batch.begun(before)
                self._steps = list(before or ())
            try:
                yield
                if before is None:  # else an outer batch writes, or `save`
                    self.save()
            except BaseException:
                with self.lock:
                    self._cut_back(before or ())
                raise
            finally:
                with self.lock:
                    self._batch = outer
                    if before is None:
                        self._write_at_once()

    @property
    def is_gathering(self) -> bool:
        """Is there anything but recalls that is not written yet?"""
        return any(step.changes.action for step in self._steps or ())

    def settle(self) -> None:
        """For what nothing can take back: it builds on no change that is not written."""
        with self._turn():
            if self._batch is not None:
                raise Conflict("a batch that fails could not take this back; do it after the batch")
            self.save()

    def save(self) -> None:
        """Write what was gathered, as one change: all of it or nothing.

        What cannot be done any more is told and let go: the next `save` writes the rest. Not so in
        a batch, which is one thing.
        """
        with self._turn():
            if not self._steps:
                return
            with self.alone():
                steps = self._steps
                try:
                    changes = as_one(self._settled(steps))
                    self._steps = []
                    self.write(changes)
                except BaseException:
                    self._steps = steps  # nothing else is lost: save again
                    with suppress(NuggetsError):
                        self.forget_picture()  # and nothing out of sight
                    raise

    def close(self) -> None:
        """Save what was gathered and leave the store in order."""
        with self._turn():
            try:
                self.save()
            except NuggetsError as problem:
                if not isinstance(problem, StoreError):
                    with suppress(NuggetsError):
                        self.save()  # the rest: nobody comes after this to do so
                    self.store.close()
                raise
            with self.lock:
                index = self.picture.search_to_keep()
                revision = self.picture.revision
            if index is not None:
                self.store.keep("search", index, revision)
            self.store.close()

    def _write_at_once(self) -> None:
        """No more gathering. All that may be left are recalls, by others than those whose batch it
        was: they know nothing of its failure."""
        left, self._steps = self._steps or [], None
        seen = tuple(touch for step in left for touch in step.changes.touches)
        if seen:
            self.store.touch(seen)

    def _cut_back(self, before: Sequence[Step]) -> None:
        """To what was gathered before, as far as it is not written by now."""
        known = set(map(id, before))
        left = [step for step in self._steps or () if step.guest or id(step) in known]
        if len(left) != len(self._steps or ()):
            self._steps, self.picture = left, self._new_picture()

    def _gather(self, step: Step) -> None:
        assert self._steps is not None
        if not self._steps:
            self._gathered_at = self.picture.revision
        self._steps.append(step)
        self.picture.apply(step.changes)

    def _settled(self, steps: list[Step]) -> Sequence[Step]:
        """Decided again if someone else wrote in between. What cannot be done any more goes from
        the list, unless that is a batch's."""
        if self.picture.revision == self._gathered_at:
            return steps
        self._steps = []  # not on top of what they are decided on
        self.forget_picture()
        done, stuck = decided_again(steps, self._again)
        if not stuck:
            return done
        if self._batch is not None:
            raise not_any_more(stuck, "") from stuck[0][1]
        gone = {id(step) for step, _ in stuck}
        steps[:] = [step for step in steps if id(step) not in gone]
        raise not_any_more(stuck, ": save_all again for the rest, this is let go") from stuck[0][1]

    def _again(self, step: Step) -> Step:
        """The same operation on what is there now; what it made keeps its ids."""
        self._known_digits = iter(step.drawn)
        try:
            changes, _ = step.decide()
        finally:
            self._known_digits = iter(())
        self.picture.apply(changes)
        return step._replace(changes=changes)


_rhythms: WeakSet[Rhythm] = WeakSet()


def _begin_again() -> None:
    for rhythm in list(_rhythms):
        rhythm.begin_in_this_process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
