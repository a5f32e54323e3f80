"""Rewrite a database: derive links and indexes from its notes, and overwrite the bytes of erased
rows.

`secure_delete` overwrites deleted rows, but when SQLite moves rows to another page it leaves their
old bytes on the first one, so the database is rewritten (`VACUUM`). The erased bytes also stand in
the write-ahead log until that is truncated. A crash, a reader that still needs the log or a full
disk can interrupt this: a row in `meta` says what remains, and the next writer goes on.
"""

from collections.abc import Sequence
from contextlib import suppress

from nuggets.domain.records import MemoryNote
from nuggets.errors import StoreError
from nuggets.stores.base import Database as SqlDatabase
from nuggets.stores.sql import schema
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import Database
from nuggets.stores.sqlite.opening import UNFINISHED_ERASURE as _UNFINISHED


def put_links(database: SqlDatabase, note: MemoryNote) -> None:
    database.executemany(
        "INSERT INTO links (target, source) VALUES (?, ?) ON CONFLICT (target, source) DO NOTHING",
        [(link.to, note.id) for link in note.links],
    )


def build_indexes(database: Database, kinds: Sequence[IndexKind]) -> None:
    """Build all indexes over the notes in the database."""
    state = SqlState(lambda: database)
    for kind in schema.existing_kinds(schema.read_meta(database), kinds):
        schema.recreate(database, kind)
        kind.make(database, state).rebuild(state.notes.with_places())


# --- overwriting erased bytes -----------------------------------------------------------------


_REWRITE, _TRUNCATE_LOG = "rewrite", "cut log"


def begin_overwriting(database: Database) -> None:
    """Inside the transaction that erases: record that the files are still to be overwritten."""
    sql = (
        "INSERT INTO meta (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )
    database.execute(sql, (_UNFINISHED, _REWRITE))


def overwrite(database: Database, *, wait_seconds: float) -> None:
    """Overwrite erased bytes, as far as possible now. The caller holds the shelf's lock."""
    if not database.path:
        database.execute("DELETE FROM meta WHERE name = ?", (_UNFINISHED,))
        return
    with suppress(StoreError):
        step = database.value("SELECT value FROM meta WHERE name = ?", (_UNFINISHED,))
        if step == _REWRITE:
            database.execute("VACUUM")
            sql = "UPDATE meta SET value = ? WHERE name = ?"
            database.execute(sql, (_TRUNCATE_LOG, _UNFINISHED))
        if database.checkpoint(wait_seconds):
            database.execute("DELETE FROM meta WHERE name = ?", (_UNFINISHED,))
