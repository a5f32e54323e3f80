"""Opening the database of a shelf: the one read of all that it says of itself, and the erased bytes
that are still to be overwritten.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from nuggets.domain.marks import UNFINISHED_PURGE
from nuggets.errors import StoreError
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.register import GRAPH, Export
from nuggets.stores.sql import schema
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sqlite.database import (
    Database,
    explain_errors,
)

UNFINISHED_ERASURE = "unfinished erasure"  # the row in `meta`; its value is the next step

# All in one statement, which takes a tenth of a millisecond: each of its own would take that, too.
_REGISTERS = f"""
    SELECT 'meta', name, value, 0, '', '', 0, '' FROM meta
    UNION ALL SELECT 'mark', name, value, 0, '', '', 0, '' FROM marks
        WHERE name = '{UNFINISHED_PURGE}'
    UNION ALL SELECT 'export', {", ".join(Export._fields)} FROM exports
    UNION ALL SELECT 'now', '', data_version, EXISTS (
        SELECT 1 FROM commits WHERE action <> 'recall' AND revision > coalesce(
            (SELECT revision FROM exports WHERE name = '{GRAPH}'), 0)
        ), '', '', 0, '' FROM pragma_data_version
"""


class Registers(NamedTuple):
    """What a database says of itself, at one moment."""

    version: int  # changes when another connection changes the database
    meta: Mapping[str, str]  # schema, formats of indexes, unfinished work
    exports: Mapping[str, Export]  # the documented files as they were written
    has_unexported: bool  # are there commits that no file shows, besides recalls?
    unfinished_purge: Any  # a mark (`domain/marks.py`); None if there is none

    def is_outdated(self, kinds: Iterable[IndexKind]) -> bool:
        """Must the tables or an index be migrated first, because another version made them?"""
        return schema.is_outdated(self.meta, tuple(kinds))

    @property
    def has_unfinished_erasure(self) -> bool:
        return UNFINISHED_ERASURE in self.meta


def read_registers(database: Database) -> Registers:
    """Read them; `StoreError` if a later version wrote the database."""
    try:
        with explain_errors(database.path):
            rows = database.execute(_REGISTERS).fetchall()
    except StoreError:
        meta = schema.read_meta(database)
        schema.refuse_newer(meta)  # it may have other tables
        if schema.is_outdated(meta, ()):
            return Registers(database.version(), meta, {}, False, None)
        raise
    kept: dict[str, dict[str, tuple[Any, ...]]] = {"meta": {}, "mark": {}, "export": {}, "now": {}}
    for register, *row in rows:
        kept[register][row[0]] = tuple(row)
    meta = {name: row[1] for name, row in kept["meta"].items()}
    schema.refuse_newer(meta)
    _, version, has_unexported, *_ = kept["now"][""]
    exports = {name: Export(*row) for name, row in kept["export"].items()}
    purge = kept["mark"].get(UNFINISHED_PURGE, ("", "null"))[1]
    return Registers(version, meta, exports, bool(has_unexported), json.loads(purge))


# --- overwriting erased bytes -----------------------------------------------------------------
# SQLite leaves the bytes of deleted rows, and of those that it moved, on their pages, so the
# database is rewritten (`VACUUM`). They also stand in the write-ahead log until that is truncated.
# A crash, a reader that still needs the log or a full disk can interrupt this: a row in `meta` says
# what remains, and the next writer, which opens the database, goes on.


_REWRITE, _TRUNCATE_LOG = "rewrite", "cut log"


def begin_overwriting(database: Database) -> None:
    """Inside the transaction that erases: record that the files are still to be overwritten."""
    sql = (
        "INSERT INTO meta (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )
    database.execute(sql, (UNFINISHED_ERASURE, _REWRITE))


def overwrite(database: Database, *, wait_seconds: float) -> None:
    """Overwrite erased bytes, as far as possible now. The caller holds the shelf's lock."""
    if not database.path:
        database.execute("DELETE FROM meta WHERE name = ?", (UNFINISHED_ERASURE,))
        return
    with suppress(StoreError):
        step = database.value("SELECT value FROM meta WHERE name = ?", (UNFINISHED_ERASURE,))
        if step == _REWRITE:
            database.execute("VACUUM")
            sql = "UPDATE meta SET value = ? WHERE name = ?"
            database.execute(sql, (_TRUNCATE_LOG, UNFINISHED_ERASURE))
        if database.checkpoint(wait_seconds):
            database.execute("DELETE FROM meta WHERE name = ?", (UNFINISHED_ERASURE,))
