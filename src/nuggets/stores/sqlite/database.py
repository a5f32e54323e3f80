"""One connection to a SQLite database: how it is opened, and what its errors mean to a person.

Knows no notes. Every commit and every checkpoint happens while the caller holds the shelf's lock
file: SQLite up to 3.51.2 can damage a database in WAL mode when two connections checkpoint and
commit at the same moment, and Python ships such versions.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any
from weakref import WeakSet

from nuggets.errors import NuggetsError, StoreBusy, StoreCorrupt, StoreError
from nuggets.filesystem.atomic_files import (
    NEW_FILE,
    NO_SPACE,
    full_disk,
    refuse_broken_link,
    sync,
    sync_path,
    temporary_path,
    unreadable,
    unwritable,
)

BUSY_SECONDS = 10.0  # SQLite's own locks are held for milliseconds; then someone is stuck
FAILURES = (sqlite3.Error, UnicodeDecodeError)  # of a statement; the latter if texts are damaged
APPLICATION = 0x4E756767  # "Nugg" in the header: whose database this is
CACHE_PAGES = 4000  # that were read, 16 MB: a write changes some 30 pages, all over the file

# PRAGMAs: how SQLite keeps our database
WRITE_AHEAD_LOG = "journal_mode = WAL"  # readers never wait for a writer
DURABLE = "synchronous = FULL"  # a commit returns when it is on the disk
NOT_DURABLE = "synchronous = NORMAL"  # for counting recalls: a power cut may take the last ones
WHILE_BUILDING = (  # of a new file that nobody sees before it is complete and synced
    f"application_id = {APPLICATION}",
    "page_size = 4096",  # larger ones cost each commit more: it writes whole pages
    f"default_cache_size = {CACHE_PAGES}",  # kept in the file: nobody who opens it has to say so
    "journal_mode = OFF",
    "synchronous = OFF",
    "cache_size = -65536",  # KiB
)


class Database:
    """A connection whose errors say what to do. One thread at a time may use it."""

    def __init__(self, path: str, connection: sqlite3.Connection | None = None) -> None:
        """`path`: of a database that is there; "" for one in memory."""
        self.path = path
        self.blocks_others = False  # an open connection locks others out: close it after each use
        self.only_reads = False  # in the transaction that it is in
        self._is_durable = True  # as the next transaction that writes is to be
        self._synchronous = ""  # the PRAGMA that was set
        self._connection = connection or _connect(self)
        if path:
            _databases.add(self)

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, parameters)
        except FAILURES as problem:
            raise explain_error(problem, self.path) from problem

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        try:
            self._connection.executemany(sql, rows)
        except FAILURES as problem:
            raise explain_error(problem, self.path) from problem

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row; None if there is no row."""
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def version(self) -> int:
        """A number that changes when another connection changes the database."""
        return int(self.value("PRAGMA data_version"))

    def begin(self, *, writing: bool) -> None:
        if writing or not self._synchronous:
            self._set_synchronous(DURABLE if writing and self._is_durable else NOT_DURABLE)
        self.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
        self.only_reads = not writing

    @property
    def commits_wait(self) -> bool:
        """Would a commit of the transaction that it is in wait until it is synced to the disk?"""
        return self._synchronous != NOT_DURABLE

    def _set_synchronous(self, pragma: str) -> None:
        if pragma != self._synchronous:
            self.execute(f"PRAGMA {pragma}")
            self._synchronous = pragma

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        if self.in_transaction:
            with suppress(StoreError):
                self.execute("ROLLBACK")

    def set_durable(self, durable: bool) -> None:
        """Whether commits of transactions that begin now wait until they are synced to the disk."""
        self._is_durable = durable

    def checkpoint(self, wait_seconds: float = BUSY_SECONDS) -> bool:
        """Move the whole log into the database and cut it off; False if a reader still needs it."""
        self.execute(f"PRAGMA busy_timeout = {wait_seconds * 1000:.0f}")
        try:
            busy, *_ = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")
        return not busy

    def copy_to(self, target: "Database") -> None:
        """Copy everything committed into another database, with SQLite's backup function."""
        try:
            self._connection.backup(target._connection, pages=-1)
        except FAILURES as problem:
            raise explain_error(problem, target.path or self.path) from problem

    def copy_to_file(self, path: str) -> None:
        with closing(Database(path, sqlite3.connect(path))) as target:
            self.copy_to(target)

    def close(self) -> None:
        _databases.discard(self)
        with suppress(sqlite3.Error):
            self._connection.close()

    def __del__(self) -> None:
        """Programs may drop a shelf without closing it; from Python 3.13 on, a connection that is
        dropped while it is open warns."""
        with suppress(sqlite3.Error, AttributeError):  # it may never have been opened
            self._connection.close()


