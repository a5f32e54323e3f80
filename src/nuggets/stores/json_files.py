"""The default store: a directory with the two documented kinds of file and a journal.

    ~/.nuggets/
      <name>.nugget.json, graph/graph.json    for people and other programs (pictures.py)
      journal/                                the truth (journal.py)
        hits.jsonl                            recalls that no commit has taken in yet (hits.py)
        lock                                  held while anything is written

Readers never wait: they follow the journal. A writer holds the lock, takes in what others wrote
into the documented files, appends one line, and has the pictures painted: before it lets go when
the process is about to end, within a second in one that lives on.

Two locks keep threads apart: `_writer` is held as long as the lock file, `_mutex` only while what
is in memory changes, so that a reader here never waits for a writer elsewhere.
"""

import atexit
import gc
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from weakref import WeakSet

from nuggets import times
from nuggets.errors import StaleWrite, StoreBusy, StoreCorrupt, StoreError
from nuggets.files import LOCK_SECONDS, is_leftover, locked, private_directory
from nuggets.records import Changes, Commit, OutsideEdit, Touch
from nuggets.state import State, merged
from nuggets.stores.edits import Edited, read_edit
from nuggets.stores.hits import Hits
from nuggets.stores.journal import Journal, Moved, Position, Step, facts_of, next_moment
from nuggets.stores.pictures import GRAPH_FIELDS, Pictures, Shown, version_of
from nuggets.text import folded

LOOK_SECONDS = 0.5  # how often a long-lived process looks whether someone edited the files
PAINT_SECONDS = 0.8  # how far its pictures may lag; a second is what users are promised
HITS_BYTES = 1 << 16  # more recalls than this are taken into the journal at once

