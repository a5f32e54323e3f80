"""Files in a folder that others write to, such as a checkout, a vault or what machines share.

No symbolic link is followed below the folder, not even of a parent directory, so nothing is read or
written outside of it. What is not a plain file, or is too large, is refused.
"""

import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.atomic_files import (
    NEW_FILE,
    is_leftover,
    open_plain,
    read_if_plain,
    sync,
    temporary_path,
    write_all,
    write_private_file,
)
from nuggets.named_tuple import NamedTuple

LEFTOVER_SECONDS = 60.0  # older temporary files have no living writer
MOST_LEVELS = 32  # of directories: people nest a few
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


class FoundFile(NamedTuple):
    """A file below the folder: its path from there, and how it looks."""

    path: str
    size: int
    modified_ns: int


@contextmanager
def open_folder(path: str) -> Iterator[int]:
    """The folder itself; it may be reached through links, for a person named it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_below(folder: int, path: str, *, create: bool = False, mode: int = 0o755) -> Iterator[int]:
    """A directory below the folder, opened part by part; `OSError` if a part is none."""
    descriptor = os.dup(folder)
    try:
        for part in path.split(os.sep) if path else ():
            if part in ("", os.curdir, os.pardir):
                raise ValueError(f"{path!r:.80} leads out of the folder")
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, mode, dir_fd=descriptor)
            inner = os.open(part, _DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def read_plain(folder: int, name: str, most: int) -> bytes:
    """A plain file of at most so many bytes; else `ValueError` or `OSError`."""
    directory, _, name = name.rpartition(os.sep)
    with open_below(folder, directory) as place:
        descriptor = open_plain(name, _READ, dir_fd=place)
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size > most:
            raise ValueError("it is too large")
        return file.read(most)


def replace_plain(folder: int, name: str, content: bytes, mode: int, *, durable: bool) -> None:
    """Replace a file as a whole; directories on the way are made."""
    directory, _, name = name.rpartition(os.sep)
    private = 0o700 if mode == 0o600 else 0o755
    with open_below(folder, directory, create=True, mode=private) as place:
        temporary = temporary_path(f".{name[:80]}")  # a name may be as long as the system allows
        descriptor = os.open(temporary, NEW_FILE, mode, dir_fd=place)
        try:
            try:
                write_all(descriptor, content)
                if durable:
                    sync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, name, src_dir_fd=place, dst_dir_fd=place)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=place)
            raise


def append_lines(folder: int, name: str, lines: bytes, most: int) -> None:
    """Append whole lines durably; a line that a killed writer left torn is ended first."""
    descriptor = open_plain(name, _APPEND, dir_fd=folder)
    try:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        write_all(descriptor, lines)
        sync(descriptor)
    finally:
        os.close(descriptor)


def remove_plain(folder: int, name: str) -> None:
    directory, _, name = name.rpartition(os.sep)
    with suppress(FileNotFoundError), open_below(folder, directory) as place:
        os.unlink(name, dir_fd=place)


def find_files(
    folder: int,
    ending: str | tuple[str, ...],
    most: int,
    *,
    shown: Container[str] = (),
    levels: int = MOST_LEVELS,
) -> tuple[list[FoundFile], list[str]]:
    """The plain files below the folder with this ending, and what was left out. Hidden ones, and
    what lies in hidden directories, belong to other programs, except for names in `shown`.

    `levels`: of directories below the folder; with 0 nobody looks into one.
    """
    found: list[FoundFile] = []
    problems: list[str] = []
    waiting = [("", 0)]
    for directory, level in waiting:  # grows while it is gone through
        with open_below(folder, directory) as place, os.scandir(place) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = os.path.join(directory, entry.name)
                if entry.name.startswith(".") and entry.name not in shown:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if level < levels:
                        waiting.append((path, level + 1))
                    elif levels:
                        problems.append(f"{path!r:.80}: nested too deeply")
                elif entry.name.endswith(ending):
                    status = entry.stat(follow_symlinks=False)
                    if not stat.S_ISREG(status.st_mode):
                        problems.append(f"{path!r:.80}: it is no file")
                    else:
                        found.append(FoundFile(path, status.st_size, status.st_mtime_ns))
                        if len(found) > most:
                            problems.append(f"only the first {most} files were read")
                            return found[:most], problems
    return found, problems


def folder_fingerprint(path: str, ending: str) -> int:
    """Changes when a file with this ending is added, removed or written; 0 without a folder."""
    try:
        with open_folder(os.path.expanduser(path)) as folder:
            return hash(tuple(find_files(folder, ending, sys.maxsize)[0]))
    except OSError:
        return 0


def sweep(folder: int) -> None:
    """Remove temporary files of processes that were killed."""
    for name in filter(is_leftover, os.listdir(folder)):
        with suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if time.time() - status.st_mtime > LEFTOVER_SECONDS:
                os.unlink(name, dir_fd=folder)


# --- what is kept beside the shelf about such a folder: how it was left, and its key --------------
#
# A register that is lost or damaged says nothing, and then everything is read and compared.


def digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def register_path(directory: str, kind: str, folder: str, ending: str = "json") -> str:
    """The file about a folder; `directory`: of the shelf."""
    digest = digest_of(folder.encode(errors="surrogateescape"))
    return os.path.join(directory, kind, f"{digest}.{ending}")


def read_register(path: str) -> Json:
    try:
        shape = codec.loads(read_if_plain(path), path)
    except NuggetsError:
        return {}
    return shape if isinstance(shape, dict) else {}


def save_register(path: str, shape: Json) -> None:
    text = codec.dumps(shape).encode(errors="replace")
    if text != read_if_plain(path):
        write_private_file(path, text, durable=True)


def check_place(folder: str, directory: str) -> None:
    """Refuse a folder that holds the database, which only one machine may open."""
    if not directory:
        return
    shared, own = os.path.realpath(folder), os.path.realpath(directory)
    if os.path.commonpath((shared, own)) in (shared, own):
        raise InvalidInput(
            f"{folder} and the shelf {directory} lie in each other. A database that a program "
            "copies while it is open is damaged, so it never lies in a shared folder: name another "
            "folder, or move the shelf (NUGGETS_DIR)"
        )
