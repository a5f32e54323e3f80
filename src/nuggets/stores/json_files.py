"""The default store: a directory with the two documented kinds of file and a journal.

    ~/.nuggets/
      <name>.nugget.json, graph/graph.json    for people and other programs (pictures.py)
      journal/                                the truth (journal.py)
        hits.jsonl                            recalls that no commit has taken in yet
        lock                                  held while anything is written

Readers never wait: they follow the journal. A writer holds the lock, takes in what others wrote
into the documented files, appends one line, and has the pictures painted: before it lets go when
the process is about to end, within a second in one that lives on.
"""

import atexit
import gc
import json
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from nuggets import codec, times
from nuggets.errors import StaleWrite, StoreCorrupt, StoreError
from nuggets.files import LOCK_SECONDS, locked, private_directory, sync_directory
from nuggets.records import Changes, OutsideEdit, Touch
from nuggets.state import State, merged
from nuggets.stores.journal import Commit, Journal, Moved, Position, next_moment
from nuggets.stores.pictures import Pictures
from nuggets.text import folded

LOOK_SECONDS = 0.5  # how often a long-lived process looks whether someone edited the files
PAINT_SECONDS = 0.8  # how far its pictures may lag; a second is what users are promised
HITS_BYTES = 1 << 16  # more recalls than this are taken into the journal at once
RECENT = 64  # commits kept in memory, to answer what changed lately

