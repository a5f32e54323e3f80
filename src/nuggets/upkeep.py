"""What keeps a shelf in order over time: history, undo and purge; the clean-up and its clock;
promotion to MEMORY.md; audit and checkup. Behind the shelf's door; most commands never load it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from datetime import date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from nuggets import clock, codec, history, reflection, refusals, times
from nuggets.audit import Finding, audited
from nuggets.errors import Conflict, NotFound, StoreError
from nuggets.graph import links, naming
from nuggets.graph.limits import check_count
from nuggets.graph.uniting import Other, Past
from nuggets.indexes import KINDS
from nuggets.promoting import MemoryFiles
from nuggets.promotion import Promotion
from nuggets.purging import Purged, purged
from nuggets.records import Changes, Commit, DailyRun, MemoryNote, ReflectionResult
from nuggets.settings import Settings
from nuggets.stores.defects import Defect
from nuggets.text import folded
from nuggets.transactions import Decision, Transactions

if TYPE_CHECKING:
    from nuggets.stores.sqlite.backup import Backup
    from nuggets.stores.sqlite.restore import Restored

RUN_MARK = "last_run"


class Upkeep:
    """One shelf's."""

    def __init__(
        self,
        transactions: Transactions,
        settings: Settings,
        project: str,
        memory_path: Callable[[], str],
        now: Callable[[], str],
        client: str,
    ) -> None:
        self._transactions = transactions
        self._settings = settings
        self._project = project
        self._now = now
        self._client = client
        self.memory_files = MemoryFiles(
            transactions,
            told=bool(settings["memory_file"]),
            project=project,
            here=memory_path,
            client=client,
        )

    # --- the past ---------------------------------------------------------------------------

    def history(self, note: str | None, limit: int) -> Sequence[Commit]:
        """What was done, newest first: everything, or what changed one note."""
        check_count(limit, "how many entries to show")
        with self._transactions.reading():
            if note is None:
                shown = self._last_changes()
            else:
                note_id = self._id_of(note, None)
                shown = self._transactions.store.commits(note=note_id, newest_first=True)
            return list(islice(shown, limit))

    def _last_changes(self) -> Iterator[Commit]:
        """Newest first, without those that only counted recalls."""
        newest = self._transactions.store.commits(newest_first=True)
        return (commit for commit in newest if not history.is_quiet(commit))

    def undo(self, revision: int | None) -> Commit:
        """Take a commit back, by default the last that was not.

        If that is gathered and decided again, it is the same commit; what it says is read anew,
        because others may have purged some of it.
        """
        at = ""

        def decide() -> Decision[Commit]:
            nonlocal revision, at
            commit = self._to_undo() if revision is None else self._commit(revision)
            if at not in ("", commit.at):
                raise Conflict(f"revision {revision} is another one by now; see `nuggets history`")
            revision, at = commit.revision, commit.at
            since = self._transactions.store.commits(commit.revision)
            return history.reverted(self._transactions.state, commit, since), commit

        return self._transactions.update("undo", self._client, decide)

    def past(self) -> Past:
        """What people did about notes, as far as the history goes back."""
        with self._transactions.reading():
            commits = list(self._transactions.store.commits(0))
        return Past(
            history.changed_by_people(commits), history.dropped(commits), history.brought(commits)
        )

    def as_other(self) -> Other:
        """All that is here, for another shelf to take in."""
        with self._transactions.reading() as view:
            notes = tuple(view.state.notes.values())
            return Other(notes, tuple(view.state.nuggets.values()), self.past())

    def purge(self, name: str, nugget: str | None) -> Purged:
        """Erase a memory."""
        with self._transactions.alone():
            return self._erased([self._id_of(name, nugget)])

    def purge_fact(self, nugget: str, key: str, known: Callable[[], str]) -> Purged:
        """Erase all that there ever was by a key; `known`: the fact that is there now."""
        with self._transactions.alone():
            doomed = self._forgotten(nugget, key)
            with suppress(NotFound) if doomed else nullcontext():
                doomed.append(known())
            return self._erased(doomed)

    def _erased(self, ids: Sequence[str]) -> Purged:
        return purged(self._transactions, self.memory_files, ids, self._client)

    def _to_undo(self) -> Commit:
        if self._transactions.has_pending_changes:
            raise Conflict(
                "the last change is gathered and not written yet: save_all (or end the batch) "
                "before you undo it, or name the revision to take back"
            )
        return history.to_undo(self._transactions.store.commits(newest_first=True))

    def _commit(self, revision: int) -> Commit:
        for commit in self._transactions.store.commits(max(0, revision - 1)):
            if commit.revision == revision:
                return commit
            break
        raise NotFound(f"the history has no revision {revision}; see `nuggets history`")

    def _id_of(self, name: str, nugget: str | None) -> str:
        """A note that is gone can still be named by its whole id."""
        try:
            notes = self._transactions.state.notes
            return naming.resolve(notes, name, nugget, project=self._project).id
        except NotFound:
            if any(True for _ in self._transactions.store.commits(note=name)):
                return name
            raise

    def _forgotten(self, nugget: str, key: str) -> list[str]:
        """The ids of facts that the history knows by this key and that are there no more."""
        wanted, ours = (folded(nugget), folded(key)), ("", self._project)
        known = self._transactions.state.notes
        return list(
            dict.fromkeys(
                note.id
                for commit in self._transactions.store.commits(0)
                for note in commit.changes.put
                if note.kind == "fact" and note.id not in known and note.project in ours
                if (folded(note.nugget_name), folded(note.title)) == wanted
            )
        )

    # --- the clean-up -----------------------------------------------------------------------

    def reflect(self, nugget: str | None, limit: int | None, dry_run: bool) -> ReflectionResult:
        """One pass. It thinks without holding anything up: what others change meanwhile is left
        to them."""
        seen, changes, result = self._planned(nugget, limit)
        if dry_run:
            return result

        def decide() -> Decision[ReflectionResult]:
            return reflection.still_valid(changes, result, seen, self._transactions.state.notes)

        return self._transactions.update("reflect", self._client, decide)

    def run_daily(self, now: datetime) -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        if not clock.is_due(now, self._last_run_date(), self._hours()):
            return None
        self._transactions.settle()
        today = now.date()
        seen, changes, result = self._planned(None, None)

        def decide() -> Decision[DailyRun | None]:
            if self._last_run_date() == today:
                return Changes(), None
            kept, done = reflection.still_valid(
                changes, result, seen, self._transactions.state.notes
            )
            run = DailyRun(today.isoformat(), done)
            return kept._replace(marks={RUN_MARK: codec.daily_to_json(run)}), run

        run = self._transactions.update("reflect", self._client, decide)
        if run is not None:
            self._transactions.save()
            files = self.memory_files.everywhere()
            count, problems = self.memory_files.promote_to(files)
            run = run._replace(promoted=count)
            if run.promoted:
                mark = {RUN_MARK: codec.daily_to_json(run)}
                self._transactions.update(
                    "promote", self._client, lambda: (Changes(marks=mark), None)
                )
            with suppress(StoreError):  # whoever writes next tries again
                self._transactions.store.refresh_exports()
                self._prune_history()
            if problems:
                raise StoreError("; ".join(map(str, problems)))
        return run

    def _prune_history(self) -> None:
        days = self._settings["history_days"]
        if days:
            oldest = times.parsed(self._now()) - timedelta(days=days)
            self._transactions.store.prune_history(times.iso(oldest))

    def last_run(self) -> DailyRun | None:
        with self._transactions.reading() as view:
            record = view.state.marks.get(RUN_MARK)
            return codec.daily_from_json(record) if record else None

    def next_run(self, now: datetime) -> datetime:
        """When the next one is due, in local time."""
        return clock.next_run(now, self._last_run_date(), self._hours())

    def _planned(
        self, nugget: str | None, limit: int | None
    ) -> tuple[dict[str, MemoryNote], Changes, ReflectionResult]:
        policy, seen = self._policy(limit), self._notes()
        return (seen, *reflection.reflect(seen, self._now(), policy, nugget))

    def _policy(self, limit: int | None) -> reflection.Policy:
        most = self._settings["reflection_max_notes"] if limit is None else limit
        check_count(most, "how many notes to inspect")
        with self._transactions.reading() as view:
            refused = refusals.of(view.state)
        return reflection.Policy(max_notes=most, refused=refused)

    def _notes(self) -> dict[str, MemoryNote]:
        with self._transactions.reading() as view:
            return dict(view.state.notes.items())

    def _last_run_date(self) -> date | None:
        run = self.last_run()
        return date.fromisoformat(run.date) if run else None

    def _hours(self) -> clock.Hours:
        names = ("reflection_hour", "reflection_minute", "quiet_hours_start", "quiet_hours_end")
        return clock.Hours(*(self._settings[name] for name in names))

    # --- promotion --------------------------------------------------------------------------

    def promotion(self, path: str, dry_run: bool) -> Promotion:
        if not dry_run:
            self._transactions.settle()
        return self.memory_files.promoted(path, self._project, dry_run)

    # --- health -----------------------------------------------------------------------------

    def audit(self) -> Sequence[Finding]:
        return audited(self._notes(), self._now(), self._policy(None))

    def checkup(self, fix: bool) -> Sequence[Defect]:
        """What is not in order with the files and the links; `fix` mends what can be."""
        found = self._file_defects(fix)
        if any(defect.harmful and not defect.mended for defect in found):
            return found  # nothing else can be read
        transactions = self._transactions
        broken = links.asymmetries(self._notes())
        if fix and broken:
            transactions.update(
                "doctor",
                self._client,
                lambda: (Changes(put=links.repaired(transactions.state.notes)), None),
            )
        remedy = "take it away, or complete it at its other end"
        return found + [
            Defect(
                "broken link",
                one.note_id,
                f"{one.problem} link to {one.link.to}",
                remedy,
                harmful=False,
                mended=fix,
            )
            for one in broken
        ]

    def _file_defects(self, fix: bool) -> list[Defect]:
        from nuggets.stores.checkup import examine, repair

        store = self._transactions.store
        if not store.directory:
            return []
        if not fix:
            return examine(store.directory, KINDS)
        store.close()  # another database may be put in its place
        return repair(store.directory, KINDS, store.refresh_exports)

    # --- backups ----------------------------------------------------------------------------

    def backup(self, path: str) -> "Backup":
        """A copy of everything that is written, in one file."""
        from nuggets.stores.sqlite.backup import write_backup

        return write_backup(self._transactions.store.copy_to, path)

    def restore(self, path: str, dry_run: bool) -> "Restored":
        """Put a backup in the place of what is there; `dry_run` only says what it would change."""
        from nuggets.stores.sqlite.restore import compare, restore

        store = self._transactions.store
        if not store.directory:
            raise Conflict("a shelf in memory has no place for a backup; open a directory")
        if dry_run:
            return compare(store.directory, path)
        self._transactions.settle()
        store.close()
        done = restore(store.directory, path, self._now())
        store.refresh_exports()
        return done
