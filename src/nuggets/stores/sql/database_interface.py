"""What a store needs of a database: SQL (`domain/sql_interface.py`) and transactions."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from nuggets.domain import sql_interface


class Cursor(sql_interface.Cursor, Protocol):
    """The rows that a statement returns, and how many it changed."""

    @property
    def rowcount(self) -> int: ...


class Database(Protocol):
    """One connection to a database. One thread at a time may use it."""

    @property
    def path(self) -> str:
        """Where it is, for messages."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...

    def value(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """The first column of the first row; None if there is no row."""

    def begin(self, *, writing: bool) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def set_durable(self, durable: bool) -> None:
        """Whether a commit waits until it is synced to the disk."""