Adopt = Callable[[State, State | None, OutsideEdit, str], Changes]
"""Decide what an edit means: (what we hold, what its author saw or None, the edit, now)."""


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
        self.directory = os.path.abspath(os.path.expanduser(directory))
        self._adopt = adopt
        self._clock = clock
        self._paint_seconds = paint_seconds
        self._journal = Journal(os.path.join(self.directory, "journal"))
        self._hits = Hits(self._journal.directory)
        self._pictures = Pictures(self.directory)
        self._state = State()
        self._position = Position()
        self._recent: deque[Step] = deque()
        self._loaded = False
        self._looked = float("-inf")
        self._uncounted = False  # a recall of ours waits to be counted
        self._swept = False
        self.begin_in_this_process()
        _stores.add(self)

    def begin_in_this_process(self) -> None:
        """Threads and the locks they hold do not live on in a forked child."""
        self._writer = threading.RLock()
        self._mutex = threading.RLock()
        self._painter: threading.Timer | None = None
        self._holds_lock: Callable[[], bool] | None = None  # inside `exclusive`

    # --- the contract -----------------------------------------------------------------------

    def read(self, since: int) -> tuple[Changes, int]:
        writable = self._look_outside()
        with self._mutex:
            self._refresh()
            if since == 0 and not writable:
                return self._with_edits().everything(), self._position.revision
            changes = self._changes(since)
            touches = self._hits.waiting() if since == 0 else self._hits.news()
            return changes._replace(touches=(*changes.touches, *touches)), self._position.revision

    def write(self, changes: Changes, expected: int) -> int:
        with self.exclusive():
            if self._position.revision != expected:
                raise StaleWrite(
                    f"revision {self._position.revision} is newer than {expected}; read again"
                )
            self._commit(changes)
            return self._position.revision

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
                        self._refresh()
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
                note = self._state.notes.get(touch.note_id)
                if note and touch.session and touch.session not in note.hit_sessions:
                    self._uncounted = True
        if self._hits.append(touches) > HITS_BYTES:
            self._settle()

    def commits(self, since: int) -> Iterable[Commit]:
        return list(self._journal.commits(since))

    def erase(self, note_ids: Collection[str]) -> list[str]:
        from nuggets.stores.erasing import erase

        with self.exclusive():
            self._commit(Changes(action="recall"))  # recalls of it that wait come in, and go
            self._paint()
            with self._mutex:
                changed = erase(self.directory, note_ids)
                self._loaded = False  # the files we were following are others now
                self._refresh()
            return changed

    def close(self) -> None:
        painter, self._painter = self._painter, None
        if painter is not None:
            painter.cancel()
        if self._loaded and self._writer.acquire(timeout=LOCK_SECONDS):
            try:
                self._settle()  # once threads of our own are done
            finally:
                self._writer.release()

    # --- following the journal --------------------------------------------------------------

    def _refresh(self) -> None:
        """Take over what others committed."""
        if self._loaded and not self._journal.moved_on(self._position):
            return
        if self._loaded:
            with suppress(Moved):
                self._position, steps = self._journal.follow(self._position)
                for step in steps:
                    self._state.apply(step.changes)
                    self._recent.append(step)
                return
        with _collector_off():
            self._state, self._position, self._recent = self._journal.load()
        self._loaded = True

    def _changes(self, since: int) -> Changes:
        if since == 0:
            return self._state.everything()
        if since == self._position.revision:
            return Changes()
        steps = self._steps(since)
        if steps is None:
            raise StaleWrite(f"the history no longer reaches back to revision {since}; read it all")
        return merged(step.changes for step in steps)

    def _steps(self, since: int) -> list[Step] | None:
        """All steps after a revision; None if they are not in memory."""
        first = self._recent[0].revision if self._recent else self._position.revision + 1
        if not first - 1 <= since <= self._position.revision:
            return None
        return [step for step in self._recent if step.revision > since]

    # --- committing, inside the lock --------------------------------------------------------

    def _commit(self, changes: Changes) -> None:
        with self._hits.taken() as touches, self._mutex:
            if self._holds_lock is None or not self._holds_lock():
                raise StoreBusy(
                    f"the lock file in {self._journal.directory} was taken away while it was held. "
                    "Nothing was changed; try again"
                )
            changes = changes._replace(touches=(*changes.touches, *touches))
            at = next_moment(self._position.at, self._clock())
            before = self._state.before(changes)
            self._position = self._journal.append(self._position, at, changes, before)
            nuggets = frozenset(facts_of(changes) | facts_of(before))
            self._recent.append(Step(self._position.revision, at, changes, nuggets))
            self._state.apply(changes)
            self._uncounted = False
        with suppress(OSError, StoreError), self._mutex:  # it stands; the next one tries again
            if self._journal.wants_snapshot(self._position):
                self._position = self._journal.snapshot(self._state, self._position)

    def _settle(self) -> None:
        """Count our recalls and paint what is stale, unless someone else is writing: then they
        or the next one will."""
        with suppress(OSError, StoreError):
            if self._uncounted:
                with self.exclusive(wait_seconds=0):
                    self._commit(Changes(action="recall"))
        self._paint_now(wait_seconds=0)

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
        if time.monotonic() - self._looked < LOOK_SECONDS and self._loaded:
            return True
        with self._mutex:
            self._refresh()
            if self._foreign():
                self._refresh()  # a writer may have painted just after our last look
            if not self._foreign():
                self._looked = time.monotonic()
                return True
            born = self._position.revision > 0
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

    def _foreign(self) -> list[str]:
        return self._pictures.foreign(self._wrote, self._took_in)

    def _wrote(self, path: str, shown: Shown) -> bool:
        """Is a picture that shows this one of our own? One from another shelf would look alike."""
        if shown.revision > self._position.revision:
            return False
        moment = self._moment(shown.revision)
        if moment is None:
            known = folded(self._pictures.name_of(path)) in self._state.nuggets
            if known or path == self._pictures.graph_path:
                return True  # too old to be proved, and too likely to read all history for it
            past = self._past(shown.revision)
            moment = past[1] if past else None
        return moment == shown.saved_at

    def _moment(self, revision: int) -> str | None:
        if revision == self._position.revision:
            return self._position.at
        place = revision - (self._recent[0].revision if self._recent else revision + 1)
        return self._recent[place].at if 0 <= place < len(self._recent) else None

    def _took_in(self, label: str, version: list[int]) -> bool:
        return self._state.marks.get(label) == version

    def _take_in_edits(self) -> None:
        """Inside the lock: what others wrote becomes commits of its own, painted at once, so that
        nobody takes it in a second time."""
        self._looked = time.monotonic()
        with self._mutex:
            edits = self._edits()
        for edited, base in edits:
            changes = self._adopted(self._state, edited, base)
            if changes is not None:
                self._commit(changes)
            self._pictures.took_in(edited.path, edited.status)
        if edits:
            with suppress(StoreError):
                self._paint()

    def _with_edits(self) -> State:
        """What a reader sees where the edits can be read but nothing can be written."""
        state = self._state.copy()
        for edited, base in self._edits():
            changes = self._adopted(state, edited, base)
            if changes is not None:
                state.apply(changes)
        return state

    def _edits(self) -> list[tuple[Edited, State | None]]:
        """Every edited file with what its author saw."""
        edits = [read_edit(path, self._pictures.graph_path) for path in self._foreign()]
        claimed = self._pictures.claimed()
        seen: set[str] = set()
        found = []
        for edited in edits:
            base = self._base(edited, claimed)
            fold = folded(edited.edit.nugget.name) if edited.edit.nugget else ""
            # Of two spellings of a name the second only adds: it cannot mean the first is gone.
            found.append((edited, None if fold in seen else base))
            seen.add(fold)
        return found

    def _base(self, edited: Edited, claimed: Shown | None) -> State | None:
        """The state that an edited file showed before; None if it never was a picture of ours."""
        if self._position.revision == 0:
            return State()  # nothing is ours yet
        if edited.shown is None:
            return self._state.copy()  # a program wrote it whole: what it saw last, we suppose
        past = self._past(edited.shown.revision)
        if past is None and edited.edit.nugget is not None and claimed is not None:
            # Too long ago to be looked up. The graph says how far all the pictures are.
            edited, past = edited._replace(shown=claimed), self._past(claimed.revision)
        if past is None or edited.shown is None or past[1] != edited.shown.saved_at:
            return None
        return past[0]

    def _past(self, revision: int) -> tuple[State, str] | None:
        if revision == self._position.revision:
            return self._state.copy(), self._position.at
        return self._journal.state_at(revision)

    def _adopted(self, state: State, edited: Edited, base: State | None) -> Changes | None:
        """The changes that take a file in; None if it says nothing new."""
        changes = self._adopt(state, base, edited.edit, self._clock())
        marks = dict(changes.marks)
        if edited.edit.nugget is None:
            fields = dict(edited.fields)
            if edited.shown is None:
                fields = {**state.marks.get(GRAPH_FIELDS, {}), **fields}
            if fields != state.marks.get(GRAPH_FIELDS, {}):
                marks[GRAPH_FIELDS] = fields or None
        if changes._replace(action="", client="", marks=marks) == Changes():
            return None
        marks[self._pictures.label(edited.path)] = version_of(edited.status)
        return changes._replace(marks=marks)

    # --- painting them ----------------------------------------------------------------------

    def _paint_or_later(self) -> None:
        """On the way out of the lock."""
        if not self._paint_seconds:
            with suppress(StoreError):  # the commit stands, and whoever comes next paints it
                self._paint()
        elif self._painter is None and self._is_stale():
            self._painter = threading.Timer(self._paint_seconds, self._paint_now)
            self._painter.daemon = True
            self._painter.start()

    def _paint_now(self, wait_seconds: float = LOCK_SECONDS) -> None:
        self._painter = None
        with suppress(OSError, StoreError):  # whoever writes next paints it
            if self._is_stale():
                with self.exclusive(wait_seconds):
                    self._paint()

    def _is_stale(self) -> bool:
        shown = Shown(self._position.revision, self._position.at)
        if not shown.revision:
            return False
        return self._pictures.shown() != shown or bool(
            self._pictures.incomplete(self._state.nuggets)
        )

    def _paint(self) -> None:
        """Inside the lock: what changed since the revision that the pictures show. Readers here
        do not wait for it: nobody can change the state while we hold the lock."""
        if not self._is_stale():
            return
        shown = self._pictures.shown()
        steps = self._steps(shown.revision) if shown else None
        notes: set[str] | None = None
        nuggets = set(self._state.nuggets)
        if steps is not None:
            notes, nuggets = set(), set()
            for step in steps:
                notes |= _ids(step.changes)
                nuggets |= self._nuggets_shown(step)
        nuggets |= self._pictures.incomplete(self._state.nuggets)
        now = Shown(self._position.revision, self._position.at)
        self._pictures.paint(self._state, now, notes, nuggets)

    def _nuggets_shown(self, step: Step) -> set[str]:
        """Folded names of the nuggets whose files a step changes."""
        names = {config.name for config in step.changes.put_nuggets}
        names.update(step.changes.drop_nuggets, step.fact_nuggets)
        for touch in step.changes.touches:
            note = self._state.notes.get(touch.note_id)
            if note is not None:
                names.add(note.nugget_name)
        return set(map(folded, names))


def _ids(changes: Changes) -> set[str]:
    touched = (touch.note_id for touch in changes.touches)
    return {*(note.id for note in changes.put), *changes.drop, *touched}


@contextmanager
def _collector_off() -> Iterator[None]:
    """Loading makes many objects and no garbage: the collector would only look at them all."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


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
