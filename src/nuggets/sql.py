"""What rooms that keep tables need of a database. Knows no driver."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

MOST_PARAMETERS = 500  # of one statement


class Cursor(Protocol):
    """The rows that a statement gives."""

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Database(Protocol):
    """Runs SQL within whatever transaction its owner has begun."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...


def chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    """The values in pieces that fit into one `IN (…)`."""
    rest = iter(values)
    while chunk := list(islice(rest, MOST_PARAMETERS)):
        yield chunk


def placeholders(values: Sequence[Any]) -> str:
    """One placeholder for each value."""
    return ",".join("?" * len(values))
