"""Which database a store is connected to: the one in its directory, an empty stand-in while there
is none, or a copy in memory where edits can be read but nothing can be written."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from nuggets.files import private_directory
from nuggets.stores.sqlite import schema
from nuggets.stores.sqlite.database import Database, refuse_orphaned_log


class Connection:
    """Opens a database when it is first asked for. Its owner keeps threads apart."""

    def __init__(
        self, path: str, statements: Callable[[], Iterable[str]], on_change: Callable[[], None]
    ) -> None:
        """`path`: "" for a database in memory; `on_change`: another one is asked from now on."""
        self.path = path
        self._statements = statements
        self._on_change = on_change
        self._database: Database | None = None
        self._file: tuple[int, int] | None = None  # device and inode; None: a stand-in
        self._copied: tuple[int, ...] | None = None  # the state of the files; None: no copy

    def database(self) -> Database:
        """The database to ask."""
        if self._database is None:
            self._open()
        assert self._database is not None
        return self._database

    def _open(self) -> None:
        directory = os.path.dirname(self.path)
        self._file = self._copied = None
        if directory and os.path.lexists(directory) and not os.path.isdir(directory):
            private_directory(directory)  # says what stands there instead
        if self.path and os.path.lexists(self.path):
            self._database = Database(self.path)
            self._file = _identity(self.path)
            schema.refuse_newer(self._database)
            return
        refuse_orphaned_log(self.path)
        self._database = Database("")
        for statement in self._statements():
            self._database.execute(statement)

    @property
    def is_open(self) -> bool:
        return self._database is not None

    @property
    def is_of_file(self) -> bool:
        """Is it the database in the directory, and neither a stand-in nor closed?"""
        return self._database is not None and self._file is not None

    @property
    def is_in_transaction(self) -> bool:
        return self._database is not None and self._database.in_transaction

    def follow_file(self) -> None:
        """Another file may stand there by now: a backup that was put back, or the first one."""
        if self._database is None or self._database.in_transaction or not self.path:
            return
        is_old_copy = self._copied is not None and self._copied != self._state_of_files()
        if is_old_copy or _identity(self.path) != self._file:
            self.close()

    def work_on_copy(self) -> None:
        """Go on with a copy in memory until the files change."""
        source, copy, state = self.database(), Database(""), self._state_of_files()
        source.copy_to(copy)
        source.close()
        self._database, self._copied = copy, state
        self._on_change()

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
            self._on_change()

    def leave_to_parent(self) -> None:
        """In a forked child: a connection in the middle of something is not ours to end."""
        if self._database is not None:
            _left_to_parent.append(self._database)
            self._database = None
            self._on_change()

    def _state_of_files(self) -> tuple[int, ...]:
        """Changes whenever the database does."""
        found: list[int] = []
        for path in (self.path, f"{self.path}-wal"):
            with suppress(OSError):
                status = os.stat(path)
                found += status.st_size, status.st_mtime_ns
        return tuple(found)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_left_to_parent: list[Database] = []  # kept, because being thrown away would close them
