"""Find what is wrong with a database: damage, and rows that do not agree with the notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.domain import times
from nuggets.domain.records import Changes, Defect, MemoryNote, NuggetConfig
from nuggets.domain.type_check import check_fields
from nuggets.errors import StoreCorrupt, StoreError
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_writer import columns_of
from nuggets.stores.sql.row_format import (
    DAMAGE,
    Rest,
    damaged_record,
    note_of,
    nugget_from_text,
    with_recalls,
)
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import Database, reading_file

if TYPE_CHECKING:
    from nuggets.stores.sql.schema import Database as SqlDatabase
    from nuggets.stores.sql.schema import IndexKind

DAMAGED_DATABASE = "damaged database"
WRONG_COLUMNS = "wrong columns"
WRONG_INDEX = "wrong index"


# --- what every row of a table must be, so that the rest of Nuggets can read it ---------------


LAST_REVISION = 1 << 53  # up to there every program that reads JSON counts exactly


class Rows(NamedTuple):
    """The rows of a table that is not derived from others."""

    table: str
    key: str  # a number that grows from row to row
    columns: str
    check: Callable[..., object]  # of these columns; raises one of `DAMAGE`, or `StoreCorrupt`

    def is_sound(self, row: tuple[Any, ...]) -> bool:
        """Can the row be read?"""
        try:
            self.check(*row)
        except (StoreCorrupt, *DAMAGE):
            return False
        return True


class _MisplacedNugget(ValueError):
    """It can be read, but stands where another name is looked for."""


def _check_note(note_id: str, record: str) -> MemoryNote:
    """What can be read may still be nothing that the documented files could bring back."""
    note = note_of(note_id, record)
    check_fields(note._asdict(), MemoryNote)
    moments = (note.created_at, note.updated_at, note.last_accessed_at)
    others = (note.last_rewritten_at, note.archived_at, note.last_inspected_at)
    for moment in (*moments, *filter(None, (*others, note.valid_from, note.valid_until))):
        times.normalize_time(moment)
    return note


def _check_nugget(fold: str, config: str) -> None:
    name = nugget_from_text(config).name
    if fold != fold_case(name):
        raise _MisplacedNugget(f"{fold!r:.80} is not how {name!r:.80} is found")


def _check_recalls(hits: int, session: str, sessions: str, accessed_at: str) -> None:
    _require(int, hits)
    _require(str, session, *json.loads(sessions))
    times.normalize_time(accessed_at)


def _check_touch(revision: int | None, note: str, session: str, at: str, kind: str) -> None:
    _require(str, note, session, kind)
    times.normalize_time(at)


def _check_superseded(note: str, until: str, record: str) -> None:
    _check_note(note, record)


def _check_commit(revision: int, at: str, action: str, client: str, rest: str) -> None:
    _require(str, action, client)
    if not 0 < revision <= LAST_REVISION or times.normalize_time(at) != at:
        raise ValueError(f"revision {revision} of {at!r:.40}")
    Rest.from_json(rest)


def _check_change(note: str, dropped: int, before: str | None, recalls: str) -> None:
    _require(str, note, recalls)
    if before is not None:
        with_recalls(_check_note(note, before), recalls)
    elif recalls:
        json.loads(recalls)


def _require(kind: type, *values: object) -> None:
    for value in values:
        if type(value) is not kind:
            raise TypeError(f"{value!r:.80} is no {kind.__name__}")


NOTES = Rows("notes", "place", "id, record", note_of)  # who imports them checks more
SOUND_NOTES = NOTES._replace(check=_check_note)
RECALLS = Rows("recalls", "place", "hits, session, sessions, accessed_at", _check_recalls)
COMMITS = Rows("commits", "revision", "revision, at, action, client, rest", _check_commit)
CHANGES = Rows("changes", "position", "note, dropped, before, recalls", _check_change)
OTHERS = (  # that a repair copies as they are
    Rows("nuggets", "place", "fold, config", _check_nugget),
    Rows("superseded", "number", "note, until, record", _check_superseded),
    Rows("marks", "rowid", "name, value", lambda _, value: json.loads(value)),
    Rows("touches", "number", "revision, note, session, at, kind", _check_touch),
)
_KEYS = {  # by which any SQL database finds a row
    **{rows.table: rows.key for rows in (NOTES, RECALLS, COMMITS, CHANGES, *OTHERS)},
    **{"notes": "id", "nuggets": "fold", "marks": "name", "changes": "revision, position"},
}


# --- damage, and rows that do not agree with the notes ----------------------------------------


_MOST_SHOWN = 3  # of many complaints: they are mended by one rebuild
_COLUMNS = ("nugget", "kind", "type", "title", "project", "hidden")


def find_database_defects(path: str, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    """All that is wrong with the database of a shelf; nothing is changed."""
    try:
        with reading_file(path) as database:
            schema.refuse_newer(schema.read_meta(database))
            complaint = _check_integrity(database)
            if complaint:
                yield damaged_database(path, complaint)
            else:
                yield from find_wrong_rows(database, kinds)
    except StoreError as problem:
        if isinstance(problem, StoreCorrupt):
            yield damaged_database(path, str(problem))
        else:  # such as one that a newer version wrote
            yield Defect("unreadable database", path, str(problem), "", harmful=True)
    except Exception as problem:  # whatever a damaged row makes of our own functions
        yield damaged_database(path, f"{type(problem).__name__}: {problem}")


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


Damaged = dict[str, list[tuple[Any, ...]]]
"""By table the keys of rows that cannot be read."""


def find_damaged_records(database: SqlDatabase) -> Damaged:
    """Records that cannot be read, of any SQL database."""
    damaged: Damaged = {}
    for rows, keys, _ in _unreadable_rows(database, SOUND_NOTES):
        damaged.setdefault(rows.table, []).append(keys)
    return damaged


def _unreadable_rows(
    database: SqlDatabase, notes: Rows
) -> Iterator[tuple[Rows, tuple[Any, ...], Exception]]:
    """The rows that cannot be read, with their keys, and why."""
    for rows in (notes, *OTHERS, RECALLS, COMMITS, CHANGES):
        keys = _KEYS[rows.table]
        count = keys.count(",") + 1
        for row in database.execute(f"SELECT {keys}, {rows.columns} FROM {rows.table}"):
            try:
                rows.check(*row[count:])
            except (StoreCorrupt, *DAMAGE) as problem:
                yield rows, tuple(row[:count]), problem


def describe_damaged(damaged: Damaged, path: str) -> Iterator[Defect]:
    for table, rows in damaged.items():
        names = ", ".join(" ".join(map(str, keys)) for keys in rows[:_MOST_SHOWN])
        problem = f"{len(rows)} records of {table} cannot be read: {names}"
        yield Defect("damaged records", path, problem, "take them out", harmful=True)


def take_out_damaged(database: SqlDatabase, damaged: Damaged) -> Changes:
    """Take damaged records out of all tables but those of notes and nuggets; the commit that takes
    out these. Inside a transaction."""
    ids = [note_id for (note_id,) in damaged.get("notes", ())]
    nuggets = [NuggetConfig(fold) for (fold,) in damaged.get("nuggets", ())]
    rows_of = {name: rows for name, rows in damaged.items() if name not in ("notes", "nuggets")}
    for table, rows in rows_of.items():
        remedy = "UPDATE commits SET rest = '[]'" if table == "commits" else f"DELETE FROM {table}"
        where = " AND ".join(f"{key} = ?" for key in _KEYS[table].split(", "))
        database.executemany(f"{remedy} WHERE {where}", rows)
    return Changes(drop=tuple(ids), put_nuggets=tuple(nuggets), action="doctor", client="doctor")


def find_wrong_rows(database: SqlDatabase, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    """Columns, links and indexes that do not agree with the notes, in any SQL database.

    Raises `StoreCorrupt` if a record cannot be read, of the history too.
    """
    check_records(database, SOUND_NOTES)
    yield from _check_derived_rows(database)
    yield from _check_indexes(database, kinds)


def check_records(database: SqlDatabase, notes: Rows, *, in_place: bool = True) -> None:
    """Raise `StoreCorrupt` if a record cannot be read; and, unless everything is about to be taken
    elsewhere, if a nugget is not in its place."""
    for rows, _, problem in _unreadable_rows(database, notes):
        if isinstance(problem, StoreCorrupt):
            raise problem
        if in_place or not isinstance(problem, _MisplacedNugget):
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


def build_indexes(database: Database, kinds: Sequence[IndexKind]) -> None:
    """Build all indexes over the notes in the database."""
    state = SqlState(lambda: database)
    for kind in schema.existing_kinds(schema.read_meta(database), kinds):
        schema.recreate(database, kind)
        kind.make(database, state).rebuild(state.notes.with_places())


def derive_columns_again(database: SqlDatabase) -> None:
    """Make columns and links again from the notes; inside a transaction."""
    state = SqlState(lambda: database)
    sql = f"UPDATE notes SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE place = ?"
    database.execute("DELETE FROM links")
    for place, note in state.notes.with_places():
        database.execute(sql, (*columns_of(note)[: len(_COLUMNS)], place))
        put_links(database, note)


def put_links(database: SqlDatabase, note: MemoryNote) -> None:
    database.executemany(
        "INSERT INTO links (target, source) VALUES (?, ?) ON CONFLICT (target, source) DO NOTHING",
        [(link.to, note.id) for link in note.links],
    )
