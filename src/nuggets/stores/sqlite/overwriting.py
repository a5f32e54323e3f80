"""The last step of an erasure: what was erased is overwritten in the files as well.

`secure_delete` is not enough: when SQLite moves rows from one page to another it leaves their old
bytes in the unused middle of the first, so the database is rewritten (`VACUUM`). And a transaction
only adds to the write-ahead log: what it erased stands there until that is cut off. A process that
dies on the way, a reader that still needs the log or a full disk must not leave it at that: a row
in `meta` says so until it is done.
"""

from contextlib import suppress

from nuggets.errors import StoreError
from nuggets.stores.sqlite.database import Database

_UNFINISHED = "unfinished erasure"  # its value: the step that is next
_REWRITE, _CUT_LOG = "rewrite", "cut log"


def begin_overwriting(database: Database) -> None:
    """Inside the transaction that erases."""
    sql = (
        "INSERT INTO meta (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )
    database.execute(sql, (_UNFINISHED, _REWRITE))


def is_unfinished(database: Database) -> bool:
    return _next_step(database) is not None


def overwrite(database: Database, *, wait_seconds: float) -> None:
    """For the lock's holder. What stands in the way is tried again by whoever locks next."""
    if not database.path:
        database.execute("DELETE FROM meta WHERE name = ?", (_UNFINISHED,))
        return
    with suppress(StoreError):
        if _next_step(database) == _REWRITE:
            database.execute("VACUUM")
            database.execute("UPDATE meta SET value = ? WHERE name = ?", (_CUT_LOG, _UNFINISHED))
        if database.checkpoint(wait_seconds):
            database.execute("DELETE FROM meta WHERE name = ?", (_UNFINISHED,))


def _next_step(database: Database) -> str | None:
    step: str | None = database.value("SELECT value FROM meta WHERE name = ?", (_UNFINISHED,))
    return step
