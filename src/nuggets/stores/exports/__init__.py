"""The documented files `<name>.nugget.json` and `graph/graph.json`, exports of the database.

`register` knows where they are and how they were written, `write` makes their bytes and puts them
in place, `edits` imports what others changed in them.
No write waits for them: up to `SMALL_NOTES` the process writes them when it ends, closes or saves;
up to `refresher.MOST_NOTES` a process of its own does (`refresher`); those of a larger shelf are
written by the daily pass and on demand.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from nuggets.domain.records import Changes, ExportsStatus
from nuggets.errors import StoreBusy
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.register import (
    GRAPH,
    Export,
    changed_files,
    documented_files,
    exports,
    is_incomplete,
    is_larger,
    status_of,
)
from nuggets.stores.sqlite.database import Database

if TYPE_CHECKING:
    from nuggets.stores.exports.edits import DecideEdit
    from nuggets.stores.exports.register import Registers

LOOK_SECONDS = 0.5  # between two looks whether someone edited the files
SMALL_NOTES = 500  # are written in the time that a command takes to start
SMALL_BYTES = 1_000_000  # of graph.json
MOST_NOTICES = 20  # that a process remembers, the last ones: it bounds the memory
_LOCK_SECONDS = 1.0  # that the end of a process waits for a writer; the refresher waits longer


class StoreAccess(NamedTuple):
    """What the exports need of their store."""

    database: Callable[[], Database]
    registers: Callable[[], Registers]
    alone: Callable[[], AbstractContextManager[Any]]  # on the connection
    exclusive: Callable[..., AbstractContextManager[None]]
    transaction: Callable[..., AbstractContextManager[None]]  # alone on the connection
    commit: Callable[[Changes], int]  # inside a transaction


class Exports:
    """The documented files of one store, which keeps threads apart."""

    def __init__(
        self,
        directory: str,
        access: StoreAccess,
        decide_edit: DecideEdit,
        *,
        clock: Callable[[], str],
        short_lived: bool,
    ) -> None:
        self._directory = directory
        self._access = access
        self._decide_edit = decide_edit
        self._clock = clock
        self._short_lived = short_lived
        self.forget_look()
        self._is_edited = False  # by someone, and not imported yet
        self._is_behind = False  # a file must be written again
        self._refresher: ModuleType | None = None  # loaded when one was started
        self._is_too_large = False  # for a refresher: that was found out once, and stays so
        self._problems: dict[str, str] = {}  # files that are left as they are, and why
        self.notices: tuple[str, ...] = ()  # imported edits that a person should know of

    def forget_look(self) -> None:
        """Look again at the next opportunity."""
        self._looked_at = float("-inf")
        self._unedited: dict[str, str] | None = None  # statuses of files that nobody had edited

    # --- external edits ---------------------------------------------------------------------

    @property
    def is_look_due(self) -> bool:
        """Was the last look too long ago?"""
        return time.monotonic() - self._looked_at >= LOOK_SECONDS

    def look(self, *, at_once: bool = False) -> bool:
        """Has someone edited a file? Looks no more often than `LOOK_SECONDS`, unless `at_once`."""
        if not at_once and not self.is_look_due:
            return self._is_edited
        files = documented_files(self._directory)
        statuses = {name: status_of(status) for name, status in files.items()}
        self._looked_at = time.monotonic()
        if at_once and statuses == self._unedited:
            return False
        registers = self._access.registers()
        recorded = registers.exports
        changed = changed_files(files, recorded)
        self._is_edited = bool(changed)
        self._unedited = None if self._is_edited else statuses
        if registers.has_unexported or is_incomplete(files, recorded):
            self._is_behind = True
        self._note_problems(files, recorded)
        return self._is_edited

    def _note_problems(self, files: Mapping[str, object], recorded: Mapping[str, Export]) -> None:
        problems = {name: recorded[name].problem for name in files if name in recorded}
        self._problems = {name: problem for name, problem in problems.items() if problem}

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(
            f"{problem}. Until then memory goes on without it"
            for problem in self._problems.values()
        )

    def import_edits(self) -> bool:
        """Commit external edits; whether there were any. The caller holds the lock."""
        if not self.look(at_once=not self._short_lived):  # a command has just looked
            return False
        from nuggets.stores.exports.edits import EditImport
        from nuggets.stores.sql.state import SqlState

        with self._access.transaction():
            database = self._access.database()
            state = SqlState(self._access.database)
            edit_import = EditImport(self._directory, database, state, self._decide_edit)
            imported = edit_import.run(self._access.commit, self._clock())
            self.notices = (*self.notices, *edit_import.notices)[-MOST_NOTICES:]
            self._note_problems(documented_files(self._directory), exports(database))
        self.forget_look()
        self._is_edited, self._is_behind = False, True
        return imported

    # --- refreshing -------------------------------------------------------------------------

    def note_commit(self) -> None:
        self._is_behind = True

    @property
    def is_due(self) -> bool:
        """Must someone see to it that the files are current?"""
        return self._is_behind or self._refresher is not None

    def start_refresher(self) -> None:
        """Have stale files written by another process, unless this one ends soon: then it sees to
        them at its end."""
        if self._is_behind and not self._short_lived and not self._is_too_large:
            self._start_refresher()

    def follow(self) -> None:
        """When a process ends, closes or saves: write stale files, or have them written by another
        process. The caller does not hold the lock."""
        with suppress(StoreBusy):  # another process holds the lock for longer
            if self._is_small():
                self.stop_refresher()
                self.refresh(wait_seconds=_LOCK_SECONDS, at_once=self._short_lived)
                return
        self._start_refresher()

    def stop_refresher(self) -> None:
        """End the one that this process started, because this process writes the files. The caller
        does not hold the lock, which that one takes to end."""
        if self._refresher is not None:
            self._refresher.stop(self._directory)

    def _is_small(self) -> bool:
        with self._access.alone():
            database = self._access.database()
            # If it blocks others, no other process could read it meanwhile.
            return database.blocks_others or not is_larger(database, SMALL_NOTES, SMALL_BYTES)

    def _start_refresher(self) -> None:
        from nuggets.stores.exports import refresher

        def is_wanted() -> bool:
            with self._access.alone():
                database = self._access.database()
                self._is_too_large = is_larger(database, refresher.MOST_NOTES, sys.maxsize)
                return not self._is_too_large and not database.blocks_others

        refresher.start(self._directory, is_wanted)
        self._is_behind, self._refresher = False, refresher

    def refresh(
        self, *, renew: bool = False, wait_seconds: float | None = None, at_once: bool = False
    ) -> None:
        """Write all files that differ from the database, however long that takes. `at_once`: nobody
        else writes meanwhile."""
        from nuggets.stores.exports import write

        database = self._access.database()
        lock = partial(self._access.exclusive, wait_seconds, prepare=False)
        self._is_behind, self._refresher = False, None  # other threads may commit meanwhile
        try:
            if at_once or database.blocks_others:  # also a second connection of this process
                with lock(), self._access.alone():
                    write.refresh(self._access.database(), None, renew=renew)
            else:
                with closing(Database(database.path)) as reader:
                    write.refresh(reader, lock, renew=renew)
        except BaseException:
            self._is_behind = True
            raise

    def status(self) -> ExportsStatus:
        """Which revision the files show, and how many changes they do not show yet."""
        database = self._access.database()
        revision = exports(database).get(GRAPH, Export(GRAPH)).revision
        sql = (
            "SELECT count(*), (SELECT at FROM commits WHERE revision = ?) FROM commits"
            " WHERE revision > ? AND action <> 'recall'"
        )
        behind, saved_at = database.execute(sql, (revision, revision)).fetchone()
        return ExportsStatus(revision, behind, saved_at or "")
