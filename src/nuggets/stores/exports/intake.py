"""Taking in what others wrote into the documented files: which files, what their authors saw, and
what that means as changes. What an edit means for notes is decided elsewhere and given."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from nuggets.errors import StoreBusy, StoreError
from nuggets.records import Changes, OutsideEdit
from nuggets.sql import Database
from nuggets.state import MemoryState, Overlay, State
from nuggets.stores.exports.layout import GRAPH_FIELDS, Shown, documented_files
from nuggets.stores.exports.past import changes_back, last_touch, moment_of
from nuggets.stores.exports.reading import Edited, Found, edit_in, read_settled
from nuggets.stores.exports.register import (
    Export,
    checksum_of,
    exports,
    foreign,
    record,
    status_of,
)
from nuggets.text import folded

_SAVING_SECONDS = 2.0  # an empty file may be one that someone is in the middle of saving

Adopt = Callable[[State, State | None, OutsideEdit, str], Changes]
"""Decide what an edit means: (what we hold, what its author saw or None, the edit, now)."""


class Intake:
    """One look at the documented files, inside a transaction of whoever holds the lock."""

    def __init__(
        self, directory: str, database: Database, state: State, shown: Shown, adopt: Adopt
    ) -> None:
        """`shown`: the revision now."""
        self._directory = directory
        self._database = database
        self._state = state
        self._now = shown
        self._adopt = adopt
        self._known = exports(database)
        self._files = documented_files(directory)

    def run(self, commit: Callable[[Changes], int], now: str) -> bool:
        """Commit each edit; whether there was any. A file that cannot be taken in is left as it
        is; only while nothing is ours yet, one of them keeps all the others out."""
        taken = False
        seen: set[str] = set()
        for edited in list(self._edits()):
            fold = folded(edited.edit.nugget.name) if edited.edit.nugget else ""
            try:
                # Of two spellings of a name the second only adds: the first is not gone.
                changes = self._changes(edited, now, only_adds=fold in seen)
            except StoreError as problem:
                self._refuse(edited.name, edited.found.status, problem)
                continue
            seen.add(fold)
            if changes is not None:
                commit(changes)
            self._record_taken(edited)
            taken = True
        return taken

    # --- which files ------------------------------------------------------------------------

    def _edits(self) -> Iterator[Edited]:
        for name in foreign(self._files, self._known):
            try:
                found = read_settled(os.path.join(self._directory, name))
                if not self._is_ours(name, found):
                    yield edit_in(self._directory, name, found)
            except StoreError as problem:
                self._refuse(name, self._files[name], problem)

    def _is_ours(self, name: str, found: Found) -> bool:
        """Copied, or torn by a power cut: nobody's edit. Its status is recorded anew."""
        known = self._known.get(name)
        status = status_of(found.status)
        if known is not None and known.checksum == checksum_of(found.content):
            record(self._database, known._replace(status=status, problem=""))
            return True
        if known is not None and _is_torn(found, known):
            record(self._database, known._replace(status=status, problem="", edited=1))
            return True
        return False

    def _refuse(self, name: str, status: os.stat_result, problem: StoreError) -> None:
        """Leave a file as it is, and do without it, until it changes."""
        if isinstance(problem, StoreBusy) or not self._now.revision:
            raise problem
        known = self._known.get(name) or Export(name, self._now.revision)
        record(self._database, known._replace(status=status_of(status), problem=str(problem)))

    def _record_taken(self, edited: Edited) -> None:
        shown = edited.shown or self._now
        record(
            self._database,
            Export(
                edited.name,
                min(shown.revision, self._now.revision),
                shown.touch or 0,
                checksum_of(edited.found.content),
                status_of(edited.found.status),
                edited=1,
            ),
        )

    # --- what they mean ---------------------------------------------------------------------

    def _changes(self, edited: Edited, now: str, *, only_adds: bool) -> Changes | None:
        """The changes that take a file in; None if it says nothing new."""
        state = self._now_for(edited)
        base = None if only_adds else self._base(edited, state)
        return self._decided(edited, state, base, now)

    def _now_for(self, edited: Edited) -> State:
        """A graph speaks of every note: they are loaded once, not asked for one by one."""
        return self._state if edited.edit.nugget else _loaded(self._state)

    def _base(self, edited: Edited, state: State) -> State | None:
        """What the author of an edit saw; None if it never was ours, so that it can only add."""
        if not self._now.revision:
            return MemoryState()
        shown = edited.shown
        if shown is None:  # a program wrote it whole: it saw our last export, we suppose
            known = self._known.get(edited.name)
            if known is None:
                return None
            seen = Shown(known.revision, "", known.touch) if known.is_sound else self._now
            return self._at(seen, state)
        if moment_of(self._database, shown.revision) != shown.saved_at:
            return None
        past = self._at(shown, state)
        return self._at(self._now, state) if self._is_restored(edited, past) else past

    def _at(self, shown: Shown, state: State) -> State:
        back = changes_back(self._database, self._state, shown)
        if isinstance(state, MemoryState):
            copy = MemoryState()
            copy.notes.update(state.notes)
            copy.nuggets.update(state.nuggets)
            copy.marks.update(state.marks)
            copy.apply(back)
            return copy
        overlay = Overlay(state)
        overlay.apply(back)
        return overlay

    def _is_restored(self, edited: Edited, past: State) -> bool:
        """Did someone put an earlier export back, in the place of one that shows more? Then what
        came after it is meant to go. If the database came there later than the file, all of it was
        copied while someone wrote, and a file that was behind means nothing."""
        if edited.found.status.st_ctime_ns < _written_ns(self._directory):
            return False
        return self._decided(edited, past, past, self._now.saved_at) is None

    def _decided(
        self, edited: Edited, state: State, base: State | None, now: str
    ) -> Changes | None:
        changes = self._adopt(state, base, edited.edit, now)
        marks = dict(changes.marks)
        if edited.edit.nugget is None:
            known = state.marks.get(GRAPH_FIELDS, {})
            fields = dict(edited.fields)
            if edited.shown is None:
                fields = {**known, **fields}
            if fields != known:
                marks[GRAPH_FIELDS] = fields or None
        changes = changes._replace(marks=marks)
        return None if changes._replace(action="", client="") == Changes() else changes


