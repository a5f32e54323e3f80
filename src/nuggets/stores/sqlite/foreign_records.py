"""Delete from the copy of a foreign database what no shelf could have written.

Anyone may have made it. Whatever reads the copy afterwards reads records that it can rely on.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from nuggets.domain import times
from nuggets.domain.limits import RECORD_CHARACTERS
from nuggets.domain.records import MemoryNote, NuggetConfig
from nuggets.errors import InvalidInput, StoreCorrupt
from nuggets.stores.sql.commit_reader import Rest
from nuggets.stores.sql.rows import has_lists, note_of, nugget_from_text, with_recalls
from nuggets.stores.sqlite.database import explain_error

_INVALID = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_NAME_SHOWN = 80  # characters


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
            _refuse_programs(database, path)
            refused = list(_delete_invalid_nuggets(database, check_nugget))
            refused += _delete_invalid_notes(database, check_note)
            _delete_invalid_history(database)
            database.execute("COMMIT")
            return refused
    except sqlite3.Error as problem:
        raise explain_error(problem, path) from problem


def _open(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    database.text_factory = lambda text: text.decode(errors="surrogateescape")
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("BEGIN IMMEDIATE")
    return database


def _refuse_programs(database: sqlite3.Connection, path: str) -> None:
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


def _delete_invalid_nuggets(
    database: sqlite3.Connection, check: Callable[[NuggetConfig], object]
) -> Iterator[str]:
    sql = f"SELECT place, {_short_text('config')} FROM nuggets ORDER BY place"
    for place, config in database.execute(sql).fetchall():
        try:
            check(nugget_from_text(config))
        except InvalidInput as problem:
            yield str(problem)
        except _INVALID:
            yield f"nugget {place}: its record cannot be read"
        else:
            continue
        database.execute("DELETE FROM nuggets WHERE place = ?", (place,))


def _delete_invalid_notes(
    database: sqlite3.Connection, check: Callable[[MemoryNote], object]
) -> Iterator[str]:
    sql = (
        f"SELECT n.place, {_short_text('n.id')}, {_short_text('n.record')}, r.hits,"
        f" {_short_text('r.session')}, {_short_text('r.sessions')}, {_short_text('r.accessed_at')}"
        " FROM notes n LEFT JOIN recalls r ON r.place = n.place ORDER BY n.place"
    )
    invalid = []
    for place, note_id, *record in database.execute(sql):
        try:
            check(note_of(note_id, *record))
            if not has_lists(record[0]):
                raise InvalidInput(f"note {note_id!r:.{_NAME_SHOWN}}: a text where a list belongs")
        except InvalidInput as problem:
            yield str(problem)
        except _INVALID:
            yield f"note {note_id!r:.{_NAME_SHOWN}}: its record cannot be read"
        else:
            continue
        invalid.append((place,))
    database.executemany("DELETE FROM recalls WHERE place = ?", invalid)
    database.executemany("DELETE FROM notes WHERE place = ?", invalid)


def _delete_invalid_history(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM marks")  # they say nothing of notes
    sql = "SELECT count(*) FROM sqlite_master WHERE name = 'superseded'"
    if database.execute(sql).fetchone() != (0,):
        database.execute("DELETE FROM superseded")  # nor do earlier texts
    types = "typeof(revision) || typeof(touch) || typeof(edited) || typeof(status)"
    database.execute(f"DELETE FROM exports WHERE {types} <> 'integerintegerintegertext'")
    columns = ", ".join(map(_short_text, ("note", "session", "at")))
    sql = f"SELECT number, {columns} FROM touches"
    invalid = [(row[0],) for row in database.execute(sql) if not _is_valid_touch(*row[1:])]
    database.executemany("DELETE FROM touches WHERE number = ?", invalid)
    sql = f"SELECT revision, {_short_text('at')}, {_short_text('rest')} FROM commits"
    invalid = [(row[0],) for row in database.execute(sql) if not _is_valid_commit(*row[1:])]
    database.executemany("DELETE FROM commits WHERE revision = ?", invalid)
    sql = (
        f"SELECT revision, position, {_short_text('note')}, {_short_text('before')},"
        f" before IS NULL, {_short_text('recalls')} FROM changes"
    )
    rows = database.execute(sql)
    changes = [row[:2] for row in rows if not _is_valid_change(*row[2:])]
    database.executemany("DELETE FROM changes WHERE revision = ? AND position = ?", changes)


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
