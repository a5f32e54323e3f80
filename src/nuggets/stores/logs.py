"""Reading a journal: logs of checksummed lines, one per commit, and snapshots of everything.

    log-000000000001.jsonl       commits from revision 1 on
    snapshot-000000000419.jsonl  everything at revision 419, written and synced before it counts
    log-000000000420.jsonl       commits from revision 420 on

A log is closed by a line that says so, so that whoever follows it knows to look for the next one.
While a log is there, all later ones are there too. Never waits for the one who writes.
"""

import os
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from nuggets import codec
from nuggets.errors import StoreBusy, StoreCorrupt
from nuggets.files import refuse_broken_link, unreadable
from nuggets.records import Changes
from nuggets.state import State
from nuggets.stores import lines

FORMAT = 1
RECENT = 1024  # commits kept in memory, to answer what changed lately
_ATTEMPTS = 3  # at reading what others are writing; two in a row never failed in the tests


class Position(NamedTuple):
    """How far into which log one has read."""

    log: str = ""
    inode: int = 0
    offset: int = 0
    revision: int = 0
    at: str = ""  # the moment of that revision
    closed: bool = False  # the log has its closing line: what follows stands in the next one
    last: int = 0  # where the last line begins, and its checksum: a log that was put in place of
    seal: bytes = b""  # this one may have its inode
    changed: int = 0  # when the file was, in nanoseconds; and such a log may be just as long


class Step(NamedTuple):
    """A commit as followers need it: what changed, and whose facts with it."""

    revision: int
    at: str
    changes: Changes
    fact_nuggets: frozenset[str]  # folded or not, as written: of facts put or dropped


class Moved(Exception):
    """The log that was followed is not what it was any more: load again."""


