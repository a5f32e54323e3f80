"""Backups: the whole database at one revision in one file, with a checksum as its last line; and
other older copies of a shelf in its directory.

SQLite reads as many pages as the header says, so the file can be opened as it is.
"""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import BinaryIO

from nuggets.domain.records import MemoryNote
from nuggets.errors import Conflict, InvalidInput, NotFound, NuggetsError, StoreCorrupt, StoreError
from nuggets.filesystem.atomic_files import (
    DAMAGED,
    NEW_FILE,
    is_leftover,
    open_plain,
    private_directory,
    sync_directory,
    temporary_path,
    unreadable,
    unwritable,
)
from nuggets.named_tuple import NamedTuple
from nuggets.stores.doctor.database_defects import build_indexes
from nuggets.stores.exports.register import documented_files
from nuggets.stores.sql import schema
from nuggets.stores.sql.history import History, drop_and_erase
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import (
    APPLICATION,
    Database,
    explain_errors,
    quote_path,
    refuse_foreign_tables,
    remove_database,
    sync_file,
)

_LABEL = b"\nnuggets-backup-1 "  # then 64 hex digits of SHA-256 and a line feed
_LAST_LINE_BYTES = len(_LABEL) + 64 + 1
_CHUNK = 1 << 20  # bytes that are in memory at a time


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
        remove_database(temporary)
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
    with closing(Database(path, connection)) as database, explain_errors(path):
        refuse_foreign_tables(connection, path)
        yield database


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


# --- the backups in a shelf's own directory, without notes that were erased -------------------
# Each is written again.


def erase_from_backups(
    directory: str,
    note_ids: Collection[str],
    may_quote: Callable[[MemoryNote], bool],
    kinds: Sequence[IndexKind],
) -> tuple[list[str], list[str]]:
    """Erase the notes, and others that may quote them, from all backups: the paths of those that
    are without them now, and of those that cannot be read or written."""
    done: list[str] = []
    unreached: list[str] = []
    for path in list_backups(directory):
        try:
            with explain_errors(path):
                _erase_from_backup(path, note_ids, may_quote, kinds)
        except (NuggetsError, OSError):
            unreached.append(path)
        else:
            done.append(path)
    return done, unreached


def _erase_from_backup(
    path: str,
    note_ids: Collection[str],
    may_quote: Callable[[MemoryNote], bool],
    kinds: Sequence[IndexKind],
) -> None:
    """Also what the backup holds in unused parts of pages goes: it is rewritten in any case."""
    temporary = temporary_path(path)
    try:
        unpack(path, temporary)
        with closing(Database(temporary)) as database:
            meta = schema.read_meta(database)
            schema.refuse_newer(meta)
            schema.migrate(database, meta)
            database.begin(writing=True)
            quoting = (note.id for note in _all_versions(database) if may_quote(note))
            drop_and_erase(database, {*note_ids, *quoting})
            build_indexes(database, kinds)
            database.commit()
            database.execute("VACUUM")
            database.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
        append_checksum(temporary)
        os.replace(temporary, path)
        sync_directory(os.path.dirname(path))
    finally:
        remove_database(temporary)


def _all_versions(database: Database) -> Iterator[MemoryNote]:
    yield from SqlState(lambda: database).notes.values()
    for commit in History(database).commits():
        yield from commit.before.put


# --- older copies of a shelf in its own directory ---------------------------------------------
# Backups, files that were set aside, and temporary files of writers that died.


REPLACED = "replaced-"  # then a number: a shelf that a restore replaced
_OWN_NAMES = ("nuggets.db", "nuggets.lock", "recalls.jsonl", "config.toml", "token")
_SHORTEST = 6  # bytes of a text that is looked for: shorter ones are everywhere


def remove_copies(directory: str) -> list[str]:
    """Remove everything that was set aside, since it may hold what is being erased; the paths.

    So do temporary files. Their writers, if any is alive, then fail and begin anew.
    """
    paths = list(_set_aside_paths(directory))
    for path in paths:
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except FileNotFoundError:
            pass  # its writer has just removed it
        except OSError as problem:
            raise unwritable(path, problem) from problem
    return paths


def _set_aside_paths(directory: str) -> Iterator[str]:
    for path in _paths_in(directory, "", "graph", "backups"):
        name = os.path.basename(path)
        if DAMAGED in name or name.startswith(REPLACED) or is_leftover(name):
            yield path


def _paths_in(directory: str, *subfolders: str) -> Iterator[str]:
    for subfolder in subfolders:
        folder = os.path.join(directory, subfolder)
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
            yield os.path.join(folder, name)


def files_with_text(directory: str, texts: Iterable[str]) -> list[str]:
    """Files of others in a shelf's directory that hold one of the texts: what editors leave
    (`graph.json~`, `.swp`), and copies that someone made. Our own files are not searched, because
    other memories may say the same."""
    needles = {form for text in texts for form in _written_forms(text) if len(form) >= _SHORTEST}
    ours = {os.path.join(directory, name) for name in documented_files(directory)}
    found = []
    for path in _paths_in(directory, "", "graph"):
        name = os.path.basename(path)
        is_ours = path in ours or name.startswith(_OWN_NAMES) or is_leftover(name)
        if not is_ours and os.path.isfile(path) and _holds(path, needles):
            found.append(path)
    return found


def _written_forms(text: str) -> Iterator[bytes]:
    """The longest line as it stands in a text file, and in JSON of either kind."""
    line = max(text.splitlines(), key=len, default="").strip()
    yield line.encode()
    for ascii_only in (True, False):
        yield json.dumps(line, ensure_ascii=ascii_only)[1:-1].encode()


def _holds(path: str, needles: Collection[bytes]) -> bool:
    """Is one of them in the file? One that cannot be read counts as if it were."""
    longest = max(map(len, needles), default=0)
    rest = b""
    try:
        with open(path, "rb", opener=open_plain) as file:
            while part := file.read(_CHUNK):
                rest = rest[-longest:] + part
                if any(needle in rest for needle in needles):
                    return True
    except OSError:
        return bool(needles)
    return False


def list_backups(directory: str) -> list[str]:
    """The backups that a shelf's own directory holds."""
    paths = _paths_in(directory, "backups") if directory else ()
    return [path for path in paths if not os.path.isdir(path)]  # of `connect`: no memories
