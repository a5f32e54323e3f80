"""Another shelf of ours, or a backup. It is read from a copy, because it may be in use, or on a
read-only medium."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import BinaryIO

from nuggets.errors import InvalidInput, NuggetsError, StoreBusy, StoreError
from nuggets.filesystem.atomic_files import open_plain, write_all
from nuggets.interfaces.importers import DATABASE_BEGIN
from nuggets.shelf import NuggetShelf
from nuggets.stores.exports.register import documented_files
from nuggets.stores.sqlite.database import APPLICATION

_CHUNK = 1 << 20  # bytes copied at a time
_ATTEMPTS = 5  # at copying a shelf that is in use: a commit takes a fraction of a copy
_OWNER = slice(68, 72)  # where the header of an SQLite file says whose database it is


@contextmanager
def open_copy(source: str, project: str) -> Iterator[NuggetShelf]:
    """The shelf of a directory or of a backup, in a temporary place."""
    with TemporaryDirectory(prefix="nuggets-import-") as temporary:
        copy = os.path.join(temporary, "shelf")
        try:
            if os.path.isdir(source):
                _copy_shelf(source, copy)
                _refuse_damaged(copy)
            with NuggetShelf(copy, project=project, short_lived=True) as shelf:
                if not os.path.isdir(source):
                    shelf.restore(source)
                yield shelf
        except StoreError as problem:
            message = str(problem).replace(copy, source)
            raise StoreError(f"{message} (with --dir {source})") from problem


def is_shelf(path: str) -> bool:
    """Is it the directory of a shelf?"""
    return os.path.isdir(path) and (
        os.path.exists(os.path.join(path, "nuggets.db"))
        or os.path.exists(os.path.join(path, "graph", "graph.json"))
    )


def fact_files(folder: str) -> list[str]:
    """The files of nuggets in a folder; without a shelf the TypeScript program wrote them."""
    return sorted(name for name in os.listdir(folder) if name.endswith(".nugget.json"))


def is_backup(path: str) -> bool:
    """Is it a database of ours, such as `nuggets backup` makes?"""
    try:
        with open(path, "rb", opener=open_plain) as file:
            head = file.read(100)
    except OSError:
        return False
    return head.startswith(DATABASE_BEGIN) and head[_OWNER] == APPLICATION.to_bytes(4, "big")


def _refuse_damaged(copy: str) -> None:
    """Raise an error if the database of the copy has what cannot be read; what can be read of a
    note is checked when it comes in."""
    from nuggets.stores.doctor.database_defects import NOTES, check_records
    from nuggets.stores.sqlite.database import reading_file

    path = os.path.join(copy, "nuggets.db")
    if os.path.exists(path):
        with reading_file(path) as database:
            check_records(database, NOTES, in_place=False)


def _copy_shelf(source: str, copy: str) -> None:
    """Copy again if the database changed meanwhile, so that it fits its log."""
    for _ in range(_ATTEMPTS):
        before = _database_versions(source)
        try:
            _copy_files(source, copy)
        except (OSError, shutil.Error) as problem:
            raise NuggetsError(f"{source} cannot be read: {problem}") from problem
        if _database_versions(source) == before:
            return
        shutil.rmtree(copy)
    raise StoreBusy(f"{source} keeps changing while it is copied; nothing was changed. Try again")


def _copy_files(source: str, copy: str) -> None:
    """Copy the plain files that hold memory. A link could lead to any file of this machine, and
    what is not there in full, such as a file with holes, could fill the disk."""
    names = list(_files_with_memory(source))
    size = sum(os.lstat(os.path.join(source, name)).st_size for name in names)
    free = shutil.disk_usage(os.path.dirname(copy)).free
    if size > free:
        raise NuggetsError(
            f"{source} has {size} bytes of memory, and there is space for {free} to copy them to "
            f"{os.path.dirname(copy)}; nothing was changed. Free some, or set TMPDIR"
        )
    os.mkdir(copy, 0o700)
    for name in names:
        target = os.path.join(copy, name)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        path = os.path.join(source, name)
        with open(path, "rb", opener=_open_own) as file, open(target, "xb") as copied:
            has_holes = _copy_without_holes(file, copied)
        if has_holes and not name.startswith("nuggets.db"):
            raise InvalidInput(f"{path} has holes, and no program writes such a file for memories")
        shutil.copystat(path, target, follow_symlinks=False)


def _copy_without_holes(file: BinaryIO, copied: BinaryIO) -> bool:
    """Copy what is there: a file of many gigabytes may hold a few bytes, and so does its copy.

    Returns whether there are holes.
    """
    source, target = file.fileno(), copied.fileno()
    size, end, found = os.fstat(source).st_size, 0, 0
    while end < size:
        try:
            begin = os.lseek(source, end, os.SEEK_DATA)
        except OSError:  # only a hole is left
            break
        end = os.lseek(source, begin, os.SEEK_HOLE)
        found += end - begin
        os.lseek(target, begin, os.SEEK_SET)
        os.lseek(source, begin, os.SEEK_SET)
        while begin < end and (part := os.read(source, min(_CHUNK, end - begin))):
            write_all(target, part)
            begin += len(part)
    os.ftruncate(target, size)
    return found < size


def _files_with_memory(source: str) -> Iterator[str]:
    """The database and the documented files: plain files only."""
    names = ["nuggets.db", "nuggets.db-wal", "recalls.jsonl", *sorted(documented_files(source))]
    for name in names:
        with suppress(FileNotFoundError, NotADirectoryError):
            if stat.S_ISREG(os.lstat(os.path.join(source, name)).st_mode):
                yield name


def _open_own(path: str, flags: int) -> int:
    return open_plain(path, flags | os.O_NOFOLLOW)


def _database_versions(source: str) -> list[tuple[int, int]]:
    versions = []
    for name in ("nuggets.db", "nuggets.db-wal"):
        with suppress(OSError):
            status = os.stat(os.path.join(source, name))
            versions.append((status.st_size, status.st_mtime_ns))
    return versions
