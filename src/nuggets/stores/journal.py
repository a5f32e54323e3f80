"""Writing a journal: one line and one fsync per commit, a snapshot when the log has grown.

Knows revisions and changes, not what notes look like to people. How it is read: logs.py.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from nuggets import codec
from nuggets.errors import StaleWrite, StoreError
from nuggets.files import replace_file, sync, sync_directory, sync_path, unwritable, write_all
from nuggets.records import Changes
from nuggets.state import State
from nuggets.stores import lines
from nuggets.stores.logs import FORMAT, Logs, Position, log_name, snapshot_name

SNAPSHOT_BYTES = 1 << 20  # a log may always grow to this before it is folded into a snapshot
HISTORY_BYTES = 64 << 20  # closed logs are kept for history and undo up to this much


class Journal(Logs):
    """The truth of one directory. Writing is for whoever holds the store's lock."""

    def append(self, position: Position, at: str, changes: Changes, before: Changes) -> Position:
        """One more line, on the medium before this returns; nothing if anything goes wrong."""
        revision = position.revision + 1
        name, start = position.log, position.offset
        if not name or position.closed:
            name, start = log_name(revision), 0
        head = b"" if start else lines.line({"format": FORMAT})
        line = lines.line(
            {
                "revision": revision,
                "at": at,
                "changes": lines.changes_to_json(changes),
                "before": lines.changes_to_json(before),
            }
        )
        path = self.path(name)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise unwritable(path, problem) from problem
        try:
            self._cut_torn_tail(descriptor, path, start)
            try:
                write_all(descriptor, head)
                if name == log_name(revision):
                    # Before the first line: whoever finds a line here may rely on the names.
                    self._sync_names(revision)
                write_all(descriptor, line)
                sync(descriptor)
            except OSError as problem:
                raise self._taken_back(descriptor, path, start, problem) from problem
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        last = start + len(head)
        return Position(
            name,
            status.st_ino,
            last + len(line),
            revision,
            at,
            last=last,
            seal=line[:8],
            changed=status.st_ctime_ns,
        )

    def _cut_torn_tail(self, descriptor: int, path: str, start: int) -> None:
        """What a dead writer left half done; never a whole line, even one that came unlawfully."""
        try:
            size = os.fstat(descriptor).st_size
            tail = os.pread(descriptor, size - start, start) if size > start else b""
            if tail and not lines.is_torn(tail, start):
                raise StaleWrite(f"{path} was written by someone else meanwhile; try again")
            if size != start:
                os.ftruncate(descriptor, start)
            os.lseek(descriptor, start, os.SEEK_SET)
        except OSError as problem:
            raise unwritable(path, problem) from problem

    def _sync_names(self, revision: int) -> None:
        if revision == 1:
            sync_path(self.directory)
        else:
            sync_directory(self.directory)

    def _taken_back(self, descriptor: int, path: str, start: int, problem: OSError) -> StoreError:
        """Undo a failed write, and say so. Never sync the same pages twice: after a failure a
        second success proves nothing."""
        try:
            os.ftruncate(descriptor, start)
            if start == 0:
                os.unlink(path)
        except OSError:
            return StoreError(
                f"Cannot write {path}: {problem.strerror} (and it could not be taken back: look "
                "whether the change is there before you repeat it)"
            )
        return unwritable(path, problem)

    def wants_snapshot(self, position: Position) -> bool:
        """Has the log outgrown what it would cost to write everything anew?"""
        if position.offset <= SNAPSHOT_BYTES:
            return False
        snapshots, _ = self.names()
        size = os.path.getsize(self.path(snapshots[max(snapshots)])) if snapshots else 0
        return position.offset > size

    def snapshot(self, state: State, position: Position) -> Position:
        """Everything as it is now, in one file; the log ends here and the next begins."""

        def parts() -> Iterator[bytes]:
            yield lines.line({"format": FORMAT})
            yield lines.line(lines.changes_to_json(state.everything()._replace(put=())))
            for note in state.notes.values():
                yield lines.line({"note": codec.note_to_json(note, vector=False)})
            yield lines.line({"end": position.revision, "at": position.at})

        path = self.path(snapshot_name(position.revision))
        replace_file(path, parts(), durable=True)
        closed = self._close_log(position)
        with suppress(OSError):  # what is not pruned today is pruned with the next one
            self._prune()
        return closed

    def _close_log(self, position: Position) -> Position:
        """End the log and begin the next. Not synced: if that gets lost, the log is simply longer
        than it had to be, and the first commit makes the name of the next one durable."""
        path, following = self.path(position.log), self.path(log_name(position.revision + 1))
        head = lines.line({"format": FORMAT})
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            try:
                write_all(descriptor, lines.line({"closed": position.revision}))
            except OSError:
                os.ftruncate(descriptor, position.offset)
                raise
            finally:
                os.close(descriptor)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            descriptor = os.open(following, flags, 0o600)
            try:
                write_all(descriptor, head)
                status = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        except OSError as problem:
            raise unwritable(path, problem) from problem
        return Position(
            os.path.basename(following),
            status.st_ino,
            len(head),
            position.revision,
            position.at,
            changed=status.st_ctime_ns,
        )

    def _prune(self) -> None:
        """Keep two snapshots, should the newer be damaged, and a bounded history before them.

        Oldest first: a follower trusts that no log goes before an older one.
        """
        snapshots, logs = self.names()
        for revision in sorted(snapshots)[:-2]:
            os.unlink(self.path(snapshots.pop(revision)))
        needed = min(snapshots) + 1
        closed = list(pairwise(sorted(logs)))
        sizes = {start: os.path.getsize(self.path(logs[start])) for start, _ in closed}
        excess = sum(sizes.values()) - HISTORY_BYTES
        for start, following in closed:
            if excess <= 0 or following > needed:
                return
            os.unlink(self.path(logs[start]))
            excess -= sizes[start]
