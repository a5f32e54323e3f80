"""Parses statements that create tables: columns and keys. Knows no database."""

import re

from nuggets.named_tuple import NamedTuple

_CREATE = re.compile(r"\s*CREATE TABLE (?:IF NOT EXISTS )?(\w+)\s*\((.*)\)[^)]*", re.DOTALL)
_BETWEEN_PARTS = re.compile(r",(?![^(]*\))")
_KEY = re.compile(r"PRIMARY KEY \((.*)\)")


class Table(NamedTuple):
    """A table as it is created."""

    name: str
    columns: dict[str, str]  # the definition of each, without keys
    key: tuple[str, ...]
    unique: tuple[str, ...]  # columns with a key of their own


def parse_table(sql: str) -> Table | None:
    """The table that a statement creates; None if it creates none."""
    statement = _CREATE.fullmatch(sql)
    if statement is None:
        return None
    columns: dict[str, str] = {}
    key: tuple[str, ...] = ()
    unique: list[str] = []
    for part in map(str.strip, _BETWEEN_PARTS.split(statement[2])):
        if of_table := _KEY.fullmatch(part):
            key = tuple(of_table[1].split(", "))
            continue
        name = part.split()[0]
        if " PRIMARY KEY" in part:
            key = (name,)
        if " UNIQUE" in part:
            unique.append(name)
        columns[name] = part.replace(" PRIMARY KEY", " NOT NULL").replace(" UNIQUE", "")
    return Table(statement[1], columns, key, tuple(unique))
