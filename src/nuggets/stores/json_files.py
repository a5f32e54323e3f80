"""The default store: a directory with the two documented kinds of file and a journal.

    ~/.nuggets/
      <name>.nugget.json, graph/graph.json    for people and other programs (pictures.py)
      journal/                                the truth (journal.py)
        hits.jsonl                            recalls that no commit has taken in yet (hits.py)
        lock                                  held while anything is committed
        <name>.kept                           derived, to begin with; may be thrown away

Readers never wait: they follow the journal. A writer holds the lock, takes in what others wrote
into the documented files, appends one line, and has the pictures painted: before it lets go when
the process is about to end, within a second in one that lives on.

Two locks keep threads apart: `_writer` is held as long as the lock file, `_mutex` only while what
is in memory changes, so that a reader here never waits for a writer elsewhere.
"""

import atexit
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from weakref import WeakSet

from nuggets import times
from nuggets.errors import StaleWrite, StoreBusy, StoreCorrupt, StoreError
from nuggets.files import is_leftover, private_directory, replace_file
from nuggets.records import Changes, Commit, Touch
from nuggets.stores.adoption import Adopt, Adoption
from nuggets.stores.hits import Hits
from nuggets.stores.journal import Journal
from nuggets.stores.lock import locked
from nuggets.stores.logs import Step, facts_of
from nuggets.stores.pictures import Pictures, Shown
from nuggets.stores.replica import Replica

LOCK_SECONDS = 10.0  # longer than any write here takes; then someone is stuck and should be named
LOOK_SECONDS = 0.5  # how often a long-lived process looks whether someone edited the files
PAINT_SECONDS = 0.8  # how far its pictures may lag; a second is what users are promised
HITS_BYTES = 1 << 16  # more recalls than this are taken into the journal at once


