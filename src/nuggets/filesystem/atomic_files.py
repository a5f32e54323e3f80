"""Atomic, private and, where that is promised, durable files. Knows only bytes and paths."""

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress

from nuggets.errors import StoreError

_CHUNK = 1 << 16  # bytes that are written at once: parts are often small, and each write is a call
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY)  # this kind of file, or file system


def private_directory(path: str) -> None:
    """Make the directory and its missing parents, for their owner only."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent not in ("", path):
        private_directory(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):  # else another process made it
            refuse_broken_link(path)
            raise StoreError(
                f"{path} is a file where a directory should be; move it away or choose another "
                "directory"
            ) from None
    except OSError as problem:
        raise unwritable(path, problem) from problem


def refuse_broken_link(path: str) -> None:
    """Raise an error for a link to nowhere: its drive may be missing, which is no empty shelf."""
    if os.path.islink(path) and not os.path.exists(path):
        raise StoreError(
            f"{path} is a link to {os.readlink(path)}, which is not there; bring that back (is a "
            "drive missing?), or remove the link to begin anew"
        )


def open_plain(path: str, flags: int, *, dir_fd: int | None = None) -> int:
    """Open a plain file: the descriptor. Also the `opener` of `open`.

    Whatever may stand in its place is refused with an `OSError`: a pipe without a writer would
    keep us waiting for ever, and a device may have no end.
    """
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=dir_fd)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    code = errno.EISDIR if stat.S_ISDIR(kind) else errno.ENXIO
    raise OSError(code, os.strerror(code), path)


def read_if_plain(path: str) -> bytes:
    """The content of a plain file; nothing for one that is missing or cannot be read."""
    try:
        with open(path, "rb", opener=open_plain) as file:
            return file.read()
    except OSError:
        return b""


def full_disk(path: str, least: int = 1) -> str:
    """What the disk of this file or directory has run out of, space or inodes; "" if of nothing.
    `least`: bytes that must be left."""
    try:
        disk = os.statvfs(path)
    except OSError:
        return ""
    free = disk.f_bavail * disk.f_frsize
    if disk.f_blocks and free < least:
        return f"{free // 1024} KiB left" if free else "no space left"
    if disk.f_files and not disk.f_favail:
        return "no inode left, so no file can be made"
    return ""


def file_identity(path: str) -> tuple[int, int] | None:
    """The device and inode of a file; None if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def read_beginning(path: str, most: int) -> str:
    """The beginning of a plain file; "" if there is none, or a link."""
    try:
        with open(path, encoding="utf-8", errors="replace", opener=_open_no_link) as file:
            return file.read(most)
    except (OSError, ValueError):
        return ""


def _open_no_link(path: str, flags: int) -> int:
    return open_plain(path, flags | os.O_NOFOLLOW)


def unwritable(path: str, problem: OSError) -> StoreError:
    """The error to raise when the system refuses to write there."""
    return _describe("write", path, problem, _WRITING_ADVICE)


def unreadable(path: str, problem: OSError) -> StoreError:
    """The error to raise when the system refuses to read there."""
    return _describe("read", path, problem, _READING_ADVICE)


def _describe(action: str, path: str, problem: OSError, advice: Mapping[int, str]) -> StoreError:
    hint = advice.get(problem.errno or 0, "nothing was changed; try again")
    return StoreError(f"Cannot {action} {path}: {problem.strerror or problem} ({hint})")


_COMMON_ADVICE = {
    errno.EISDIR: "a directory stands where a file should be; move it away",
    errno.ELOOP: "a link stands where a file of ours should be; move it away",
    errno.ENXIO: "a pipe or a device stands where a file should be; move it away",
    errno.ENOTDIR: "a file stands where a directory should be; move it away",
}
_READING_ADVICE = {
    **_COMMON_ADVICE,
    **dict.fromkeys((errno.EACCES, errno.EPERM), "you have no permission to read it"),
}
NO_SPACE = "free some space, then try again: nothing was changed"
_WRITING_ADVICE = {
    **_COMMON_ADVICE,
    errno.ENOSPC: NO_SPACE,
    errno.EDQUOT: "free some of your quota, then try again: nothing was changed",
    errno.EROFS: "the file system is read-only; recall still works",
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM), "you have no permission to write there; recall still works"
    ),
}


