"""Databases of other programs: opened for reading, only plain tables, and columns by name, because
versions differ in what they have."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from nuggets.domain.limits import CONTENT_BYTES
from nuggets.errors import InvalidInput
from nuggets.interfaces.importers import Records
from nuggets.named_tuple import NamedTuple

Row = Mapping[str, Any]


class Program(NamedTuple):
    """A program whose memories or sessions are read from its database."""

    name: str
    table: str  # that has a row for each of them,
    needed: frozenset[str]  # and these columns
    read: Callable[["Tables", str, Records], None]  # `str`: when the file was changed


class Tables:
    """The tables of a database that a stranger wrote: no views, no triggers, no functions with
    effects."""

    def __init__(self, path: str) -> None:
        self.problems: list[str] = []  # rows that cannot be read
        try:
            self._database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
            self._database.execute("PRAGMA trusted_schema = OFF")
            self._database.execute("PRAGMA query_only = ON")
            self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 8 * CONTENT_BYTES)
            self._database.row_factory = sqlite3.Row
            self._database.text_factory = _text
        except sqlite3.Error as problem:
            raise InvalidInput(f"{path} cannot be read as a database: {problem}") from None

    def close(self) -> None:
        self._database.close()

    def columns(self, table: str) -> set[str]:
        """The columns of a plain table; none if there is no such table."""
        try:
            sql = self._database.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
            ).fetchone()
            if sql is None or str(sql[0]).upper().startswith("CREATE VIRTUAL"):
                return set()
            columns = self._database.execute(f"PRAGMA table_info({table})")
            return {str(row["name"]) for row in columns}
        except sqlite3.Error:
            return set()

    def count(self, table: str) -> int:
        return int(self._database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])

    def rows(
        self,
        table: str,
        wanted: Iterable[str],
        order: Collection[str] = ("id",),
        *,
        texts: Iterable[str] = (),
        **where: object,
    ) -> Iterator[Row]:
        """The rows of a table, by those of the columns that it has; none if it lacks one by which
        they are chosen or put in order.

        `texts`: columns without whose text a row, which then needs an id, cannot be read.
        """
        there = self.columns(table)
        if not {*order, *where} <= there:
            return
        columns = ", ".join(name for name in wanted if name in there)
        chosen = " AND ".join(f"{name} = ?" for name in where)
        query = f"SELECT {columns} FROM {table} {f'WHERE {chosen}' if chosen else ''}"
        ordered = f"{query} ORDER BY {', '.join(order)}"
        for row in self._database.execute(ordered, tuple(where.values())):
            fields = dict(row)
            unreadable = [name for name in texts if isinstance(fields.get(name), bytes)]
            if unreadable:
                place = f"{table} {fields['id']}"
                self.problems.append(f"{place}: no text in {', '.join(unreadable)}")
            else:
                yield fields


def _text(value: bytes) -> str | bytes:
    """A text; what is none stays as it is, so that the other rows are read."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def parse_json(text: object) -> Any:
    """JSON, as programs put it into a column; None if it is none."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def json_list(text: object) -> list[Any]:
    value = parse_json(text)
    return value if isinstance(value, list) else []
