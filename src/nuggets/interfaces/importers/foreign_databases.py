"""Which program wrote a database, by its tables; and what is read of it."""

import os
import sqlite3
from contextlib import closing

from nuggets.errors import InvalidInput
from nuggets.interfaces.importers import Records
from nuggets.interfaces.importers.claude_mem import CLAUDE_MEM
from nuggets.interfaces.importers.memory_tables import HIPPO, MCP_MEMORY_SERVICE
from nuggets.interfaces.importers.opencode_sessions import OPENCODE, OPENCODE_2
from nuggets.interfaces.importers.program_tables import Program, Tables

PROGRAMS = (CLAUDE_MEM, HIPPO, MCP_MEMORY_SERVICE, OPENCODE_2, OPENCODE)


def read_database(path: str, at: str, found: Records) -> None:
    """The memories of a database, by the program whose tables it has."""
    try:
        with closing(Tables(path)) as tables:
            program = _program_of(tables)
            if program is None:
                known = ", ".join(dict.fromkeys(program.name for program in PROGRAMS))
                raise InvalidInput(
                    f"{path} is the database of another program; databases of {known} are known"
                )
            found.form = f"the database of {program.name}"
            program.read(tables, at, found)
            found.problems += tables.problems
    except sqlite3.Error as problem:
        name = os.path.basename(path)
        raise InvalidInput(f"{name} cannot be read as a database: {problem}") from None


def count_memories(path: str) -> int:
    """How many memories or sessions a database has; 0 if it is of no known program, or cannot be
    read."""
    try:
        with closing(Tables(path)) as tables:
            program = _program_of(tables)
            return 0 if program is None else tables.count(program.table)
    except (sqlite3.Error, InvalidInput):
        return 0


def _program_of(tables: Tables) -> Program | None:
    fitting = (p for p in PROGRAMS if tables.columns(p.table) >= p.needed)
    return next(fitting, None)
