"""Find in a foreign database, and delete from a copy of it, what no shelf could have written.

Anyone may have made it. Whatever reads it afterwards reads records that it can rely on.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import Any

from nuggets.domain import times
from nuggets.domain.limits import RECORD_CHARACTERS
from nuggets.domain.records import MemoryNote, NuggetConfig
from nuggets.errors import InvalidInput, StoreCorrupt
from nuggets.stores.sql.commit_reader import Rest
from nuggets.stores.sql.row_format import has_lists, note_of, nugget_from_text, with_recalls
from nuggets.stores.sqlite.database import Database, explain_error, quote_path

Invalid = tuple[tuple[Any, ...], str]  # the key of a row, and what is wrong with it

_INVALID = (StoreCorrupt, ValueError, TypeError, LookupError, AttributeError, RecursionError)
_NAME_SHOWN = 80  # characters
_LAST_REVISION = 1 << 53  # numbers that every program can count on from


def delete_invalid_records(
    path: str,
    check_note: Callable[[MemoryNote], object],
    check_nugget: Callable[[NuggetConfig], object],
) -> list[str]:
    """Delete the invalid records of the database at `path`; what was wrong with notes and nuggets.

    The checks raise `InvalidInput`. History is not imported, it only dates what is: what is invalid
    there is not reported.
    """
    try:
        with closing(_open(path)) as database:
            refuse_programs(database, path)
            nuggets = list(_invalid_nuggets(database, check_nugget))
            notes = list(_invalid_notes(database, check_note))
            _delete(database, "nuggets", "place = ?", nuggets)
            _delete(database, "recalls", "place = ?", notes)
            _delete(database, "notes", "place = ?", notes)
            _delete_invalid_history(database)
            database.execute("COMMIT")
            return [reason for _, reason in (*nuggets, *notes)]
    except sqlite3.Error as problem:
        raise explain_error(problem, path) from problem


def find_invalid_record(
    path: str,
    check_note: Callable[[MemoryNote], object],
    check_nugget: Callable[[NuggetConfig], object],
) -> str:
    """What is wrong with the first invalid record, of the history too; "" if there is none."""
    try:
        with closing(_open_to_read(path)) as database:
            refuse_programs(database, path)
            found = chain(
                _invalid_nuggets(database, check_nugget),
                _invalid_notes(database, check_note),
                _invalid_marks(database),
                _invalid_touches(database),
                _invalid_commits(database),
                _invalid_changes(database),
            )
            return next((reason for _, reason in found), "")
    except sqlite3.Error as problem:
        raise explain_error(problem, path) from problem


def _open(path: str) -> sqlite3.Connection:
    database = _connect(path)
    database.execute("BEGIN IMMEDIATE")
    return database


def _open_to_read(path: str) -> sqlite3.Connection:
    return _connect(f"file:{quote_path(path)}?mode=ro&immutable=1")


def _connect(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None, uri=path.startswith("file:"))
    database.text_factory = lambda text: text.decode(errors="surrogateescape")
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def _delete(
    database: sqlite3.Connection, table: str, where: str, invalid: Iterable[Invalid]
) -> None:
    sql = f"DELETE FROM {table} WHERE {where}"
    database.executemany(sql, [row for row, _ in invalid])


def refuse_programs(database: sqlite3.Connection | Database, path: str) -> None:
    """Views and triggers can run for ever, in any statement; a shelf has none."""
    sql = (
        "SELECT type || ' ' || name FROM sqlite_master"
        " WHERE type NOT IN ('table', 'index') OR sql LIKE 'create virtual%'"
    )
    row = database.execute(sql).fetchone()
    if row is not None:
        raise StoreCorrupt(
            f"{path} is not the database of a shelf: it has a {row[0]!r:.{_NAME_SHOWN}}. Nothing "
            "was changed"
        )


def _short_text(column: str) -> str:
    """SQL for a text column; NULL, which is invalid, in place of what is too long to be read."""
    return f"CASE WHEN length({column}) <= {RECORD_CHARACTERS} THEN {column} END"


def _invalid_nuggets(
    database: sqlite3.Connection, check: Callable[[NuggetConfig], object]
) -> Iterator[Invalid]:
    sql = f"SELECT place, {_short_text('config')} FROM nuggets ORDER BY place"
    for place, config in database.execute(sql):
        try:
            check(nugget_from_text(config))
        except InvalidInput as problem:
            yield (place,), str(problem)
        except _INVALID:
            yield (place,), f"nugget {place}: its record cannot be read"


def _invalid_notes(
    database: sqlite3.Connection, check: Callable[[MemoryNote], object]
) -> Iterator[Invalid]:
    sql = (
        f"SELECT n.place, {_short_text('n.id')}, {_short_text('n.record')}, r.hits,"
        f" {_short_text('r.session')}, {_short_text('r.sessions')}, {_short_text('r.accessed_at')}"
        " FROM notes n LEFT JOIN recalls r ON r.place = n.place ORDER BY n.place"
    )
    for place, note_id, *record in database.execute(sql):
        try:
            check(note_of(note_id, *record))
            if not has_lists(record[0]):
                raise InvalidInput(f"note {note_id!r:.{_NAME_SHOWN}}: a text where a list belongs")
        except InvalidInput as problem:
            yield (place,), str(problem)
        except _INVALID:
            yield (place,), f"note {note_id!r:.{_NAME_SHOWN}}: its record cannot be read"


def _delete_invalid_history(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM marks")  # they say nothing of notes
    sql = "SELECT count(*) FROM sqlite_master WHERE name = 'superseded'"
    if database.execute(sql).fetchone() != (0,):
        database.execute("DELETE FROM superseded")  # nor do earlier texts
    types = "typeof(revision) || typeof(touch) || typeof(edited) || typeof(status)"
    database.execute(f"DELETE FROM exports WHERE {types} <> 'integerintegerintegertext'")
    _delete(database, "touches", "number = ?", list(_invalid_touches(database)))
    _delete(database, "commits", "revision = ?", list(_invalid_commits(database)))
    changes = list(_invalid_changes(database))
    _delete(database, "changes", "revision = ? AND position = ?", changes)


def _invalid_marks(database: sqlite3.Connection) -> Iterator[Invalid]:
    for name, value in database.execute(f"SELECT name, {_short_text('value')} FROM marks"):
        try:
            json.loads(value)
        except _INVALID:
            yield (name,), f"mark {name!r:.{_NAME_SHOWN}}: it cannot be read"


def _invalid_touches(database: sqlite3.Connection) -> Iterator[Invalid]:
    columns = ", ".join(map(_short_text, ("note", "session", "at")))
    for number, *touch in database.execute(f"SELECT number, {columns} FROM touches"):
        if not _is_valid_touch(*touch):
            yield (number,), f"recall {number}: it cannot be read"


def _invalid_commits(database: sqlite3.Connection) -> Iterator[Invalid]:
    sql = f"SELECT revision, {_short_text('at')}, {_short_text('rest')} FROM commits"
    for revision, *commit in database.execute(sql):
        if not 0 < revision <= _LAST_REVISION or not _is_valid_commit(*commit):
            yield (revision,), f"change {revision}: it cannot be read"


def _invalid_changes(database: sqlite3.Connection) -> Iterator[Invalid]:
    sql = (
        f"SELECT revision, position, {_short_text('note')}, {_short_text('before')},"
        f" before IS NULL, {_short_text('recalls')} FROM changes"
    )
    for revision, position, *change in database.execute(sql):
        if not _is_valid_change(*change):
            yield (revision, position), f"change {revision}: it cannot be read"


def _is_valid_commit(at: str, rest: str) -> bool:
    try:
        Rest.from_json(rest)
        return times.normalize_time(at) == at
    except _INVALID:
        return False


def _is_valid_touch(note_id: str, session: str, at: str) -> bool:
    try:
        return bool(note_id.encode() and session.encode() + times.normalize_time(at).encode())
    except _INVALID:
        return False


def _is_valid_change(note_id: str, before: str | None, is_new: bool, recalls: str) -> bool:
    try:
        note = _SOME_NOTE if is_new else note_of(note_id, before or "")
        with_recalls(note, recalls)
        return isinstance(note_id, str)
    except _INVALID:
        return False


_SOME_NOTE = MemoryNote(*[""] * len(MemoryNote._fields))  # type: ignore[arg-type]
