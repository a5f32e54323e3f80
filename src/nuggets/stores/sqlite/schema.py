"""The tables of a shelf, and how an older shelf is brought to them. Plain SQL, no vendor's types.

`notes.record` is the whole note; the columns beside it are what operations ask for, a title as its
number (`rows.title_number`). Recalls since
a note was last written are in `recalls`, so that counting one does not write the note again.
`changes` has the history: for each revision and note what it was before. What it became is the
next before-image, or the note that is there now.
"""

import os
from collections.abc import Iterator

from nuggets.errors import StoreError
from nuggets.sql import Database
from nuggets.stores.base import IndexKind

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
    "CREATE TABLE touches (number INTEGER PRIMARY KEY, revision INTEGER, note TEXT NOT NULL,"
    " session TEXT NOT NULL, at TEXT NOT NULL)",
    "CREATE INDEX touches_by_revision ON touches (revision)",
    "CREATE TABLE exports (name TEXT PRIMARY KEY, revision INTEGER NOT NULL,"
    " touch INTEGER NOT NULL, checksum TEXT NOT NULL, status TEXT NOT NULL,"
    " edited INTEGER NOT NULL, problem TEXT NOT NULL)",
)

MIGRATIONS: dict[int, tuple[str, ...]] = {}  # to a schema: the statements that lead there


def statements() -> Iterator[str]:
    """All that makes a new shelf."""
    yield from TABLES
    yield f"INSERT INTO meta (name, value) VALUES ('schema', '{SCHEMA}')"
    yield f"INSERT INTO meta (name, value) VALUES ('shelf', '{os.urandom(8).hex()}')"


def record_format(kind: IndexKind) -> str:
    """The statement that says how an index was made."""
    return (
        f"INSERT INTO meta (name, value) VALUES ('index {kind.name}', '{kind.format}')"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )


def refuse_newer(database: Database) -> None:
    """A shelf of a later version must not be written as if it were ours."""
    found = _schema(database)
    if found > SCHEMA:
        raise StoreError(
            f"this shelf was written by a newer version of Nuggets (schema {found}, here {SCHEMA});"
            " update Nuggets. Nothing was changed"
        )


def migrate(database: Database) -> None:
    """Bring an older shelf to the tables of today, one step at a time, each a transaction."""
    for number in range(_schema(database) + 1, SCHEMA + 1):
        database.execute("BEGIN IMMEDIATE")
        for statement in MIGRATIONS[number]:
            database.execute(statement)
        database.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (str(number),))
        database.execute("COMMIT")


def is_current(database: Database, kind: IndexKind) -> bool:
    """Was the index made as we make it?"""
    row = database.execute("SELECT value FROM meta WHERE name = ?", (f"index {kind.name}",))
    return bool(row.fetchone() == (str(kind.format),))


def recreate(database: Database, kind: IndexKind) -> None:
    """Empty tables for an index, in the place of older ones."""
    prefix = f"{kind.name}\\_%"
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ? ESCAPE '\\'"
    for (name,) in database.execute(sql, (prefix,)).fetchall():
        database.execute(f'DROP TABLE "{name}"')
    for statement in (*kind.tables, record_format(kind)):
        database.execute(statement)


def _schema(database: Database) -> int:
    return int(database.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()[0])
