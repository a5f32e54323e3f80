"""The connections of a process to one database, shared by all shelves that are open there.

An operation takes a connection and gives it back, so that thousands of open shelves need no more
connections than operations run at once, and a shelf that is opened finds its statements prepared.
"""

import os
import threading
import time
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from nuggets.errors import StoreError
from nuggets.stores.postgresql.schema import TABLES, VIEWS

if TYPE_CHECKING:
    import psycopg

    from nuggets.filesystem.shelf_location import DatabaseUrl

RETRY_SECONDS = 5.0  # as long as a server takes to start again, or a standby to take over
MOST_IDLE = 16  # connections kept for later: ours, a sixth of what a server allows (100)
_PAUSE_SECONDS = 0.1  # between attempts, so that many clients do not keep a server from starting
_CONNECT_SECONDS = 10  # for one attempt at one host: ours, with retries of lost packets
_PREPARED = 300  # statements kept prepared: ours, a connection serves many; psycopg keeps 100
_IDLE = 0  # libpq's PQTRANS_IDLE
INSTALL = "pip install 'nuggets-memory[postgresql]'"


class Connections:
    """Those to the database of one address."""

    def __init__(self, url: "DatabaseUrl") -> None:
        self._url = url
        self._users = 0
        self._idle: list[psycopg.Connection[Any]] = []
        self._lock = threading.Lock()

    def open(self) -> None:
        """Somebody uses them from now on."""
        with self._lock:
            self._users += 1

    def close(self) -> None:
        """Somebody uses them no longer; nobody is left to use idle ones after the last."""
        with self._lock:
            self._users -= 1
        if not self._users:
            self.close_idle()

    def take(self) -> "psycopg.Connection[Any]":
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if not connection.closed:
                    return connection
        return _connect(driver(), self._url)

    def give_back(self, connection: "psycopg.Connection[Any]") -> None:
        with self._lock:
            is_idle = connection.pgconn.transaction_status == _IDLE
            if self._users and is_idle and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


_by_process_and_address: dict[tuple[int, str], Connections] = {}


def connections_to(url: "DatabaseUrl") -> Connections:
    """Those of this process to the database of a shelf; a forked child does not use those of its
    parent."""
    return _by_process_and_address.setdefault((os.getpid(), url.address), Connections(url))


# --- connecting ----------------------------------------------------------------------------------


def driver() -> Any:
    """The module `psycopg`."""
    try:
        import psycopg
    except ImportError as problem:
        raise StoreError(f"a shelf in PostgreSQL needs the package psycopg: {INSTALL}") from problem
    return psycopg


@cache
def _cursor_class(psycopg: Any) -> Any:
    """Cursors whose rows are taken over together: one at a time takes the driver five times as
    long, and all of them have arrived."""

    class Cursor(psycopg.RawCursor):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            return iter(self.fetchall())

    return Cursor


def _connect(psycopg: Any, url: "DatabaseUrl") -> "psycopg.Connection[Any]":
    """Connect; while the server is starting, or not there for a moment, again and again."""
    give_up = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            connection = psycopg.connect(
                url.address,
                autocommit=True,
                cursor_factory=_cursor_class(psycopg),
                **_parameters(psycopg, url),
            )
        except psycopg.Error as problem:
            if not _may_pass(problem) or time.monotonic() > give_up:
                raise _refusal(problem, url) from None  # the driver's error may show the address
            time.sleep(_PAUSE_SECONDS)
        else:
            _adapt(connection)
            return connection  # type: ignore[no-any-return]


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


def _adapt(connection: Any) -> None:
    """Numbers as the tables have them: all whole ones of 64 bits, and no decimals."""
    from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader

    class WholeNumber(NumericBinaryLoader):
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
