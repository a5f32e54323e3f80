"""One connection to a PostgreSQL database: how it is opened, and what its errors mean to a person.

Knows no notes.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from nuggets.errors import StoreBusy, StoreError
from nuggets.stores.postgresql.dialect import TABLES, VIEWS, plain_insert, statement

if TYPE_CHECKING:
    import psycopg

    from nuggets.filesystem.database_url import DatabaseUrl

RETRY_SECONDS = 5.0  # as long as a server takes to start again, or a standby to take over
_PAUSE_SECONDS = 0.1
_CONNECT_SECONDS = 10  # for one attempt at one host
_PREPARED = 300  # statements that a connection keeps prepared
_ROWS_TOGETHER = 1000  # rows that are sent at once
_ROWS_COPIED = 100  # from so many rows on COPY is faster than INSERT
_IN_TRANSACTION = (2, 3)  # libpq's PQTRANS_INTRANS and PQTRANS_INERROR
INSTALL = "pip install 'nuggets-memory[postgresql]'"


class ConnectionLost(StoreError):
    """The server is gone, or it ended the connection."""


class Database:
    """A connection whose errors say what to do. One thread at a time may use it."""

    def __init__(self, url: "DatabaseUrl") -> None:
        self.url = url
        self.path = url.shown
        self._driver = driver()
        self._connection: psycopg.Connection[Any] = _connect(self._driver, url)
        self._is_durable = True
        self.rows_sent = 0
        self._copies: bool | None = None  # not asked yet
        self._queue: list[tuple[str, list[Sequence[Any]]]] = []  # writes not sent yet

    @property
    def in_transaction(self) -> bool:
        is_begun = self._connection.pgconn.transaction_status in _IN_TRANSACTION
        return is_begun or bool(self._queue)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> "psycopg.Cursor[Any]":
        translated: Any = statement(sql)
        if sql.startswith("SELECT"):
            parameters = [_askable(value) for value in parameters]
        try:
            with self._sending_queue():
                return self._connection.execute(translated, parameters or None, binary=True)
        except self._driver.Error as problem:
            raise self._explain(problem) from problem

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Inside a transaction the rows wait for the next statement, and are sent with it: each
        round trip to the server takes longer than an insert."""
        waits, remaining = self.in_transaction, iter(rows)  # which may ask this database
        while chunk := list(islice(remaining, _ROWS_TOGETHER)):
            _check_texts(chunk)
            self.rows_sent += len(chunk)
            plain = plain_insert(sql) if len(chunk) >= _ROWS_COPIED else None
            if plain is not None and self._may_copy():
                self._copy_rows(*plain, chunk)
                continue
            self._queue.append((statement(sql), chunk))
            if len(chunk) == _ROWS_TOGETHER or not waits:
                self._send_queue()

    def _may_copy(self) -> bool:
        """PostgreSQL copies nothing into tables whose row-level security holds for this user."""
        if self._copies is None:
            sql = "SELECT NOT row_security_active(?::text::regclass)"
            self._copies = bool(self.value(sql, (f"{TABLES}.notes",)))
        return self._copies

    def _copy_rows(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Insert many rows with COPY, which takes tables only; a connection knows its shelf."""
        columns = columns or self._columns_of(table)
        if self._queue:
            self._send_queue()
        script: Any = f"COPY {TABLES}.{table} ({columns}) FROM STDIN"
        try:
            with self._connection.cursor() as cursor, cursor.copy(script) as copy:
                for row in rows:
                    copy.write_row(row)
        except self._driver.Error as problem:
            raise self._explain(problem) from problem

    def _columns_of(self, table: str) -> str:
        """The columns of a view but the shelf, in their order."""
        names: str = self.value(
            "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
            " WHERE attrelid = ?::text::regclass AND attnum > 0 AND attname <> 'shelf'",
            (f"{VIEWS}.{table}",),
        )
        return names

    def _send_queue(self) -> None:
        try:
            with self._sending_queue():
                pass
        except self._driver.Error as problem:
            raise self._explain(problem) from problem

    @contextmanager
    def _sending_queue(self) -> Iterator[None]:
        """What is executed inside is sent together with the writes that wait, after them."""
        if not self._queue:
            yield
            return
        queue, self._queue = self._queue, []
        with self._connection.pipeline(), self._connection.cursor() as cursor:
            for sql, rows in queue:
                cursor.executemany(sql, rows)
            yield

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row; None if there is no row."""
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def run(self, script: str) -> Any:
        """Run statements as they are, all at once; the first value of the last one."""
        if self._queue:
            self._send_queue()
        try:
            cursor = self._connection.execute(script.encode())
            while cursor.nextset():
                pass
            row = cursor.fetchone() if cursor.description else None
        except self._driver.Error as problem:
            raise self._explain(problem) from problem
        return None if row is None else row[0]

    def announcements(self) -> list[str]:
        """What was announced on the channels that are listened to, since the last call."""
        try:
            return [message.payload for message in self._connection.notifies(timeout=0)]
        except self._driver.Error as problem:
            raise self._explain(problem) from problem

    def begin(self, *, writing: bool) -> None:
        if not writing:
            self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return
        self._queue.append(("BEGIN", [()]))  # sent with the first statement
        if not self._is_durable:
            self._queue.append(("SET LOCAL synchronous_commit = off", [()]))

    def commit(self) -> None:
        self.execute("COMMIT")

    def waiting_row(self, sql: str) -> Sequence[Any] | None:
        """The last row that waits to be sent with this statement."""
        translated = statement(sql)
        rows = [row for queued, rows in self._queue if queued == translated for row in rows]
        return rows[-1] if rows else None

    def rollback(self) -> None:
        self._queue = []
        if self.in_transaction:
            with suppress(StoreError):
                self.run("ROLLBACK")

    def set_durable(self, durable: bool) -> None:
        """Whether a commit waits until it is synced to the disk."""
        self._is_durable = durable

    def close(self) -> None:
        self._connection.close()

    def _explain(self, problem: "psycopg.Error") -> StoreError:
        if self._connection.closed or (problem.sqlstate or "").startswith(("57P", "08")):
            self._connection.close()
            return ConnectionLost(
                f"the connection to {self.path} was lost. Nothing was changed; try again"
            )
        return _explain_state(problem, self.path)


def _check_texts(rows: Iterable[Sequence[Any]]) -> None:
    """Raise the `UnicodeEncodeError` of a text that cannot be stored now, not when it is sent."""
    for row in rows:
        for value in row:
            if isinstance(value, str) and not value.isascii():
                value.encode()


def _askable(value: Any) -> Any:
    """A value to compare with. No text in PostgreSQL has the character NUL, nor has any of ours."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value


def driver() -> Any:
    """The module `psycopg`."""
    try:
        import psycopg
    except ImportError as problem:
        raise StoreError(f"a shelf in PostgreSQL needs the package psycopg: {INSTALL}") from problem
    return psycopg


def _connect(psycopg: Any, url: "DatabaseUrl") -> Any:
    """Connect; while the server is starting, or not there for a moment, again and again."""
    give_up = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            connection = psycopg.connect(
                url.address,
                autocommit=True,
                cursor_factory=psycopg.RawCursor,
                **_parameters(psycopg, url),
            )
        except psycopg.Error as problem:
            if not _may_pass(problem) or time.monotonic() > give_up:
                raise _refusal(problem, url) from None  # the driver's error may show the address
            time.sleep(_PAUSE_SECONDS)
        else:
            _adapt(psycopg, connection)
            return connection


def _parameters(psycopg: Any, url: "DatabaseUrl") -> dict[str, Any]:
    """What the address leaves open. Of several hosts the one that can be written is meant."""
    options = psycopg.conninfo.conninfo_to_dict(url.address)
    parameters: dict[str, Any] = {
        "application_name": f"nuggets {os.getpid()}",
        "connect_timeout": _CONNECT_SECONDS,
        "client_encoding": "utf8",
    }
    if "," in str(options.get("host", "")):
        parameters["target_session_attrs"] = "read-write"
    return {name: value for name, value in parameters.items() if name not in options}


def _adapt(psycopg: Any, connection: Any) -> None:
    """Numbers as the tables have them: all whole ones of 64 bits, and no decimals."""
    from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader, NumericLoader

    class WholeNumber(NumericLoader):
        def load(self, data: Any) -> Any:
            return int(super().load(data))

    class WholeBinaryNumber(NumericBinaryLoader):
        def load(self, data: Any) -> Any:
            return int(super().load(data))

    class FlagDumper(Int8Dumper):
        def dump(self, obj: Any) -> Any:
            return super().dump(int(obj))

    connection.prepared_max = _PREPARED
    adapters = connection.adapters
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, FlagDumper)
    adapters.register_loader("numeric", WholeNumber)
    adapters.register_loader("numeric", WholeBinaryNumber)
    connection.execute(
        f"SET search_path = {VIEWS}, {TABLES}; SET client_min_messages = warning; SET jit = off"
    )


_PASSING = ("57P03", "57P01", "57P02", "53300")  # starting, stopping, too many connections


def _may_pass(problem: "psycopg.Error") -> bool:
    text = str(problem)
    return problem.sqlstate in _PASSING or any(
        part in text
        for part in (
            *("starting up", "shutting down", "in recovery mode", "Connection refused"),
            *("No such file or directory", "server closed the connection", "read-only"),
            *("Connection reset", "too many clients", "session is not read-write"),
        )
    )


def _refusal(problem: "psycopg.Error", url: "DatabaseUrl") -> StoreError:
    """Why there is no connection, without the password."""
    text = " ".join(url.hide_password(str(problem)).split())
    if "password" in text or "authentication" in text:
        return StoreError(
            f"{url.shown} refuses this user or password. Put the right one into ~/.pgpass, "
            f"PGPASSWORD or the address ({text})"
        )
    if "does not exist" in text:
        return StoreError(f"{url.shown}: {text}. Create it first (createdb)")
    return StoreError(
        f"no connection to {url.shown}: {text}. Is the server running, and is the address right? "
        "Nothing was changed"
    )


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
