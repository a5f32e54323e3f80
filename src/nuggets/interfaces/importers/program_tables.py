"""How the tables of a program's database are described, and what is read of a row."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nuggets.interfaces.importers import Records
from nuggets.named_tuple import NamedTuple

Row = Mapping[str, Any]
AddRow = Callable[[Row, str, str, str, Records], None]  # row, place, nugget, time, what was found


class Program(NamedTuple):
    """A program whose memories are read from its database."""

    name: str
    needed: frozenset[str]  # columns of its first table, by which it is known
    tables: Mapping[str, AddRow]
    columns: Mapping[str, Sequence[str]]  # that are read of each table, if they are there


def json_list(text: object) -> list[Any]:
    """A list in JSON, as programs put it into a column."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []
