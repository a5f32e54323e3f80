"""An append-only journal: one checksummed line per commit, one fsync, snapshots when it grows.

    log-000000000001.jsonl       commits from revision 1 on
    snapshot-000000000419.jsonl  everything at revision 419, written and synced before it counts
    log-000000000420.jsonl       commits from revision 420 on

A line is eight hex digits of CRC-32, a blank, and JSON. A log is closed by a line that says so, so
that whoever follows it knows to look for the next one. Knows revisions and changes, not what notes
look like to people.
"""

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

from nuggets import codec, times
from nuggets.errors import StoreBusy, StoreCorrupt
from nuggets.files import replace_file, sync, sync_directory, unwritable, write_all
from nuggets.records import Changes
from nuggets.state import State

FORMAT = 1
SNAPSHOT_BYTES = 1 << 20  # a log may always grow to this before it is folded into a snapshot
HISTORY_BYTES = 64 << 20  # closed logs are kept for history and undo up to this much


class Commit(NamedTuple):
    """One line of the journal: what changed, and what leads back."""

    revision: int
    at: str
    changes: Changes
    before_json: codec.Json  # decoded only when someone wants to go back

    @property
    def before(self) -> Changes:
        return codec.changes_from_json(json.loads(codec.dumps(self.before_json)))


class Position(NamedTuple):
    """How far into which log one has read."""

    log: str
    inode: int
    offset: int
    revision: int
    closed: bool = False  # the log has its closing line: what follows stands in the next one


class Moved(Exception):
    """The log that was followed is not there any more: load again."""


