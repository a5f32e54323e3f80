"""A PostgreSQL database as one shelf uses it, and what its errors mean. Knows no notes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from nuggets.errors import StoreBusy, StoreError
from nuggets.stores.postgresql.connections import connections_to, driver
from nuggets.stores.postgresql.schema import statement

if TYPE_CHECKING:
    import psycopg

    from nuggets.filesystem.shelf_location import DatabaseUrl

_ROWS_TOGETHER = 1000  # rows that are sent at once: this bounds the memory
_SHOW_SHELF = "SELECT set_config('nuggets.shelf', $1, $2::bigint::int::bool)"


class ConnectionLost(StoreError):
    """The server is gone, or it ended the connection."""


class Database:
    """A database whose errors say what to do. One thread at a time may use it.

    A transaction has a connection of its own, and so has a session (`is_session`), which lasts
    until `close`; else each statement takes one.
    """

    def __init__(self, url: "DatabaseUrl", *, is_session: bool = False) -> None:
        self.url = url
        self.path = url.shown
        self._driver = driver()
        self._connections = connections_to(url)
        self._connections.open()
        self._is_session = is_session
        self._connection: psycopg.Connection[Any] | None = None
        self.shelf = 0  # the number of the one that is shown; 0: none
        self._has_begun = False  # a transaction, which was neither committed nor rolled back
        self._is_lost = False  # the connection of that transaction: nothing more may be done in it
        self._is_durable = True
        self._queue: list[tuple[str, list[Sequence[Any]]]] = []  # writes not sent yet

    @property
    def in_transaction(self) -> bool:
        return self._has_begun and not self._is_lost

    @contextmanager
    def _use_connection(self) -> Iterator["psycopg.Connection[Any]"]:
        """A connection for one statement, or that of the transaction; errors say what to do."""
        try:
            if self._is_lost:
                raise self._loss()
            if self._connection is None:
                self._connection = self._connections.take()
            if self.shelf and not self._has_begun:  # a transaction begins with saying it
                self._queue.insert(0, (_SHOW_SHELF, [(str(self.shelf), False)]))
            yield self._connection
        except self._driver.Error as problem:
            raise self._explain(problem) from problem
        finally:
            if not self.in_transaction:
                self._queue = []
                if not self._is_session:
                    self.let_go()

    def let_go(self) -> None:
        """End the session, if there is one; nothing of it must be left."""
        connection, self._connection = self._connection, None
        if connection is not None and not connection.closed:
            self._connections.give_back(connection)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> "psycopg.Cursor[Any]":
        translated: Any = statement(sql)
        if sql.startswith("SELECT"):
            parameters = [_askable(value) for value in parameters]
        with self._sending_queue() as connection:
            return connection.execute(translated, parameters or None, binary=True)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Inside a transaction the rows wait for the next statement, and are sent with it: each
        round trip to the server takes longer than an insert."""
        waits, remaining = self.in_transaction, iter(rows)  # which may ask this database
        while chunk := list(islice(remaining, _ROWS_TOGETHER)):
            _check_texts(chunk)
            self._queue.append((statement(sql), chunk))
            if len(chunk) == _ROWS_TOGETHER or not waits:
                with self._sending_queue():
                    pass

    @contextmanager
    def _sending_queue(self) -> Iterator["psycopg.Connection[Any]"]:
        """What is executed inside is sent together with the writes that wait, after them."""
        with self._use_connection() as connection:
            if not self._queue:
                yield connection
                return
            with self._pipeline(connection):
                yield connection

    @contextmanager
    def _pipeline(self, connection: "psycopg.Connection[Any]") -> Iterator[None]:
        queue, self._queue = self._queue, []
        with connection.pipeline(), connection.cursor() as cursor:
            for sql, rows in queue:
                cursor.executemany(sql, rows)
            yield

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row; None if there is no row."""
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def run(self, script: str) -> Any:
        """Run statements as they are, all at once; the first value of the last one."""
        with self._use_connection() as connection:
            if self._queue:  # it cannot be sent together with the writes that wait
                with self._pipeline(connection):
                    pass
            cursor = connection.execute(script.encode())
            while cursor.nextset():
                pass
            row = cursor.fetchone() if cursor.description else None
        return None if row is None else row[0]

    def begin(self, *, writing: bool) -> None:
        self._has_begun = True
        if not writing:
            begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            self.run(f"{begin}; SET LOCAL nuggets.shelf = {self.shelf}")
            return
        self._queue.append(("BEGIN", [()]))  # sent with the first statement
        self._queue.append((_SHOW_SHELF, [(str(self.shelf), True)]))
        if not self._is_durable:
            self._queue.append(("SET LOCAL synchronous_commit = off", [()]))

    def commit(self) -> None:
        try:
            self.execute("COMMIT")
        except ConnectionLost:
            self._has_begun = self._is_lost = False  # it has ended, one way or the other
            raise
        self._has_begun = False
        if not self._is_session:
            self.let_go()

    def waiting_row(self, sql: str) -> Sequence[Any] | None:
        """The last row that waits to be sent with this statement."""
        translated = statement(sql)
        rows = [row for queued, rows in self._queue if queued == translated for row in rows]
        return rows[-1] if rows else None

    def rollback(self) -> None:
        self._queue, self._has_begun, self._is_lost = [], False, False
        if self._connection is not None:
            try:
                self._connection.rollback()
            except self._driver.Error:
                self._connection.close()
        if not self._is_session:
            self.let_go()

    def set_durable(self, durable: bool) -> None:
        """Whether a commit waits until it is synced to the disk."""
        self._is_durable = durable

    def disconnect(self) -> None:
        """Close the connection of the session or transaction, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def close(self) -> None:
        self.disconnect()
        self._connections.close()

    def _explain(self, problem: "psycopg.Error") -> StoreError:
        is_lost = self._connection is None or self._connection.closed
        if is_lost or (problem.sqlstate or "").startswith(("57P", "08")):
            self.disconnect()
            self._is_lost = self._has_begun
            self._connections.close_idle()  # they are probably lost, too
            return self._loss()
        return _explain_state(problem, self.path)

    def _loss(self) -> ConnectionLost:
        return ConnectionLost(
            f"the connection to {self.path} was lost. Nothing was changed; try again"
        )


def _check_texts(rows: Iterable[Sequence[Any]]) -> None:
    """Raise the `UnicodeEncodeError` of a text that cannot be stored now, not when it is sent."""
    for row in rows:
        for value in row:
            if isinstance(value, str) and not value.isascii():
                value.encode()


def _askable(value: Any) -> Any:
    """A value to compare with. No text in PostgreSQL has the character NUL, nor has any of ours."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value


def _explain_state(problem: "psycopg.Error", shown: str) -> StoreError:
    """The error that says what happened and what to do next."""
    state, text = problem.sqlstate or "", " ".join(str(problem).split())
    if state == "25006":
        return StoreError(
            f"{shown} can only be read: it is a standby or set to read-only. Name the primary; "
            "recall still works"
        )
    if state == "42501":
        return StoreError(
            f"{shown}: {text}. The owner of the database must grant this user its rights"
        )
    if state == "23505":
        return StoreBusy(
            f"another process wrote to {shown} meanwhile. Nothing was changed; try again"
        )
    if state == "55P03":
        return StoreBusy(f"another process is writing to {shown}. Nothing was changed; try again")
    if state.startswith("53"):
        return StoreError(
            f"Cannot write {shown}: {text} (free some space on the server, then try again: nothing "
            "was changed)"
        )
    return StoreError(f"{shown}: {text} (nothing was changed)")
