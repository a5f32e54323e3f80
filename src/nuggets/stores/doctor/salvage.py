"""Save what can be read of a damaged database, row by row, into a new one.

It is read from a copy, so that no byte of the damaged file changes.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from nuggets.domain.records import NuggetConfig
from nuggets.errors import StoreCorrupt
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.doctor.database_defects import find_damaged_records, take_out_damaged
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_reader import Rest
from nuggets.stores.sql.commit_writer import INSERT_NOTE, columns_of
from nuggets.stores.sql.row_format import note_of, nugget_from_text
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.bulk_insert import put_links, put_nugget
from nuggets.stores.sqlite.database import PAGE_BYTES, Database

_CHUNK = 200  # rows that one statement reads, while there is no damage
_MOST_FAILURES = 100_000  # unreadable keys in a row; after so many the table counts as read


class Salvaged(NamedTuple):
    """How much was saved."""

    notes: int = 0
    commits: int = 0
    last_revision: int = 0


def salvage(source: str, target: Database) -> Salvaged:
    """Fill a new database with all rows of `source` that can be read."""
    for statement in schema.statements():
        target.execute(statement)
    with _open_copy(source, f"{target.path}-copy") as damaged:
        if damaged is None:
            return Salvaged()
        _copy_nuggets(damaged, target)
        notes = _copy_notes(damaged, target)
        _copy_table(damaged, target, "marks", "rowid", "name, value")
        _copy_table(damaged, target, "touches", "number", "revision, note, session, at, kind")
        _copy_table(damaged, target, "superseded", "number", "note, until, record")
        commits, last = _copy_history(damaged, target)
        take_out_damaged(target, find_damaged_records(target))  # of the history
        return Salvaged(notes, commits, last)


@contextmanager
def _open_copy(source: str, copy: str) -> Iterator[sqlite3.Connection | None]:
    """Copy a database with its log, and connect to the copy; None if it is no database at all."""
    try:
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(source + suffix, copy + suffix)
        connection = _connect(copy)
        if connection is None and os.path.exists(copy):
            _write_header(copy)
            connection = _connect(copy)
        try:
            yield connection
        finally:
            if connection is not None:
                connection.close()
    finally:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(copy + suffix)


def _connect(copy: str) -> sqlite3.Connection | None:
    """A connection; None if there are no tables of ours."""
    connection = sqlite3.connect(copy, isolation_level=None)
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA writable_schema = ON")  # also opens a file that was cut off
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'notes'")
        if tables.fetchone()[0]:
            return connection
    connection.close()
    return None


def _write_header(copy: str) -> None:
    """Replace a damaged header, the first 100 bytes, by that which all our databases have."""
    pages = os.path.getsize(copy) // PAGE_BYTES
    parts = (
        (0, b"SQLite format 3\0"),
        (16, PAGE_BYTES.to_bytes(2, "big") + b"\2\2\0\x40\x20\x20"),
        (28, pages.to_bytes(4, "big")),
        (44, b"\0\0\0\4"),  # the format of the schema
        (56, b"\0\0\0\1"),  # UTF-8
    )
    header = bytearray(100)
    for offset, content in parts:
        header[offset : offset + len(content)] = content
    with open(copy, "r+b") as file:
        file.write(header)


def _copy_nuggets(damaged: sqlite3.Connection, target: Database) -> None:
    for row in _read_rows(damaged, "nuggets", "place", "fold, config"):
        with suppress(StoreCorrupt):  # a note brings its nugget along
            nugget_from_text(row[2])
            target.execute("INSERT OR IGNORE INTO nuggets VALUES (?, ?, ?)", row)


def _copy_notes(damaged: sqlite3.Connection, target: Database) -> int:
    recalls = {
        row[0]: row[1:]
        for row in _read_rows(damaged, "recalls", "place", "hits, session, sessions, accessed_at")
    }
    saved, nuggets = 0, set(SqlState(lambda: target).nuggets)
    for place, note_id, record in _read_rows(damaged, "notes", "place", "id, record"):
        with suppress(StoreCorrupt, ValueError, TypeError):  # the bytes of this record are damaged
            note = note_of(note_id, record, *recalls.get(place, ()))
            target.execute(INSERT_NOTE, (*columns_of(note), note.id, None))
            put_links(target, note)
            saved += 1
            if fold_case(note.nugget_name) not in nuggets:
                nuggets.add(fold_case(note.nugget_name))
                put_nugget(target, NuggetConfig(note.nugget_name))
    return saved


def _copy_history(damaged: sqlite3.Connection, target: Database) -> tuple[int, int]:
    saved = last = 0
    for row in _read_rows(damaged, "commits", "revision", "at, action, client, rest"):
        try:
            Rest.from_json(row[4])
        except StoreCorrupt:
            continue
        target.execute("INSERT INTO commits VALUES (?, ?, ?, ?, ?)", row)
        saved, last = saved + 1, row[0]
        with suppress(sqlite3.Error):
            sql = "SELECT * FROM changes WHERE revision = ? ORDER BY position"
            for change in damaged.execute(sql, (row[0],)):
                target.execute("INSERT OR IGNORE INTO changes VALUES (?, ?, ?, ?, ?, ?)", change)
    return saved, last


def _copy_table(
    damaged: sqlite3.Connection, target: Database, table: str, key: str, columns: str
) -> None:
    values = ", ".join("?" * (columns.count(",") + 2))
    sql = f"INSERT OR IGNORE INTO {table} ({key}, {columns}) VALUES ({values})"
    for row in _read_rows(damaged, table, key, columns):
        target.execute(sql, row)


def _read_rows(
    damaged: sqlite3.Connection, table: str, key: str, columns: str
) -> Iterator[tuple[Any, ...]]:
    """The rows by growing key, without those that cannot be read."""
    sql = f"SELECT {key}, {columns} FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT ?"
    last, size, failures = -1, _CHUNK, 0
    while failures < _MOST_FAILURES:
        try:
            chunk = damaged.execute(sql, (last, size)).fetchall()
        except sqlite3.Error:
            if size == 1:
                last, failures = last + 1, failures + 1
            size = 1
            continue
        if not chunk:
            return
        yield from chunk
        last, failures = chunk[-1][0], 0
        size = min(_CHUNK, size * 2)
