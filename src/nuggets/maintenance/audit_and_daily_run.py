"""What a person should look at (the audit), one pass over a shelf, and the daily run.

When it is due is in the package above, what a pass changes in `reflection/`.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Literal

from nuggets.domain import codec, credentials, times
from nuggets.domain.limits import check_count
from nuggets.domain.marks import RUN_MARK, RejectedChange, read_rejected
from nuggets.domain.names_and_tags import title_form
from nuggets.domain.records import Changes, DailyRun, Defect, MemoryNote, ReflectionResult
from nuggets.domain.times import iso, parse
from nuggets.errors import StoreError
from nuggets.language.text import fold_case
from nuggets.maintenance import Hours, ShelfContext, next_run, reflection
from nuggets.maintenance.promotion import MemoryFiles
from nuggets.maintenance.purge import Purge
from nuggets.named_tuple import NamedTuple
from nuggets.operations.lookups_before_write import contradicting_pairs
from nuggets.operations.metadata_inference import scope_and_rest
from nuggets.operations.notes_and_links import repair_links
from nuggets.operations.transactions import Decision

# --- the audit: it reports and changes nothing ----------------------------------------------------

UNUSED_DAYS = 30  # without a recall, then it is reported: ours, it is only advice

FindingKind = Literal[
    "duplicate",
    "contradiction",
    "secret",
    "never recalled",
    "reflection",
    "outdated",
]


class Finding(NamedTuple):
    """One problem, the notes concerned, and what to do."""

    kind: FindingKind
    note_ids: tuple[str, ...]
    detail: str


def audit_notes(
    notes: Iterable[MemoryNote], now: str, rejected: Container[RejectedChange]
) -> list[Finding]:
    """All findings, the most serious kinds first; `rejected`: what people undid."""
    visible = [note for note in notes if not note.hidden]
    return [
        *_secrets(visible),
        *_contradictions(visible),
        *_opposed_rules(visible, rejected),
        *_duplicates(visible),
        *_never_recalled(visible, now),
    ]


def _secrets(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    for note in notes:
        kinds = credentials.memory_credential_kinds(note.title, note.content)
        if kinds:
            title, what = credentials.redact(note.title), ", ".join(kinds)
            yield Finding("secret", (note.id,), f"{title!r} looks like it holds: {what}")


def _contradictions(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    """Facts of one project with the same key in several nuggets and different values."""
    by_key: dict[tuple[str, str], list[MemoryNote]] = {}
    for note in notes:
        if note.kind == "fact":
            key = fold_case(scope_and_rest(note.title)[1])
            by_key.setdefault((key, note.project), []).append(note)
    for (key, _), facts in by_key.items():
        if len({fold_case(fact.content) for fact in facts}) > 1:
            values = ", ".join(f"{fact.nugget_name}: {fact.content!r:.60}" for fact in facts)
            ids = tuple(fact.id for fact in facts)
            yield Finding("contradiction", ids, f"{key!r} has different values ({values})")


def _opposed_rules(
    notes: list[MemoryNote], rejected: Container[RejectedChange]
) -> Iterator[Finding]:
    """Memories of which one rejects what the other wants, unless someone said that both hold."""
    for old, new in contradicting_pairs(notes):
        if RejectedChange.of_pair("link", old.id, new.id) in rejected:
            continue
        texts = f"{old.content!r:.60} and {new.content!r:.60}"
        settle = (
            f"`nuggets note edit {new.id} --supersedes {old.id}` keeps the newer one, "
            f"`nuggets unlink {new.id} {old.id}` both"
        )
        yield Finding("contradiction", (old.id, new.id), f"{texts}: {settle}")


def _duplicates(notes: Iterable[MemoryNote]) -> Iterator[Finding]:
    by_words: dict[tuple[str, str], list[MemoryNote]] = {}
    for note in notes:
        if note.kind == "note" and note.content:
            words = title_form(note.content)
            by_words.setdefault((words, note.project), []).append(note)
    for same in by_words.values():
        if len(same) > 1:
            titles = ", ".join(f"{note.title!r:.60}" for note in same)
            yield Finding("duplicate", tuple(note.id for note in same), f"the same text: {titles}")


def _never_recalled(notes: Iterable[MemoryNote], now: str) -> Iterator[Finding]:
    limit = iso(parse(now) - timedelta(days=UNUSED_DAYS))
    unused = [note for note in notes if not note.hits and note.created_at < limit]
    if unused:
        ids = tuple(note.id for note in unused)
        detail = f"never recalled and older than {UNUSED_DAYS} days: {len(unused)}"
        yield Finding("never recalled", ids, detail)


def _next_pass(result: ReflectionResult) -> Iterator[Finding]:
    for change in result.changes:
        ids = (change.note_id, *change.partners)
        verb = "archive" if change.type == "hide" else change.type
        yield Finding("reflection", ids, f"the next reflection would {verb}: {change.detail}")


# --- passes and repairs ---------------------------------------------------------------------------

PlannedPass = tuple[dict[str, MemoryNote], Changes, ReflectionResult]  # from these notes


class CleanUp:
    """Whoever cleans up a shelf, and its memory files."""

    def __init__(self, context: ShelfContext, files: MemoryFiles) -> None:
        self._context = context
        self._transactions = context.transactions
        self._files = files

    def reflect(self, nugget: str | None, limit: int | None, *, dry_run: bool) -> ReflectionResult:
        """One clean-up pass."""
        if dry_run:
            return self._plan(nugget, limit)[2]
        return self._write_pass(nugget, limit)[0]

    def _write_pass(
        self, nugget: str | None = None, limit: int | None = None, day: str = ""
    ) -> tuple[ReflectionResult, DailyRun | None]:
        """Plan a pass without the lock, and write the part that still holds: others may have
        changed or recalled some notes meanwhile. `day`: whose run it is; one has only one.

        What people did to lines of memory files comes first: their lines are of notes as they were
        before the pass."""
        self._transactions.store.count_waiting_recalls()
        self._files.import_all_edits()
        found, planned, expected = self._plan(nugget, limit)

        def decide() -> Decision[tuple[ReflectionResult, DailyRun | None]]:
            last = self.last_run()
            if last is not None and last.date == day:
                return Changes(), (expected, None)
            current = self._transactions.state.notes.many(note.id for note in planned.put)
            changes, result = reflection.part_that_holds(found, current, planned, expected)
            run = DailyRun(day, result)
            marks = {RUN_MARK: codec.to_json(run)} if day else {}
            return changes._replace(marks=marks), (result, run)

        return self._transactions.update("reflect", self._context.client, decide)

    def _plan(self, nugget: str | None, limit: int | None) -> PlannedPass:
        most = self._context.settings["reflection_max_notes"] if limit is None else limit
        check_count(most, "how many notes to inspect")
        with self._transactions.reading() as view:
            notes, rejected = dict(view.state.notes.items()), read_rejected(view.state)
        policy = reflection.Policy(max_notes=most, rejected=rejected)
        return (notes, *reflection.reflect(notes, self._context.now(), policy, nugget))

    # --- every day --------------------------------------------------------------------------

    def run_daily(self, now: datetime) -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        if not self._context.settings["reflection_daily"] or self.next_run(now) > now:
            return None
        self._transactions.settle()
        _, run = self._write_pass(day=now.date().isoformat())
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
        last = self.last_run()
        day = date.fromisoformat(last.date) if last else None
        return next_run(now, day, Hours.from_settings(self._context.settings))

    # --- what a person should look at -------------------------------------------------------

    def audit(self) -> Sequence[Finding]:
        notes, _, planned = self._plan(None, None)
        with self._transactions.reading() as view:
            rejected = read_rejected(view.state)
        found = audit_notes(notes.values(), self._context.now(), rejected)
        return [*found, *_next_pass(planned)]

    def checkup(self, *, fix: bool) -> Sequence[Defect]:
        """Defects of the files and the links; `fix` repairs what can be repaired."""
        transactions = self._transactions
        defects = transactions.store.find_defects(fix=fix)
        if any(defect.harmful and not defect.mended for defect in defects):
            return defects  # the notes cannot be read
        with transactions.reading() as view:
            broken = repair_links(dict(view.state.notes.items()))
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
        problem, remedy = "it has half a link, or one to nothing", "remove or complete it"
        return defects + [
            Defect("broken link", note.id, problem, remedy, harmful=False, mended=fix)
            for note in broken
        ]

    def _purge_defects(self, fix: bool) -> list[Defect]:
        store = self._transactions.store
        problem = store.unfinished_erasure
        if not problem:
            return []
        if fix:
            Purge(self._context, self._files).finish()
        defect = Defect("unfinished purge", store.directory, problem, "finish it", harmful=False)
        return [defect._replace(mended=not store.unfinished_erasure)]
