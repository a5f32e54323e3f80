"""The tables of a shelf, and their migrations. Plain SQL, no vendor's types.

`notes.record` is the whole note; the other columns are those that operations select by (a title by
its `row_format.title_number`). Recalls since a note was last written are in `recalls`, so that
counting one does not write the note again. `changes` is the history: for each revision and note
what the note was before. What it became is the next before-image, or the current note. When old
commits are deleted, before-images of another text go to `superseded`: what a memory said once is
known for longer than who changed what.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.errors import StoreCorrupt, StoreError
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.domain.sql_interface import Database
    from nuggets.domain.state import State
    from nuggets.stores.base import Index

SCHEMA = 1  # raise it with a step in MIGRATIONS

TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE nuggets (place INTEGER PRIMARY KEY, fold TEXT NOT NULL UNIQUE,"
    " config TEXT NOT NULL)",
    "CREATE TABLE notes (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " nugget TEXT NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, title INTEGER NOT NULL,"
    " project TEXT NOT NULL, hidden INTEGER NOT NULL, hits INTEGER NOT NULL, record TEXT NOT NULL)",
    "CREATE INDEX notes_by_title ON notes (title)",
    "CREATE INDEX notes_by_nugget ON notes (nugget, kind, hidden)",
    "CREATE INDEX notes_by_project ON notes (project, kind, hidden) WHERE project <> ''",
    "CREATE INDEX notes_by_type ON notes (type) WHERE type = 'preference'",
    "CREATE INDEX notes_by_hits ON notes (hits) WHERE hits > 0",
    "CREATE TABLE recalls (place INTEGER PRIMARY KEY, hits INTEGER NOT NULL,"
    " session TEXT NOT NULL, sessions TEXT NOT NULL, accessed_at TEXT NOT NULL)",
    "CREATE INDEX recalls_by_hits ON recalls (hits) WHERE hits > 0",
    "CREATE TABLE links (target TEXT NOT NULL, source TEXT NOT NULL,"
    " PRIMARY KEY (target, source)) WITHOUT ROWID",
    "CREATE TABLE marks (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE commits (revision INTEGER PRIMARY KEY, at TEXT NOT NULL, action TEXT NOT NULL,"
    " client TEXT NOT NULL, rest TEXT NOT NULL)",
    "CREATE TABLE changes (revision INTEGER NOT NULL, position INTEGER NOT NULL,"
    " note TEXT NOT NULL, dropped INTEGER NOT NULL, before TEXT, recalls TEXT NOT NULL,"
    " PRIMARY KEY (revision, position)) WITHOUT ROWID",
    "CREATE INDEX changes_by_note ON changes (note, revision)",
    "CREATE TABLE superseded (number INTEGER PRIMARY KEY, note TEXT NOT NULL, until TEXT NOT NULL,"
    " record TEXT NOT NULL)",
    "CREATE INDEX superseded_by_note ON superseded (note)",
    "CREATE TABLE touches (number INTEGER PRIMARY KEY, revision INTEGER, note TEXT NOT NULL,"
    " session TEXT NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL)",
    "CREATE INDEX touches_by_revision ON touches (revision)",
    "CREATE TABLE exports (name TEXT PRIMARY KEY, revision INTEGER NOT NULL,"
    " touch INTEGER NOT NULL, checksum TEXT NOT NULL, status TEXT NOT NULL,"
    " edited INTEGER NOT NULL, problem TEXT NOT NULL)",
)

MIGRATIONS: dict[int, tuple[str, ...]] = {}  # schema number -> statements that lead to it


class IndexKind(NamedTuple):
    """How a store makes an index."""

    name: str
    format: int  # if another number is recorded, the index is rebuilt
    tables: tuple[str, ...]  # statements that create the tables
    make: Callable[[Database, State], Index]
    optional: bool = False  # exists only where `enable_index` made it


def statements() -> Iterator[str]:
    """The statements that make a new shelf."""
    yield from TABLES
    yield f"INSERT INTO meta (name, value) VALUES ('schema', '{SCHEMA}')"
    yield f"INSERT INTO meta (name, value) VALUES ('shelf', '{os.urandom(8).hex()}')"


def record_format(kind: IndexKind) -> str:
    """The statement that records the format of an index."""
    return (
        f"INSERT INTO meta (name, value) VALUES ('index {kind.name}', '{kind.format}')"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )


def read_meta(database: Database) -> dict[str, str]:
    """What a shelf says of itself: its schema, the formats of its indexes, unfinished work."""
    return dict(iter(database.execute("SELECT name, value FROM meta")))


def refuse_newer(meta: Mapping[str, str]) -> None:
    """Raise an error if a later version wrote the shelf."""
    number = _schema_number(meta)
    if number > SCHEMA:
        raise StoreError(
            "this shelf was written by a newer version of Nuggets "
            f"(schema {number}, here {SCHEMA}); update Nuggets. Nothing was changed"
        )


def migrate(database: Database, meta: Mapping[str, str]) -> None:
    """Bring an older shelf to today's schema; each step is a transaction."""
    for number in range(_schema_number(meta) + 1, SCHEMA + 1):
        database.execute("BEGIN IMMEDIATE")
        try:
            for statement in MIGRATIONS[number]:
                database.execute(statement)
            database.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (str(number),))
            database.execute("COMMIT")
        except BaseException:
            with suppress(StoreError):  # SQLite may have rolled it back by itself
                database.execute("ROLLBACK")
            raise


def is_outdated(meta: Mapping[str, str], kinds: Sequence[IndexKind]) -> bool:
    """Must the tables or an index be migrated first, because another version made them?"""
    return _schema_number(meta) < SCHEMA or bool(outdated_kinds(meta, kinds))


def outdated_kinds(meta: Mapping[str, str], kinds: Sequence[IndexKind]) -> list[IndexKind]:
    """The indexes that do not have today's format; an optional one only if it is there."""
    return [
        kind
        for kind in kinds
        if meta.get(f"index {kind.name}", str(kind.format) if kind.optional else "")
        != str(kind.format)
    ]


def existing_kinds(meta: Mapping[str, str], kinds: Sequence[IndexKind]) -> list[IndexKind]:
    """The indexes that this shelf has: those that are not optional, and those that were enabled."""
    return [kind for kind in kinds if not kind.optional or f"index {kind.name}" in meta]


def table_name(statement: str) -> str:
    """The name in a statement that makes a table."""
    return statement.split()[2]


def recreate(database: Database, kind: IndexKind) -> None:
    """Replace the tables of an index by empty ones."""
    prefix = f"{kind.name}\\_%"
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ? ESCAPE '\\'"
    for (name,) in database.execute(sql, (prefix,)).fetchall():
        database.execute(f'DROP TABLE "{name}"')
    for statement in (*kind.tables, record_format(kind)):
        database.execute(statement)


def _schema_number(meta: Mapping[str, str]) -> int:
    number = str(meta.get("schema", ""))[:9]
    if not number.isdecimal() or number == "0":
        raise StoreCorrupt(
            "the database does not say which version wrote it; nothing was changed. "
            "`nuggets doctor` says more"
        )
    return int(number)
