"""The lock that one process holds while it writes, and how those who wait learn who that is."""

import errno
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from nuggets.errors import StoreBusy, StoreError
from nuggets.files import unwritable

_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.01
_COURTESY = 2.5 * _LONGEST_PAUSE  # who let go while others waited stays away until one got in
_WAITING_MARK = 256  # the place in a lock file where those who wait leave a byte


@contextmanager
def locked(path: str, wait_seconds: float) -> Iterator[Callable[[], bool]]:
    """Hold the lock file alone; what is given tells whether it still is the one in the directory.

    It is never unlinked: that would let two in at once. `flock`, because record locks vanish as
    soon as anyone in the process closes the file.
    """
    courtesy = _stays_away.pop(path, 0.0) - time.monotonic()
    if 0 < courtesy < wait_seconds:
        time.sleep(courtesy)
    descriptor = _acquired(path, time.monotonic() + wait_seconds)
    _held.add(descriptor)
    try:
        yield lambda: _is_still(path, descriptor)
    finally:
        if descriptor in _held:  # not so in a child that was forked meanwhile
            _held.discard(descriptor)
            with suppress(OSError):
                if os.fstat(descriptor).st_size > _WAITING_MARK:
                    _stays_away[path] = time.monotonic() + _COURTESY
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for whoever inherited it
            os.close(descriptor)


_held: set[int] = set()  # descriptors of locks, which a forked child must not keep alive
_stays_away: dict[str, float] = {}  # lock files that others wanted too, and until when


def _let_go() -> None:
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _acquired(path: str, deadline: float) -> int:
    pause = _FIRST_PAUSE
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise unwritable(path, problem) from problem
        try:
            holder = _lock_or_holder(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if holder is None:
            return descriptor
        os.close(descriptor)
        if time.monotonic() >= deadline:
            raise _busy(path, holder)
        time.sleep(pause * (0.5 + os.urandom(1)[0] / 256))  # jitter: nobody waits in step
        pause = min(pause * 2, _LONGEST_PAUSE)


def _lock_or_holder(path: str, descriptor: int) -> bytes | None:
    """None once it is ours; else who has it, as far as that is known."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EAGAIN, errno.EACCES):
            raise _no_locks(path, problem) from problem
        with suppress(OSError):
            os.pwrite(descriptor, b"!", _WAITING_MARK)
        with suppress(OSError):
            return os.pread(descriptor, _WAITING_MARK, 0).rstrip(b"\0")
        return b""
    if not _is_still(path, descriptor):
        return b""  # the file was removed or swapped while we waited
    _sign(descriptor)
    return None


def _is_still(path: str, descriptor: int) -> bool:
    try:
        there, ours = os.stat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def _sign(descriptor: int) -> None:
    """Who holds it: for the message of those who wait, never a reason to take it away."""
    command = " ".join([*map(os.path.basename, sys.argv[:1]), *sys.argv[1:2]]) or "python"
    with suppress(OSError):  # a full disk must not keep anyone from reading
        if os.fstat(descriptor).st_size > _WAITING_MARK:  # cutting a file costs a write's tenth
            os.ftruncate(descriptor, _WAITING_MARK)
        who = f"process {os.getpid()} ({command[:80]})"
        signature = who.encode(errors="replace")[:_WAITING_MARK]  # arguments need not be text
        os.pwrite(descriptor, signature.ljust(_WAITING_MARK, b"\0"), 0)


def _busy(path: str, holder: bytes) -> StoreBusy:
    who = holder.decode(errors="replace") or "another process"
    return StoreBusy(
        f"{who} is holding {path}. Nothing was changed; try again, and if it stays like this, "
        "look at that process: it may be stopped or stuck"
    )


def _no_locks(path: str, problem: OSError) -> StoreError:
    return StoreError(
        f"{path} cannot be locked here ({problem.strerror}); a network drive without locks would "
        "lose memories. Choose a local directory with --dir or NUGGETS_DIR"
    )
