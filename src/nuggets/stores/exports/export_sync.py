"""Keep the documented files and the database in step: refresh exports, import external edits.

The files of a small shelf are refreshed before a write ends. Those of a larger one are left to
long-lived processes, which refresh them in the background on a connection of their own. Each new
file is put in place under the lock, and announced in the register before, so that nobody takes it
for an external edit in between.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING

from nuggets.domain.records import Changes, ExportsStatus
from nuggets.errors import StoreError
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.export_fingerprints import (
    Export,
    changed_files,
    exports,
    forget,
    record,
    stamp_of,
    status_of,
)
from nuggets.stores.exports.layout import GRAPH, documented_files
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import Database, ExplainErrors

if TYPE_CHECKING:
    from nuggets.stores.exports.edit_import import DecideEdit
    from nuggets.stores.exports.export_refresh import File, Plan
    from nuggets.stores.exports.refresh_thread import BackgroundRefresh

LOOK_SECONDS = 0.5  # between two checks whether someone edited the files
CHEAP_MS = 20.0  # how much longer a command may take to refresh the files
MOST_LOG_BYTES = 64_000_000  # of SQLite's log: then a refresh in the background begins again
MOST_NOTICES = 20  # that a process remembers, the last ones
LIVING_CHEAP_MS = 2.0  # a long-lived process refreshes them in the background


class StoreAccess(NamedTuple):
    """What a synchronization needs of its store."""

    database: Callable[[], Database]
    exclusive: Callable[[], AbstractContextManager[None]]
    transaction: Callable[..., AbstractContextManager[None]]  # alone on the connection
    commit: Callable[[Changes], int]  # inside a transaction
    is_busy: Callable[[], bool]  # does any thread use the connection?


class FilesStatus(NamedTuple):
    """How the files differ from the database."""

    edited: bool = False  # someone edited one
    stale: bool = False  # one does not show the current revision


class ExportSync:
    """The documented files of one store, which keeps threads apart."""

    def __init__(
        self,
        directory: str,
        access: StoreAccess,
        decide_edit: "DecideEdit",
        *,
        clock: Callable[[], str],
        short_lived: bool,
    ) -> None:
        self._directory = directory
        self._access = access
        self._decide_edit = decide_edit
        self._clock = clock
        self._short_lived = short_lived
        self._cheap_ms = CHEAP_MS if short_lived else LIVING_CHEAP_MS
        self._has_swept = False
        self.begin_in_this_process()

    def begin_in_this_process(self) -> None:
        """Threads do not live on in a forked child."""
        self._checked_at = float("-inf")
        # Stamps of the files when none was edited, by the register as it is; None: look there.
        self._unedited: dict[str, tuple[int, ...]] | None = None
        self._copied: dict[str, str] = {}  # statuses that could not be recorded
        self._problems: dict[str, str] = {}  # files that are left as they are, and why
        self.notices: tuple[str, ...] = ()  # imported edits that a person should know of
        self._is_urgent = False  # an edit was imported: its file is written again at once
        self._background: BackgroundRefresh | None = None

    # --- external edits ---------------------------------------------------------------------

    def check_files(self, *, at_once: bool = False) -> FilesStatus:
        """Compare the files with the register, unless that was done just now."""
        if not at_once and time.monotonic() - self._checked_at < LOOK_SECONDS:
            return FilesStatus()
        files, recorded = documented_files(self._directory), exports(self._access.database())
        edited = self._is_any_edited(files, recorded)
        stale = any(name not in files or export.edited for name, export in recorded.items())
        if self._short_lived:  # a command that only reads does not write the files for its recalls
            stale = stale or _lacks_changes(self._access.database(), recorded)
        else:
            stale = stale or _revisions_behind(self._access.database(), recorded) > 0
        return FilesStatus(edited, stale)

    def _is_any_edited(
        self, files: Mapping[str, os.stat_result], recorded: dict[str, Export]
    ) -> bool:
        self._checked_at = time.monotonic()
        self._note_problems(files, recorded)
        changed = changed_files(files, recorded)
        return any(self._copied.get(name) != status_of(files[name]) for name in changed)

    def _note_problems(self, files: Iterable[str], recorded: dict[str, Export]) -> None:
        problems = {name: recorded[name].problem for name in files if name in recorded}
        self._problems = {name: problem for name, problem in problems.items() if problem}

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(
            f"{problem}. Until then memory goes on without it"
            for problem in self._problems.values()
        )

    def forget_register(self) -> None:
        """Someone else may have written the register."""
        self._unedited = None

    def import_edits(self) -> bool:
        """Commit external edits; whether there were any. The caller holds the lock."""
        files = documented_files(self._directory)
        stamps = {name: stamp_of(status) for name, status in files.items()}
        if stamps == self._unedited:
            self._checked_at = time.monotonic()
            return False
        self._unedited = None
        if not self._is_any_edited(files, exports(self._access.database())):
            self._unedited = stamps
            return False
        from nuggets.stores.exports.edit_import import EditImport

        with self._transaction():
            database = self._access.database()
            state = SqlState(self._access.database)
            edit_import = EditImport(self._directory, database, state, self._decide_edit)
            imported = edit_import.run(self._access.commit, self._clock())
            self.notices = (*self.notices, *edit_import.notices)[-MOST_NOTICES:]
            self._note_problems(documented_files(self._directory), exports(database))
        self._is_urgent = self._is_urgent or imported
        return imported

    def _transaction(self, *, durable: bool = True) -> AbstractContextManager[None]:
        """A transaction that writes the register."""
        self._unedited = None
        return self._access.transaction(durable=durable)

    def are_only_copies(self) -> bool:
        """Where nothing can be written: were all changed files only copied?"""
        from nuggets.stores.exports.edit_import import copied_files

        files, recorded = documented_files(self._directory), exports(self._access.database())
        copied = copied_files(self._directory, files, recorded)
        self._copied.update(copied)
        return copied.keys() == set(changed_files(files, recorded))

    # --- refreshing -------------------------------------------------------------------------

    def refresh_after_commit(self) -> None:
        """Refresh at once if that is cheap, else later. The caller holds the lock."""
        if self._background is not None and self._background.is_requested and not self._is_urgent:
            return  # it was not cheap a moment ago, and there is more to do now
        with suppress(OSError, StoreError):  # the commit stands, and the next writer tries again
            if not self._refresh_here(cheaply=not self._is_urgent):
                self.refresh_later()

    def refresh_here(self) -> None:
        """Refresh now, however long it takes. The caller holds the lock."""
        self._refresh_here(cheaply=False)

    def _refresh_here(self, *, cheaply: bool) -> bool:
        from nuggets.stores.exports.rendering import Unusable

        try:
            done = self._write_here(cheaply=cheaply)
        except Unusable:
            done = self._write_here(cheaply=cheaply, whole=True)
        if done:
            self._is_urgent = False
        return done

    def _write_here(self, *, cheaply: bool, whole: bool = False) -> bool:
        from nuggets.stores.exports import export_refresh
        from nuggets.stores.exports.exported_state import current_revision

        directory, database = self._directory, self._access.database()
        state = SqlState(self._access.database)
        problem: StoreError | None = None
        with self._transaction(durable=False):
            if cheaply and not export_refresh.is_cheap(database, self._cheap_ms):
                return False
            exported = current_revision(database)
            plan = export_refresh.plan_refresh(database, state, directory, exported, whole=whole)
            if cheaply and export_refresh.milliseconds(plan) > self._cheap_ms:
                return False
            try:
                for file in export_refresh.render_files(
                    directory, database, state, plan, lambda: None
                ):
                    look = partial(export_refresh.refuse_unknown, directory, plan)
                    record(database, export_refresh.place_file(directory, file, look))
                self._finish(database, plan)
            except StoreError as raised:
                problem = raised  # files that are in place by now are recorded nevertheless
        if problem is not None:
            raise problem
        return True

    def _finish(self, database: Database, plan: "Plan") -> None:
        """Remove files of dropped nuggets. The graph's row says how far all files are, also while
        the graph itself is left alone."""
        from nuggets.stores.exports.export_refresh import remove_obsolete, sweep

        if not self._has_swept:
            sweep(self._directory)
            self._has_swept = True
        remove_obsolete(self._directory, plan)
        for name in plan.obsolete:
            forget(database, name)
        if plan.graph and plan.is_left_alone(GRAPH):
            row = plan.recorded[GRAPH]._replace(
                revision=plan.exported.revision, touch=plan.exported.touch or 0
            )
            record(database, row)

    # --- refreshing while others work -------------------------------------------------------

    def refresh(self, pause: Callable[[], None] = lambda: None, *, renew: bool = False) -> None:
        """Refresh on a connection of its own; the lock is held only to put a file in place."""
        from nuggets.stores.exports.rendering import Unusable

        path = self._access.database().path
        if not path:
            return
        reader = Database(path)
        try:
            with ExplainErrors(path):
                try:
                    self._write_apart(reader, pause, renew=renew)
                except Unusable:
                    self._write_apart(reader, pause, renew=renew, whole=True)
        finally:
            reader.close()

    def _write_apart(
        self, reader: Database, pause: Callable[[], None], *, renew: bool, whole: bool = False
    ) -> None:
        from nuggets.stores.exports import export_refresh
        from nuggets.stores.exports.exported_state import current_revision

        reader.begin(writing=False)
        try:
            state, exported = SqlState(lambda: reader), current_revision(reader)
            plan = export_refresh.plan_refresh(
                reader, state, self._directory, exported, renew=renew, whole=whole
            )
            if not exported.revision or plan.is_empty:
                return
            files = list(export_refresh.render_files(self._directory, reader, state, plan, pause))
            if plan.changed is not None:
                reader.rollback()  # a reader keeps the database's log from being truncated
            for file in files:
                self._place_apart(file, plan)
        finally:
            reader.rollback()
        with self._access.exclusive(), self._transaction(durable=False):
            self._finish(self._access.database(), plan)

    def _place_apart(self, file: "File", plan: "Plan") -> None:
        from nuggets.stores.exports.export_refresh import place_file, refuse_unknown

        with ExitStack() as stack:

            def announce(row: Export) -> None:
                stack.enter_context(self._access.exclusive())
                with self._transaction():
                    database = self._access.database()
                    recorded = exports(database).get(row.name)
                    if recorded != plan.recorded.get(row.name):
                        raise StoreError(f"{row.name} was refreshed by someone else meanwhile")
                    refuse_unknown(self._directory, plan, row)
                    record(database, row._replace(status=recorded.status if recorded else ""))

            row = place_file(self._directory, file, announce)
            with self._transaction(durable=False):
                record(self._access.database(), row)

    def refresh_later(self) -> None:
        """Refresh in the background, unless this process ends soon."""
        if self._short_lived:
            return
        if self._background is None:
            from nuggets.stores.exports.refresh_thread import BackgroundRefresh

            background = BackgroundRefresh(
                lambda: self.refresh(background.pause), self._access.is_busy, self._is_log_large
            )
            self._background = background
        self._background.request()

    def _is_log_large(self) -> bool:
        """A refresh reads one revision, and the log cannot be truncated while it does."""
        try:
            return os.path.getsize(f"{self._access.database().path}-wal") > MOST_LOG_BYTES
        except OSError:
            return False

    def finish_background_refresh(self) -> None:
        """Before the store is closed, without its lock: do what was left for later."""
        if self._background is not None:
            self._background.finish()

    def refresh_before_close(self) -> None:
        """Refresh stale files; a command only if that is cheap. The caller holds the lock."""
        if self.check_files(at_once=True).stale:
            self._refresh_here(cheaply=self._short_lived)

    def status(self) -> ExportsStatus:
        """Which revision the files show."""
        from nuggets.stores.exports.exported_state import moment_of

        database = self._access.database()
        recorded = exports(database)
        behind = _revisions_behind(database, recorded)
        graph = recorded.get(GRAPH)
        if graph is None:
            return ExportsStatus(0, behind, "")
        return ExportsStatus(graph.revision, behind, moment_of(database, graph.revision) or "")


def _revisions_behind(database: Database, recorded: dict[str, Export]) -> int:
    """How many revisions the files do not show yet."""
    row = database.execute("SELECT max(revision) FROM commits").fetchone()
    return int(row[0] or 0) - (recorded[GRAPH].revision if GRAPH in recorded else 0)


def _lacks_changes(database: Database, recorded: dict[str, Export]) -> bool:
    """Is there a revision that the files do not show yet, and that is more than recalls?"""
    revision = recorded[GRAPH].revision if GRAPH in recorded else 0
    sql = "SELECT 1 FROM commits WHERE revision > ? AND action <> 'recall' LIMIT 1"
    return database.execute(sql, (revision,)).fetchone() is not None
