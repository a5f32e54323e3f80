"""Files that survive: whole or not at all, private, and locked while they change.

Knows bytes and paths; what they mean is the stores' matter.
"""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nuggets.errors import StoreBusy, StoreError

LOCK_SECONDS = 10.0  # longer than any write here takes; then someone is stuck and should be named
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.02


def private_directory(path: str) -> None:
    """Make the directory, for its owner only, unless it is there."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except FileExistsError:
        raise StoreError(
            f"{path} is a file where a directory should be; move it away or choose another place"
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


def write_all(descriptor: int, content: bytes) -> None:
    """Every byte, however often the system takes only a part."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_file(path: str, content: bytes, *, durable: bool, mtime_ns: int | None = None) -> None:
    """Put a whole new file in the place of the old one; readers see the one or the other."""
    temporary = f"{path}.{os.getpid():x}{time.monotonic_ns():x}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            write_all(descriptor, content)
            if mtime_ns is not None:
                os.utime(
                    descriptor if os.utime in os.supports_fd else temporary, ns=(mtime_ns, mtime_ns)
                )
            if durable:
                sync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError as problem:
        with suppress(OSError):
            os.unlink(temporary)  # a full disk would otherwise stay full
        raise unwritable(path, problem) from problem
    if durable:
        sync_directory(os.path.dirname(path))


@contextmanager
def locked(path: str, wait_seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock file alone. It is never unlinked: that would let two in at once.

    `flock`, because record locks vanish as soon as anyone in the process closes the file.
    """
    descriptor = _acquired(path, time.monotonic() + wait_seconds)
    try:
        yield
    finally:
        os.close(descriptor)


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
            holder = os.pread(descriptor, 200, 0)
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