_databases: WeakSet[Database] = WeakSet()  # those in files that this process opened
_inherited: list[Database] = []  # in a forked child: those that its parent had open


def _keep_inherited() -> None:
    """In a forked child. Nothing is closed here, because a thread that exists only in the parent
    may hold a lock of SQLite's; nor by garbage collection later."""
    _inherited.extend(_databases)
    _databases.clear()


def _close_inherited() -> None:
    """Before a forked child opens a database: SQLite takes the locks of its parent's connections
    for its own, and another process could truncate the log that the child reads."""
    if any(database.in_transaction and not database.only_reads for database in _inherited):
        raise StoreError(
            "this process was forked while its parent wrote to a shelf, as in a batch. Fork "
            "before or after that. Nothing was changed"
        )  # to close that connection would roll back what the parent wrote
    while _inherited:
        _inherited.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_inherited)


def open_read_only(path: str, *, immutable: bool = False) -> Database:
    """Open a database for reading; closing it does not checkpoint the log.

    `immutable`: leaves no log file behind, but may fail or read old rows while others write.
    """
    _refuse_other_files(path)
    try:
        if not immutable:
            with suppress(sqlite3.OperationalError):
                return Database(path, _open(path, "mode=ro", alone=False))
        return Database(path, _open(path, "mode=ro&immutable=1", alone=False))
    except FAILURES as problem:
        raise explain_error(problem, path) from problem


@contextmanager
def reading_file(path: str) -> Iterator[Database]:
    """The database in a file, for reading only; errors of what is read say what to do."""
    with explain_errors(path), closing(open_read_only(path)) as database:
        yield database


class explain_errors:
    """Translates SQLite errors of rows that are fetched inside, as `Database` does.

    `find_damage`: asked after any other failure inside, which damage may explain.
    """

    def __init__(self, path: str, find_damage: Callable[[], str] = lambda: "") -> None:
        self._path = path
        self._find_damage = find_damage

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, FAILURES):
            raise explain_error(problem, self._path) from problem
        if isinstance(problem, NuggetsError | OSError) or not isinstance(problem, Exception):
            return
        if damage := self._find_damage():
            raise _damage_error(self._path, damage) from problem


def create(path: str, statements: Iterable[str]) -> None:
    """Create a database with these tables; it appears at its path only when it is complete."""
    refuse_orphaned_log(path)
    with building(path) as database:
        for statement in statements:
            database.execute(statement)


@contextmanager
def building(path: str) -> Iterator[Database]:
    """A new database under a temporary name, renamed to `path` when it is complete and synced."""
    temporary = temporary_path(path)
    try:
        os.close(os.open(temporary, NEW_FILE, 0o600))
        connection = sqlite3.connect(temporary, isolation_level=None)
        with closing(Database(temporary, connection)) as database:
            for pragma in WHILE_BUILDING:
                database.execute(f"PRAGMA {pragma}")
            database.execute("BEGIN")
            yield database
            database.commit()
            database.execute(f"PRAGMA {WRITE_AHEAD_LOG}")
        sync_file(temporary)
        os.rename(temporary, path)
        sync_path(os.path.dirname(path))
    except sqlite3.Error as problem:
        raise explain_error(problem, path) from problem
    except OSError as problem:
        raise unwritable(path, problem) from problem
    finally:
        remove_database(temporary)


def remove_database(path: str) -> None:
    """Remove a temporary database with its log, as far as they are there."""
    for file in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):
            os.unlink(file)


