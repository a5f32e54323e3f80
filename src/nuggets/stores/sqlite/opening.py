"""Opening the database of a shelf: which one it is, the one read of all that it says of itself, and
the erased bytes that are still to be overwritten.

It is the file in the shelf's directory, or an empty database in memory while there is no file.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from nuggets.domain.marks import UNFINISHED_PURGE
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import private_directory
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.register import GRAPH, Export
from nuggets.stores.sql import schema
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sqlite.database import (
    Database,
    explain_errors,
    refuse_orphaned_log,
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


class Connection:
    """Opens a database when it is first used. The caller makes sure that one thread uses it."""

    def __init__(
        self, path: str, statements: Callable[[], Iterable[str]], on_change: Callable[[], None]
    ) -> None:
        """`path`: "" for a database in memory; `on_change`: called when another one replaces it."""
        self.path = path
        self._statements = statements
        self._on_change = on_change
        self._database: Database | None = None
        self._file: tuple[int, int] | None = None  # device and inode; None: a stand-in

    def database(self) -> Database:
        """The open database."""
        if self._database is None:
            self._open()
        assert self._database is not None
        return self._database

    def _open(self) -> None:
        directory = os.path.dirname(self.path)
        self._file = None
        if directory and os.path.lexists(directory) and not os.path.isdir(directory):
            private_directory(directory)  # raises an error that names what is there instead
        if self.path and os.path.lexists(self.path):
            self._database = Database(self.path)
            self._file = _identity(self.path)
            return
        refuse_orphaned_log(self.path)
        self._database = Database("")
        for statement in self._statements():
            self._database.execute(statement)

    @property
    def is_open(self) -> bool:
        return self._database is not None

    @property
    def is_of_file(self) -> bool:
        """Is it the database in the directory, and neither a stand-in nor closed?"""
        return self._database is not None and self._file is not None

    @property
    def is_in_transaction(self) -> bool:
        return self._database is not None and self._database.in_transaction

    @property
    def blocks_others(self) -> bool:
        """Must it be closed after each use, because it locks other connections out?"""
        return self._database is not None and self._database.blocks_others

    def follow_file(self) -> None:
        """Close the connection if another file is there now, such as a restored backup."""
        if self._database is None or self._database.in_transaction or not self.path:
            return
        if _identity(self.path) != self._file:
            self.close()

    def begin_with_copy(self, source: Database) -> None:
        """Use a copy of another database, in a temporary one."""
        self._database = Database("")
        source.copy_to(self._database)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
            self._on_change()


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


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