Adopt = Callable[[State, State, OutsideEdit, str], Changes]
"""Decide what an edit means: (what we hold, what its author saw, the edit, now) -> changes."""


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
        self._mutex = threading.RLock()  # the painter comes from a thread of its own
        self._journal = Journal(os.path.join(self.directory, "journal"))
        self._pictures = Pictures(self.directory)
        self._state = State()
        self._position = Position("", 0, 0, 0)
        self._recent: deque[Commit] = deque(maxlen=RECENT)
        self._last_at = ""
        self._loaded = False
        self._depth = 0  # inside `exclusive`
        self._looked = float("-inf")
        self._hits_seen = (0, 0)
        self._uncounted = False  # a recall of ours waits in hits.jsonl to be counted
        self._painter: threading.Timer | None = None
        self._stale: set[str] | None = set()  # notes whose picture is old; None: all
        self._stale_nuggets: set[str] = set()

    # --- the contract -----------------------------------------------------------------------

    def read(self, since: int) -> tuple[Changes, int]:
        with self._mutex:
            self._refresh()
            self._look_outside()
            changes = self._changes(since)
            pending = self._pending_touches(everything=since == 0)
            return (
                changes._replace(touches=(*changes.touches, *pending)),
                self._position.revision,
            )

    def write(self, changes: Changes, expected: int) -> int:
        with self._mutex, self.exclusive():
            self._refresh()
            if self._position.revision != expected:
                raise StaleWrite(
                    f"revision {self._position.revision} is newer than {expected}; read again"
                )
            self._commit(changes)
            return self._position.revision

    @contextmanager
    def exclusive(self, wait_seconds: float = LOCK_SECONDS) -> Iterator[None]:
        with self._mutex:
            if self._depth:
                yield
                return
            self._make_directories()
            with locked(os.path.join(self._journal.directory, "lock"), wait_seconds):
                self._depth += 1
                try:
                    self._refresh()
                    self._look_outside(now=True)
                    yield
                    self._paint_or_later()
                finally:
                    self._depth -= 1

    def touch(self, touches: Sequence[Touch]) -> None:
        with self._mutex:
            for touch in touches:
                note = self._state.notes.get(touch.note_id)
                if note and touch.session and touch.session not in note.hit_sessions:
                    self._uncounted = True
            lines = "".join(f"{codec.dumps(list(touch))}\n" for touch in touches).encode()
            with suppress(OSError):  # a memory that cannot be written can still be read
                descriptor = os.open(
                    self._hits_path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
                )
                try:
                    os.write(descriptor, lines)
                    size = os.fstat(descriptor).st_size
                finally:
                    os.close(descriptor)
                if size > HITS_BYTES:
                    self._settle()

    def close(self) -> None:
        with self._mutex:
            if self._painter is not None:
                self._painter.cancel()
                self._painter = None
            self._settle()

    # --- following the journal --------------------------------------------------------------

    def _refresh(self) -> None:
        """Take over what others committed."""
        if not self._loaded:
            self._load()
        elif self._journal.moved_on(self._position):
            try:
                self._position, commits = self._journal.follow(self._position)
            except Moved:
                self._load()
            else:
                for commit in commits:
                    self._take(commit)

    def _load(self) -> None:
        self._state, self._position = State(), Position("", 0, 0, 0)
        commits: list[Commit] = []
        if os.path.isdir(self._journal.directory):
            with _collector_off():
                self._state, self._position, commits = self._journal.load()
        self._loaded = True
        self._recent.clear()
        shown = self._pictures.graph_revision()
        if commits and shown >= commits[0].revision - 1:
            self._stale, self._stale_nuggets = set(), set()
        elif shown != self._position.revision:  # an old picture, or none
            self._stale, self._stale_nuggets = None, set(self._state.nuggets)
        for commit in commits:
            self._remember(commit, stale=commit.revision > shown)

    def _take(self, commit: Commit) -> None:
        self._remember(commit, stale=True)
        self._state.apply(commit.changes)

    def _remember(self, commit: Commit, *, stale: bool) -> None:
        self._recent.append(commit)
        self._last_at = commit.at
        if stale:
            self._mark_stale(commit.changes)

    def _changes(self, since: int) -> Changes:
        revision = self._position.revision
        if since == 0:
            return self._state.everything()
        if since == revision:
            return Changes()
        if self._recent and since >= self._recent[0].revision - 1:
            return merged(c.changes for c in self._recent if c.revision > since)
        commits = list(self._journal.commits(since))
        if not commits or commits[0].revision != since + 1 or since > revision:
            raise StaleWrite(f"the history no longer reaches back to revision {since}; read it all")
        return merged(commit.changes for commit in commits)

    # --- committing, inside the lock --------------------------------------------------------

    def _commit(self, changes: Changes) -> None:
        pending = self._pending_touches(everything=True)
        changes = changes._replace(touches=(*changes.touches, *pending))
        at = next_moment(self._last_at, self._clock())
        before = self._state.before(changes)
        self._position = self._journal.append(self._position, at, changes, before)
        self._take(Commit(self._position.revision, at, changes, codec.changes_to_json(before)))
        if pending:
            with suppress(FileNotFoundError):
                os.unlink(self._hits_path())
        self._uncounted = False
        if self._journal.wants_snapshot(self._position):
            with suppress(StoreError):  # the commit stands; the next one tries again
                self._position = self._journal.snapshot(self._state, self._position)

    def _settle(self) -> None:
        """Count our recalls and paint what is stale, unless someone else is writing: then they
        or the next one will."""
        with suppress(StoreError):
            if self._uncounted:
                with self.exclusive(wait_seconds=0):
                    self._commit(Changes(action="recall"))
            self._paint_now(wait_seconds=0)

    def _make_directories(self) -> None:
        if not os.path.isdir(self._journal.directory):
            private_directory(self.directory)
            private_directory(self._journal.directory)
            sync_directory(self.directory)
            sync_directory(os.path.dirname(self.directory))

    # --- recalls ----------------------------------------------------------------------------

    def _hits_path(self) -> str:
        return os.path.join(self._journal.directory, "hits.jsonl")

    def _pending_touches(self, *, everything: bool) -> tuple[Touch, ...]:
        """Recalls that no commit has taken in: all, or those since the last look."""
        try:
            status = os.stat(self._hits_path())
            seen = (status.st_ino, status.st_size)
            if seen == self._hits_seen and not everything:
                return ()
            self._hits_seen = seen
            with open(self._hits_path(), "rb") as file:
                lines = file.read().splitlines()
        except OSError:
            return ()
        touches = []
        for line in lines:
            with suppress(ValueError, TypeError):  # a line cut off by a power cut is one hit lost
                touches.append(Touch(*json.loads(line)))
        return tuple(touches)

    # --- the documented files ---------------------------------------------------------------

    def _look_outside(self, *, now: bool = False) -> None:
        """Take in what people and other programs wrote into the documented files."""
        if not now and time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        edits = self._pictures.edits()
        if not edits:
            return
        if self._depth:
            self._adopt_all(edits, self._commit)
            return
        try:
            with self.exclusive(wait_seconds=0):
                pass  # looks again inside
        except StoreCorrupt:
            raise
        except StoreError:  # busy or read-only: show the edits, and look again next time
            self._adopt_all(edits, self._state.apply)
            self._loaded = False

    def _adopt_all(self, edits: list[OutsideEdit], take: Callable[[Changes], None]) -> None:
        unborn = self._position.revision == 0
        for edit in edits:
            base = self._state
            if unborn:
                base = State()
            elif self._is_stale() and 0 < edit.revision < self._position.revision:
                base = self._state_at(edit.revision)
            changes = self._adopt(self._state, base, edit, self._clock())
            if changes != Changes(action=changes.action, client=changes.client):
                take(changes)
            if edit.nugget is None:
                self._stale = None
            else:
                self._stale_nuggets.add(edit.nugget.name)
        self._pictures.seen()

    def _state_at(self, revision: int) -> State:
        """What the files showed at an earlier revision: undo the commits since, newest first."""
        state = State()
        state.apply(self._state.everything())
        for commit in reversed(list(self._journal.commits(revision))):
            state.apply(commit.before)
        return state

    def _mark_stale(self, changes: Changes) -> None:
        names = {config.name for config in changes.put_nuggets} | set(changes.drop_nuggets)
        changed = {note.id for note in changes.put} | {touch.note_id for touch in changes.touches}
        for note_id in (*changed, *changes.drop):
            note = self._state.notes.get(note_id)
            if note is not None and note.kind == "fact":
                names.add(note.nugget_name)
        names |= {note.nugget_name for note in changes.put if note.kind == "fact"}
        self._stale_nuggets |= names
        if self._stale is not None:
            self._stale |= changed | set(changes.drop)

    def _paint_or_later(self) -> None:
        """On the way out of the lock."""
        if not self._paint_seconds:
            with suppress(StoreError):  # the commit stands, and whoever comes next paints it
                self._paint()
        elif self._painter is None and self._is_stale():
            self._painter = threading.Timer(self._paint_seconds, self._paint_now)
            self._painter.daemon = True
            self._painter.start()
            atexit.register(_close, weakref.ref(self))

    def _paint_now(self, wait_seconds: float = LOCK_SECONDS) -> None:
        with self._mutex, suppress(StoreError):  # whoever writes next paints it
            self._painter = None
            if self._is_stale():
                with self.exclusive(wait_seconds):
                    self._paint()

    def _is_stale(self) -> bool:
        return self._stale is None or bool(self._stale or self._stale_nuggets)

    def _paint(self) -> None:
        if not self._is_stale():
            return
        for name in self._stale_nuggets:
            if folded(name) not in self._state.nuggets:
                self._pictures.erase(name)
        self._pictures.paint(self._state, self._position.revision, self._stale, self._stale_nuggets)
        self._stale, self._stale_nuggets = set(), set()


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


def _close(store: "weakref.ref[JsonFileStore]") -> None:
    alive = store()
    if alive is not None:
        alive.close()
