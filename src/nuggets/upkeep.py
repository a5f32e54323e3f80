"""What keeps a shelf in order over time: history, undo and purge; the clean-up and its clock;
promotion to MEMORY.md; audit and checkup. Behind the shelf's door; most commands never load it."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from datetime import date, datetime

from nuggets import clock, codec, history, reflection, refusals
from nuggets.audit import Finding, audited
from nuggets.errors import Conflict, NotFound, StoreError
from nuggets.graph import links, naming
from nuggets.graph.limits import check_count
from nuggets.graph.uniting import Other, Past
from nuggets.promoting import MemoryFiles
from nuggets.promotion import Promotion
from nuggets.purging import Purged, purged
from nuggets.records import Changes, Commit, DailyRun, MemoryNote, ReflectionResult
from nuggets.rhythm import Decision, Rhythm
from nuggets.settings import Settings
from nuggets.stores.adoption import Adopt
from nuggets.stores.checkup import examine, repair
from nuggets.stores.findings import Defect
from nuggets.text import folded

RUN_MARK = "last_run"
QUIET_SHARE = 4  # commits looked at for each that is shown: most of the others count recalls


class Upkeep:
    """One shelf's, at its rhythm."""

    def __init__(
        self,
        rhythm: Rhythm,
        settings: Settings,
        project: str,
        memory_path: Callable[[], str],
        now: Callable[[], str],
        client: str,
    ) -> None:
        self._rhythm = rhythm
        self._settings = settings
        self._project = project
        self._now = now
        self._client = client
        self.memory_files = MemoryFiles(
            rhythm,
            told=bool(settings["memory_file"]),
            project=project,
            here=memory_path,
            client=client,
        )

    # --- the past ---------------------------------------------------------------------------

    def history(self, note: str | None, limit: int) -> Sequence[Commit]:
        """What was done, newest first: everything, or what changed one note."""
        check_count(limit, "how many entries to show")
        with self._rhythm.reading():
            if note is None:
                shown = self._last_changes(limit)
            else:
                note_id = self._id_of(note, None)
                shown = [c for c in self._rhythm.store.commits(0) if history.concerns(c, note_id)]
            return shown[::-1][:limit]

    def _last_changes(self, limit: int) -> list[Commit]:
        """Oldest first; further back while too many of the last commits were recalls."""
        reach = QUIET_SHARE * limit
        while True:
            since = max(0, self._rhythm.picture.revision - reach)
            shown = [c for c in self._rhythm.store.commits(since) if not history.is_quiet(c)]
            if len(shown) >= limit or not since:
                return shown
            reach *= QUIET_SHARE

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
            since = self._rhythm.store.commits(commit.revision)
            return history.reverted(self._rhythm.state, commit, since), commit

        return self._rhythm.update("undo", self._client, decide)

    def past(self) -> Past:
        """What people did about notes, as far as the history goes back."""
        with self._rhythm.reading():
            commits = list(self._rhythm.store.commits(0))
        return Past(
            history.changed_by_people(commits), history.dropped(commits), history.brought(commits)
        )

    def as_other(self) -> Other:
        """All that is here, for another shelf to take in."""
        with self._rhythm.reading() as there:
            notes = tuple(there.state.notes.values())
            return Other(notes, tuple(there.state.nuggets.values()), self.past())

    def purge(self, name: str, nugget: str | None) -> Purged:
        """Erase a memory."""
        with self._rhythm.alone():
            return self._erased([self._id_of(name, nugget)])

    def purge_fact(self, nugget: str, key: str, known: Callable[[], str]) -> Purged:
        """Erase all that there ever was by a key; `known`: the fact that is there now."""
        with self._rhythm.alone():
            doomed = self._forgotten(nugget, key)
            with suppress(NotFound) if doomed else nullcontext():
                doomed.append(known())
            return self._erased(doomed)

    def _erased(self, ids: Sequence[str]) -> Purged:
        return purged(self._rhythm, self.memory_files, ids, self._client)

    def _to_undo(self) -> Commit:
        if self._rhythm.is_gathering:
            raise Conflict(
                "the last change is gathered and not written yet: save_all (or end the batch) "
                "before you undo it, or name the revision to take back"
            )
        return history.to_undo(reversed(list(self._rhythm.store.commits(0))))

    def _commit(self, revision: int) -> Commit:
        for commit in self._rhythm.store.commits(max(0, revision - 1)):
            if commit.revision == revision:
                return commit
        raise NotFound(f"the history has no revision {revision}; see `nuggets history`")

    def _id_of(self, name: str, nugget: str | None) -> str:
        """A note that is gone can still be named by its whole id."""
        try:
            notes = self._rhythm.state.notes
            return naming.resolve(notes, name, nugget, project=self._project).id
        except NotFound:
            if any(history.concerns(commit, name) for commit in self._rhythm.store.commits(0)):
                return name
            raise

    def _forgotten(self, nugget: str, key: str) -> list[str]:
        """The ids of facts that the history knows by this key and that are there no more."""
        wanted, ours = (folded(nugget), folded(key)), ("", self._project)
        known = self._rhythm.state.notes
        return list(
            dict.fromkeys(
                note.id
                for commit in self._rhythm.store.commits(0)
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
            return reflection.still_valid(changes, result, seen, self._rhythm.state.notes)

        return self._rhythm.update("reflect", self._client, decide)

    def run_daily(self, now: datetime) -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        if not clock.is_due(now, self._last_run_date(), self._hours()):
            return None
        self._rhythm.settle()
        today = now.date()
        seen, changes, result = self._planned(None, None)

        def decide() -> Decision[DailyRun | None]:
            if self._last_run_date() == today:
                return Changes(), None
            kept, done = reflection.still_valid(changes, result, seen, self._rhythm.state.notes)
            run = DailyRun(today.isoformat(), done)
            return kept._replace(marks={RUN_MARK: codec.daily_to_json(run)}), run

        run = self._rhythm.update("reflect", self._client, decide)
        if run is not None:
            self._rhythm.save()
            files = self.memory_files.everywhere()
            count, problems = self.memory_files.promote_to(files)
            run = run._replace(promoted=count)
            if run.promoted:
                mark = {RUN_MARK: codec.daily_to_json(run)}
                self._rhythm.update("promote", self._client, lambda: (Changes(marks=mark), None))
            if problems:
                raise StoreError("; ".join(map(str, problems)))
        return run

    def last_run(self) -> DailyRun | None:
        with self._rhythm.reading() as there:
            record = there.state.marks.get(RUN_MARK)
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
        with self._rhythm.reading() as there:
            refused = refusals.of(there.state)
        return reflection.Policy(max_notes=most, refused=refused)

    def _notes(self) -> dict[str, MemoryNote]:
        with self._rhythm.reading() as there:
            return dict(there.state.notes)

    def _last_run_date(self) -> date | None:
        run = self.last_run()
        return date.fromisoformat(run.date) if run else None

    def _hours(self) -> clock.Hours:
        names = ("reflection_hour", "reflection_minute", "quiet_hours_start", "quiet_hours_end")
        return clock.Hours(*(self._settings[name] for name in names))

    # --- promotion --------------------------------------------------------------------------

    def promotion(self, path: str, dry_run: bool) -> Promotion:
        if not dry_run:
            self._rhythm.settle()
        return self.memory_files.promoted(path, self._project, dry_run)

    # --- health -----------------------------------------------------------------------------

    def audit(self) -> Sequence[Finding]:
        return audited(self._notes(), self._now(), self._policy(None))

    def checkup(self, adopt: Adopt, fix: bool) -> Sequence[Defect]:
        """What is not in order with the files and the links; `fix` mends what can be."""
        rhythm = self._rhythm
        found: list[Defect] = []
        directory = rhythm.store.directory
        if directory:
            found = repair(directory, adopt) if fix else examine(directory, adopt)
            if any(defect.harmful and not defect.mended for defect in found):
                return found  # what cannot be read has no links to look at
        broken = links.asymmetries(self._notes())
        if fix and broken:
            rhythm.update(
                "doctor",
                self._client,
                lambda: (Changes(put=links.repaired(rhythm.state.notes)), None),
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
