"""How modules that have tables run SQL. Knows no driver."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

# Of one list of a statement: SQLite took 999 parameters in all before 3.32.
MOST_PARAMETERS = 500


class Cursor(Protocol):
    """The rows that a statement returns."""

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Database(Protocol):
    """Runs SQL inside the transaction that its owner has begun."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...


def chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    """The values in pieces that fit into one `IN (…)`.

    A value may be repeated: lists of few different lengths make few different statements, and a
    database prepares each of those once.
    """
    rest = iter(values)
    while chunk := list(islice(rest, MOST_PARAMETERS)):
        length = min(1 << (len(chunk) - 1).bit_length(), MOST_PARAMETERS)
        yield chunk + chunk[-1:] * (length - len(chunk))


def placeholders(values: Sequence[Any]) -> str:
    """One placeholder for each value."""
    return ",".join("?" * len(values))
