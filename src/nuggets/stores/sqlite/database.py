"""One connection to a SQLite database: how it is opened, and what its errors mean to a person.

Knows no notes. Every commit and every checkpoint happens while the caller holds the shelf's lock
file: SQLite up to 3.51.2 can damage a database in WAL mode when two connections checkpoint and
commit at the same moment, and Python ships such versions.
"""

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from nuggets.errors import StoreBusy, StoreCorrupt, StoreError
from nuggets.files import refuse_broken_link, sync, sync_path, unreadable, unwritable

BUSY_SECONDS = 10.0  # SQLite's own locks are held for milliseconds; then someone is stuck
APPLICATION = 0x4E756767  # "Nugg" in the header: whose database this is
PAGE_BYTES = 8192  # notes of a few hundred bytes leave less of such a page empty
CHECKPOINT_PAGES = 128  # 1 MB: a cold process reads the whole log once, so it stays short

VERSION = sqlite3.sqlite_version


class Database:
    """A connection whose errors say what to do. Its owner keeps threads apart."""

    def __init__(self, path: str, connection: sqlite3.Connection | None = None) -> None:
        """`path`: of a database that is there; "" for one in memory."""
        self.path = path
        self.holds_others_up = False  # while it is open: then it is closed after each use
        self._connection = connection or (_connect(self) if path else _in_memory())

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, parameters)
        except sqlite3.Error as problem:
            raise explained(problem, self.path) from problem

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> sqlite3.Cursor:
        try:
            return self._connection.executemany(sql, rows)
        except sqlite3.Error as problem:
            raise explained(problem, self.path) from problem

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row; None if there is no row."""
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def begin(self, *, writing: bool) -> None:
        self.execute("BEGIN IMMEDIATE" if writing else "BEGIN")

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        if self.in_transaction:
            with suppress(StoreError):
                self.execute("ROLLBACK")

    def set_durable(self, durable: bool) -> None:
        """Whether a commit waits until it is on the medium."""
        self.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")

    def checkpoint(self, wait_seconds: float = BUSY_SECONDS) -> bool:
        """Move the whole log into the database and cut it off; False if a reader still needs it."""
        self.execute(f"PRAGMA busy_timeout = {wait_seconds * 1000:.0f}")
        try:
            busy, *_ = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")
        return not busy

    def backup_to(self, path: str) -> None:
        """A copy of everything committed, made by SQLite itself."""
        target = sqlite3.connect(path)
        try:
            self._connection.backup(target, pages=-1)
        except sqlite3.Error as problem:
            raise explained(problem, path) from problem
        finally:
            target.close()

    def copy_to(self, other: "Database") -> None:
        """Everything committed, into another one."""
        try:
            self._connection.backup(other._connection, pages=-1)
        except sqlite3.Error as problem:
            raise explained(problem, self.path) from problem

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()


def open_read_only(path: str) -> Database:
    """To look and no more: nothing is moved from the log when it is closed."""
    _refuse_other_files(path)
    try:
        try:
            return Database(path, _opened(path, "mode=ro", alone=False))
        except sqlite3.OperationalError:
            return Database(path, _opened(path, "mode=ro&immutable=1", alone=False))
    except sqlite3.Error as problem:
        raise explained(problem, path) from problem


@contextmanager
def explaining(path: str) -> Iterator[None]:
    """For rows that are fetched inside: their errors say what to do as well."""
    try:
        yield
    except sqlite3.Error as problem:
        raise explained(problem, path) from problem


def create(path: str, statements: Iterable[str]) -> None:
    """A new database with these tables, in its place only when it is whole."""
    refuse_orphaned_log(path)
    with building(path) as database:
        for statement in statements:
            database.execute(statement)


_WHILE_BUILDING = (
    f"page_size = {PAGE_BYTES}",
    *("journal_mode = OFF", "synchronous = OFF", "cache_size = -65536"),
)


@contextmanager
def building(path: str) -> Iterator[Database]:
    """A new database beside `path`; it takes that place when it is whole and on the medium."""
    temporary = f"{path}.{os.getpid():x}-{time.monotonic_ns():x}.tmp"
    try:
        os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        database = Database(temporary, sqlite3.connect(temporary, isolation_level=None))
        try:
            for pragma in (
                f"page_size = {PAGE_BYTES}",
                "journal_mode = OFF",
                "synchronous = OFF",
                "cache_size = -65536",
            ):
                database.execute(f"PRAGMA {pragma}")
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute("BEGIN")
            yield database
            database.commit()
            database.execute("PRAGMA journal_mode = WAL")
        finally:
            database.close()
        sync_file(temporary)
        os.rename(temporary, path)
        sync_path(os.path.dirname(path))
    except sqlite3.Error as problem:
        raise explained(problem, path) from problem
    except OSError as problem:
        raise unwritable(path, problem) from problem
    finally:
        for leftover in (temporary, f"{temporary}-wal", f"{temporary}-shm"):
            with suppress(OSError):
                os.unlink(leftover)


def sync_file(path: str) -> None:
    """Wait until a file is on the medium."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _in_memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def _connect(database: Database) -> sqlite3.Connection:
    """Writable if that can be; else read-only; then without the shared memory that some file
    systems and full disks refuse; and at last as a file that nobody changes."""
    path = database.path
    _refuse_other_files(path)
    problems: list[sqlite3.Error] = []
    for mode, alone in _WAYS_IN:
        try:
            connection = _opened(path, mode, alone)
        except sqlite3.OperationalError as problem:
            if _code(problem) not in _NOT_WRITABLE:
                raise explained(problem, path) from problem
            problems.append(problem)
        except sqlite3.Error as problem:
            raise explained(problem, path) from problem
        else:
            database.holds_others_up = alone
            return connection
    raise explained(problems[0], path) from problems[0]


