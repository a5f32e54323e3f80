"""What keeps a shelf in order over time: history, undo and purge; the clean-up and its clock;
promotion to MEMORY.md; audit and checkup. Behind the shelf's door; most commands never load it."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime

from nuggets import clock, codec, history, memory_file, reflection
from nuggets.audit import Finding, audited
from nuggets.errors import NotFound, NuggetsError, StoreCorrupt, StoreError
from nuggets.graph import links, naming
from nuggets.graph.limits import check_count
from nuggets.promotion import Promotion, Written, merged_text
from nuggets.records import Changes, Commit, DailyRun, MemoryNote, ReflectionResult
from nuggets.rhythm import Decision, Rhythm
from nuggets.settings import Settings
from nuggets.stores.adoption import Adopt
from nuggets.stores.checkup import examine, repair
from nuggets.stores.findings import Defect
from nuggets.text import folded
from nuggets.traces import drop_diaries

RUN_MARK = "last_run"
MEMORY_MARK = "memory_file:"  # and its path: what we wrote there
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
        self._memory_path = memory_path
        self._now = now
        self._client = client

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
        """Take a commit back, by default the last that was not."""

        def decide() -> Decision[Commit]:
            commit = self._to_undo() if revision is None else self._commit(revision)
            return history.reverted(self._rhythm.state, commit), commit

        return self._rhythm.update("undo", self._client, decide)

    def purge(self, name: str, nugget: str | None) -> Sequence[str]:
        """Erase a memory from the shelf, its history, the memory files, and with all that agents'
        conversations said, which may have been this; where it was."""
        rhythm = self._rhythm
        with rhythm.alone():
            rhythm.save()
            if rhythm.store.warnings:
                unread = rhythm.store.warnings[0]
                raise StoreCorrupt(f"Nothing is erased while it may still stand here: {unread}")
            note_id = self._id_of(name, nugget)
            places = []
            note = rhythm.state.notes.get(note_id)
            if note is not None:
                gone = links.dropping(rhythm.state.notes, [note_id])
                rhythm.write(gone._replace(action="purge", client=self._client))
                places.append(f"{note.kind} {note.title!r} in {note.nugget_name}")
            places += [path for path in self._memory_files() if self._stands_in(path, note_id)]
            places += rhythm.store.erase([note_id])
            rhythm.forget_picture()
            _, problems = self._promote_to(self._memory_files())
            try:
                places += drop_diaries(rhythm.store.directory) if rhythm.store.directory else []
            except OSError as problem:
                problems.append(StoreError(f"{problem.filename}: {problem.strerror}"))
            if problems:  # told last: a file that refuses must not keep it in the history
                raise StoreError(f"It is erased, but perhaps not here: {problems[0]}")
            return places

    def _to_undo(self) -> Commit:
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

    def forgotten(self, nugget: str, key: str) -> list[str]:
        """The ids of facts that the history knows by this key and that are there no more."""
        wanted, ours = (folded(nugget), folded(key)), ("", self._project)
        with self._rhythm.reading() as there:
            known = there.state.notes
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
            count, problems = self._promote_everywhere()
            run = run._replace(promoted=count)
            if run.promoted:
                mark = {RUN_MARK: codec.daily_to_json(run)}
                self._rhythm.update("promote", self._client, lambda: (Changes(marks=mark), None))
            if problems:
                raise problems[0]
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
            left_alone = frozenset(history.left_alone(there.state))
        return reflection.Policy(max_notes=most, left_alone=left_alone)

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
        return self._promoted(path, self._project, dry_run)

    def _promoted(self, path: str, project: str, dry_run: bool) -> Promotion:
        rhythm, mark = self._rhythm, f"{MEMORY_MARK}{path}"

        def merge(text: str) -> tuple[str, Promotion]:
            done = merged_text(text, rhythm.state.notes, self._written(path), project)
            return done.text, done

        if dry_run:
            with rhythm.reading():
                return merge(memory_file.read(path))[1]
        with rhythm.alone():
            done = memory_file.rewrite(path, merge)
            record = {"project": project, "written": done.written.to_json()}
            if rhythm.state.marks.get(mark) != record:
                rhythm.write(Changes(marks={mark: record}, action="promote", client=self._client))
            return done

    def _promote_everywhere(self) -> tuple[int, list[NuggetsError]]:
        """Into each project's memory file that we ever wrote, and this place's."""
        known = self._memory_files()
        with suppress(NotFound):
            known.setdefault(self._memory_path(), self._project)
        return self._promote_to(known)

    def _promote_to(self, files: Mapping[str, str]) -> tuple[int, list[NuggetsError]]:
        """How many entries are new, and what went wrong: no file holds up the others."""
        count, problems = 0, []
        for path, project in files.items():
            if os.path.isdir(os.path.dirname(os.path.dirname(path))):  # its project still exists
                try:
                    count += self._promoted(path, project, dry_run=False).new_count
                except NuggetsError as problem:
                    problems.append(problem)
        return count, problems

    def _written(self, path: str) -> Written:
        """What we wrote into a memory file."""
        known = self._rhythm.state.marks.get(f"{MEMORY_MARK}{path}") or {}
        return Written.from_json(known.get("written"))

    def _stands_in(self, path: str, note_id: str) -> bool:
        entry = self._written(path).entries.get(note_id)
        return entry is not None and entry.fate == "written"

    def _memory_files(self) -> dict[str, str]:
        """Path and project of each memory file that we ever wrote."""
        return {
            mark.removeprefix(MEMORY_MARK): record["project"]
            for mark, record in self._rhythm.state.marks.items()
            if mark.startswith(MEMORY_MARK)
        }

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