class Journal:
    """The files of one directory. Writing is for whoever holds the store's lock."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    # --- reading ----------------------------------------------------------------------------

    def load(self) -> tuple[State, Position, list[Commit]]:
        """All that was ever committed, and the commits that are newer than the snapshot."""
        for _ in range(3):
            try:
                return self._loaded()
            except (Moved, FileNotFoundError):
                continue  # a log was folded away between our looking and our opening
        raise StoreBusy(f"{self.directory} keeps changing while it is read; try again")

    def _loaded(self) -> tuple[State, Position, list[Commit]]:
        state = State()
        snapshots, logs = self._names()
        revision = max(snapshots, default=0)
        if snapshots:
            self._load_snapshot(snapshots[revision], revision, state)
        first = max((start for start in logs if start <= revision + 1), default=0)
        position = Position("", 0, 0, revision)
        found: list[Commit] = []
        for start in sorted(start for start in logs if start >= first):
            if start > position.revision + 1:
                raise self._gap(position.revision + 1, start)
            position, commits = self._commits(Position(logs[start], 0, 0, position.revision))
            for commit in commits:
                state.apply(commit.changes)
            found += commits
        return state, position, found

    def follow(self, position: Position) -> tuple[Position, list[Commit]]:
        """What was committed after a position; cheap when there is nothing."""
        found: list[Commit] = []
        while True:
            moved, commits = self._commits(position)
            found += commits
            if not self._has_successor(moved):
                return moved, found
            position = Position(_log_name(moved.revision + 1), 0, 0, moved.revision)

    def moved_on(self, position: Position) -> bool:
        """Is there anything after this position? One system call when not."""
        if not position.log or position.closed:
            return self._has_successor(position)
        try:
            status = os.stat(self._path(position.log))
        except FileNotFoundError:
            return True
        return (status.st_ino, status.st_size) != (position.inode, position.offset)

    def commits(self, since: int) -> Iterator[Commit]:
        """All commits after a revision that are still kept, oldest first."""
        _, logs = self._names()
        starts = sorted(logs)
        for number, start in enumerate(starts):
            if number + 1 < len(starts) and starts[number + 1] <= since + 1:
                continue
            _, found = self._commits(Position(logs[start], 0, 0, max(since, start - 1)))
            yield from found

    def _commits(self, position: Position) -> tuple[Position, list[Commit]]:
        """The whole lines after a position. What is torn at the very end was never committed."""
        if not position.log:
            return position, []
        path = self._path(position.log)
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            raise Moved from None
        with os.fdopen(descriptor, "rb") as file:
            inode = os.fstat(descriptor).st_ino
            if position.inode not in (0, inode):
                raise Moved
            file.seek(position.offset)
            data = file.read()
        offset, revision, closed = position.offset, position.revision, position.closed
        commits = []
        for line in data.splitlines(keepends=True):
            shape = _checked_line(line)
            if shape is None:
                if _is_torn(data[offset - position.offset :]):
                    break
                raise self._damaged(path, offset)
            offset += len(line)
            closed = "closed" in shape
            if "revision" in shape:
                if shape["revision"] <= revision:
                    continue
                if shape["revision"] != revision + 1:
                    raise self._gap(revision + 1, shape["revision"])
                revision += 1
                commits.append(_commit(shape))
            elif shape.get("format", FORMAT) != FORMAT:
                raise self._too_new(path)
        return Position(position.log, inode, offset, revision, closed), commits

    def _has_successor(self, position: Position) -> bool:
        name = _log_name(position.revision + 1)
        return name != position.log and os.path.exists(self._path(name))

    def _load_snapshot(self, name: str, revision: int, state: State) -> None:
        path = self._path(name)
        complete = False
        with open(path, "rb") as file:
            for number, line in enumerate(file):
                shape = _checked_line(line)
                if shape is None:
                    raise self._damaged(path, number)
                if "note" in shape:
                    note = codec.note_from_json(shape["note"])
                    state.notes[note.id] = note
                elif "format" in shape:
                    if shape["format"] != FORMAT:
                        raise self._too_new(path)
                elif "end" in shape:
                    complete = shape["end"] == revision
                else:
                    state.apply(codec.changes_from_json(shape))
        if not complete:
            raise self._damaged(path, 0)

    # --- writing ----------------------------------------------------------------------------

    def append(self, position: Position, at: str, changes: Changes, before: Changes) -> Position:
        """One more line, on the medium before this returns; nothing if anything goes wrong."""
        revision = position.revision + 1
        line = _line(
            {
                "revision": revision,
                "at": at,
                "changes": codec.changes_to_json(changes),
                "before": codec.changes_to_json(before),
            }
        )
        name, start = position.log, position.offset
        if not name or position.closed:
            name, start = _log_name(revision), 0
        if start == 0:
            line = _line({"format": FORMAT}) + line
        path = self._path(name)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError as problem:
            raise unwritable(path, problem) from problem
        try:
            try:
                os.ftruncate(descriptor, start)  # what a dead writer left half done
                os.lseek(descriptor, start, os.SEEK_SET)
                write_all(descriptor, line)
                sync(descriptor)
                if start == 0:
                    sync_directory(self.directory)
            except OSError as problem:
                self._take_back(descriptor, path, start)
                raise unwritable(path, problem) from problem
            inode = os.fstat(descriptor).st_ino
        finally:
            os.close(descriptor)
        return Position(name, inode, start + len(line), revision)

    def wants_snapshot(self, position: Position) -> bool:
        """Has the log outgrown what it would cost to write everything anew?"""
        if position.offset <= SNAPSHOT_BYTES:
            return False
        snapshots, _ = self._names()
        size = os.path.getsize(self._path(snapshots[max(snapshots)])) if snapshots else 0
        return position.offset > size

    def snapshot(self, state: State, position: Position) -> Position:
        """Everything as it is now, in one file; the log ends here and the next begins."""
        rest = state.everything()._replace(put=())
        lines = [
            _line({"format": FORMAT}),
            _line(codec.changes_to_json(rest)),
            *(
                _line({"note": codec.note_to_json(note, vector=False)})
                for note in state.notes.values()
            ),
            _line({"end": position.revision}),
        ]
        name = f"snapshot-{position.revision:012d}.jsonl"
        replace_file(self._path(name), b"".join(lines), durable=True)
        closed = self._close_log(position)
        self._prune()
        return closed

    def _prune(self) -> None:
        """Keep two snapshots, should the newer be damaged, and a bounded history before them."""
        snapshots, logs = self._names()
        for revision in sorted(snapshots)[:-2]:
            os.unlink(self._path(snapshots.pop(revision)))
        starts = sorted(logs)
        room = HISTORY_BYTES
        for start, following in reversed(list(pairwise(starts))):
            path = self._path(logs[start])
            room -= os.path.getsize(path)
            if room < 0 and following <= min(snapshots) + 1:
                os.unlink(path)

    def _close_log(self, position: Position) -> Position:
        path = self._path(position.log)
        line = _line({"closed": position.revision})
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.lseek(descriptor, position.offset, os.SEEK_SET)
            write_all(descriptor, line)
            sync(descriptor)
        except OSError as problem:
            self._take_back(descriptor, path, position.offset)
            raise unwritable(path, problem) from problem
        finally:
            os.close(descriptor)
        return position._replace(offset=position.offset + len(line), closed=True)

    def _take_back(self, descriptor: int, path: str, start: int) -> None:
        """Never sync the same pages twice: after a failure a second success proves nothing."""
        try:
            os.ftruncate(descriptor, start)
            if start == 0:
                os.unlink(path)
        except OSError:
            return  # then the line is whole or torn, and the next reader can tell which

    # --- names and complaints ---------------------------------------------------------------

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _names(self) -> tuple[dict[int, str], dict[int, str]]:
        names: dict[str, dict[int, str]] = {"snapshot": {}, "log": {}}
        for name in os.listdir(self.directory):
            kind, _, rest = name.partition("-")
            number = rest.removesuffix(".jsonl")
            if kind in names and number != rest and number.isdecimal():
                names[kind][int(number)] = name
        return names["snapshot"], names["log"]

    def _damaged(self, path: str, place: int) -> StoreCorrupt:
        return StoreCorrupt(
            f"{path} is damaged (at {place}). Nothing was changed. "
            "`nuggets doctor` shows what can be read, `nuggets doctor --fix` saves it"
        )

    def _gap(self, wanted: int, found: int) -> StoreCorrupt:
        return StoreCorrupt(
            f"{self.directory} goes from revision {wanted - 1} to {found}: a part is missing. "
            "Nothing was changed. Put the missing log back, or run `nuggets doctor --fix`"
        )

    def _too_new(self, path: str) -> StoreCorrupt:
        return StoreCorrupt(
            f"{path} was written by a newer version of Nuggets; install that one to open it"
        )


def _log_name(revision: int) -> str:
    return f"log-{revision:012d}.jsonl"


def _line(shape: Any) -> bytes:
    text = codec.dumps(shape).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _checked_line(line: bytes) -> Any:
    """What a line says, or None if it is not what was written."""
    if line[8:9] != b" " or line[-1:] != b"\n":
        return None
    text = line[9:-1]
    return json.loads(text) if line[:8] == b"%08x" % crc32(text) else None


def _is_torn(rest: bytes) -> bool:
    """A write cut off by a crash has no end, or zeros where the medium never got it, and nothing
    comes after it. Anything else that does not check is damage to what was once committed."""
    first, newline, others = rest.partition(b"\n")
    if newline and b"\0" not in first:
        return False
    return all(_checked_line(line) is None for line in others.splitlines(keepends=True))


def _commit(shape: Any) -> Commit:
    return Commit(
        shape["revision"],
        shape["at"],
        codec.changes_from_json(shape["changes"]),
        shape["before"],
    )


def next_moment(after: str, now: str) -> str:
    """Commits are stamped in order, even when the clock jumps back."""
    if now > after:
        return now
    from datetime import timedelta

    return times.iso(times.parsed(after) + timedelta(milliseconds=1))
