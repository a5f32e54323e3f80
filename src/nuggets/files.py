"""Files that survive: whole or not at all, private, and locked while they change.

Knows bytes and paths; what they mean is the stores' matter.
"""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from nuggets.errors import StoreBusy, StoreError

LOCK_SECONDS = 10.0  # longer than any write here takes; then someone is stuck and should be named
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.01
_COURTESY = 2.5 * _LONGEST_PAUSE  # who let go while others waited stays away until one got in
_WAITING_MARK = 256  # the place in a lock file where those who wait leave a byte
_CHUNK = 1 << 20  # bytes gathered before they are handed to the system


def private_directory(path: str) -> None:
    """Make the directory and those above it, for their owner only, unless they are there."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above not in ("", path):
        private_directory(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # else someone was quicker
            raise StoreError(
                f"{path} is a file where a directory should be; move it away or choose another "
                "place"
            ) from None
    except OSError as problem:
        raise unwritable(path, problem) from problem


def unwritable(path: str, problem: OSError) -> StoreError:
    """What to say when the system refuses to write there."""
    ways_out = {
        errno.ENOSPC: "free some space, then try again: nothing was changed",
        errno.EDQUOT: "free some of your quota, then try again: nothing was changed",
        errno.EROFS: "the file system is read-only; recall still works",
        errno.EACCES: "you have no permission to write there; recall still works",
        errno.EPERM: "you have no permission to write there; recall still works",
        errno.EISDIR: "a directory stands where a file should be; move it away",
        errno.ENOTDIR: "a file stands where a directory should be; move it away",
    }
    way_out = ways_out.get(problem.errno or 0, "nothing was changed; try again")
    return StoreError(f"Cannot write {path}: {problem.strerror or problem} ({way_out})")


def unreadable(path: str, problem: OSError) -> StoreError:
    """What to say when the system refuses to read there: never that there is nothing."""
    ways_out = {
        errno.EACCES: "you have no permission to read it",
        errno.EPERM: "you have no permission to read it",
        errno.ENOTDIR: "a file stands where a directory should be; move it away",
        errno.EISDIR: "a directory stands where a file should be; move it away",
    }
    way_out = ways_out.get(problem.errno or 0, "nothing was changed; try again")
    return StoreError(f"Cannot read {path}: {problem.strerror or problem} ({way_out})")


def sync(descriptor: int) -> None:
    """Onto the medium, not just out of the process."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # plain fsync stops at the drive's cache there
    else:
        os.fsync(descriptor)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable: a new file is not safe before this."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_path(path: str, levels: int = 3) -> None:
    """Make a directory durable with those it stands in, as far as they may be new."""
    for _ in range(levels):
        with suppress(PermissionError):  # then it is not ours, and not new
            sync_directory(path)
        path = os.path.dirname(path)


def write_all(descriptor: int, content: bytes | bytearray) -> None:
    """Every byte, however often the system takes only a part."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_file(
    path: str, content: Iterable[bytes], *, durable: bool, mtime_ns: int | None = None
) -> None:
    """Put a whole new file, given in parts, in the place of the old one; readers see either."""
    temporary = f"{path}.{os.getpid():x}-{time.monotonic_ns():x}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write_parts(descriptor, content)
            if mtime_ns is not None:
                os.utime(descriptor, ns=(mtime_ns, mtime_ns))
            if durable:
                sync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
        if durable:
            sync_directory(os.path.dirname(path))
    except OSError as problem:
        with suppress(OSError):
            os.unlink(temporary)  # a full disk would otherwise stay full
        raise unwritable(path, problem) from problem


def is_leftover(name: str) -> bool:
    """Is this the name of a file that `replace_file` did not live to put in place?"""
    stem, _, tail = name.rpartition(".")
    pid, dash, moment = stem.rpartition(".")[2].partition("-")
    return tail == "tmp" and bool(dash) and all(c in "0123456789abcdef" for c in pid + moment)


def _write_parts(descriptor: int, content: Iterable[bytes]) -> None:
    gathered = bytearray()
    for part in content:
        gathered += part
        if len(gathered) >= _CHUNK:
            write_all(descriptor, gathered)
            gathered = bytearray()
    write_all(descriptor, gathered)


@contextmanager
def locked(path: str, wait_seconds: float = LOCK_SECONDS) -> Iterator[Callable[[], bool]]:
    """Hold the lock file alone; what is given tells whether it still is the one in the directory.

    It is never unlinked: that would let two in at once. `flock`, because record locks vanish as
    soon as anyone in the process closes the file.
    """
    import fcntl

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
    import fcntl

    pause = _FIRST_PAUSE
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as problem:
            raise unwritable(path, problem) from problem
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            holder = os.pread(descriptor, _WAITING_MARK, 0).rstrip(b"\0")
            with suppress(OSError):
                os.pwrite(descriptor, b"!", _WAITING_MARK)
            os.close(descriptor)
            if problem.errno not in (errno.EAGAIN, errno.EACCES):
                raise _no_locks(path, problem) from problem
            if time.monotonic() >= deadline:
                raise _busy(path, holder) from None
        else:
            if _is_still(path, descriptor):
                _sign(descriptor)
                return descriptor
            os.close(descriptor)  # the file was removed or swapped while we waited
        time.sleep(pause * (0.5 + os.urandom(1)[0] / 256))  # jitter: nobody waits in step
        pause = min(pause * 2, _LONGEST_PAUSE)


def _is_still(path: str, descriptor: int) -> bool:
    try:
        there, ours = os.stat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def _sign(descriptor: int) -> None:
    """Who holds it: for the message of those who wait, never a reason to take it away."""
    command = " ".join([os.path.basename(sys.argv[0] or "python"), *sys.argv[1:2]])
    with suppress(OSError):  # a full disk must not keep anyone from reading
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} ({command[:80]})".encode(), 0)


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
