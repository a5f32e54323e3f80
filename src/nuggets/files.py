"""Files that survive: whole or not at all, private, and on the medium when that is promised.

Knows bytes and paths; what they mean is the stores' matter.
"""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from nuggets.errors import StoreError

_CHUNK = 1 << 20  # bytes gathered before they are handed to the system
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY)  # this kind of file, or file system


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
            refuse_broken_link(path)
            raise StoreError(
                f"{path} is a file where a directory should be; move it away or choose another "
                "place"
            ) from None
    except OSError as problem:
        raise unwritable(path, problem) from problem


def refuse_broken_link(path: str) -> None:
    """What is on a drive that is missing is not empty, and not to be begun anew."""
    if os.path.islink(path) and not os.path.exists(path):
        raise StoreError(
            f"{path} is a link to {os.readlink(path)}, which is not there; bring that back (is a "
            "drive missing?), or remove the link to begin anew"
        )


def unwritable(path: str, problem: OSError) -> StoreError:
    """What to say when the system refuses to write there."""
    return _refused("write", path, problem, _WAYS_OUT_OF_WRITING)


def unreadable(path: str, problem: OSError) -> StoreError:
    """What to say when the system refuses to read there: never that there is nothing."""
    return _refused("read", path, problem, _WAYS_OUT_OF_READING)


def _refused(what: str, path: str, problem: OSError, ways_out: Mapping[int, str]) -> StoreError:
    way_out = ways_out.get(problem.errno or 0, "nothing was changed; try again")
    return StoreError(f"Cannot {what} {path}: {problem.strerror or problem} ({way_out})")


_WAYS_OUT_OF_BOTH = {
    errno.EISDIR: "a directory stands where a file should be; move it away",
    errno.ELOOP: "a link stands where a file of ours should be; move it away",
    errno.ENOTDIR: "a file stands where a directory should be; move it away",
}
_WAYS_OUT_OF_READING = {
    **_WAYS_OUT_OF_BOTH,
    **dict.fromkeys((errno.EACCES, errno.EPERM), "you have no permission to read it"),
}
_WAYS_OUT_OF_WRITING = {
    **_WAYS_OUT_OF_BOTH,
    errno.ENOSPC: "free some space, then try again: nothing was changed",
    errno.EDQUOT: "free some of your quota, then try again: nothing was changed",
    errno.EROFS: "the file system is read-only; recall still works",
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM), "you have no permission to write there; recall still works"
    ),
}


def sync(descriptor: int) -> None:
    """Onto the medium, not just out of the process."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # plain fsync stops at the drive's cache
            return
        except OSError as problem:
            if problem.errno not in _CANNOT_SYNC:  # as on network drives: then fsync must do
                raise
    os.fsync(descriptor)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable: a new file is not safe before this."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in _CANNOT_SYNC:  # then names are all the file system's own care
            raise
    finally:
        os.close(descriptor)


def sync_path(path: str) -> None:
    """Make a directory durable with all those it stands in: any of them may be new."""
    while True:
        with suppress(PermissionError):  # then it is not ours, and not new
            sync_directory(path)
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def write_all(descriptor: int, content: bytes | bytearray) -> None:
    """Every byte, however often the system takes only a part."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_file(
    path: str,
    content: Iterable[bytes | memoryview],
    *,
    durable: bool,
    mtime_ns: int | None = None,
    last_look: Callable[[], None] | None = None,
) -> os.stat_result:
    """Put a whole new file, given in parts, in the place of the old one; readers see either.

    Its modification time is `mtime_ns`, as far as the file system can keep it. `last_look`
    may still refuse, by raising, when all is written. What is given back is the new file's status.
    """
    temporary = f"{path}.{os.getpid():x}-{time.monotonic_ns():x}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write_parts(descriptor, content)
            if mtime_ns is not None:
                os.utime(descriptor, ns=(mtime_ns, mtime_ns))
            status = os.fstat(descriptor)
            if durable:
                sync(descriptor)
        finally:
            os.close(descriptor)
        if last_look is not None:
            last_look()
        os.replace(temporary, path)
        if durable:
            sync_directory(os.path.dirname(path))
        return status
    except BaseException as problem:
        with suppress(OSError):
            os.unlink(temporary)  # a full disk would otherwise stay full
        if isinstance(problem, OSError):
            raise unwritable(path, problem) from problem
        raise


def is_leftover(name: str) -> bool:
    """Is this the name of a file that `replace_file` did not live to put in place?"""
    stem, _, tail = name.rpartition(".")
    pid, dash, moment = stem.rpartition(".")[2].partition("-")
    return tail == "tmp" and bool(dash) and all(c in "0123456789abcdef" for c in pid + moment)


def _write_parts(descriptor: int, content: Iterable[bytes | memoryview]) -> None:
    gathered = bytearray()
    for part in content:
        gathered += part
        if len(gathered) >= _CHUNK:
            write_all(descriptor, gathered)
            gathered = bytearray()
    write_all(descriptor, gathered)
