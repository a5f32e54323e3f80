"""The rhythm of every operation: read what is new, decide, write, index.

Safe to share between threads; safe beside other processes. Knows no operation: what is decided is
the shelf's matter.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nuggets.errors import NuggetsError, StaleWrite
from nuggets.picture import Picture
from nuggets.records import Changes, Touch
from nuggets.state import State, merged

if TYPE_CHECKING:
    from nuggets.stores.base import Store

T = TypeVar("T")
Decision = tuple[Changes, T]


class Step(NamedTuple):
    """An operation that is gathered: what it decided, and how to decide it again."""

    decide: Callable[[], Decision[Any]]
    drawn: tuple[str, ...]  # random digits of the ids it gave away
    changes: Changes
    guest: bool = False  # a recall of another thread than the one whose batch this is


class Rhythm:
    """A store, the picture of it in this process, and what is gathered but not written yet."""

    def __init__(self, store: "Store", *, draw: Callable[[], str], auto_save: bool) -> None:
        self.store = store
        self.picture = self._new_picture()
        self.lock = threading.RLock()  # around the picture; nobody waits for a store inside it
        self._writing = threading.RLock()  # one writer of this process at a time
        self._has_read = False
        self._draw = draw
        self._drawn: list[str] = []  # digits of the step that is being decided
        self._steps: list[Step] | None = None if auto_save else []
        self._gathered_at = 0  # the revision on which the first step was decided
        self._batch_of: int | None = None  # the thread that gathers until the end of its batch
        self._own = threading.local()

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

        with self._writing:
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
    def reading(self) -> Iterator[Picture]:
        """What is there now; it stays so inside. Whoever reads never waits for a store.

        But for the first time: that may have to write what it finds, and takes its turn.
        """
        with nullcontext() if self._has_read else self._writing, self.lock:
            self.catch_up()
            yield self.picture

    @contextmanager
    def alone(self) -> Iterator[State]:
        """Nobody else writes inside, and the state is the newest.

        Whoever waits to get in holds up no reader.
        """
        with self._writing, self.store.exclusive(), self.lock:
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
            changes, revision = self.store.read(since=self.picture.revision)
        except StaleWrite:  # too far behind for a difference
            self.picture = self._new_picture()
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
            guest = self._batch_of not in (None, threading.get_ident())
            self._gather(Step(lambda: (changes, None), (), changes, guest))
            return
        self.picture.apply(changes)
        self.store.touch(touches)

    def draw(self) -> str:
        """Random digits; the same again when a gathered operation is decided again."""
        self._drawn.append(self._draw())
        return self._drawn[-1]

    def forget_picture(self) -> None:
        """Read everything anew: what the store ever said may have changed."""
        self.picture = self._new_picture()
        self.catch_up()

    # --- gathering ----------------------------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Gather all changes inside into one write at the end; an error inside writes nothing."""
        with self._writing:
            if self._steps is not None:
                yield  # an outer batch, or auto_save=False, writes
                return
            with self.lock:
                self._steps, self._batch_of = [], threading.get_ident()
            try:
                yield
                self.save()
            finally:
                with self.lock:
                    self._end_batch()

    def save(self) -> None:
        """Write what was gathered, as one change: all of it or nothing."""
        with self._writing:
            if not self._steps:
                return
            steps = self._steps
            with self.alone():
                try:
                    changes = self._settled(steps)
                    self._steps = []
                    self.write(changes)
                except BaseException:
                    self._steps = steps  # nothing is lost: correct what is wrong and save again
                    with suppress(NuggetsError):
                        self.forget_picture()  # and nothing out of sight
                    raise

    def close(self) -> None:
        """Save what was gathered and leave the store in order."""
        with self._writing:
            self.save()
            with self.lock:
                index = self.picture.search_to_keep()
                revision = self.picture.revision
            if index is not None:
                self.store.keep("search", index, revision)
            self.store.close()

    def _end_batch(self) -> None:
        """What is left was not written. Of a batch that failed it goes, but for what other
        threads recalled meanwhile: they know nothing of its failure."""
        left, self._steps, self._batch_of = self._steps or [], None, None
        if not all(step.guest for step in left):
            self.picture = self._new_picture()  # it shows what was never written
        seen = tuple(touch for step in left if step.guest for touch in step.changes.touches)
        if seen:
            self.store.touch(seen)

    def _gather(self, step: Step) -> None:
        assert self._steps is not None
        if not self._steps:
            self._gathered_at = self.picture.revision
        self._steps.append(step)
        self.picture.apply(step.changes)

    def _settled(self, steps: Sequence[Step]) -> Changes:
        """All that was gathered as one; decided again if someone else wrote in between."""
        if self.picture.revision != self._gathered_at:
            self._steps = None
            self.forget_picture()
            steps = [self._again(step) for step in steps]
        changes = merged(step.changes for step in steps)
        actions = {step.changes.action or "recall" for step in steps}
        clients = [step.changes.client for step in steps if step.changes.client]
        return changes._replace(
            action=actions.pop() if len(actions) == 1 else "save",
            client=clients[-1] if clients else "",
        )

    def _again(self, step: Step) -> Step:
        """The same operation on what is there now; what it made keeps its ids."""
        draw, known = self._draw, iter(step.drawn)
        self._draw = lambda: next(known, None) or draw()
        try:
            changes, _ = step.decide()
        finally:
            self._draw = draw
        self.picture.apply(changes)
        return step._replace(changes=changes)
