"""The lock file: what one process holds while it writes. It names its holder to those who wait.
And the file of recalls that found the store locked.
"""

import errno
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from typing import cast, get_args

from nuggets.domain import codec
from nuggets.domain.records import HitKind, Touch
from nuggets.errors import StoreBusy, StoreError
from nuggets.filesystem.atomic_files import (
    open_plain,
    private_directory,
    read_if_plain,
    unwritable,
    write_all,
)

LOCK_SECONDS = 10.0  # longer than any write takes: then a process is stuck and should be named
_FIRST_PAUSE = 0.001  # seconds; a small write takes some milliseconds
_LONGEST_PAUSE = 0.01  # a person does not notice it
_YIELD_SECONDS = 2.5 * _LONGEST_PAUSE  # a holder that others waited for lets one of them go first
_WAITING_OFFSET = 256  # in the lock file: a process that waits writes a byte there


def shelf_lock(directory: str) -> str:
    """The lock file of the shelf in a directory."""
    return os.path.join(directory, "nuggets.lock")


def hold_shelf_lock(
    directory: str, wait_seconds: float = LOCK_SECONDS
) -> "AbstractContextManager[LockFile]":
    """Hold the lock of the shelf in a directory."""
    return hold_lock(shelf_lock(directory), wait_seconds)


@contextmanager
def hold_lock(path: str, wait_seconds: float) -> Iterator["LockFile"]:
    """Hold a lock file."""
    lock = LockFile(path)
    lock.take(wait_seconds)
    try:
        yield lock
    finally:
        lock.release()


