"""Reads and writes the memories that a repository carries, as far as the person allowed it.

One mark per checkout records the permission, for one repository and one shelf: a copy of the
repository elsewhere is not trusted, nor another one in its place, nor does a shelf that was copied
or restored bring its trust along.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nuggets.domain import codec
from nuggets.domain.records import NO_EXTRA, Changes, MemoryNote
from nuggets.domain.state import State
from nuggets.errors import InvalidInput
from nuggets.filesystem.atomic_files import unwritable
from nuggets.filesystem.current_project import SHARED_FOLDER
from nuggets.filesystem.git_repository import Evidence
from nuggets.filesystem.shelf_location import database_stamp
from nuggets.filesystem.untrusted_folder import (
    digest_of,
    find_files,
    open_below,
    open_folder,
    read_plain,
    remove_plain,
    replace_plain,
    sweep,
)
from nuggets.maintenance import ShelfContext
from nuggets.named_tuple import NamedTuple
from nuggets.operations.shared_memories import (
    ExportPlan,
    RepositoryIntake,
    SharingPlan,
    SyncResult,
    parse_file,
    plan_export,
    statement_digest,
)

MARK = "shared:"


class Identity(NamedTuple):
    """Which repository is trusted, and by which shelf."""

    shelf: str = ""  # another one for a copy of its database
    stamp: str = ""  # another one if another repository takes its place
    first_commit: str = ""  # "" before there is one, or if git did not answer

    def agrees(self, other: "Identity") -> bool:
        """Is it the same? An unknown first commit says nothing."""
        commits = {self.first_commit, other.first_commit} - {""}
        return self[:2] == other[:2] and len(commits) < 2


class Sharing(NamedTuple):
    """What is allowed with the memories in a checkout, and where both sides last were."""

    reads: bool = False
    writes: bool = False
    is_asked: bool = False  # the person knows that there are memories to trust
    fingerprint: str = ""
    base: Mapping[str, str] = NO_EXTRA
    foreign: tuple[str, ...] = ()  # ids of the memories that came from the files
    repository: Identity = Identity()


class ProjectSharing:
    """The shared memories of one checkout of a project."""

    def __init__(self, context: ShelfContext, root: str, repository: Evidence) -> None:
        """`root`: of the checkout; `repository`: what is known of it."""
        self._context = context
        self._transactions = context.transactions
        self._root = root
        self._evidence = repository

    def _repository(self) -> Identity:
        """Inside a transaction, because the first one makes the shelf."""
        stamp = database_stamp(self._transactions.store.directory)
        return Identity(stamp, self._evidence.stamp, self._evidence.root)

    def _sharing_in(self, state: State) -> Sharing:
        """What the person allowed for this repository in a checkout. Of another one in its place
        only what came from it is known."""
        value, repository = state.marks.get(MARK + self._root), self._repository()
        if not isinstance(value, dict):
            return Sharing(repository=repository)
        sharing: Sharing = codec.from_json(Sharing, value)
        if sharing.repository.agrees(repository):
            return sharing
        return Sharing(base=sharing.base, foreign=sharing.foreign, repository=repository)

    def _marks_of(self, sharing: Sharing) -> dict[str, Any]:
        return {MARK + self._root: codec.to_json(sharing)}

    def sharing(self) -> Sharing:
        with self._transactions.reading() as view:
            return self._sharing_in(view.state)

    def needs_trust(self) -> bool:
        """Are there memories that the person has not been asked about?"""
        sharing = self.sharing()
        return not sharing.reads and not sharing.is_asked

    def record_question(self) -> None:
        """The person has been told of them."""
        self._allow(reads=False, writes=False)

    def share(self, *, dry_run: bool = False) -> SyncResult:
        """Write the project's memories into the files, now and whenever they change, and read what
        others write there. `dry_run`: only what would be done."""
        return self._start(writes=True, dry_run=dry_run)

    def trust(self, *, dry_run: bool = False) -> SyncResult:
        """Read the files, now and whenever they change."""
        return self._start(writes=self.sharing().writes, dry_run=dry_run)

    def unshare(self) -> None:
        """Stop writing the files. They stay and are still read."""
        self._allow(reads=True, writes=False)

    def _allow(self, *, reads: bool, writes: bool) -> None:
        """Record what the person allows, and that they were asked."""
        sharing = self.sharing()._replace(reads=reads, writes=writes, is_asked=True)
        self._record(sharing._replace(fingerprint=""))

    def _start(self, *, writes: bool, dry_run: bool) -> SyncResult:
        if not dry_run:
            self._allow(reads=True, writes=writes)
            return self.sync(has_written=True)
        notes, unread, problems = self._read()
        with self._transactions.reading() as view:
            plan = self._plan(view.state, notes, unread)
            export = plan_export(view.state, self._context.project, notes, plan.base)
        return _tell(plan, problems, export if writes else None)

    def untrust(self) -> tuple[MemoryNote, ...]:
        """Read the files no longer: what came from them and is unchanged goes, as one undoable
        step."""
        sharing = self.sharing()
        with self._transactions.reading() as view:
            notes = view.state.notes.many(sharing.foreign)
        dropped = tuple(
            note
            for note in notes.values()
            if statement_digest(note) == sharing.base.get(note.id, statement_digest(note))
        )
        withdrawn = Sharing(is_asked=True, repository=self._repository())
        marks = self._marks_of(withdrawn)
        changes = Changes(drop=tuple(note.id for note in dropped), marks=marks)
        self._transactions.update("untrust_project", self._context.client, lambda: (changes, None))
        return dropped

    def sync(self, *, has_written: bool) -> SyncResult:
        """Take in what the files say, if they are trusted; write what is here, if it is shared.

        `has_written`: memories may have changed here. If neither side has changed, it costs a
        listing of the folder.
        """
        sharing = self.sharing()
        if not sharing.reads:
            return SyncResult()
        fingerprint = shared_fingerprint(self._root)
        if fingerprint == sharing.fingerprint and not (has_written and sharing.writes):
            return SyncResult()
        notes, unread, problems = self._read()
        plan = self._take_in(notes, unread, sharing, fingerprint)
        return _tell(plan, problems, self._write(notes) if sharing.writes else None)

    def _read(self) -> tuple[list[MemoryNote], list[str], list[str]]:
        """The memories in the files, the names of the others, and what is wrong with those."""
        notes: list[MemoryNote] = []
        unread: list[str] = []
        project, now = self._context.project, self._context.now()
        try:
            with _folder(self._root, create=False) as folder:
                files, problems = find_files(folder, SUFFIX, MOST_FILES, levels=0)
                for file in files:
                    name = file.path.removesuffix(SUFFIX)
                    try:
                        raw = read_plain(folder, file.path, MOST_BYTES)
                        notes.append(parse_file(name, raw, project, now))
                    except InvalidInput as problem:
                        unread.append(name)
                        where = f"{name!r:.80}"
                        problems.append(f"{where}: {str(problem).removeprefix(f'{where}: ')}")
                    except (OSError, ValueError) as problem:
                        problems.append(f"{file.path!r:.80}: {problem}")
        except FileNotFoundError:
            problems = []
        except OSError as problem:
            problems = [f"{SHARED_FOLDER} cannot be read: {problem.strerror}"]
        return notes, unread, problems

    def _plan(self, state: State, notes: list[MemoryNote], unread: list[str]) -> SharingPlan:
        context, base = self._context, self._sharing_in(state).base
        intake = RepositoryIntake(state, context.project, base, context.now(), context.find_anchors)
        return intake.plan(notes, unread)

    def _take_in(
        self, notes: list[MemoryNote], unread: list[str], sharing: Sharing, fingerprint: str
    ) -> SharingPlan:
        def decide() -> tuple[Changes, SharingPlan]:
            plan = self._plan(self._transactions.state, notes, unread)
            foreign = (*sharing.foreign, *(note.id for note in plan.came.added))
            after = sharing._replace(fingerprint=fingerprint, base=plan.base, foreign=foreign)
            marks = {**plan.changes.marks, **self._marks_of(after)}
            return plan.changes._replace(marks=marks), plan

        return self._transactions.update("take_in_shared", self._context.client, decide)

    def _write(self, notes: list[MemoryNote]) -> ExportPlan:
        """The files first: a base that names files which are not there would retire memories."""
        with self._transactions.reading() as view:
            sharing = self._sharing_in(view.state)
            plan = plan_export(view.state, self._context.project, notes, sharing.base)
        if plan.texts or plan.removed:
            write_shared_files(self._root, plan.texts, plan.removed)
        self._record(sharing._replace(base=plan.base, fingerprint=shared_fingerprint(self._root)))
        return plan

    def _record(self, sharing: Sharing) -> None:
        if sharing == self.sharing():
            return

        def decide() -> tuple[Changes, None]:
            known = sharing._replace(repository=self._repository())
            return Changes(marks=self._marks_of(known)), None

        self._transactions.update("share_project", self._context.client, decide)


def _tell(plan: SharingPlan, problems: Iterable[str], export: ExportPlan | None) -> SyncResult:
    came = plan.came._replace(problems=(*problems, *plan.came.problems))
    if export is None:
        return came
    return came._replace(written=tuple(export.texts), removed=tuple(export.removed))


# --- the files: one for each memory in `.nuggets/memories` of the checkout ------------------------
#
# Anyone may have put files there; what is beyond these is reported and left alone.

SUFFIX = ".json"
MOST_FILES = 5000  # ours: a project has some hundred memories
MOST_BYTES = 256 * 1024  # of one file, a note with all its fields


def shared_fingerprint(root: str) -> str:
    """Changes when a file is added, removed or written; "" if there is no folder."""
    try:
        with _folder(root, create=False) as folder:
            return digest_of(repr(find_files(folder, SUFFIX, MOST_FILES, levels=0)).encode())
    except OSError:
        return ""


def write_shared_files(root: str, texts: Mapping[str, str], removed: list[str]) -> None:
    """Write some memories and remove others; each file is replaced as a whole."""
    try:
        with _folder(root, create=True) as folder:
            sweep(folder)
            for name, text in texts.items():
                replace_plain(folder, name + SUFFIX, text.encode(), 0o644, durable=False)
            for name in removed:
                remove_plain(folder, name + SUFFIX)
    except OSError as problem:
        raise unwritable(os.path.join(root, SHARED_FOLDER), problem) from problem


@contextmanager
def _folder(root: str, *, create: bool) -> Iterator[int]:
    with (
        open_folder(root) as checkout,
        open_below(checkout, SHARED_FOLDER, create=create) as folder,
    ):
        yield folder