class Logs:
    """The logs and snapshots of one directory."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    # --- reading ----------------------------------------------------------------------------

    def load(self) -> tuple[State, Position, deque[Step]]:
        """All that was ever committed, and the last steps."""
        for attempt in range(_ATTEMPTS):
            try:
                return self._loaded()
            except (Moved, FileNotFoundError):
                continue  # a log was folded away between our looking and our opening
            except StoreCorrupt:  # or a line was written while we read it
                if attempt == _ATTEMPTS - 1:
                    raise
        raise StoreBusy(f"{self.directory} keeps changing while it is read; try again")

    def _loaded(self) -> tuple[State, Position, deque[Step]]:
        state, recent = State(), deque[Step](maxlen=RECENT)
        snapshots, logs = self.names()
        position = Position()
        if snapshots:
            position = self.load_snapshot(max(snapshots), state)
        first = max((start for start in logs if start <= position.revision + 1), default=0)
        for start in sorted(start for start in logs if start >= first):
            if start > position.revision + 1:
                raise self._gap(position.revision + 1, start)
            begin = Position(logs[start], revision=position.revision, at=position.at)
            for reached, step in self._steps(begin):
                position = reached
                if step is not None:
                    state.apply(step.changes)
                    recent.append(step)
        return state, position, recent

    def follow(self, position: Position) -> tuple[Position, list[Step]]:
        """What was committed after a position; cheap when there is nothing."""
        if not position.log:
            raise Moved  # there is no log to follow yet
        found: list[Step] = []
        while True:
            try:
                for reached, step in self._steps(position):
                    position = reached
                    if step is not None:
                        found.append(step)
            except StoreCorrupt:
                raise Moved from None  # a line was taken back; if it is worse, loading will tell
            name = log_name(position.revision + 1)
            if name == position.log or not os.path.exists(self.path(name)):
                return position, found
            position = Position(name, revision=position.revision, at=position.at)

    def moved_on(self, position: Position) -> bool:
        """Is there anything after this position? One or two system calls when not."""
        if not position.log:
            snapshots, logs = self.names()
            return any(number > position.revision for number in (*snapshots, *logs))
        try:
            status = os.stat(self.path(position.log))
        except FileNotFoundError:
            return True  # folded away while we slept
        except OSError as problem:
            raise unreadable(self.path(position.log), problem) from problem
        known = (position.inode, position.offset, position.changed)
        if (status.st_ino, status.st_size, status.st_ctime_ns) != known:
            return True
        return position.closed and os.path.exists(self.path(log_name(position.revision + 1)))

    def load_snapshot(self, revision: int, state: State) -> Position:
        path = self.path(snapshot_name(revision))
        end: dict[str, Any] = {}
        with self._opened(path) as file:
            for number, written in enumerate(file, 1):
                shape = lines.checked(written)
                if shape is None:
                    raise self._damaged(path, f"line {number}")
                if "note" in shape:
                    note = codec.note_from_json(shape["note"])
                    state.notes[note.id] = note
                elif "format" in shape:
                    self._check_format(path, shape)
                elif "end" in shape:
                    end = shape
                else:
                    state.apply(lines.changes_from_json(shape))
        if end.get("end") != revision:
            raise self._damaged(path, "its end is missing")
        return Position(revision=revision, at=end["at"])

    def _steps(self, position: Position) -> Iterator[tuple[Position, Step | None]]:
        for reached, shape in self.entries(position):
            yield reached, _step(shape) if "revision" in shape else None

    def entries(self, position: Position) -> Iterator[tuple[Position, dict[str, Any]]]:
        """The whole lines after a position, each with the position after it. What is torn at the
        very end was never committed."""
        if not position.log:
            return
        path = self.path(position.log)
        try:
            file = self._opened(path)
        except FileNotFoundError:
            raise Moved from None
        with file:
            status = os.fstat(file.fileno())
            if position.inode not in (0, status.st_ino) or status.st_size < position.offset:
                raise Moved
            file.seek(position.last)
            if file.read(len(position.seal)) != position.seal:
                raise Moved
            position = position._replace(inode=status.st_ino, changed=status.st_ctime_ns)
            yield position, {}
            file.seek(position.offset)
            for written in file:
                shape = lines.checked(written)
                if shape is None:
                    if lines.is_torn(written + file.read(), position.offset):
                        return
                    raise self._damaged(path, f"byte {position.offset}")
                position = position._replace(
                    offset=position.offset + len(written),
                    closed="closed" in shape,
                    last=position.offset,
                    seal=written[:8],
                )
                if "revision" not in shape:
                    self._check_format(path, shape)
                elif shape["revision"] <= position.revision:
                    shape = {}  # known already, from a snapshot that was made amid this log
                elif shape["revision"] != position.revision + 1:
                    raise self._gap(position.revision + 1, shape["revision"])
                else:
                    position = position._replace(revision=shape["revision"], at=shape["at"])
                yield position, shape

    def _opened(self, path: str) -> BinaryIO:
        """`FileNotFoundError` is left to the caller: it was folded away, and one looks again."""
        try:
            return open(path, "rb")
        except FileNotFoundError:
            raise
        except OSError as problem:
            raise unreadable(path, problem) from problem

    # --- names and complaints ---------------------------------------------------------------

    def names(self) -> tuple[dict[int, str], dict[int, str]]:
        """Snapshots and logs by the revision in their names."""
        found: dict[str, dict[int, str]] = {"snapshot": {}, "log": {}}
        try:
            there = os.listdir(self.directory)
        except FileNotFoundError:
            for link in (os.path.dirname(self.directory), self.directory):
                refuse_broken_link(link)
            there = []
        except OSError as problem:
            raise unreadable(self.directory, problem) from problem
        for name in there:
            kind, _, rest = name.partition("-")
            number = rest.removesuffix(".jsonl")
            if kind in found and number != rest and number.isdecimal():
                found[kind][int(number)] = name
        return found["snapshot"], found["log"]

    def path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _check_format(self, path: str, shape: dict[str, Any]) -> None:
        if shape.get("format", FORMAT) != FORMAT:
            raise StoreCorrupt(
                f"{path} was written by a newer version of Nuggets; install that one to open it"
            )

    def _damaged(self, path: str, place: str) -> StoreCorrupt:
        return StoreCorrupt(
            f"{path} is damaged ({place}). Nothing was changed. "
            "`nuggets doctor` shows what can be read, `nuggets doctor --fix` saves it"
        )

    def _gap(self, wanted: int, found: int) -> StoreCorrupt:
        return StoreCorrupt(
            f"{self.directory} goes from revision {wanted - 1} to {found}: a part is missing. "
            "Nothing was changed. Put the missing log back, or run `nuggets doctor --fix`"
        )


def log_name(revision: int) -> str:
    return f"log-{revision:012d}.jsonl"


def snapshot_name(revision: int) -> str:
    return f"snapshot-{revision:012d}.jsonl"


def _step(shape: dict[str, Any]) -> Step:
    changes = lines.changes_from_json(shape["changes"])
    before = (note for note in shape["before"].get("put", ()) if note["kind"] == "fact")
    nuggets = {note["nuggetName"] for note in before}
    return Step(shape["revision"], shape["at"], changes, frozenset(nuggets | facts_of(changes)))


def facts_of(changes: Changes) -> set[str]:
    """The nuggets whose facts a change puts."""
    return {note.nugget_name for note in changes.put if note.kind == "fact"}
