"""Databases that are read without changing them: shelves and backups of ours, from a copy, and
that of claude-mem."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from nuggets.domain.limits import CONTENT_BYTES
from nuggets.errors import InvalidInput, NuggetsError, StoreBusy, StoreError
from nuggets.filesystem.atomic_files import open_plain, write_all
from nuggets.interfaces.importers import DATABASE_BEGIN, Json, Records, make_note, moment
from nuggets.shelf import NuggetShelf
from nuggets.stores.exports.register import documented_files
from nuggets.stores.sqlite.database import APPLICATION

# --- claude-mem -----------------------------------------------------------------------------------
#
# Its observations become notes. Only tables are read, and columns by name: versions differ in what
# they have.


_NEEDED = {"id", "title"}
_TEXTS = ("subtitle", "narrative", "text")
_LISTS = ("facts",)


def is_claude_mem(path: str) -> bool:
    with closing(_open(path)) as database:
        return bool(_columns(database, "observations") >= _NEEDED)


def read_database(path: str, name: str, nugget: str, at: str, found: Records) -> None:
    """Observations as notes; the same id of an observation gets the same note."""
    found.form = "the database of claude-mem"
    try:
        with closing(_open(path)) as database:
            for row in _rows(database, "observations"):
                place = f"{name}, observation {row['id']}"
                found.add(_note(row, nugget, at), place)
    except sqlite3.Error as problem:
        raise InvalidInput(f"{name} cannot be read as a database: {problem}") from None


def _open(path: str) -> sqlite3.Connection:
    """A database that a stranger wrote: no views, no triggers, no functions with effects."""
    from urllib.parse import quote

    try:
        database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA query_only = ON")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 8 * CONTENT_BYTES)
        database.row_factory = sqlite3.Row
    except sqlite3.Error as problem:
        raise InvalidInput(f"{path} cannot be read as a database: {problem}") from None
    return database


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a plain table; none if there is no such table."""
    try:
        sql = database.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
        ).fetchone()
        if sql is None or str(sql[0]).upper().startswith("CREATE VIRTUAL"):
            return set()
        return {str(row["name"]) for row in database.execute(f"PRAGMA table_info({table})")}
    except sqlite3.Error:
        return set()


def _rows(database: sqlite3.Connection, table: str) -> Iterator[Mapping[str, Any]]:
    wanted = ("id", "title", "type", "project", "concepts", "created_at", *_TEXTS, *_LISTS)
    there = _columns(database, table)
    columns = ", ".join(name for name in wanted if name in there)
    for row in database.execute(f"SELECT {columns} FROM {table} ORDER BY id"):
        yield dict(row)


def _note(row: Mapping[str, Any], nugget: str, at: str) -> Json:
    texts = [str(row[name]) for name in _TEXTS if row.get(name)]
    texts += [f"- {item}" for name in _LISTS for item in _list(row.get(name))]
    changed = moment(row.get("created_at"), at)
    return make_note(
        nugget,
        str(row["title"] or ""),
        "\n".join(texts),
        identity=f"claude-mem {row['id']} {row.get('created_at')}",
        at=changed,
        tags=[row.get("type") or "", row.get("project") or "", *_list(row.get("concepts"))],
    )


def _list(text: object) -> list[Any]:
    """A list in JSON, as claude-mem writes it."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []


# --- another shelf, or a backup -------------------------------------------------------------------
#
# It is read from a copy, because it may be in use, or on a read-only medium.


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
        or any(name.endswith(".nugget.json") for name in os.listdir(path))
    )


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
    from nuggets.stores.sqlite.database import ExplainErrors, open_read_only

    path = os.path.join(copy, "nuggets.db")
    if os.path.exists(path):
        with closing(open_read_only(path)) as database, ExplainErrors(path):
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
