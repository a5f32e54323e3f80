"""The database that a store is connected to: the file in its directory, an empty database in memory
while there is no file, or a copy in memory where the file cannot be written."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from nuggets.filesystem.atomic_files import private_directory
from nuggets.stores.sql import schema
from nuggets.stores.sqlite.database import Database, connect_temporary, refuse_orphaned_log


class Connection:
    """Opens a database when it is first used. The caller makes sure that one thread uses it."""

    def __init__(
        self, path: str, statements: Callable[[], Iterable[str]], on_change: Callable[[], None]
    ) -> None:
        """`path`: "" for a database in memory; `on_change`: called when another one replaces it."""
        self.path = path
        self._statements = statements
        self._on_change = on_change
        self._database: Database | None = None
        self._file: tuple[int, int] | None = None  # device and inode; None: a stand-in
        self._copied: tuple[int, ...] | None = None  # the state of the files; None: no copy

    def database(self) -> Database:
        """The open database."""
        if self._database is None:
            self._open()
        assert self._database is not None
        return self._database

    def _open(self) -> None:
        directory = os.path.dirname(self.path)
        self._file = self._copied = None
        if directory and os.path.lexists(directory) and not os.path.isdir(directory):
            private_directory(directory)  # raises an error that names what is there instead
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

    @property
    def blocks_others(self) -> bool:
        """Must it be closed after each use, because it locks other connections out?"""
        return self._database is not None and self._database.blocks_others

    def follow_file(self) -> None:
        """Close the connection if another file is there now, such as a restored backup."""
        if self._database is None or self._database.in_transaction or not self.path:
            return
        is_old_copy = self._copied is not None and self._copied != self._state_of_files()
        if is_old_copy or _identity(self.path) != self._file:
            self.close()

    def work_on_copy(self) -> None:
        """Use a copy in memory until the files change."""
        source, copy, state = self.database(), Database(""), self._state_of_files()
        source.copy_to(copy)
        source.close()
        self._database, self._copied = copy, state
        self._on_change()

    def begin_with_copy(self, source: Database) -> None:
        """Use a copy of another database, in a temporary one."""
        self._database = Database("", connect_temporary())
        source.copy_to(self._database)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
            self._on_change()

    def _state_of_files(self) -> tuple[int, ...]:
        """Sizes and modification times; they differ after every write."""
        sizes_and_times: list[int] = []
        for path in (self.path, f"{self.path}-wal"):
            with suppress(OSError):
                status = os.stat(path)
                if status.st_size:  # opening the database makes an empty log
                    sizes_and_times += status.st_size, status.st_mtime_ns
        return tuple(sizes_and_times)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
