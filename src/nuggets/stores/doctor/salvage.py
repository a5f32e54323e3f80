"""Save what can be read of a damaged database, row by row, into a new one.

It is read from a copy, so that no byte of the damaged file changes.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from nuggets.domain.records import NuggetConfig
from nuggets.filesystem.atomic_files import NEW_FILE
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.doctor.row_checks import CHANGES, COMMITS, NOTES, OTHERS, RECALLS, Rows
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_writer import INSERT_NOTE, columns_of
from nuggets.stores.sql.row_format import note_of
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.bulk_insert import put_links, put_nugget
from nuggets.stores.sqlite.database import FAILURES, Database

_MOST_FAILURES = 5_000  # in a row, over 600,000 keys; after so many the table counts as read
_FAILURES_PER_STEP = 20  # so the steps miss at most a twentieth more than is damaged


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
        for rows in OTHERS:
            _insert(target, rows, _read_rows(damaged, rows))
        notes = _copy_notes(damaged, target)
        commits, last = _copy_history(damaged, target)
        return Salvaged(notes, commits, last)


@contextmanager
def _open_copy(source: str, copy: str) -> Iterator[sqlite3.Connection | None]:
    """Copy a database with its log, and connect to the copy; None if it is no database at all."""
    try:
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError), open(source + suffix, "rb") as original:
                descriptor = os.open(copy + suffix, NEW_FILE, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    shutil.copyfileobj(original, file)
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
    connection.text_factory = bytes  # one row that is no UTF-8 must not end the reading of others
    with suppress(*FAILURES):
        connection.execute("PRAGMA writable_schema = ON")  # also opens a file that was cut off
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'notes'")
        if tables.fetchone()[0]:
            return connection
    connection.close()
    return None


def _copy_notes(damaged: sqlite3.Connection, target: Database) -> int:
    recalls = {place: row for place, *row in _read_rows(damaged, RECALLS)}
    nuggets, ids = set(SqlState(lambda: target).nuggets), set[str]()
    for place, note_id, record in _read_rows(damaged, NOTES):
        note = note_of(note_id, record, *recalls.get(place, ()))
        if note_id in ids:  # a page that stands in the tree twice
            continue
        ids.add(note_id)
        target.execute(INSERT_NOTE, (*columns_of(note), note.id, None))
        put_links(target, note)
        if fold_case(note.nugget_name) not in nuggets:
            nuggets.add(fold_case(note.nugget_name))
            put_nugget(target, NuggetConfig(note.nugget_name))
    return len(ids)


def _copy_history(damaged: sqlite3.Connection, target: Database) -> tuple[int, int]:
    saved = last = 0
    for key, *commit in _read_rows(damaged, COMMITS):
        target.execute("INSERT INTO commits VALUES (?, ?, ?, ?, ?)", commit)
        saved, last = saved + 1, key
        for change in _read_rows(damaged, CHANGES, f"revision = {key:d} AND", 1):
            target.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)", (key, *change))
    return saved, last


def _insert(target: Database, rows: Rows, found: Iterable[tuple[Any, ...]]) -> None:
    values = ", ".join("?" * (rows.columns.count(",") + 2))
    sql = f"INSERT OR IGNORE INTO {rows.table} ({rows.key}, {rows.columns}) VALUES ({values})"
    target.executemany(sql, found)


def _read_rows(
    damaged: sqlite3.Connection, rows: Rows, where: str = "", most_failures: int = _MOST_FAILURES
) -> Iterator[tuple[Any, ...]]:
    """The rows that can be read, each with its key before it.

    Keys grow: a torn tree leads to the same rows again, or for ever in a circle. Behind what cannot
    be read it goes on with the next key, in steps that grow with the failures.
    """
    sql = f"SELECT {rows.key}, {rows.columns} FROM {rows.table} WHERE {where} {rows.key} > ?"
    last, failures = -1, 0
    while failures < most_failures:
        previous = last
        with suppress(*FAILURES):
            for raw in damaged.execute(f"{sql} ORDER BY {rows.key}", (last,)):
                if type(raw[0]) is not int or raw[0] <= previous:
                    break
                previous = raw[0]
                row = _decode(raw)
                if row is not None and rows.is_sound(row[1:]):
                    last, failures = raw[0], 0
                    yield row
            else:
                return
        last += 1 + failures // _FAILURES_PER_STEP
        failures += 1


def _decode(raw: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The row with its texts; None if one is no UTF-8."""
    try:
        return tuple(value.decode() if type(value) is bytes else value for value in raw)
    except UnicodeDecodeError:
        return None