def copies(
    directory: str, files: Mapping[str, os.stat_result], known: Mapping[str, Export]
) -> dict[str, str]:
    """The files that are ours and were merely copied, with their statuses."""
    found = {}
    for name in foreign(files, known):
        with suppress(StoreError):
            content, status = read_settled(os.path.join(directory, name))
            if name in known and known[name].checksum == checksum_of(content):
                found[name] = status_of(status)
    return found


def now_shown(database: Database) -> Shown:
    """What an export would show that is made now."""
    sql = "SELECT revision, at FROM commits ORDER BY revision DESC LIMIT 1"
    revision, at = database.execute(sql).fetchone() or (0, "")
    return Shown(revision, at, last_touch(database))


def _loaded(state: State) -> MemoryState:
    loaded = MemoryState()
    loaded.notes.update(state.notes.items())
    loaded.nuggets.update(state.nuggets)
    loaded.marks.update(state.marks)
    return loaded


def _is_torn(found: Found, known: Export) -> bool:
    """Is there nothing in a file that we wrote? A power cut came before its content reached the
    medium, or someone emptied it, which says nothing; just now they may still be saving it. (Our
    row may be older than the file: it is not waited for, and inodes are used again.)"""
    if found.content.strip(b"\0"):
        return False
    inode, _, modified, _ = (known.status or "0 0 0 0").split()
    if (found.status.st_ino, found.status.st_mtime_ns) == (int(inode), int(modified)):
        return True
    return time.time() - found.status.st_mtime > _SAVING_SECONDS


def _written_ns(directory: str) -> int:
    """When the database was last written, or was copied to where it is; nobody can set that."""
    found = 0
    for name in ("nuggets.db", "nuggets.db-wal"):
        try:
            status = os.stat(os.path.join(directory, name))
        except OSError:
            continue
        if status.st_size:  # an empty log was made by opening it
            found = max(found, status.st_ctime_ns)
    return found
