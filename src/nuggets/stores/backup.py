"""A backup: the whole database at one revision in one file, with a checksum as its last line.

SQLite reads as many pages as the header says, so the file can be opened as it is.
"""

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import BinaryIO

from nuggets.errors import Conflict, InvalidInput, NotFound, StoreCorrupt, StoreError
from nuggets.filesystem.atomic_files import (
    NEW_FILE,
    open_plain,
    private_directory,
    sync_directory,
    temporary_path,
    unreadable,
    unwritable,
)
from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql import schema
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import (
    APPLICATION,
    Database,
    ExplainErrors,
    quote_path,
    refuse_foreign_tables,
    sync_file,
)

_LABEL = b"\nnuggets-backup-1 "  # then 64 hex digits of SHA-256 and a line feed
_LAST_LINE_BYTES = len(_LABEL) + 64 + 1
_CHUNK = 1 << 20


class Backup(NamedTuple):
    """A backup whose checksum is right."""

    path: str
    size: int  # bytes
    revision: int
    at: str  # the moment of that revision
    notes: int
    checksum: str


def write_backup(copy_to: Callable[[str], None], path: str) -> Backup:
    """Make a backup; `copy_to` copies the database into an empty file."""
    private_directory(os.path.dirname(path))
    temporary = temporary_path(path)
    try:
        os.close(os.open(temporary, NEW_FILE, 0o600))
        copy_to(temporary)
        with _connect(f"file:{quote_path(temporary)}?mode=rw", temporary) as database:
            database.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
            database.execute(f"PRAGMA application_id = {APPLICATION}")  # a shelf in memory has none
        append_checksum(temporary)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise Conflict(f"{path} already exists; name another file") from None
        sync_directory(os.path.dirname(path))
    except OSError as problem:
        raise unwritable(path, problem) from problem
    finally:
        for leftover in (temporary, f"{temporary}-wal", f"{temporary}-shm"):
            with suppress(OSError):
                os.unlink(leftover)
    return read_backup(path)


def read_backup(path: str) -> Backup:
    """Check every byte of a backup, and say what it holds."""
    try:
        with open(path, "rb", opener=open_plain) as file:
            size, checksum = _check_checksum(file, path)
    except FileNotFoundError:
        raise NotFound(f"there is no {path}; name a file that `nuggets backup` made") from None
    except OSError as problem:
        raise unreadable(path, problem) from problem
    with open_backup(path) as database:
        _check_database(database, path)
        state = SqlState(lambda: database)
        return Backup(path, size + _LAST_LINE_BYTES, *state.position, len(state.notes), checksum)


def _check_database(database: Database, path: str) -> None:
    if database.value("PRAGMA application_id") != APPLICATION:
        raise InvalidInput(f"{path} is the backup of another program")
    schema.refuse_newer(schema.read_meta(database))
    problem = database.value("PRAGMA integrity_check")
    if problem != "ok":
        raise StoreCorrupt(
            f"{path} was made of a damaged database ({problem}). Nothing was changed; take an "
            "older backup"
        )


def open_backup(path: str) -> AbstractContextManager[Database]:
    """The database of a backup, for reading only."""
    return _connect(f"file:{quote_path(path)}?mode=ro&immutable=1", path)


@contextmanager
def _connect(uri: str, path: str) -> Iterator[Database]:
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    except sqlite3.Error as problem:
        raise StoreError(f"{path} cannot be opened: {problem}") from problem
    database = Database(path, connection)
    try:
        with ExplainErrors(path):
            refuse_foreign_tables(connection, path)
            yield database
    finally:
        database.close()


def unpack(path: str, target: str) -> str:
    """Write the database of a backup to a file of its own, and wait until it is on the medium; its
    checksum."""
    with open(path, "rb", opener=open_plain) as source:
        size, checksum = _check_checksum(source, path)
        source.seek(0)
        with os.fdopen(os.open(target, NEW_FILE, 0o600), "wb") as file:
            while size > 0 and (part := source.read(min(_CHUNK, size))):
                file.write(part)
                size -= len(part)
    sync_file(target)
    return checksum


def append_checksum(path: str) -> None:
    """Make a file that holds a database a backup, and wait until it is on the medium."""
    with open(path, "r+b") as file:
        checksum = _compute_checksum(file, os.fstat(file.fileno()).st_size)
        file.seek(0, os.SEEK_END)
        file.write(_LABEL + checksum.encode() + b"\n")
    sync_file(path)


def _check_checksum(file: BinaryIO, path: str) -> tuple[int, str]:
    """The size of the database in the backup, and its checksum; an error if that is wrong."""
    size = os.fstat(file.fileno()).st_size - _LAST_LINE_BYTES
    file.seek(max(0, size))
    last_line = file.read()
    if size <= 0 or not (last_line.startswith(_LABEL) and last_line.endswith(b"\n")):
        raise InvalidInput(
            f"{path} is not a complete backup: its last line is missing. `nuggets backup` makes "
            "one; to import a copied nuggets.db, put it into a directory of its own and name that "
            "in `nuggets import`"
        )
    checksum = last_line[len(_LABEL) : -1].decode(errors="replace")
    file.seek(0)
    if _compute_checksum(file, size) != checksum:
        raise StoreCorrupt(
            f"{path} is damaged: its bytes are not those that were backed up. Nothing was changed; "
            "take an older backup"
        )
    return size, checksum


def _compute_checksum(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size > 0 and (part := file.read(min(_CHUNK, size))):
        digest.update(part)
        size -= len(part)
    return digest.hexdigest()