class LockFile:
    """A file that one process at a time has locked.

    It is never unlinked: that would let two processes in at once. `flock`, because record locks
    vanish as soon as anyone in the process closes the file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor = -1  # while it is held

    def take(self, wait_seconds: float) -> None:
        now = time.monotonic()
        yield_seconds = _yield_until.pop(self.path, 0.0) - now
        if 0 < yield_seconds < wait_seconds:
            time.sleep(yield_seconds)
            now += yield_seconds
        self._descriptor = _acquire(self.path, now + wait_seconds)
        _held_descriptors.add(self._descriptor)

    def is_still_held(self) -> bool:
        """Whether the file that is locked still is the lock file."""
        return _status_of_lock_file(self.path, self._descriptor) is not None

    def release(self) -> None:
        descriptor = self._descriptor
        if descriptor in _held_descriptors:  # not in a child that was forked meanwhile
            _held_descriptors.discard(descriptor)
            with suppress(OSError):
                if os.fstat(descriptor).st_size > _WAITING_OFFSET:
                    _yield_until[self.path] = time.monotonic() + _YIELD_SECONDS
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for children that inherited it
            os.close(descriptor)


_held_descriptors: set[int] = set()  # a forked child must not keep them open
_yield_until: dict[str, float] = {}  # by lock file, if others waited for it


def _close_in_child() -> None:
    for descriptor in _held_descriptors:
        with suppress(OSError):
            os.close(descriptor)
    _held_descriptors.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


def _acquire(path: str, deadline: float) -> int:
    pause = _FIRST_PAUSE
    while True:
        try:
            descriptor = open_lock_file(path)
        except OSError as problem:
            raise unwritable(path, problem) from problem
        try:
            holder = _try_lock(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if holder is None:
            return descriptor
        os.close(descriptor)
        if time.monotonic() >= deadline:
            raise _busy_error(path, holder)
        time.sleep(pause * (0.5 + os.urandom(1)[0] / 256))  # jitter: processes do not wait in step
        pause = min(pause * 2, _LONGEST_PAUSE)


def open_lock_file(path: str) -> int:
    """The descriptor of a file to lock; it is made, with its directory, if it is missing."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    try:
        return open_plain(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        private_directory(os.path.dirname(path))
        return open_plain(path, flags)


def _try_lock(path: str, descriptor: int) -> bytes | None:
    """Lock the file: None if that succeeds, else its holder as far as that is known."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EAGAIN, errno.EACCES):
            raise _no_locks_error(path, problem) from problem
        with suppress(OSError):
            os.pwrite(descriptor, b"!", _WAITING_OFFSET)
        with suppress(OSError):
            return os.pread(descriptor, _WAITING_OFFSET, 0).rstrip(b"\0")
        return b""
    status = _status_of_lock_file(path, descriptor)
    if status is None:
        return b""  # the file was removed or replaced while we waited
    with suppress(OSError):  # a full disk must not keep anyone from reading
        if status.st_size > _WAITING_OFFSET:  # truncating costs a tenth of a write
            os.ftruncate(descriptor, _WAITING_OFFSET)
        os.pwrite(descriptor, _holder(os.getpid()), 0)
    return None


def _status_of_lock_file(path: str, descriptor: int) -> os.stat_result | None:
    """The status of the open file; None if it is no longer the one at the path."""
    try:
        there, ours = os.stat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return None
    return ours if (there.st_ino, there.st_dev) == (ours.st_ino, ours.st_dev) else None


@lru_cache(maxsize=1)
def _holder(process: int) -> bytes:
    """Who holds it, for the message to those who wait; that alone never frees a lock."""
    command = " ".join([*map(os.path.basename, sys.argv[:1]), *sys.argv[1:2]]) or "python"
    holder = f"process {process} ({command[:80]})"
    encoded = holder.encode(errors="replace")[:_WAITING_OFFSET]  # arguments need not be text
    return encoded.ljust(_WAITING_OFFSET, b"\0")


def _busy_error(path: str, holder: bytes) -> StoreBusy:
    name = holder.decode(errors="replace") or "another process"
    return StoreBusy(
        f"{name} is holding {path}. Nothing was changed; try again, and if it stays like this, "
        "look at that process: it may be stopped or stuck"
    )


def _no_locks_error(path: str, problem: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be locked here ({problem.strerror}); a network drive without locks would "
        "lose memories. Choose a local directory with --dir or NUGGETS_DIR"
    )


# --- recalls that found the store locked ----------------------------------------------------------


_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


class RecallFile:
    """`recalls.jsonl` in a shelf's directory: the next commit counts what is in it.

    A recall that is counted again changes nothing, because a session counts once: so a writer that
    dies after its commit, before it has cut the file off, does no harm.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._path = os.path.join(directory, "recalls.jsonl")
        self._bytes_read = 0

    def append(self, touches: Sequence[Touch]) -> None:
        """Append recalls. Fails silently: a memory that cannot be written can still be read."""
        with suppress(OSError, StoreError, ValueError):
            lines = "".join(f"{codec.dumps(list(touch))}\n" for touch in touches)
            private_directory(self._directory)
            with self._open_and_lock() as descriptor:
                write_all(descriptor, f"\n{lines}".encode())  # the last line may have been cut off

    def is_empty(self) -> bool:
        try:
            return not (self._directory and os.path.getsize(self._path))
        except OSError:
            return True

    def read(self) -> list[Touch]:
        """The recalls to commit. The caller holds the shelf's lock, and calls `forget_read` after
        the commit."""
        content = b"" if self.is_empty() else read_if_plain(self._path)
        self._bytes_read = len(content)
        return list(_read_touches(content)) if content else []

    def forget_read(self) -> None:
        """Delete what was read."""
        if not self._bytes_read:
            return
        with suppress(OSError), self._open_and_lock() as descriptor:
            later = os.pread(descriptor, os.fstat(descriptor).st_size, self._bytes_read)
            os.ftruncate(descriptor, 0)
            write_all(descriptor, later)

    @contextmanager
    def _open_and_lock(self) -> Iterator[int]:
        """The file, while no other process writes to it, which takes microseconds."""
        descriptor = open_plain(self._path, _APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def _read_touches(content: bytes) -> Iterator[Touch]:
    for line in content.split(b"\n"):
        # A line that a power cut cut off, or that is none of ours, is lost.
        with suppress(ValueError, TypeError, RecursionError):
            note_id, session, at, kind = map(str, json.loads(line))
            known = kind if kind in get_args(HitKind) else ""
            yield Touch(note_id, session, at, cast("HitKind", known))