def sync_file(path: str) -> None:
    """Sync a file to the disk."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _connect(database: Database) -> sqlite3.Connection:
    """Connect for writing if possible; else read-only; then without shared memory, which some file
    systems and full disks refuse; at last as an immutable file."""
    path = database.path
    if not path:  # one that nobody else sees; SQLite keeps a large one in a file of its own
        return sqlite3.connect("", isolation_level=None, check_same_thread=False)
    _refuse_other_files(path)
    problems: list[sqlite3.Error] = []
    for mode, alone in _OPEN_MODES:
        try:
            connection = _open(path, mode, alone)
        except sqlite3.OperationalError as problem:
            if _code(problem) not in _NOT_WRITABLE:
                raise explain_error(problem, path) from problem
            problems.append(problem)
        except FAILURES as problem:
            raise explain_error(problem, path) from problem
        else:
            database.blocks_others = alone
            return connection
    raise explain_error(problems[0], path) from problems[0]


_OPEN_MODES = (  # URI parameters, and whether one process uses it alone
    ("mode=rw", False),
    ("mode=ro", False),
    ("mode=rw", True),
    ("mode=ro&immutable=1", False),
)


def _open(path: str, mode: str, alone: bool) -> sqlite3.Connection:
    _close_inherited()
    connection = sqlite3.connect(
        f"file:{quote_path(path)}?{mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        refuse_foreign_tables(connection, path)  # reads the log and its index
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_foreign_tables(connection: sqlite3.Connection, path: str) -> None:
    """Before any other statement: raise an error unless these may be the tables of a shelf. Views
    and triggers, which anyone can put into a database, would run inside our statements."""
    is_ours, program = connection.execute(
        "SELECT max(type = 'table' AND name = 'meta'), max(CASE WHEN type NOT IN ('table', 'index')"
        " OR sql LIKE 'create virtual%' THEN type || ' ' || name END) FROM sqlite_master"
    ).fetchone()
    if program is not None:  # nothing for `doctor --fix`, which would read it
        raise StoreError(
            f"{path} is not the database of a shelf: it has a {program!r:.80}. Nothing was changed"
        )
    if not is_ours:
        raise StoreCorrupt(
            f"{path} has no tables of a shelf. It is left as it is, and nothing was changed. "
            f"{WAY_OUT}"
        )


def quote_path(path: str) -> str:
    """A path as part of a URI. `urllib` takes longer to import than a query takes."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def refuse_orphaned_log(path: str) -> None:
    """Raise an error if there is a log without its database: a new one must not replay it."""
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
        raise StoreCorrupt(
            f"{path} is {_kind_of_file(status)}, and a database belongs there. It is left as it "
            f"is; put the database back, or move it away. {WAY_OUT}"
        )
    if status.st_size == 0:
        raise StoreCorrupt(
            f"{path} is empty: something cut the database off. It is left as it is. {WAY_OUT}"
        )
    for log in (f"{path}-wal", f"{path}-shm"):  # each process would lock the others out, and wait
        try:
            status = os.lstat(log)
        except FileNotFoundError:  # another process may have closed the database just now
            continue
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(
                f"{log} is {_kind_of_file(status)}, and a file of SQLite belongs there. Nothing "
                "was changed; move it away"
            )


def _kind_of_file(status: os.stat_result) -> str:
    """What it is, if it is no plain file."""
    kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a directory"))
    return next((name for test, name in kinds if test(status.st_mode)), "no plain file")


WAY_OUT = (
    "`nuggets doctor --fix` sets it aside and saves all that can be read, also from graph.json and "
    "the nugget files; `nuggets restore` brings a backup back"
)
_DAMAGE = ("no such table", "Could not decode to UTF-8")  # without a code of their own
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


def _damage_error(where: str, problem: object) -> StoreCorrupt:
    return StoreCorrupt(
        f"{where} is damaged ({problem}). It is left as it is, and nothing was changed. {WAY_OUT}"
    )


def explain_error(problem: sqlite3.Error | UnicodeDecodeError, path: str) -> StoreError:
    """The error that says what happened and what to do next."""
    where = path or "the shelf in memory"
    if isinstance(problem, UnicodeDecodeError):
        return _damage_error(where, problem)
    code = _code(problem)
    says_damage = any(part in str(problem) for part in _DAMAGE)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or says_damage:
        return _damage_error(where, problem)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(
            f"another program is holding {where}. Nothing was changed; try again, and if it stays "
            "like this, look which program has the file open"
        )
    if code not in _NOT_WRITABLE:
        return StoreError(f"{where}: {problem} (nothing was changed; try again)")
    reason, advice = full_disk(os.path.dirname(where)), NO_SPACE
    if not reason and code == sqlite3.SQLITE_FULL:
        reason = "no space left"
    elif not reason:
        reason = str(problem)
        advice = "the file or its directory is read-only; recall still works"
        if code == sqlite3.SQLITE_IOERR:
            advice = _after_failure(problem)
    return StoreError(f"Cannot write {where}: {reason} ({advice})")


def _after_failure(problem: sqlite3.Error) -> str:
    """What to do after an I/O error; after a failed sync the change may be on the disk or not."""
    reasons = "is the disk full, over its quota or failing?"
    if getattr(problem, "sqlite_errorcode", 0) in _NOT_SYNCED:
        return f"{reasons} Look whether the change is there before you repeat it"
    return f"{reasons} Nothing was changed"
