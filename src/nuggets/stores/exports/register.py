"""The documented files: where they are, and the register of them in the database; and the one
statement that reads this register, with all else that a database says of itself.

The register has a row for each file as we wrote it or imported it. A file with the status of its
row is ours, and so is one with its checksum, which was only copied. Every other file was edited by
someone, and is never overwritten before that edit is imported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.domain.marks import UNFINISHED_PURGE
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import refuse_broken_link, unreadable
from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql import schema
from nuggets.stores.sqlite.database import Database, explain_errors

if TYPE_CHECKING:
    from nuggets.domain.state import Database as AnyDatabase
    from nuggets.stores.sql.schema import IndexKind

SUFFIX = ".nugget.json"
GRAPH = os.path.join("graph", "graph.json")


# --- where they are ---------------------------------------------------------------------------


def documented_files(directory: str) -> dict[str, os.stat_result]:
    """The status of every documented file, by its path in the directory."""
    files: dict[str, os.stat_result] = {}
    if_there = suppress(FileNotFoundError, NotADirectoryError)
    try:
        with if_there:
            files[GRAPH] = os.lstat(os.path.join(directory, GRAPH))
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                    with if_there:
                        files[entry.name] = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        refuse_broken_link(directory)
    except OSError as problem:
        raise unreadable(directory, problem) from problem
    return files


def refuse_link(directory: str, name: str) -> None:
    """Raise an error if the graph's directory is a link: its files would be written elsewhere."""
    parent = os.path.join(directory, os.path.dirname(name))
    if os.path.dirname(name) and os.path.islink(parent):
        raise StoreError(f"{parent} is a link, and nothing is written through it; remove the link")


def nugget_file(nugget: str) -> str:
    """The name of a nugget's file. A database may come from elsewhere: a name that would lead out
    of the directory is refused."""
    if os.path.basename(nugget) != nugget or "\0" in nugget:
        raise StoreError(f"the database has a nugget called {nugget!r:.80}, which no file can be")
    return nugget + SUFFIX


def nugget_in(name: str) -> str:
    """The nugget that a file is named after."""
    return os.path.basename(name).removesuffix(SUFFIX)


# --- the register -----------------------------------------------------------------------------


class Export(NamedTuple):
    """A documented file as we wrote it, or as we imported it."""

    name: str
    revision: int = 0
    touch: int = 0  # number of the last recall that it shows
    checksum: str = ""
    status: str = ""
    edited: int = 0  # 1: an external edit that was imported; the file must be written again
    problem: str = ""  # why it cannot be imported, and is left as it is

    @property
    def is_sound(self) -> bool:
        """Is it exactly what we wrote?"""
        return not self.edited and not self.problem


def exports(database: AnyDatabase) -> dict[str, Export]:
    """All rows by the names of their files."""
    sql = f"SELECT {', '.join(Export._fields)} FROM exports"
    return {row[0]: Export(*row) for row in database.execute(sql)}


def record(database: AnyDatabase, rows: Iterable[Export]) -> None:
    database.executemany(
        f"INSERT OR REPLACE INTO exports ({', '.join(Export._fields)})"
        f" VALUES ({', '.join('?' * len(Export._fields))})",
        rows,
    )


def forget(database: AnyDatabase, name: str) -> None:
    database.execute("DELETE FROM exports WHERE name = ?", (name,))


def status_of(status: os.stat_result) -> str:
    """A text that differs after the file was saved again."""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def changed_files(files: Mapping[str, os.stat_result], recorded: Mapping[str, Export]) -> list[str]:
    """The files whose status is not the recorded one, the graph first."""
    new = Export("")
    names = [name for name, s in files.items() if recorded.get(name, new).status != status_of(s)]
    return sorted(names, key=lambda name: (os.sep not in name, name))


def is_larger(database: AnyDatabase, notes: int, graph_bytes: int) -> bool:
    """Are there more notes, or was the graph's file larger when we last saw it?"""
    sql = (
        f"SELECT EXISTS (SELECT 1 FROM notes LIMIT 1 OFFSET {notes:d}),"
        " (SELECT status FROM exports WHERE name = ?)"
    )
    has_more_notes, status = database.execute(sql, (GRAPH,)).fetchone()
    return bool(has_more_notes or (status and int(status.split()[1]) > graph_bytes))


def is_incomplete(files: Mapping[str, object], recorded: Mapping[str, Export]) -> bool:
    """Must a file be written again, although nothing was committed?"""
    return any(name not in files or export.edited for name, export in recorded.items())


# --- all that a database says of itself ---------------------------------------------------------


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
    purge = kept["mark"].get(UNFINISHED_PURGE, ("", "null"))[1]
    recorded = {name: Export(*row) for name, row in kept["export"].items()}
    return Registers(version, meta, recorded, bool(has_unexported), json.loads(purge))
