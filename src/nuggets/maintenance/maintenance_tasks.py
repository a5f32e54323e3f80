"""Maintenance of a shelf over time: history, undo, purge, the daily clean-up, promotion to
MEMORY.md, audit, checkup, backups. `NuggetShelf` imports it only when one of these is called."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from datetime import date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from nuggets.domain import codec, times, undone_reflection
from nuggets.domain.fact_identity import identity, identity_of
from nuggets.domain.limits import check_count
from nuggets.domain.records import (
    Changes,
    Commit,
    DailyRun,
    MemoryNote,
    MemoryVersion,
    ReflectionResult,
)
from nuggets.domain.validity import versions_of
from nuggets.domain.visibility import is_foreign, visible_projects
from nuggets.engine.transactions import Decision, Transactions
from nuggets.errors import Conflict, NotFound, StoreError
from nuggets.graph import links, name_resolution
from nuggets.graph.shelf_import import OtherShelf, ShelfPast
from nuggets.language.text import fold_case
from nuggets.maintenance import daily_schedule, reflection, undo
from nuggets.maintenance.audit import Finding, audit_notes
from nuggets.maintenance.daily_schedule import RUN_MARK
from nuggets.maintenance.purge import Purged, finish_purge, purge_notes
from nuggets.promotion import Promotion
from nuggets.promotion.eligibility import reverted_pins
from nuggets.promotion.memory_files import MemoryFiles
from nuggets.settings import Settings
from nuggets.stores.doctor.defects import UNFINISHED_PURGE, Defect

if TYPE_CHECKING:
    from nuggets.stores.backup import Backup
    from nuggets.stores.restore import Restored


class Maintenance:
    """The maintenance operations of one shelf."""

    def __init__(
        self,
        transactions: Transactions,
        settings: Settings,
        project: str,
        memory_path: Callable[[], str],
        now: Callable[[], str],
        client: str,
        stale_reasons: Callable[[MemoryNote], Sequence[str]],
    ) -> None:
        self._transactions = transactions
        self._settings = settings
        self._project = project
        self._now = now
        self._client = client
        self.memory_files = MemoryFiles(
            transactions,
            is_configured=bool(settings["memory_file"]),
            project=project,
            default_path=memory_path,
            client=client,
            promote_after=settings["promote_after"],
            now=now,
            stale_reasons=stale_reasons,
        )

    # --- history ------------------------------------------------------------------------

    def history(self, note: str | None, limit: int, since: int = 0) -> Sequence[Commit]:
        """The commits after a revision, newest first: all that changed something, or one note."""
        check_count(limit, "how many entries to show")
        with self._transactions.reading():
            if note is None:
                commits = self._last_changes(since)
            else:
                note_id = self._id_of(note, None)
                commits = self._transactions.store.commits(since, note_id, newest_first=True)
            return list(islice(commits, limit))

    def versions(self, name: str, nugget: str | None) -> Sequence[MemoryVersion]:
        """What a memory said and when, oldest first; also what it superseded."""
        with self._transactions.reading() as view:
            notes = view.state.notes
            versions: list[MemoryVersion] = []
            waiting = [self._id_with_history(name, nugget)]
            for note_id in waiting:  # grows while it is gone through
                images = self._transactions.store.earlier_images(note_id)
                current = notes.get(note_id)
                versions += versions_of(images, current)
                superseded = current.supersedes if current is not None else ()
                waiting += (old for old in superseded if old not in waiting)
            return sorted(versions, key=lambda version: version.valid_from)

    def _id_with_history(self, name: str, nugget: str | None) -> str:
        """The id of a note; a deleted one can be named by its id, or by its title as long as the
        history has it."""
        try:
            return self._id_of(name, nugget)
        except NotFound:
            for commit in self._transactions.store.commits(newest_first=True):
                for note in commit.before.put:
                    if note.id in commit.changes.drop and self._is_called(note, name, nugget):
                        return note.id
            raise

    def _is_called(self, note: MemoryNote, name: str, nugget: str | None) -> bool:
        return (
            fold_case(note.title) == fold_case(name)
            and nugget in (None, note.nugget_name)
            and not is_foreign(note, self._project)
        )

    def _last_changes(self, since: int = 0) -> Iterator[Commit]:
        """The commits, newest first, without those that only counted recalls."""
        commits = self._transactions.store.commits(since, newest_first=True)
        return (commit for commit in commits if not undo.is_quiet(commit))

    def undo(self, revision: int | None, dry_run: bool) -> Commit:
        """Revert a commit, by default the client's own last change in this project."""

        def decide() -> Decision[Commit]:
            commit = self._last_to_undo() if revision is None else self._commit(revision)
            since = self._transactions.store.commits(commit.revision)
            return undo.revert(self._transactions.state, commit, since), commit

        if dry_run:
            with self._transactions.reading():
                return decide()[1]
        commit = self._transactions.update("undo", self._client, decide)
        if reverted_pins(commit.changes.marks, commit.before.marks):
            self.memory_files.promote_to(self.memory_files.written_files())
        return commit

    def last_own_change(self) -> Commit:
        """The commit that `undo` reverts if none is named."""
        with self._transactions.reading():
            return self._last_to_undo()

    def changes_in_effect(self, since: int) -> Sequence[Commit]:
        """The commits after a revision that are neither undone nor an undo, newest first."""
        with self._transactions.reading():
            commits = self._transactions.store.commits(since, newest_first=True)
            return list(undo.changes_in_effect(commits))

    def commit(self, revision: int) -> Commit:
        """One commit of the history."""
        with self._transactions.reading():
            return self._commit(revision)

    def undoable(self, revisions: Iterable[int]) -> set[int]:
        """Those of the commits that `undo` would revert at the moment."""
        undoable = set()
        with self._transactions.reading() as view:
            for revision in revisions:
                with suppress(NotFound, Conflict):
                    undo.revert(view.state, self._commit(revision))
                    undoable.add(revision)
        return undoable

    def recorded_past(self) -> ShelfPast:
        """When people changed, dropped and imported notes, as far as the history reaches."""
        with self._transactions.reading():
            commits = list(self._transactions.store.commits(0))
        return ShelfPast(
            undo.changed_by_people(commits), undo.drop_times(commits), undo.imported_notes(commits)
        )

    def as_other(self) -> OtherShelf:
        """Everything on this shelf, for an import into another shelf."""
        with self._transactions.reading() as view:
            notes = tuple(view.state.notes.values())
            return OtherShelf(notes, tuple(view.state.nuggets.values()), self.recorded_past())

    def purge(self, name: str, nugget: str | None) -> Purged:
        """Erase a memory."""
        with self._transactions.exclusive():
            return self._purge_ids([self._id_of(name, nugget)])

    def purge_fact(self, nugget: str, key: str, current_id: Callable[[], str]) -> Purged:
        """Erase every fact that ever had the key; `current_id`: finds the present one."""
        with self._transactions.exclusive():
            ids = self._forgotten_fact_ids(nugget, key)
            with suppress(NotFound) if ids else nullcontext():
                ids.append(current_id())
            return self._purge_ids(ids)

    def finish_purge(self) -> None:
        """Go on with a purge that was interrupted, if there is one."""
        with self._transactions.exclusive():
            finish_purge(self._transactions, self.memory_files)

    def _purge_ids(self, ids: Sequence[str]) -> Purged:
        return purge_notes(self._transactions, self.memory_files, ids, self._client)

    def _last_to_undo(self) -> Commit:
        if self._transactions.has_pending_changes:
            raise Conflict(
                "the last change is not saved yet: save_all (or end the batch) "
                "before you undo it, or name the revision to take back"
            )
        return undo.last_change_of(
            lambda: self._transactions.store.commits(newest_first=True), self._client, self._project
        )

    def _commit(self, revision: int) -> Commit:
        for commit in self._transactions.store.commits(max(0, revision - 1)):
            if commit.revision == revision:
                return commit
            break
        raise NotFound(f"the history has no revision {revision}; see `nuggets history`")

    def _id_of(self, name: str, nugget: str | None) -> str:
        """The id of a note; a deleted note can be named by its full id."""
        notes = self._transactions.state.notes
        if notes.is_damaged(name.strip()):
            return name.strip()
        try:
            return name_resolution.resolve(notes, name, nugget, project=self._project).id
        except NotFound:
            if any(True for _ in self._transactions.store.commits(note=name)):
                return name
            raise

    def _forgotten_fact_ids(self, nugget: str, key: str) -> list[str]:
        """The ids of deleted facts that had this key, from the history."""
        wanted = {identity(nugget, key, project) for project in visible_projects(self._project)}
        notes = self._transactions.state.notes
        return list(
            dict.fromkeys(
                note.id
                for commit in self._transactions.store.commits(0)
                for note in commit.changes.put
                if note.kind == "fact" and note.id not in notes and identity_of(note) in wanted
            )
        )

    # --- the clean-up -----------------------------------------------------------------------

    def reflect(self, nugget: str | None, limit: int | None, dry_run: bool) -> ReflectionResult:
        """One clean-up pass. It plans without the lock; notes that others change meanwhile are
        left as they are."""
        notes_before, changes, result = self._plan_reflection(nugget, limit)
        if dry_run:
            return result

        def decide() -> Decision[ReflectionResult]:
            return reflection.still_valid(
                changes, result, notes_before, self._transactions.state.notes
            )

        return self._transactions.update("reflect", self._client, decide)

    def run_daily(self, now: datetime) -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        is_on = self._settings["reflection_daily"]
        if not is_on or not daily_schedule.is_due(now, self._last_run_date(), self._hours()):
            return None
        self._transactions.settle()
        today = now.date()
        notes_before, changes, result = self._plan_reflection(None, None)

        def decide() -> Decision[DailyRun | None]:
            if self._last_run_date() == today:
                return Changes(), None
            valid_changes, outcome = reflection.still_valid(
                changes, result, notes_before, self._transactions.state.notes
            )
            run = DailyRun(today.isoformat(), outcome)
            return valid_changes._replace(marks={RUN_MARK: codec.daily_to_json(run)}), run

        run = self._transactions.update("reflect", self._client, decide)
        if run is not None:
            self._transactions.save()
            files = self.memory_files.all_files()
            count, problems = self.memory_files.promote_to(files)
            run = run._replace(promoted=count)
            if run.promoted:
                mark = {RUN_MARK: codec.daily_to_json(run)}
                self._transactions.update(
                    "promote", self._client, lambda: (Changes(marks=mark), None)
                )
            with suppress(StoreError):  # the next writer tries again
                self._transactions.store.refresh_exports()
                self._prune_history()
            if problems:
                raise StoreError("; ".join(map(str, problems)))
        return run

    def _prune_history(self) -> None:
        days = self._settings["history_days"]
        if days:
            store = self._transactions.store
            oldest = times.parse(store.believed_time()) - timedelta(days=days)
            store.prune_history(times.iso(oldest))

    def last_run(self) -> DailyRun | None:
        with self._transactions.reading() as view:
            record = view.state.marks.get(RUN_MARK)
            return codec.daily_from_json(record) if record else None

    def next_run(self, now: datetime) -> datetime:
        """When the next one is due, in local time."""
        return daily_schedule.next_run(now, self._last_run_date(), self._hours())

    def _plan_reflection(
        self, nugget: str | None, limit: int | None
    ) -> tuple[dict[str, MemoryNote], Changes, ReflectionResult]:
        policy, notes = self._policy(limit), self._notes()
        return (notes, *reflection.reflect(notes, self._now(), policy, nugget))

    def _policy(self, limit: int | None) -> reflection.Policy:
        most = self._settings["reflection_max_notes"] if limit is None else limit
        check_count(most, "how many notes to inspect")
        with self._transactions.reading() as view:
            rejected = undone_reflection.read_rejected(view.state)
        return reflection.Policy(max_notes=most, rejected=rejected)

    def _notes(self) -> dict[str, MemoryNote]:
        with self._transactions.reading() as view:
            return dict(view.state.notes.items())

    def _last_run_date(self) -> date | None:
        run = self.last_run()
        return date.fromisoformat(run.date) if run else None

    def _hours(self) -> daily_schedule.Hours:
        names = ("reflection_hour", "reflection_minute", "quiet_hours_start", "quiet_hours_end")
        return daily_schedule.Hours(*(self._settings[name] for name in names))

    # --- promotion --------------------------------------------------------------------------

    def promotion(self, path: str, dry_run: bool) -> Promotion:
        if dry_run:
            return self.memory_files.explain(path, self._project)
        self._transactions.settle()
        return self.memory_files.promote(path, self._project, dry_run)

    # --- health -----------------------------------------------------------------------------

    def audit(self) -> Sequence[Finding]:
        return audit_notes(self._notes(), self._now(), self._policy(None))

    def checkup(self, fix: bool) -> Sequence[Defect]:
        """Defects of the files and the links; `fix` repairs what can be repaired."""
        defects = self._file_defects(fix)
        if any(defect.harmful and not defect.mended for defect in defects):
            return defects  # the notes cannot be read
        transactions = self._transactions
        broken = links.asymmetries(self._notes())
        defects += self._purge_defects(fix)
        if fix and broken:
            transactions.update(
                "doctor",
                self._client,
                lambda: (Changes(put=links.repair_links(transactions.state.notes)), None),
            )
        defects += [
            Defect("memory file", path, problem, remedy="", harmful=False)
            for path, problem in self.memory_files.problems().items()
        ]
        remedy = "remove it, or add its other end"
        return defects + [
            Defect(
                "broken link",
                link.note_id,
                f"{link.problem} link to {link.link.to}",
                remedy,
                harmful=False,
                mended=fix,
            )
            for link in broken
        ]

    def _purge_defects(self, fix: bool) -> list[Defect]:
        store = self._transactions.store
        problem = store.unfinished_erasure
        if not problem:
            return []
        if fix:
            self.finish_purge()
        defect = Defect(UNFINISHED_PURGE, store.directory, problem, "finish it", harmful=False)
        return [defect._replace(mended=not store.unfinished_erasure)]

    def _file_defects(self, fix: bool) -> list[Defect]:
        return self._transactions.store.find_defects(fix=fix)

    # --- backups ----------------------------------------------------------------------------

    def backup(self, path: str) -> "Backup":
        """A copy of everything that is written, in one file."""
        from nuggets.stores.backup import write_backup

        return write_backup(self._transactions.store.copy_to, path)

    def restore(self, path: str, dry_run: bool) -> "Restored":
        """Replace the shelf by a backup; `dry_run` only reports the difference."""
        from nuggets.engine.argument_checks import checked_note, checked_nugget
        from nuggets.stores.restore import RecordChecks, compare, restore

        store = self._transactions.store
        if store.is_remote or not store.directory:
            raise Conflict(
                "a backup replaces a shelf in a directory, not one in memory or in a database; "
                "`nuggets copy` puts it into a new shelf of a database"
            )
        checks = RecordChecks(checked_note, checked_nugget)
        if dry_run:
            return compare(store.directory, path, checks)
        self._transactions.settle()
        store.close()
        done = restore(store.directory, path, self._now(), checks)
        store.refresh_exports()
        return done
