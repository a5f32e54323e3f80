"""Copy all rows of a shelf into an empty one, in whatever SQL databases the two are.

The copy is one transaction of the target: interrupted, it leaves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.errors import Conflict
from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql.schema import TABLES

if TYPE_CHECKING:
    from nuggets.stores.sql.schema import Database, IndexKind

# --- statements that create tables, parsed: columns and keys ----------------------------------


_CREATE = re.compile(r"\s*CREATE TABLE (?:IF NOT EXISTS )?(\w+)\s*\((.*)\)[^)]*", re.DOTALL)
_BETWEEN_PARTS = re.compile(r",(?![^(]*\))")
_KEY = re.compile(r"PRIMARY KEY \((.*)\)")


class Table(NamedTuple):
    """A table as it is created."""

    name: str
    columns: dict[str, str]  # the definition of each, without keys
    key: tuple[str, ...]
    unique: tuple[str, ...]  # columns with a key of their own


def parse_table(sql: str) -> Table | None:
    """The table that a statement creates; None if it creates none."""
    statement = _CREATE.fullmatch(sql)
    if statement is None:
        return None
    columns: dict[str, str] = {}
    key: tuple[str, ...] = ()
    unique: list[str] = []
    for part in map(str.strip, _BETWEEN_PARTS.split(statement[2])):
        if of_table := _KEY.fullmatch(part):
            key = tuple(of_table[1].split(", "))
            continue
        name = part.split()[0]
        if " PRIMARY KEY" in part:
            key = (name,)
        if " UNIQUE" in part:
            unique.append(name)
        columns[name] = part.replace(" PRIMARY KEY", " NOT NULL").replace(" UNIQUE", "")
    return Table(statement[1], columns, key, tuple(unique))


# --- the copy ---------------------------------------------------------------------------------


_CHUNK = 2000  # rows that are in memory at a time
_LEFT_OUT = ("meta", "exports")  # of the shelf itself, and of the files in its directory

Report = Callable[[str], None]


class Copied(NamedTuple):
    """What was copied, or would be."""

    revision: int
    rows: dict[str, int]  # by table


def tables_to_copy(kinds: Sequence[IndexKind]) -> list[Table]:
    """The tables of notes, history and indexes."""
    statements = [*TABLES, *(sql for kind in kinds if not kind.optional for sql in kind.tables)]
    tables = [table for table in map(parse_table, statements) if table is not None]
    return [table for table in tables if table.name not in _LEFT_OUT]


def plan_copy(source: Database, target: Database, tables: Sequence[Table]) -> Copied:
    """What a copy would bring; an error if anything is in the target."""
    if any(target.value(f"SELECT count(*) FROM {name}") for name in ("nuggets", "commits")):
        raise Conflict(
            f"{target.path} is not empty. Nothing was changed; name a new shelf, or use "
            "`nuggets import` to add memories to one"
        )
    revision = source.value("SELECT coalesce(max(revision), 0) FROM commits")
    rows = {table.name: source.value(f"SELECT count(*) FROM {table.name}") for table in tables}
    return Copied(int(revision), {name: int(count) for name, count in rows.items()})


def copy_rows(source: Database, target: Database, tables: Sequence[Table], report: Report) -> None:
    """Copy all rows. The caller reads one snapshot of the source, and is in a transaction of the
    target."""
    for table in tables:
        report(f"copying {table.name}")
        values = ", ".join("?" * len(table.columns))
        sql = f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({values})"
        for chunk in _chunks(source, table):
            target.executemany(sql, chunk)


def _chunks(database: Database, table: Table) -> Iterator[list[Any]]:
    """All rows in the order of their keys."""
    key = ", ".join(table.key)
    positions = [list(table.columns).index(name) for name in table.key]
    select = f"SELECT {', '.join(table.columns)} FROM {table.name}"
    after, last = "", list[Any]()
    while True:
        rows = database.execute(f"{select}{after} ORDER BY {key} LIMIT {_CHUNK}", last)
        chunk = rows.fetchall()
        if not chunk:
            return
        yield chunk
        after = f" WHERE ({key}) > ({', '.join('?' * len(table.key))})"
        last = [chunk[-1][position] for position in positions]
