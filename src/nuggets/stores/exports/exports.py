"""The documented files of one directory: kept up to date, and watched for edits.

Small shelves' files are refreshed before a write ends. Larger ones are left to processes that live
on, which do it in the background on a connection of their own; nobody waits for that. What they
have written is put in place under the lock, and announced in the database before: whoever looks in
between must not take it for somebody's edit.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nuggets.errors import StoreError
from nuggets.records import Changes, ExportsStatus
from nuggets.stores.exports.layout import GRAPH, documented_files
from nuggets.stores.exports.register import (
    Export,
    exports,
    foreign,
    forget,
    oldest_revision,
    record,
    status_of,
)
from nuggets.stores.sqlite.database import Database, explaining
from nuggets.stores.sqlite.state import SqliteState

if TYPE_CHECKING:
    from nuggets.stores.exports.background import Later
    from nuggets.stores.exports.intake import Adopt
    from nuggets.stores.exports.refreshing import File, Plan

LOOK_SECONDS = 0.5  # how often a process looks whether someone edited the files
CHEAP_MS = 20.0  # how much longer a command may take for its files
LIVING_CHEAP_MS = 2.0  # a process that lives on has the background for them


class Access(NamedTuple):
    """What is needed of a store."""

    database: Callable[[], Database]
    exclusive: Callable[[], AbstractContextManager[None]]
    transaction: Callable[..., AbstractContextManager[None]]  # alone on the connection
    commit: Callable[[Changes], int]  # inside a transaction
    is_busy: Callable[[], bool]  # does any thread use the connection?


class Look(NamedTuple):
    """What a look at the files found."""

    edited: bool = False  # somebody saved one
    stale: bool = False  # some do not show what is there now


class Exports:
    """For one store, which keeps threads apart."""

    def __init__(
        self,
        directory: str,
        access: Access,
        adopt: "Adopt",
        *,
        clock: Callable[[], str],
        short_lived: bool,
    ) -> None:
        self._directory = directory
        self._access = access
        self._adopt = adopt
        self._clock = clock
        self._short_lived = short_lived
        self._cheap_ms = CHEAP_MS if short_lived else LIVING_CHEAP_MS
        self._swept = False
        self.begin_in_this_process()

    def begin_in_this_process(self) -> None:
        """Threads do not live on in a forked child."""
        self._looked = float("-inf")
        self._copied: dict[str, str] = {}  # statuses that could not be recorded
        self._left_alone: dict[str, str] = {}  # files and why
        self._urgent = False  # an edit was taken in: its file is written anew at once
        self._later: Later | None = None

    # --- edits ------------------------------------------------------------------------------

    def look(self, *, at_once: bool = False) -> Look:
        """One status a file, if the last look is some time ago."""
        if not at_once and time.monotonic() - self._looked < LOOK_SECONDS:
            return Look()
        self._looked = time.monotonic()
        database = self._access.database()
        files, known = documented_files(self._directory), exports(database)
        edited = [n for n in foreign(files, known) if self._copied.get(n) != status_of(files[n])]
        self._note_problems(files, known)
        stale = any(name not in files or export.edited for name, export in known.items())
        return Look(bool(edited), stale or _behind(database, known) > 0)

    def _note_problems(self, files: Iterable[str], known: dict[str, Export]) -> None:
        self._left_alone = {n: known[n].problem for n in files if n in known and known[n].problem}

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(
            f"{why}. Until then memory goes on without it" for why in self._left_alone.values()
        )

    def take_in(self) -> bool:
        """What others wrote becomes commits; whether there was any. For the lock's holder."""
        if not self.look(at_once=True).edited:
            return False
        from nuggets.stores.exports.intake import Intake, now_shown

        with self._access.transaction():
            database = self._access.database()
            state = SqliteState(self._access.database)
            intake = Intake(self._directory, database, state, now_shown(database), self._adopt)
            taken = intake.run(self._access.commit, self._clock())
            self._note_problems(documented_files(self._directory), exports(database))
        self._urgent = self._urgent or taken
        return taken

    def are_only_copies(self) -> bool:
        """Where nothing can be written: is every file ours, and was merely copied?"""
        from nuggets.stores.exports.intake import copies

        files, known = documented_files(self._directory), exports(self._access.database())
        found = copies(self._directory, files, known)
        self._copied.update(found)
        return found.keys() == set(foreign(files, known))

    # --- refreshing -------------------------------------------------------------------------

    def follow(self) -> None:
        """After a commit, for the lock's holder: at once while that is cheap, else later."""
        with suppress(OSError, StoreError):  # the commit stands, and whoever comes next tries again
            if not self._refresh_here(cheaply=not self._urgent):
                self.refresh_later()

    def refresh_here(self) -> None:
        """Now, whatever it costs, for the lock's holder."""
        self._refresh_here(cheaply=False)

    def _refresh_here(self, *, cheaply: bool) -> bool:
        from nuggets.stores.exports.rendering import Unusable

        try:
            done = self._write_here(cheaply=cheaply)
        except Unusable:
            done = self._write_here(cheaply=cheaply, whole=True)
        if done:
            self._urgent = False
        return done

    def _write_here(self, *, cheaply: bool, whole: bool = False) -> bool:
        from nuggets.stores.exports import refreshing
        from nuggets.stores.exports.intake import now_shown

        directory, database = self._directory, self._access.database()
        state = SqliteState(self._access.database)
        problem: StoreError | None = None
        with self._access.transaction(durable=False):
            if cheaply and not refreshing.is_cheap(database, self._cheap_ms):
                return False
            shown = now_shown(database)
            plan = refreshing.planned(database, state, directory, shown, whole=whole)
            if cheaply and refreshing.milliseconds(plan) > self._cheap_ms:
                return False
            try:
                for file in refreshing.rendered(directory, database, state, plan, lambda: None):
                    look = partial(refreshing.refuse_unknown, directory, plan)
                    record(database, refreshing.placed(directory, file, look))
                self._finish(database, plan)
            except StoreError as raised:
                problem = raised  # what is in place by now is recorded nevertheless
        if problem is not None:
            raise problem
        return True

    def _finish(self, database: Database, plan: "Plan") -> None:
        """Remove what is gone; record how far the others are while the graph is left alone."""
        from nuggets.stores.exports.refreshing import remove_gone, sweep

        if not self._swept:
            sweep(self._directory)
            self._swept = True
        remove_gone(self._directory, plan)
        for name in plan.gone:
            forget(database, name)
        if plan.graph and plan.is_left_alone(GRAPH):
            row = plan.known[GRAPH]._replace(
                revision=plan.shown.revision, touch=plan.shown.touch or 0
            )
            record(database, row)

    # --- refreshing while others work -------------------------------------------------------

    def refresh(self, rest: Callable[[], None] = lambda: None, *, renew: bool = False) -> None:
        """Now, on a connection of its own; the lock is held only to put a file in place."""
        from nuggets.stores.exports.rendering import Unusable

        path = self._access.database().path
        if not path:
            return
        apart = Database(path)
        try:
            with explaining(path):
                try:
                    self._write_apart(apart, rest, renew=renew)
                except Unusable:
                    self._write_apart(apart, rest, renew=renew, whole=True)
        finally:
            apart.close()

    def _write_apart(
        self, apart: Database, rest: Callable[[], None], *, renew: bool, whole: bool = False
    ) -> None:
        from nuggets.stores.exports import refreshing
        from nuggets.stores.exports.intake import now_shown

        apart.begin(writing=False)
        try:
            state, shown = SqliteState(lambda: apart), now_shown(apart)
            plan = refreshing.planned(
                apart, state, self._directory, shown, renew=renew, whole=whole
            )
            if not shown.revision or plan.is_empty:
                return
            files = list(refreshing.rendered(self._directory, apart, state, plan, rest))
            if plan.changed is not None:
                apart.rollback()  # a reader keeps the database's log from being cut short
            for file in files:
                self._place_apart(file, plan)
        finally:
            apart.rollback()
        with self._access.exclusive(), self._access.transaction(durable=False):
            self._finish(self._access.database(), plan)

    def _place_apart(self, file: "File", plan: "Plan") -> None:
        from nuggets.stores.exports.refreshing import placed, refuse_unknown

        with ExitStack() as stack:

            def announce(row: Export) -> None:
                stack.enter_context(self._access.exclusive())
                with self._access.transaction():
                    database = self._access.database()
                    known = exports(database).get(row.name)
                    if known != plan.known.get(row.name):
                        raise StoreError(f"{row.name} was refreshed by someone else meanwhile")
                    refuse_unknown(self._directory, plan, row)
                    record(database, row._replace(status=known.status if known else ""))

            row = placed(self._directory, file, announce)
            with self._access.transaction(durable=False):
                record(self._access.database(), row)

    def refresh_later(self) -> None:
        """By this process, if it lives on."""
        if self._short_lived:
            return
        if self._later is None:
            from nuggets.stores.exports.background import Later

            later = Later(lambda: self.refresh(later.rest), self._access.is_busy)
            self._later = later
        self._later.ask()

    def settle(self) -> None:
        """Before the store is closed, outside of its lock: what was left for later is done."""
        if self._later is not None:
            self._later.finish()

    def leave_current(self) -> None:
        """Before the store is closed, for the lock's holder; commands leave what is not cheap."""
        if self.look(at_once=True).stale:
            self._refresh_here(cheaply=self._short_lived)

    # --- how far they are -------------------------------------------------------------------

    def status(self) -> ExportsStatus:
        from nuggets.stores.exports.past import moment_of

        database = self._access.database()
        known = exports(database)
        graph = known.get(GRAPH)
        if graph is None:
            return ExportsStatus(0, _behind(database, known), "")
        saved_at = moment_of(database, graph.revision) or ""
        return ExportsStatus(graph.revision, _behind(database, known), saved_at)

    def oldest_revision(self) -> int | None:
        return oldest_revision(self._access.database())


def _behind(database: Database, known: dict[str, Export]) -> int:
    """How many revisions the files do not show yet."""
    row = database.execute("SELECT max(revision) FROM commits").fetchone()
    return int(row[0] or 0) - (known[GRAPH].revision if GRAPH in known else 0)