def sync(descriptor: int) -> None:
    """Wait until a file is on the medium."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # fsync stops at the drive's cache
            return
        except OSError as problem:
            if problem.errno not in _CANNOT_SYNC:  # on network drives only fsync works
                raise
    os.fsync(descriptor)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable: a new file is not safe before this."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in _CANNOT_SYNC:  # then the file system takes care of names
            raise
    finally:
        os.close(descriptor)


def sync_path(path: str) -> None:
    """Make a directory and all its parents durable: any of them may be new."""
    while True:
        with suppress(PermissionError):  # then it is not ours, so it is not new
            sync_directory(path)
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def write_all(descriptor: int, content: bytes | bytearray | memoryview) -> None:
    """Write every byte, even if the system takes only a part at a time."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def temporary_path(path: str) -> str:
    """The path of a temporary file that will take the place of `path`: open it with `NEW_FILE`.

    Nobody can guess it: in a directory that others may write to, a link put in its place would let
    them choose which file is overwritten. The process id tells who left it.
    """
    return f"{path}.{os.getpid():x}-{os.urandom(8).hex()}.tmp"


def write_beside(
    path: str,
    content: Iterable[bytes | memoryview],
    *,
    durable: bool,
    mode: int = 0o600,
    mtime_ns: int | None = None,
) -> str:
    """Write content that comes in parts to a temporary file, which is to take the place of `path`;
    the temporary path. Its modification time is `mtime_ns`, as far as the file system can keep it.
    """
    temporary = temporary_path(path)
    try:
        descriptor = os.open(temporary, NEW_FILE, 0o600)
        try:
            if mode != 0o600:
                os.fchmod(descriptor, mode)
            write_parts(descriptor, content)
            if mtime_ns is not None:
                os.utime(descriptor, ns=(mtime_ns, mtime_ns))
            if durable:
                sync(descriptor)
        finally:
            os.close(descriptor)
        return temporary
    except BaseException as problem:
        _discard(temporary)
        if isinstance(problem, OSError):
            raise unwritable(path, problem) from problem
        raise


def replace_file(
    path: str, content: Iterable[bytes | memoryview], *, durable: bool, mode: int = 0o600
) -> None:
    """Replace a file atomically by content that comes in parts."""
    temporary = write_beside(path, content, durable=durable, mode=mode)
    try:
        os.replace(temporary, path)
        if durable:
            sync_directory(os.path.dirname(path))
    except OSError as problem:
        _discard(temporary)
        raise unwritable(path, problem) from problem


def write_private_file(path: str, content: bytes, *, durable: bool, mode: int = 0o600) -> None:
    """Replace a file, in a folder that is made if it is missing; what a writer that was killed left
    beside it is removed."""
    private_directory(os.path.dirname(path))
    remove_leftovers(path)
    replace_file(path, [content], durable=durable, mode=mode)


def _discard(temporary: str) -> None:
    with suppress(OSError):
        os.unlink(temporary)  # else a full disk would stay full


def remove_leftovers(path: str) -> None:
    """Remove the temporary files beside `path` of writers that were killed."""
    directory, name = os.path.split(path)
    try:
        names = os.listdir(directory)
    except OSError:  # no such directory, or no permission: nothing to remove
        return
    for file_name in names:
        is_ours = file_name.startswith(f"{name}.") and is_leftover(file_name)
        if is_ours and not has_living_writer(file_name):
            with suppress(OSError):  # the next one tries again
                os.unlink(os.path.join(directory, file_name))


DAMAGED = ".damaged-"  # then a number: a file that a repair set aside


def free_name(prefix: str) -> str:
    """The first path of the form `<prefix><number>` that does not exist."""
    number = 1
    while os.path.lexists(f"{prefix}{number}"):
        number += 1
    return f"{prefix}{number}"


# Of a writer, or of a file that SQLite made beside it. Compiled when it is asked for: cold commands
# do not.
_LEFTOVER = r".*\.([0-9a-f]+)-[0-9a-f]*\.tmp(?:-copy|-wal|-shm|-journal)*"


def is_leftover(name: str) -> bool:
    """Is this the name of a temporary file?"""
    return re.fullmatch(_LEFTOVER, name, re.DOTALL) is not None


def has_living_writer(name: str) -> bool:
    """Is the process alive that writes the temporary file of this name?"""
    match = re.fullmatch(_LEFTOVER, name, re.DOTALL)
    process = int(match[1], 16) if match else 0
    if process in (0, os.getpid()):
        return False  # one with the same id is gone
    try:
        os.kill(process, 0)  # signal 0 only checks that the process exists
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it exists and belongs to another user
    return True


def write_parts(descriptor: int, content: Iterable[bytes | memoryview]) -> None:
    """Write content that comes in parts, small ones together."""
    buffer = bytearray()
    for part in content:
        if len(buffer) + len(part) >= _CHUNK:
            write_all(descriptor, buffer)
            buffer = bytearray()
        if len(part) >= _CHUNK:
            write_all(descriptor, part)
        else:
            buffer += part
    write_all(descriptor, buffer)
