"""What can still be read of a damaged database, row by row, into a new one.

It is read from a copy, so that no byte of the damaged one changes.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from nuggets.records import NuggetConfig
from nuggets.stores.sqlite import schema
from nuggets.stores.sqlite.database import PAGE_BYTES, Database
from nuggets.stores.sqlite.filling import put_links, put_nuggets
from nuggets.stores.sqlite.rows import note_of
from nuggets.stores.sqlite.state import SqliteState
from nuggets.stores.sqlite.writing import INSERT_NOTE, columns_of
from nuggets.text import folded

_CHUNK = 200  # rows of one statement, while there is no damage

_PATIENCE = 100_000  # keys in a row that lead nowhere: then nothing follows


class Saved(NamedTuple):
    """How much was read."""

    notes: int = 0
    commits: int = 0
    last_revision: int = 0


def salvage(source: str, target: Database) -> Saved:
    """Fill a new database with all rows of `source` that can be read."""
    for statement in schema.statements():
        target.execute(statement)
    with _copy_of(source, target.path) as damaged:
        if damaged is None:
            return Saved()
        _save(damaged, target, "nuggets", "place", "fold, config")
        notes = _save_notes(damaged, target)
        _save(damaged, target, "marks", "rowid", "name, value")
        _save(damaged, target, "touches", "number", "revision, note, session, at")
        commits, last = _save_history(damaged, target)
        return Saved(notes, commits, last)


@contextmanager
def _copy_of(source: str, beside: str) -> Iterator[sqlite3.Connection | None]:
    """A connection to a copy with its log; None if it is no database at all."""
    copy = f"{beside}-copy"
    try:
        for ending in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(source + ending, copy + ending)
        connection = _opened(copy)
        if connection is None and os.path.exists(copy):
            _write_header(copy)
            connection = _opened(copy)
        try:
            yield connection
        finally:
            if connection is not None:
                connection.close()
    finally:
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(copy + ending)


def _opened(copy: str) -> sqlite3.Connection | None:
    """None if there are no tables of ours to be seen."""
    connection = sqlite3.connect(copy, isolation_level=None)
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA writable_schema = ON")  # reads one that was cut off, too
        found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'notes'")
        if found.fetchone()[0]:
            return connection
    connection.close()
    return None


def _write_header(copy: str) -> None:
    """The first 100 bytes as every database of ours has them, in the place of damaged ones."""
    pages = os.path.getsize(copy) // PAGE_BYTES
    parts = (
        (0, b"SQLite format 3\0"),
        (16, PAGE_BYTES.to_bytes(2, "big") + b"\2\2\0\x40\x20\x20"),
        (28, pages.to_bytes(4, "big")),
        (44, b"\0\0\0\4"),  # the format of the schema
        (56, b"\0\0\0\1"),  # UTF-8
    )
    header = bytearray(100)
    for place, content in parts:
        header[place : place + len(content)] = content
    with open(copy, "r+b") as file:
        file.write(header)


def _save_notes(damaged: sqlite3.Connection, target: Database) -> int:
    recalls = {
        row[0]: row[1:]
        for row in _rows(damaged, "recalls", "place", "hits, session, sessions, accessed_at")
    }
    saved, nuggets = 0, set(SqliteState(lambda: target).nuggets)
    for place, note_id, record in _rows(damaged, "notes", "place", "id, record"):
        with suppress(ValueError, TypeError, IndexError):  # its own bytes are damaged
            note = note_of(note_id, record, *recalls.get(place, ()))
            target.execute(INSERT_NOTE, (*columns_of(note), note.id))
            put_links(target, note)
            saved += 1
            if folded(note.nugget_name) not in nuggets:
                nuggets.add(folded(note.nugget_name))
                put_nuggets(target, [NuggetConfig(note.nugget_name)])
    return saved


def _save_history(damaged: sqlite3.Connection, target: Database) -> tuple[int, int]:
    saved = last = 0
    for row in _rows(damaged, "commits", "revision", "at, action, client, rest"):
        target.execute("INSERT INTO commits VALUES (?, ?, ?, ?, ?)", row)
        saved, last = saved + 1, row[0]
        with suppress(sqlite3.Error):
            sql = "SELECT * FROM changes WHERE revision = ? ORDER BY position"
            for change in damaged.execute(sql, (row[0],)):
                target.execute("INSERT OR IGNORE INTO changes VALUES (?, ?, ?, ?, ?, ?)", change)
    return saved, last


def _save(damaged: sqlite3.Connection, target: Database, table: str, key: str, rest: str) -> None:
    marks = ", ".join("?" * (rest.count(",") + 2))
    sql = f"INSERT OR IGNORE INTO {table} ({key}, {rest}) VALUES ({marks})"
    for row in _rows(damaged, table, key, rest):
        target.execute(sql, row)


def _rows(
    damaged: sqlite3.Connection, table: str, key: str, columns: str
) -> Iterator[tuple[Any, ...]]:
    """The rows by growing key. A row that cannot be read is stepped over."""
    sql = f"SELECT {key}, {columns} FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT ?"
    last, size, failures = -1, _CHUNK, 0
    while failures < _PATIENCE:
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
