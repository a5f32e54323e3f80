"""Repair what an examination found, without losing a byte.

What is damaged is renamed to `<name>.damaged-<n>`, and what can be read of it is saved. The store
itself imports edits of the documented files and writes them again.
"""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from nuggets.domain import times
from nuggets.domain.records import Changes, Defect, NuggetConfig
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import (
    DAMAGED,
    NEW_FILE,
    free_name,
    open_plain,
    sync_directory,
    unwritable,
)
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.doctor.database_defects import (
    CHANGES,
    COMMITS,
    DAMAGED_DATABASE,
    OTHERS,
    RECALLS,
    SOUND_NOTES,
    WRONG_COLUMNS,
    WRONG_INDEX,
    Rows,
    build_indexes,
    derive_columns_again,
    put_links,
)
from nuggets.stores.doctor.examination import (
    DAMAGED_FILE,
    LEFTOVER,
    OPEN_TO_OTHERS,
    examine,
)
from nuggets.stores.exports.register import GRAPH, forget
from nuggets.stores.process_lock import hold_shelf_lock
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_writer import INSERT_NOTE, CommitWriter, columns_of
from nuggets.stores.sql.row_format import note_of
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import FAILURES, Database, building

_ROUNDS = 2  # a file that a damaged database had recorded as its own is examined without it


def repair(
    directory: str, kinds: Sequence[IndexKind], sync_exports: Callable[[], None]
) -> list[Defect]:
    """Repair what `examine` finds; the same defects, each with what was done.

    `sync_exports`: makes the store import edits of the documented files and write them again.
    """
    told: dict[tuple[str, str], Defect] = {}
    for _ in range(_ROUNDS):
        found = {(defect.kind, defect.path): defect for defect in examine(directory, kinds)}
        new = {key: defect for key, defect in found.items() if key not in told}
        if not new:
            break
        with hold_shelf_lock(directory):
            for key, defect in new.items():
                try:
                    done = _mend(directory, defect, kinds)
                except OSError as problem:
                    raise unwritable(defect.path, problem) from problem
                told[key] = defect._replace(remedy=done or defect.remedy)
        if all(defect.remedy or not defect.harmful for defect in told.values()):
            with suppress(StoreError):  # the next examination tells of it
                sync_exports()
    remaining = {(defect.kind, defect.path): defect for defect in examine(directory, kinds)}
    mended = (d._replace(mended=remaining.pop(key, None) is None) for key, d in told.items())
    return [*mended, *remaining.values()]


def _mend(directory: str, defect: Defect, kinds: Sequence[IndexKind]) -> str:
    """Repair one defect; what was done, where that says more than the remedy."""
    path = defect.path
    if defect.kind == OPEN_TO_OTHERS and os.path.lexists(path):
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
    elif defect.kind == LEFTOVER and os.path.lexists(path):
        os.unlink(path)
    elif defect.kind == DAMAGED_DATABASE:
        return _replace_database(directory, kinds)
    elif defect.kind == DAMAGED_FILE and os.path.lexists(path):
        os.rename(path, free_name(path + DAMAGED))
        _forget_export(directory, path)
    elif defect.kind.startswith((WRONG_COLUMNS, WRONG_INDEX)):
        with closing(Database(path)) as database:
            database.begin(writing=True)
            derive_columns_again(database)
            build_indexes(database, kinds)
            database.commit()
    return ""


def _forget_export(directory: str, path: str) -> None:
    """Remove a file from the register, so that it is written again."""
    path_of_database = os.path.join(directory, "nuggets.db")
    with suppress(StoreError, OSError), closing(Database(path_of_database)) as database:
        forget(database, os.path.relpath(path, directory))


def _replace_database(directory: str, kinds: Sequence[IndexKind]) -> str:
    """Put a new database in the place of the damaged one, so that there always is one."""
    path = os.path.join(directory, "nuggets.db")
    damaged_path = free_name(path + DAMAGED)
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        os.rename(path, damaged_path)  # a link or a directory: nothing of ours is in it
    with building(path) as database:
        saved = salvage(path, database)
        # Its new revision comes after all that anyone has seen of this shelf.
        exported = _exported_revision(directory)
        writer = CommitWriter(database, SqlState(lambda: database), after=exported)
        if saved.nuggets or writer.revision > 1:
            writer.apply(Changes(put_nuggets=saved.nuggets, action="doctor"))
            writer.finish(times.now())
        build_indexes(database, kinds)
        with suppress(FileNotFoundError):
            os.link(path, damaged_path)
        with suppress(FileNotFoundError):
            os.rename(f"{path}-wal", f"{damaged_path}-wal")
        with suppress(FileNotFoundError):
            os.unlink(f"{path}-shm")
        sync_directory(directory)
    return (
        f"set it aside as {os.path.basename(damaged_path)}; saved {saved.notes} notes and "
        f"{saved.commits} steps of the history; the documented files complete it"
    )


def _exported_revision(directory: str) -> int:
    """The revision that graph.json shows; 0 if there is none."""
    with suppress(OSError, ValueError, IndexError):
        with open(os.path.join(directory, GRAPH), "rb", opener=open_plain) as file:
            head = file.read(200)
        return int(head.split(b'"revision":')[1].split(b",")[0])
    return 0


# --- what can be read of a damaged database, row by row, into a new one -----------------------
# It is read from a copy, so that no byte of the damaged file changes.


_MOST_FAILURES = 5_000  # in a row, over 600,000 keys; after so many the table counts as read
_FAILURES_PER_STEP = 20  # so the steps miss at most a twentieth more than is damaged


class Salvaged(NamedTuple):
    """How much was saved."""

    notes: int = 0
    commits: int = 0
    nuggets: tuple[NuggetConfig, ...] = ()  # of notes, which were not saved themselves


def salvage(source: str, target: Database) -> Salvaged:
    """Fill a new database with all rows of `source` that can be read."""
    for statement in schema.statements():
        target.execute(statement)
    with _open_copy(source, f"{target.path}-copy") as damaged:
        if damaged is None:
            return Salvaged()
        for rows in OTHERS:
            _insert(target, rows, _read_rows(damaged, rows))
        notes, nuggets = _copy_notes(damaged, target)
        return Salvaged(notes, _copy_history(damaged, target), nuggets)


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


def _copy_notes(
    damaged: sqlite3.Connection, target: Database
) -> tuple[int, tuple[NuggetConfig, ...]]:
    """How many were saved, and those of their nuggets that were not."""
    recalls = {place: row for place, *row in _read_rows(damaged, RECALLS)}
    known, ids = set(SqlState(lambda: target).nuggets), set[str]()
    missing: dict[str, NuggetConfig] = {}
    for place, note_id, record in _read_rows(damaged, SOUND_NOTES):
        note = note_of(note_id, record, *recalls.get(place, ()))
        if note_id in ids:  # a page that stands in the tree twice
            continue
        ids.add(note_id)
        target.execute(INSERT_NOTE, (*columns_of(note), note.id, None))
        put_links(target, note)
        if (fold := fold_case(note.nugget_name)) not in known:
            missing.setdefault(fold, NuggetConfig(note.nugget_name))
    return len(ids), tuple(missing.values())


def _copy_history(damaged: sqlite3.Connection, target: Database) -> int:
    saved = 0
    for key, *commit in _read_rows(damaged, COMMITS):
        saved += 1
        target.execute("INSERT INTO commits VALUES (?, ?, ?, ?, ?)", commit)
        for change in _read_rows(damaged, CHANGES, f"revision = {key:d} AND", 1):
            target.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)", (key, *change))
    return saved


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
