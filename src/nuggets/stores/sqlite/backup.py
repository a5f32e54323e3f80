"""A backup: one file that is the whole database at one revision, and a last line that seals it.

The line has a checksum of all bytes before it. SQLite reads as many pages as the header names, so
the file can be opened as it is.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from nuggets.errors import Conflict, InvalidInput, NotFound, StoreCorrupt, StoreError
from nuggets.files import private_directory, sync_directory, unreadable, unwritable
from nuggets.stores.sqlite import schema
from nuggets.stores.sqlite.database import APPLICATION, Database, quoted, sync_file
from nuggets.stores.sqlite.state import SqliteState

_SEAL = b"\nnuggets-backup-1 "  # then 64 hex digits and a line feed
_SEAL_BYTES = len(_SEAL) + 64 + 1
_CHUNK = 1 << 20


class Backup(NamedTuple):
    """A backup that was made or found sound."""

    path: str
    size: int  # bytes
    revision: int
    at: str  # the moment of that revision
    notes: int
    checksum: str


def write_backup(copy_to: Callable[[str], None], path: str) -> Backup:
    """Make one; `copy_to` puts a copy of the database into a file that is there and empty."""
    private_directory(os.path.dirname(path))
    temporary = f"{path}.{os.getpid():x}-{os.urandom(4).hex()}.tmp"
    try:
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        copy_to(temporary)
        with _connection(f"file:{quoted(temporary)}?mode=rw", temporary) as database:
            database.execute("PRAGMA journal_mode = DELETE")  # one file, with no log beside it
            database.execute(f"PRAGMA application_id = {APPLICATION}")  # one in memory has none
        _seal(temporary)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise Conflict(f"{path} is there already; name another file") from None
        sync_directory(os.path.dirname(path))
    except OSError as problem:
        raise unwritable(path, problem) from problem
    finally:
        for leftover in (temporary, f"{temporary}-wal", f"{temporary}-shm"):
            with suppress(OSError):
                os.unlink(leftover)
    return read_backup(path)


def _seal(path: str) -> None:
    with open(path, "r+b") as file:
        checksum = _digest(file, os.fstat(file.fileno()).st_size)
        file.seek(0, os.SEEK_END)
        file.write(_SEAL + checksum.encode() + b"\n")
    sync_file(path)


def read_backup(path: str) -> Backup:
    """What a backup holds, if every byte of it is as it was made."""
    try:
        with open(path, "rb") as file:
            size, checksum = _sealed(file, path)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}; name a file that `nuggets backup` made") from None
    except OSError as problem:
        raise unreadable(path, problem) from problem
    with opened_backup(path) as database:
        _check(database, path)
        state = SqliteState(lambda: database)
        return Backup(path, size + _SEAL_BYTES, *state.position, len(state.notes), checksum)


def _sealed(file: BinaryIO, path: str) -> tuple[int, str]:
    """How long the database in it is, and its checksum."""
    size = os.fstat(file.fileno()).st_size - _SEAL_BYTES
    file.seek(max(0, size))
    seal = file.read()
    if size <= 0 or not (seal.startswith(_SEAL) and seal.endswith(b"\n")):
        raise InvalidInput(
            f"{path} is no whole backup: its last line is missing. `nuggets backup` makes them; a "
            "copied nuggets.db belongs into a directory of its own, for `nuggets import` to take in"
        )
    checksum = seal[len(_SEAL) : -1].decode(errors="replace")
    file.seek(0)
    if _digest(file, size) != checksum:
        raise StoreCorrupt(
            f"{path} is damaged: its bytes are not those that were backed up. Nothing was changed; "
            "take an older backup"
        )
    return size, checksum


def _digest(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size > 0 and (part := file.read(min(_CHUNK, size))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()


def _check(database: Database, path: str) -> None:
    if database.value("PRAGMA application_id") != APPLICATION:
        raise InvalidInput(f"{path} is the backup of another program")
    schema.refuse_newer(database)
    problem = database.value("PRAGMA integrity_check")
    if problem != "ok":
        raise StoreCorrupt(
            f"{path} was made of a damaged database ({problem}). Nothing was changed; take an "
            "older backup"
        )


@contextmanager
def opened_backup(path: str) -> Iterator[Database]:
    """To be read only."""
    with _connection(f"file:{quoted(path)}?mode=ro&immutable=1", path) as database:
        yield database


@contextmanager
def _connection(uri: str, path: str) -> Iterator[Database]:
    try:
        database = Database(path, sqlite3.connect(uri, uri=True, isolation_level=None))
    except sqlite3.Error as problem:
        raise StoreError(f"{path} cannot be opened: {problem}") from problem
    try:
        yield database
    finally:
        database.close()


def unpack(path: str, target: str) -> None:
    """The database of a backup as a file of its own, on the medium."""
    with open(path, "rb") as source:
        size, _ = _sealed(source, path)
        source.seek(0)
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            while size > 0 and (part := source.read(min(_CHUNK, size))):
                file.write(part)
                size -= len(part)
    sync_file(target)
