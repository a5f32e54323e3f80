"""Find what is wrong with a database: damage, and rows that do not agree with the notes."""

from collections.abc import Iterator, Sequence
from typing import Any

from nuggets.domain.records import Changes, NuggetConfig
from nuggets.errors import StoreCorrupt, StoreError
from nuggets.stores.doctor.defects import (
    DAMAGED_DATABASE,
    DAMAGED_RECORDS,
    WRONG_COLUMNS,
    WRONG_INDEX,
    Defect,
)
from nuggets.stores.doctor.row_checks import CHANGES, COMMITS, OTHERS, RECALLS, RECORDS, Rows
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_writer import columns_of
from nuggets.stores.sql.database_interface import Database as SqlDatabase
from nuggets.stores.sql.row_format import DAMAGE, damaged_record
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.bulk_insert import build_indexes, put_links
from nuggets.stores.sqlite.database import Database, open_read_only

_MOST_SHOWN = 3  # of many complaints
_COLUMNS = ("nugget", "kind", "type", "title", "project", "hidden")


def find_database_defects(path: str, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    """All that is wrong with the database of a shelf; nothing is changed."""
    try:
        database = open_read_only(path)
    except StoreCorrupt as problem:
        yield damaged_database(path, str(problem))
        return
    except StoreError as problem:
        yield Defect("unreadable database", path, str(problem), "", harmful=True)
        return
    try:
        schema.refuse_newer(schema.read_meta(database))
        complaint = _check_integrity(database)
        if complaint:
            yield damaged_database(path, complaint)
        else:
            yield from find_wrong_rows(database, kinds)
    except StoreCorrupt as problem:
        yield damaged_database(path, str(problem))
    except StoreError as problem:
        yield Defect("newer database", path, str(problem), "", harmful=True)
    except Exception as problem:  # whatever a damaged row makes of our own functions
        yield damaged_database(path, f"{type(problem).__name__}: {problem}")
    finally:
        database.close()


def damaged_database(path: str, problem: str) -> Defect:
    remedy = "set it aside, save all that can be read into a new one, complete it from the files"
    return Defect(DAMAGED_DATABASE, path, problem, remedy, harmful=True)


def _check_integrity(database: Database) -> str:
    """What SQLite complains of; the second check also looks at its own indexes."""
    for check in ("quick_check", "integrity_check"):
        complaints = [str(row[0]) for row in database.execute(f"PRAGMA {check}({_MOST_SHOWN})")]
        if complaints != ["ok"]:
            return "; ".join(" ".join(complaint.split()) for complaint in complaints)
    return ""


Damaged = dict[Rows, list[tuple[Any, ...]]]
"""The keys of rows that cannot be read."""


def find_damaged_records(database: SqlDatabase) -> Damaged:
    """Records that cannot be read, of any SQL database."""
    damaged: Damaged = {}
    for rows in RECORDS:
        count = rows.keys.count(",") + 1
        sql = f"SELECT {rows.keys}, {rows.columns} FROM {rows.table}"
        for row in database.execute(sql).fetchall():
            if not rows.is_sound(row[count:]):
                damaged.setdefault(rows, []).append(row[:count])
    return damaged


def describe_damaged(damaged: Damaged, path: str) -> Iterator[Defect]:
    for records, rows in damaged.items():
        names = ", ".join(" ".join(map(str, keys)) for keys in rows[:_MOST_SHOWN])
        problem = f"{len(rows)} records of {records.table} cannot be read: {names}"
        yield Defect(DAMAGED_RECORDS, path, problem, "take them out", harmful=True)


def take_out_damaged(database: SqlDatabase, damaged: Damaged) -> Changes:
    """Take damaged records out of the history; the commit that takes out the others. Inside a
    transaction."""
    ids: list[str] = []
    nuggets: list[NuggetConfig] = []
    for records, rows in damaged.items():
        where = " AND ".join(f"{key} = ?" for key in records.keys.split(", "))
        if records.remedy:
            database.executemany(f"{records.remedy} WHERE {where}", rows)
        elif records.table == "notes":
            ids += [note_id for (note_id,) in rows]
        else:
            nuggets += [NuggetConfig(fold) for (fold,) in rows]
    return Changes(drop=tuple(ids), put_nuggets=tuple(nuggets), action="doctor", client="doctor")


def find_wrong_rows(database: SqlDatabase, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    """Columns, links and indexes that do not agree with the notes, in any SQL database.

    Raises `StoreCorrupt` if a record cannot be read, of the history too.
    """
    check_records(database)
    yield from _check_derived_rows(database)
    yield from _check_indexes(database, kinds)


def check_records(database: SqlDatabase, *more: Rows) -> None:
    """Raise `StoreCorrupt` if anything beside the notes cannot be read, or of `more` tables."""
    for rows in (*more, *OTHERS, RECALLS, COMMITS, CHANGES):
        try:
            for row in database.execute(f"SELECT {rows.columns} FROM {rows.table}"):
                rows.check(*row)
        except StoreCorrupt:
            raise
        except DAMAGE as problem:
            raise damaged_record(f"a row of {rows.table}", problem) from problem


def _check_derived_rows(database: SqlDatabase) -> Iterator[Defect]:
    """Compare the columns and links with the notes that they are derived from."""
    notes = SqlState(lambda: database).notes
    wrong, links = 0, set[tuple[str, str]]()
    rows = database.execute(f"SELECT {', '.join(_COLUMNS)} FROM notes ORDER BY place")
    for row, note in zip(rows, notes.values(), strict=True):
        wrong += row != columns_of(note)[: len(_COLUMNS)]
        links.update((link.to, note.id) for link in note.links)
    if wrong or links != set(database.execute("SELECT target, source FROM links")):
        problem = "the columns by which notes are found do not agree with the notes"
        remedy = "derive them again from the notes"
        yield Defect(WRONG_COLUMNS, database.path, problem, remedy, harmful=True)


def _check_indexes(database: SqlDatabase, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    state = SqlState(lambda: database)
    meta = schema.read_meta(database)
    outdated = schema.outdated_kinds(meta, kinds)  # the next command builds them anyway
    for kind in schema.existing_kinds(meta, kinds):
        if kind in outdated:
            continue
        for complaint in kind.make(database, state).check()[:_MOST_SHOWN]:
            name, remedy = f"{WRONG_INDEX}: {kind.name}", "build it again"
            yield Defect(name, database.path, complaint, remedy, harmful=False)


def derive_rows_again(database: Database, kinds: Sequence[IndexKind]) -> None:
    """Make columns, links and indexes again from the notes; inside a transaction."""
    derive_columns_again(database)
    build_indexes(database, kinds)


def derive_columns_again(database: SqlDatabase) -> None:
    """Make columns and links again from the notes; inside a transaction."""
    state = SqlState(lambda: database)
    sql = f"UPDATE notes SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE place = ?"
    database.execute("DELETE FROM links")
    for place, note in state.notes.with_places():
        database.execute(sql, (*columns_of(note)[: len(_COLUMNS)], place))
        put_links(database, note)
