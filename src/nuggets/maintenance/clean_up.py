"""The clean-up of a shelf: one pass, the daily run, and what a person should look at.

When it is due is in `daily_schedule`, what a pass changes in `reflection/`.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta

from nuggets.domain import codec, times
from nuggets.domain.limits import check_count
from nuggets.domain.marks import RUN_MARK, read_rejected
from nuggets.domain.records import Changes, DailyRun, MemoryNote, ReflectionResult
from nuggets.errors import StoreError
from nuggets.maintenance import ShelfContext, reflection
from nuggets.maintenance.audit import Finding, audit_notes
from nuggets.maintenance.daily_schedule import Hours, is_due, next_run
from nuggets.maintenance.promotion.memory_files import MemoryFiles
from nuggets.maintenance.purge import finish_purge
from nuggets.operations.notes_and_links import asymmetries, repair_links
from nuggets.operations.transactions import Decision
from nuggets.stores.base import UNFINISHED_PURGE, Defect


class CleanUp:
    """Whoever cleans up a shelf, and its memory files."""

    def __init__(self, context: ShelfContext, files: MemoryFiles) -> None:
        self._context = context
        self._transactions = context.transactions
        self._files = files

    def reflect(self, nugget: str | None, limit: int | None, *, dry_run: bool) -> ReflectionResult:
        """One clean-up pass. It plans without the lock; notes that others change meanwhile are
        left as they are."""
        notes_before, changes, result = self._plan(nugget, limit)
        if dry_run:
            return result

        def decide() -> Decision[ReflectionResult]:
            return reflection.still_valid(
                changes, result, notes_before, self._transactions.state.notes
            )

        return self._transactions.update("reflect", self._context.client, decide)

    def _plan(
        self, nugget: str | None, limit: int | None
    ) -> tuple[dict[str, MemoryNote], Changes, ReflectionResult]:
        policy, notes = self._policy(limit), self._notes()
        return (notes, *reflection.reflect(notes, self._context.now(), policy, nugget))

    def _policy(self, limit: int | None) -> reflection.Policy:
        most = self._context.settings["reflection_max_notes"] if limit is None else limit
        check_count(most, "how many notes to inspect")
        with self._transactions.reading() as view:
            rejected = read_rejected(view.state)
        return reflection.Policy(max_notes=most, rejected=rejected)

    def _notes(self) -> dict[str, MemoryNote]:
        with self._transactions.reading() as view:
            return dict(view.state.notes.items())

    # --- every day --------------------------------------------------------------------------

    def run_daily(self, now: datetime) -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        is_on = self._context.settings["reflection_daily"]
        if not is_on or not is_due(now, self._last_run_date(), self._hours()):
            return None
        self._transactions.settle()
        today = now.date()
        notes_before, changes, result = self._plan(None, None)

        def decide() -> Decision[DailyRun | None]:
            if self._last_run_date() == today:
                return Changes(), None
            valid_changes, outcome = reflection.still_valid(
                changes, result, notes_before, self._transactions.state.notes
            )
            run = DailyRun(today.isoformat(), outcome)
            return valid_changes._replace(marks={RUN_MARK: codec.to_json(run)}), run

        run = self._transactions.update("reflect", self._context.client, decide)
        if run is not None:
            self._transactions.save()
            count, problems = self._files.promote_to(self._files.all_files())
            run = run._replace(promoted=count)
            if run.promoted:
                mark = {RUN_MARK: codec.to_json(run)}
                self._transactions.update(
                    "promote", self._context.client, lambda: (Changes(marks=mark), None)
                )
            with suppress(StoreError):  # the next writer tries again
                self._transactions.store.refresh_exports()
                self._prune_history()
            if problems:
                raise StoreError("; ".join(map(str, problems)))
        return run

    def _prune_history(self) -> None:
        days = self._context.settings["history_days"]
        if days:
            store = self._transactions.store
            oldest = times.parse(store.believed_time()) - timedelta(days=days)
            store.prune_history(times.iso(oldest))

    def last_run(self) -> DailyRun | None:
        with self._transactions.reading() as view:
            record = view.state.marks.get(RUN_MARK)
            return codec.from_json(DailyRun, record) if record else None

    def next_run(self, now: datetime) -> datetime:
        """When the next one is due, in local time."""
        return next_run(now, self._last_run_date(), self._hours())

    def _last_run_date(self) -> date | None:
        run = self.last_run()
        return date.fromisoformat(run.date) if run else None

    def _hours(self) -> Hours:
        names = ("reflection_hour", "reflection_minute", "quiet_hours_start", "quiet_hours_end")
        return Hours(*(self._context.settings[name] for name in names))

    # --- what a person should look at -------------------------------------------------------

    def audit(self) -> Sequence[Finding]:
        return audit_notes(self._notes(), self._context.now(), self._policy(None))

    def checkup(self, *, fix: bool) -> Sequence[Defect]:
        """Defects of the files and the links; `fix` repairs what can be repaired."""
        transactions = self._transactions
        defects = transactions.store.find_defects(fix=fix)
        if any(defect.harmful and not defect.mended for defect in defects):
            return defects  # the notes cannot be read
        broken = asymmetries(self._notes())
        defects += self._purge_defects(fix)
        if fix and broken:
            transactions.update(
                "doctor",
                self._context.client,
                lambda: (Changes(put=repair_links(transactions.state.notes)), None),
            )
        defects += [
            Defect("memory file", path, problem, remedy="", harmful=False)
            for path, problem in self._files.problems().items()
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
            finish_purge(self._transactions, self._files)
        defect = Defect(UNFINISHED_PURGE, store.directory, problem, "finish it", harmful=False)
        return [defect._replace(mended=not store.unfinished_erasure)]
