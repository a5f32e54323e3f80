"""The database of claude-mem, opened read-only: its observations as notes.

Only tables are read, and columns by name: versions differ in what they have.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from nuggets.domain.limits import CONTENT_BYTES
from nuggets.errors import InvalidInput
from nuggets.interfaces.importers import Json, Records, make_note, moment

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