class JsonFileStore:
    """One directory, shared with any number of other processes."""

    def __init__(
        self,
        directory: str,
        adopt: Adopt,
        *,
        paint_seconds: float = PAINT_SECONDS,
        clock: Callable[[], str] = times.now,
    ) -> None:
        self.directory = directory
        self._clock = clock
        self._paint_seconds = paint_seconds
        self._journal = Journal(os.path.join(self.directory, "journal"))
        self._hits = Hits(self._journal.directory)
        self._pictures = Pictures(self.directory)
        self._replica = Replica(self._journal)
        self._adoption = Adoption(self._replica, self._pictures, adopt)
        self._looked = float("-inf")
        self._uncounted = False  # a recall of ours waits to be counted
        self._swept = False
        self._mutex = threading.RLock()
        self.begin_in_this_process()
        _stores.add(self)

    def begin_in_this_process(self) -> None:
        """Threads and the locks they hold do not live on in a forked child."""
        if not self._mutex.acquire(blocking=False):
            self._replica.loaded = False  # one of them may have been changing it
        self._writer = threading.RLock()
        self._mutex = threading.RLock()
        self._painter: threading.Timer | None = None
        self._holds_lock: Callable[[], bool] | None = None  # inside `exclusive`

    # --- the contract -----------------------------------------------------------------------

    def read(self, since: int) -> tuple[Changes, int]:
        writable = self._look_outside()
        with self._mutex:
            self._replica.refresh()
            revision = self._replica.position.revision
            changes = self._replica.changes(since)
            if since == 0 and not writable:
                return self._adoption.shown_with_edits(self._clock()).everything(), revision
            look = self._hits.waiting if since == 0 else self._hits.news
            touches = look(self._replica.position.revision)
            return changes._replace(touches=(*changes.touches, *touches)), revision

    def write(self, changes: Changes, expected: int) -> int:
        with self.exclusive():
            revision = self._replica.position.revision
            if revision != expected or self._replica.parted:
                raise StaleWrite(f"revision {revision} is not the {expected} you read; read again")
            self._commit(changes)
            return self._replica.position.revision

    @contextmanager
    def exclusive(self, wait_seconds: float = LOCK_SECONDS) -> Iterator[None]:
        if not self._writer.acquire(timeout=wait_seconds):
            raise StoreBusy("another thread of this process is writing; try again")
        try:
            if self._holds_lock is not None:
                yield
                return
            private_directory(self._journal.directory)
            with locked(os.path.join(self._journal.directory, "lock"), wait_seconds) as holds:
                self._holds_lock = holds
                try:
                    with self._mutex:
                        self._replica.refresh()
                    self._sweep()
                    self._take_in_edits()
                    yield
                    self._paint_or_later()
                finally:
                    self._holds_lock = None
        finally:
            self._writer.release()

    def touch(self, touches: Sequence[Touch]) -> None:
        with self._mutex:
            for touch in touches:
                note = self._replica.state.notes.get(touch.note_id)
                if note and touch.session and touch.session not in note.hit_sessions:
                    self._uncounted = True
        if self._hits.append(touches) > HITS_BYTES:
            self._count()

    def commits(self, since: int) -> Iterable[Commit]:
        from nuggets.stores.past import commits

        return list(commits(self._journal, since))

    def erase(self, note_ids: Collection[str]) -> list[str]:
        from nuggets.stores.erasing import erase

        with self.exclusive():
            for _ in range(2):  # those that a dead writer took, and those that came since
                if self._hits.waiting(self._replica.position.revision):
                    self._commit(Changes(action="recall"))  # so that they go with the rest
            self._paint()
            with self._mutex:
                changed = erase(self.directory, note_ids)
                self._replica.loaded = False  # the files we were following are others now
                self._replica.refresh()
            return changed

    def keep(self, name: str, parts: Iterable[bytes | memoryview], at: int) -> None:
        with suppress(OSError, StoreError), self.exclusive(wait_seconds=0):
            if at == self._replica.position.revision:
                replace_file(self._kept_path(name), parts, durable=False)

    def kept(self, name: str) -> bytes:
        try:
            with open(self._kept_path(name), "rb") as file:
                return file.read()
        except OSError:
            return b""

    def _kept_path(self, name: str) -> str:
        return os.path.join(self._journal.directory, f"{name}.kept")

    def close(self) -> None:
        painter, self._painter = self._painter, None
        if painter is not None:
            painter.cancel()
        # What was thrown away, as a temporary directory is, is not made anew to leave it in order.
        there = self._replica.loaded and os.path.isdir(self._journal.directory)
        if there and self._writer.acquire(timeout=LOCK_SECONDS):
            try:
                self._settle()  # once threads of our own are done
            finally:
                self._writer.release()

    @property
    def warnings(self) -> tuple[str, ...]:
        refused = self._pictures.refused().values()
        return tuple(f"{why}. Until then memory goes on without it" for why in refused)

    # --- committing, inside the lock --------------------------------------------------------

    def _commit(self, changes: Changes) -> None:
        with self._hits.taken() as touches, self._mutex:
            if self._holds_lock is None or not self._holds_lock():
                raise StoreBusy(
                    f"the lock file in {self._journal.directory} was taken away while it was held. "
                    "Nothing was changed; try again"
                )
            changes = changes._replace(touches=(*changes.touches, *touches))
            at = times.moment_after(self._replica.position.at, self._clock())
            before = self._replica.state.before(changes)
            position = self._journal.append(self._replica.position, at, changes, before)
            nuggets = frozenset(facts_of(changes) | facts_of(before))
            self._replica.advance(position, Step(position.revision, at, changes, nuggets))
            self._uncounted = False
        with suppress(OSError, StoreError), self._mutex:  # it stands; the next one tries again
            if self._journal.wants_snapshot(self._replica.position):
                self._replica.position = self._journal.snapshot(
                    self._replica.state, self._replica.position
                )

    def _settle(self) -> None:
        """Count our recalls and paint what is stale, unless someone else is writing: then they
        or the next one will."""
        if self._uncounted:
            self._count()
        self._paint_now(wait_seconds=0)

    def _count(self) -> None:
        with suppress(OSError, StoreError), self.exclusive(wait_seconds=0):
            self._commit(Changes(action="recall"))

    def _sweep(self) -> None:
        """Files that dead writers left unfinished. Nobody alive makes any without the lock."""
        if self._swept:
            return
        graph = os.path.dirname(self._pictures.graph_path)
        for directory in (self._journal.directory, graph, self.directory):
            with suppress(OSError):
                for name in filter(is_leftover, os.listdir(directory)):
                    os.unlink(os.path.join(directory, name))
        self._swept = True

    # --- what others wrote into the documented files ----------------------------------------

    def _look_outside(self) -> bool:
        """Take in what people and other programs wrote; False where nothing can be written."""
        if time.monotonic() - self._looked < LOOK_SECONDS and self._replica.loaded:
            return True
        with self._mutex:
            self._replica.refresh()
            if self._adoption.foreign():
                self._replica.refresh()  # a writer may have painted just after our last look
            if not self._adoption.foreign():
                self._looked = time.monotonic()
                return True
            born = self._replica.position.revision > 0
        try:
            with self.exclusive(wait_seconds=0 if born else LOCK_SECONDS):
                pass  # takes them in on the way
        except StoreCorrupt:
            raise
        except StoreBusy:
            return True  # whoever is writing takes them in
        except StoreError:
            return False
        return True

    def _take_in_edits(self) -> None:
        """Inside the lock: what others wrote becomes commits of its own, painted at once, so that
        nobody takes it in a second time."""
        self._looked = time.monotonic()
        took_in = False
        with self._mutex:
            for edited, changes in self._adoption.changes(self._clock):
                if changes is not None:
                    self._commit(changes)
                self._pictures.took_in(edited.path, edited.status)
                took_in = True
        if took_in:
            with suppress(StoreError):
                self._paint()

    # --- painting them ----------------------------------------------------------------------

    def _paint_or_later(self) -> None:
        """On the way out of the lock."""
        if not self._paint_seconds:
            with suppress(StoreError):  # the commit stands, and whoever comes next paints it
                self._paint()
        elif self._painter is None and self._is_stale():
            self._painter = painter = threading.Timer(self._paint_seconds, self._paint_now)
            painter.daemon = True
            try:
                painter.start()
            except RuntimeError:  # no thread to be had, as at the end of a process
                self._painter = None
                with suppress(StoreError):
                    self._paint()

    def _paint_now(self, wait_seconds: float = LOCK_SECONDS) -> None:
        self._painter = None
        with suppress(OSError, StoreError):  # whoever writes next paints it
            if self._is_stale():
                with self.exclusive(wait_seconds):
                    self._paint()

    def _is_stale(self) -> bool:
        now = Shown(self._replica.position.revision, self._replica.position.at)
        nuggets = set(self._replica.state.nuggets)  # at once: another thread may take a step
        return now.revision > 0 and not self._pictures.are_current(now, nuggets)

    def _paint(self) -> None:
        """Inside the lock. Readers here do not wait for it: nobody else can change the state."""
        if self._is_stale():
            from nuggets.stores.painting import paint

            paint(self._replica, self._pictures)


_stores: WeakSet[JsonFileStore] = WeakSet()


@atexit.register
def _close_all() -> None:
    """A process that ends leaves its pictures current, also if nobody closed its shelves."""
    for store in list(_stores):
        store.close()


def _begin_again() -> None:
    for store in list(_stores):
        store.begin_in_this_process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
