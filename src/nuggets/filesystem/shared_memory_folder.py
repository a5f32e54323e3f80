"""The memories that a repository carries: one file each in `.nuggets/memories` of a checkout.

Anyone may have written them. No symbolic link is followed, not even of a parent directory. What is
not a plain file, or is too large, is reported and left alone.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from nuggets.filesystem.atomic_files import (
    NEW_FILE,
    is_leftover,
    temporary_path,
    unwritable,
    write_all,
)
from nuggets.filesystem.current_project import SHARED_FOLDER
from nuggets.named_tuple import NamedTuple

SUFFIX = ".json"
# Anyone may have put files there; what is beyond these is reported and left alone.
MOST_FILES = 5000
MOST_BYTES = 256 * 1024  # of one file, a note with all its fields
LEFTOVER_SECONDS = 60.0  # older temporary files have no living writer
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SharedFiles(NamedTuple):
    """The texts by the name of their file, without suffix, and what could not be read."""

    texts: Mapping[str, bytes]
    problems: tuple[str, ...]


def shared_fingerprint(root: str) -> str:
    """Changes when a file is added, removed or written; "" if there is no folder."""
    import hashlib

    try:
        with _folder(root, create=False) as folder:
            entries = []
            for name in sorted(os.listdir(folder))[:MOST_FILES]:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                entries.append(f"{name}\0{status.st_size}\0{status.st_mtime_ns}")
    except OSError:
        return ""
    text = "\n".join(entries).encode(errors="surrogateescape")
    return hashlib.sha1(text, usedforsecurity=False).hexdigest()


def read_shared_files(root: str) -> SharedFiles:
    """All memories of the checkout."""
    texts: dict[str, bytes] = {}
    problems = []
    try:
        with _folder(root, create=False) as folder:
            names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
            for name in names[:MOST_FILES]:
                try:
                    texts[name.removesuffix(SUFFIX)] = _read(folder, name)
                except (OSError, ValueError) as problem:
                    problems.append(f"{name!r:.80}: {problem}")
            if len(names) > MOST_FILES:
                problems.append(f"only the first {MOST_FILES} files were read")
    except FileNotFoundError:
        pass
    except OSError as problem:
        problems.append(f"{SHARED_FOLDER} cannot be read: {problem.strerror}")
    return SharedFiles(texts, tuple(problems))


def write_shared_files(root: str, texts: Mapping[str, str], removed: list[str]) -> None:
    """Write some memories and remove others; each file is replaced as a whole."""
    try:
        with _folder(root, create=True) as folder:
            _sweep(folder)
            for name, text in texts.items():
                _replace(folder, name + SUFFIX, text.encode())
            for name in removed:
                with suppress(FileNotFoundError):
                    os.unlink(name + SUFFIX, dir_fd=folder)
    except OSError as problem:
        raise unwritable(os.path.join(root, SHARED_FOLDER), problem) from problem


@contextmanager
def _folder(root: str, *, create: bool) -> Iterator[int]:
    """The folder, opened part by part without following a link."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in SHARED_FOLDER.split(os.sep):
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=descriptor)
            inner = os.open(part, _DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _read(folder: int, name: str) -> bytes:
    descriptor = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no file")
        if status.st_size > MOST_BYTES:
            raise ValueError("it is too large")
        return file.read(MOST_BYTES)


def _replace(folder: int, name: str, content: bytes) -> None:
    temporary = temporary_path(f".{name}")
    descriptor = os.open(temporary, NEW_FILE, 0o644, dir_fd=folder)
    try:
        try:
            write_all(descriptor, content)
        finally:
            os.close(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _sweep(folder: int) -> None:
    """Remove temporary files of processes that were killed."""
    for name in filter(is_leftover, os.listdir(folder)):
        with suppress(OSError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if time.time() - status.st_mtime > LEFTOVER_SECONDS:
                os.unlink(name, dir_fd=folder)
