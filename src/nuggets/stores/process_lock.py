"""The lock file that one process holds while it writes; it names its holder to those who wait."""

import errno
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from nuggets.errors import StoreBusy, StoreError
from nuggets.filesystem.files import open_plain, unwritable

LOCK_SECONDS = 10.0  # longer than any write takes: then a process is stuck and should be named
_LOCK_FILE = "nuggets.lock"
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.01
_YIELD_SECONDS = 2.5 * _LONGEST_PAUSE  # a holder that others waited for lets one of them go first
_WAITING_OFFSET = 256  # in the lock file: a process that waits writes a byte there


def hold_shelf_lock(
    directory: str, wait_seconds: float = LOCK_SECONDS
) -> AbstractContextManager[Callable[[], bool]]:
    """Hold the lock of the shelf in a directory."""
    return hold_lock(os.path.join(directory, _LOCK_FILE), wait_seconds)


@contextmanager
def hold_lock(path: str, wait_seconds: float) -> Iterator[Callable[[], bool]]:
    """Hold the lock file; the function that is yielded says whether it still is the lock file.

    It is never unlinked: that would let two processes in at once. `flock`, because record locks
    vanish as soon as anyone in the process closes the file.
    """
    yield_seconds = _yield_until.pop(path, 0.0) - time.monotonic()
    if 0 < yield_seconds < wait_seconds:
        time.sleep(yield_seconds)
    descriptor = _acquire(path, time.monotonic() + wait_seconds)
    _held_descriptors.add(descriptor)
    try:
        yield lambda: _is_lock_file(path, descriptor)
    finally:
        if descriptor in _held_descriptors:  # not in a child that was forked meanwhile
            _held_descriptors.discard(descriptor)
            with suppress(OSError):
                if os.fstat(descriptor).st_size > _WAITING_OFFSET:
                    _yield_until[path] = time.monotonic() + _YIELD_SECONDS
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
            descriptor = open_plain(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
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
    if not _is_lock_file(path, descriptor):
        return b""  # the file was removed or replaced while we waited
    _write_holder(descriptor)
    return None


def _is_lock_file(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _write_holder(descriptor: int) -> None:
    """Say who holds it, for the message to those who wait; that alone never frees a lock."""
    command = " ".join([*map(os.path.basename, sys.argv[:1]), *sys.argv[1:2]]) or "python"
    with suppress(OSError):  # a full disk must not keep anyone from reading
        if os.fstat(descriptor).st_size > _WAITING_OFFSET:  # truncating costs a tenth of a write
            os.ftruncate(descriptor, _WAITING_OFFSET)
        holder = f"process {os.getpid()} ({command[:80]})"
        encoded = holder.encode(errors="replace")[:_WAITING_OFFSET]  # arguments need not be text
        os.pwrite(descriptor, encoded.ljust(_WAITING_OFFSET, b"\0"), 0)


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
