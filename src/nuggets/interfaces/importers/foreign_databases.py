"""Databases of other programs: opened for reading, only plain tables, and columns by name, because
versions differ in what they have."""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from urllib.parse import quote

from nuggets.domain.limits import CONTENT_BYTES
from nuggets.errors import InvalidInput
from nuggets.interfaces.importers import Records
from nuggets.interfaces.importers.claude_mem import CLAUDE_MEM
from nuggets.interfaces.importers.memory_tables import HIPPO, MCP_MEMORY_SERVICE
from nuggets.interfaces.importers.program_tables import Program, Row

PROGRAMS = (CLAUDE_MEM, HIPPO, MCP_MEMORY_SERVICE)


def read_database(path: str, nugget: str, at: str, found: Records) -> None:
    """The memories of a database, by the program whose tables it has."""
    name = os.path.basename(path)
    try:
        with closing(_open(path)) as database:
            program = _program_of(database)
            if program is None:
                known = ", ".join(program.name for program in PROGRAMS)
                raise InvalidInput(
                    f"{path} is the database of another program; databases of {known} are known"
                )
            found.form = f"the database of {program.name}"
            for table, add in program.tables.items():
                for row in _rows(database, table, program.columns[table]):
                    add(row, f"{name}, {table} {row['id']}", nugget, at, found)
    except sqlite3.Error as problem:
        raise InvalidInput(f"{name} cannot be read as a database: {problem}") from None


def count_memories(path: str) -> int:
    """How many memories a database has; 0 if it is of no known program, or cannot be read."""
    try:
        with closing(_open(path)) as database:
            program = _program_of(database)
            if program is None:
                return 0
            table = next(iter(program.tables))
            return int(database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])
    except (sqlite3.Error, InvalidInput):
        return 0


def _open(path: str) -> sqlite3.Connection:
    """A database that a stranger wrote: no views, no triggers, no functions with effects."""
    try:
        database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA query_only = ON")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 8 * CONTENT_BYTES)
        database.row_factory = sqlite3.Row
    except sqlite3.Error as problem:
        raise InvalidInput(f"{path} cannot be read as a database: {problem}") from None
    return database


def _program_of(database: sqlite3.Connection) -> Program | None:
    for program in PROGRAMS:
        if _columns(database, next(iter(program.tables))) >= program.needed:
            return program
    return None


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a plain table; none if there is no such table."""
    try:
        sql = database.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
        ).fetchone()
        if sql is None or str(sql[0]).upper().startswith("CREATE VIRTUAL"):
            return set()
        return {str(row["name"]) for row in database.execute(f"PRAGMA table_info({table})")}
    except sqlite3.Error:
        return set()


def _rows(database: sqlite3.Connection, table: str, wanted: Iterable[str]) -> Iterator[Row]:
    there = _columns(database, table)
    columns = ", ".join(name for name in wanted if name in there)
    if "id" in there:
        for row in database.execute(f"SELECT {columns} FROM {table} ORDER BY id"):
            yield dict(row)