_WAYS_IN = (  # how a database is opened, and whether by one process alone
    ("mode=rw", False),
    ("mode=ro", False),
    ("mode=rw", True),
    ("mode=ro&immutable=1", False),
)


def _opened(path: str, mode: str, alone: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quoted(path)}?{mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute("SELECT count(*) FROM meta")  # reads the log and its index
    except BaseException:
        connection.close()
        raise
    return connection


def quoted(path: str) -> str:
    """As part of a URI; `urllib` would cost a cold command more than the query itself."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def refuse_orphaned_log(path: str) -> None:
    """A log without its database is not nothing, and would spoil a new one."""
    log = f"{path}-wal"
    if not os.path.lexists(path) and os.path.lexists(log) and os.stat(log).st_size:
        raise StoreCorrupt(
            f"{path} is missing, and its log {os.path.basename(log)} is there. Nothing was "
            f"changed. Put the database back, if it was moved. {WAY_OUT}"
        )


def _refuse_other_files(path: str) -> None:
    refuse_broken_link(path)
    try:
        status = os.lstat(path)
    except OSError as problem:
        raise unreadable(path, problem) from problem
    if not stat.S_ISREG(status.st_mode):
        kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a directory"))
        kind = next((name for test, name in kinds if test(status.st_mode)), "no plain file")
        raise StoreCorrupt(
            f"{path} is {kind}, and a database belongs there. It is left as it is; put the "
            f"database back, or move it away. {WAY_OUT}"
        )
    if status.st_size == 0:
        raise StoreCorrupt(
            f"{path} is empty: something cut the database off. It is left as it is. {WAY_OUT}"
        )


WAY_OUT = (
    "`nuggets doctor --fix` sets it aside and saves all that can be read, also from graph.json and "
    "the nugget files; `nuggets restore` brings a backup back"
)
_NOT_SYNCED = (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)
_NOT_WRITABLE = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
)


def _code(problem: sqlite3.Error) -> int:
    code = getattr(problem, "sqlite_errorcode", None)
    return sqlite3.SQLITE_READONLY if code is None else int(code) & 0xFF


def explained(problem: sqlite3.Error, path: str) -> StoreError:
    """What happened and what to do next."""
    code, where = _code(problem), path or "the shelf in memory"
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such table" in str(problem):
        return StoreCorrupt(
            f"{where} is damaged ({problem}). It is left as it is, and nothing was changed. "
            f"{WAY_OUT}"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(
            f"another program is holding {where}. Nothing was changed; try again, and if it stays "
            "like this, look which program has the file open"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreError(
            f"Cannot write {where}: no space left (free some space, then try again: nothing was "
            "changed)"
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreError(
            f"Cannot write {where}: {problem} (the file or its directory is read-only; recall "
            "still works)"
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"Cannot write {where}: {problem} ({_after_failure(problem)})")
    return StoreError(f"{where}: {problem} (nothing was changed; try again)")


def _after_failure(problem: sqlite3.Error) -> str:
    """What the medium refused; after a failed sync nobody knows what is on it."""
    reasons = "is the disk full, over its quota or failing?"
    if getattr(problem, "sqlite_errorcode", 0) in _NOT_SYNCED:
        return f"{reasons} Look whether the change is there before you repeat it"
    return f"{reasons} Nothing was changed"
