"""The SQL of the stores as PostgreSQL takes it.

One database holds many shelves, and the statements of the stores know of none. So each table has a
column `shelf` more, first in all its keys, and a view of the same name that shows the rows of one
shelf: the one that the connection names in the setting `nuggets.shelf`. Statements read and write
those views; only `ON CONFLICT`, which names a key, must name the shelf too.
"""

import re
from functools import lru_cache
from itertools import count

from nuggets.stores.sql.create_statements import Table, parse_table

TABLES = "nuggets"  # the schema of the tables
VIEWS = "nuggets_shelf"  # the schema of the views of one shelf
SHELF = "current_setting('nuggets.shelf')::bigint"

_TYPES = {
    "INTEGER": "BIGINT",
    "REAL": "DOUBLE PRECISION",
    "BLOB": "BYTEA",
    "TEXT": 'TEXT COLLATE "C"',
}
_PLAIN_INSERT = re.compile(r"INSERT INTO (\w+)(?: \(([\w, ]+)\))? VALUES \((?:\?, )*\?\)")
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b")
_CREATE_INDEX = re.compile(
    r"\s*CREATE INDEX (?:IF NOT EXISTS )?(\w+) ON (\w+) \((.*?)\)(.*)", re.DOTALL
)


@lru_cache(maxsize=4096)
def statement(sql: str) -> str:
    """A statement on the views of a shelf."""
    numbers = count(1)
    numbered = re.sub(r"\?", lambda mark: f"${next(numbers)}", sql)
    return numbered.replace("ON CONFLICT (", "ON CONFLICT (shelf, ")


@lru_cache(maxsize=256)
def plain_insert(sql: str) -> tuple[str, str] | None:
    """Table and columns ("": all) of a statement that only inserts its parameters."""
    insert = _PLAIN_INSERT.fullmatch(sql)
    return (insert[1], insert[2] or "") if insert else None


def definition(sql: str) -> str:
    """A statement that creates or alters a table or an index, for the tables of all shelves."""
    if table := parse_table(sql):
        return _create(table)
    if index := _CREATE_INDEX.fullmatch(sql):
        return f"CREATE INDEX {index[1]} ON {index[2]} (shelf, {index[3]}){index[4]}"
    return _with_types(sql)


def _create(table: Table) -> str:
    columns = [f"shelf BIGINT NOT NULL DEFAULT {SHELF}"]
    columns += map(_with_types, table.columns.values())
    keys = [f"PRIMARY KEY (shelf, {', '.join(table.key)})"]
    keys += [f"UNIQUE (shelf, {column})" for column in table.unique]
    return f"CREATE TABLE {table.name} ({', '.join([*columns, *keys])})"


def _with_types(sql: str) -> str:
    return _TYPE.sub(lambda found: _TYPES[found[1]], sql)
