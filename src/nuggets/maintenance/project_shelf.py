"""What a shelf knows of the repository someone works in: which project it is, which memories it
carries, and which files and lines memories name.

The work is done in `operations/`, `filesystem/` and `maintenance/trusted_repositories.py`.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nuggets.domain.limits import check_flag, storable
from nuggets.domain.records import Changes, DailyRun, MemoryNote, ProjectMove, ProjectStatus
from nuggets.engine.argument_checks import StrPath, path_text
from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.filesystem.current_project import (
    checkout_root,
    current_project,
    distinct_id,
    find_project,
    has_shared_files,
    require_folder,
    root_of,
)
from nuggets.filesystem.shelf_location import database_stamp
from nuggets.maintenance.maintained_shelf import MaintainedShelf
from nuggets.operations.project_identity import Location, recorded_locations

if TYPE_CHECKING:
    from datetime import datetime

    from nuggets.domain.records import Anchor
    from nuggets.engine.transactions import Decision
    from nuggets.maintenance.audit import Finding
    from nuggets.maintenance.trusted_repositories import ProjectSharing, SyncResult
    from nuggets.operations.decisions import Decisions


class ProjectShelf(MaintainedShelf):
    """The part of a shelf that concerns the repository someone works in."""

    # --- projects ---------------------------------------------------------------------------

    def projects(self) -> Sequence[ProjectStatus]:
        """Every project that memories belong to, by its id."""
        with self._transactions.reading() as view:
            counts = view.state.notes.projects()
            places = recorded_locations(view.state.marks)
        return [
            ProjectStatus(
                project,
                counts[project]["fact"],
                counts[project]["note"],
                tuple(place.path for place in places if place.project == project),
            )
            for project in sorted(set(counts) - {""})
        ]

    def move_project(
        self, old: StrPath, new: StrPath | None = None, *, dry_run: bool = False
    ) -> ProjectMove:
        """Give all that belongs to one repository to another: it was moved, renamed, cloned anew.

        `old` is named by its folder or the folder's name; `new` is a folder, by default the
        repository we are in. Facts by keys that the other one has facts for stay as they are.
        Lines of the host's MEMORY.md that people changed are copied to that of the new place.
        """
        check_flag(dry_run, "dry_run")
        name = storable(path_text(old), "a folder")
        after = self.project
        if new is not None:
            after = self.project_of(require_folder(storable(path_text(new), "a folder")))
        if not after:
            raise NotFound("there is no project here: this folder holds everything; name another")
        before = find_project(name, [status.project for status in self.projects()], after)
        if before == after:
            raise InvalidInput(f"{before} is where these memories belong already")

        def decide(d: "Decisions") -> "Decision[ProjectMove]":
            changes, done = d.move_project(before, after)
            return changes._replace(
                marks=self._maintenance.memory_files.marks_after_move(done)
            ), done

        move = self._update("move_project", decide, dry_run=dry_run)
        if not dry_run:
            self._maintenance.memory_files.carry_annotations(move)
        return move

    def join_project(self, name: StrPath, *, dry_run: bool = False) -> ProjectMove:
        """Use the memories of another project here too: this is another clone of it, or a fork.

        What belongs to the project here becomes the other's, as by `move_project`.
        """
        check_flag(dry_run, "dry_run")
        here, own = self._require_location(), self.project
        others = [status for status in self.projects() if status.project != own]
        places = {path: status.project for status in others for path in status.locations}
        wanted = storable(path_text(name), "a project")
        try:
            target = find_project(wanted, [status.project for status in others])
        except NotFound:
            target = places[find_project(wanted, places)]

        def decide(d: "Decisions") -> "Decision[ProjectMove]":
            changes, done = d.move_project(own, target)
            joined = here._replace(project=target, resembles="")
            return changes._replace(marks={here.mark: joined.to_json()}), done

        move = self._update("join_project", decide, dry_run=dry_run)
        if not dry_run:
            self.forget_recognition()
        return move

    def leave_project(self) -> str:
        """Let this place be a project of its own from now on, although it was recognized as, or
        has joined, another one. The memories stay with that; the id of the new project."""
        here = self._require_location()
        taken = {status.project for status in self.projects()} | {here.project}
        own = here.path if here.path not in taken else distinct_id(here.path, self._draw())
        left = here._replace(project=own, resembles="")
        self._update("leave_project", lambda _: (Changes(marks={here.mark: left.to_json()}), None))
        self.forget_recognition()
        return own

    def _require_location(self) -> "Location":
        here = self.known_location()
        if here is None:
            raise NotFound("there is no project here: this folder holds everything; name another")
        return here

    # --- memories that the repository carries -----------------------------------------------

    def share_project(self, *, dry_run: bool = False) -> "SyncResult":
        """Write the project's memories into `.nuggets` of this checkout, now and whenever they
        change, and read what others write there."""
        return self._sharing.start(writes=True, dry_run=dry_run)

    def trust_project(self, *, dry_run: bool = False) -> "SyncResult":
        """Read the memories that this checkout carries in `.nuggets`, now and when they change."""
        return self._sharing.start(writes=False, dry_run=dry_run)

    def unshare_project(self) -> None:
        """Stop writing memories into this checkout. Its files stay and are still read."""
        self._sharing.allow(reads=True, writes=False)

    def untrust_project(self) -> "tuple[MemoryNote, ...]":
        """Stop reading this checkout's memories, and drop those that came from it."""
        return self._sharing.withdraw()

    def sync_shared(self, *, has_written: bool = False) -> "SyncResult | None":
        """Bring both sides together, as far as the person allowed; None if there is no checkout.

        `has_written`: memories may have changed here. Never an error: whoever works here did not
        ask for it.
        """
        try:
            return self._sharing.sync(has_written=has_written) if self._carries_memories() else None
        except NuggetsError as problem:
            from nuggets.maintenance.trusted_repositories import SyncResult

            return SyncResult(problems=(str(problem),))

    def needs_trust(self) -> bool:
        """Does this checkout carry memories that nobody was asked about yet?"""
        return self._carries_memories() and self._sharing.needs_trust()

    def record_trust_question(self) -> None:
        """The person has been told of them."""
        self._sharing.allow(reads=False, writes=False)

    def _carries_memories(self) -> bool:
        """One look at the file system, before the database is read: most carry none."""
        return has_shared_files(self.working_folder) and bool(self.checkout)

    @property
    def _sharing(self) -> "ProjectSharing":
        from nuggets.filesystem.repository_evidence import gather_evidence
        from nuggets.maintenance.trusted_repositories import Identity, ProjectSharing

        root = self.checkout
        if not root:
            raise NotFound("there is no git repository here; memories are shared through one")
        evidence, directory = (
            gather_evidence(self.location, self._url),
            self._transactions.store.directory,
        )
        return ProjectSharing(
            self._transactions,
            root=root,
            repository=lambda: Identity(database_stamp(directory), evidence.stamp, evidence.root),
            project=self.project,
            client=self._client.name,
            clock=self._clock,
        )

    # --- files that memories name -----------------------------------------------------------

    def _anchors(self, text: str, title: str) -> "tuple[Anchor, ...]":
        """What a text names of the checkout that someone works in; most texts name nothing."""
        from nuggets.operations.lookups_before_write import may_name_place

        if self._caller is not None:
            return self._caller.anchors
        if not self._client.at_work or not isinstance(text, str) or not may_name_place(text):
            return ()
        if self._client.is_unattended and self._defers_writes:
            return ()  # files that hooks observed, many at once
        root = self._folder_of_files()
        if not root:
            return ()
        from nuggets.filesystem.anchors import make_anchors

        return make_anchors(root, f"{title} {text}")

    def _folder_of_files(self, project: str | None = None) -> str:
        """Where the files lie that memories of a project name, by default of this one: in the
        checkout someone works in, else in that of the project; "" if there is none, or if they
        are elsewhere."""
        if self._client.is_remote or self._caller is not None:
            return ""
        location, folder = self.location, self.working_folder
        if project is not None and project != self.project:
            location = self._location_of(project)
        if not location:
            return ""
        root = checkout_root(folder) if current_project(folder) == location else root_of(location)
        return root if os.path.isdir(root) else ""

    def _location_of(self, project: str) -> str:
        """Where a project was seen last, or first, which is its id."""
        with self._transactions.reading() as view:
            places = recorded_locations(view.state.marks)
        return next((place.path for place in places if place.project == project), project)

    def find_moved_files(self) -> Mapping[str, Mapping[str, str]]:
        """Where files went that memories of this project name: by note id, new paths by old ones.

        Asks git.
        """
        with self._transactions.reading() as view:
            notes = view.state.notes.find(project=self.project, hidden=False)
        anchored = [note for note in notes if note.anchors]
        root = self._folder_of_files() if anchored else ""
        if not root:
            return {}
        from nuggets.filesystem.moved_files import find_moved

        moved = find_moved(root, [anchor for note in anchored for anchor in note.anchors])
        by_note = {
            note.id: {a.path: moved[a.path] for a in note.anchors if a.path in moved}
            for note in anchored
        }
        return {note_id: paths for note_id, paths in by_note.items() if paths}

    def run_daily(self, now: "datetime") -> DailyRun | None:
        """The daily clean-up, if it is due at this local time and nobody else has run it today.

        It also looks for files that memories of this project name and that were moved.
        """
        from nuggets.maintenance.daily_schedule import MOVED_FILES_MARK

        run = super().run_daily(now)
        if run is not None:
            moved = self.find_moved_files()

            def decide(d: "Decisions") -> "Decision[None]":
                marked = self._transactions.state.marks.get(MOVED_FILES_MARK, {})
                notes = self._transactions.state.notes.many(marked)
                others = {
                    i: paths
                    for i, paths in marked.items()
                    if i in notes and notes[i].project != self.project
                }
                after = {**others, **moved}
                if after == marked:
                    return Changes(), None
                return Changes(marks={MOVED_FILES_MARK: after or None}), None

            self._update("reflect", decide)
        return run

    def audit(self) -> "Sequence[Finding]":
        """What is worth a look: duplicates, contradictions, secrets, stale and unused memories, and
        memories of this project that name files or lines which have changed since."""
        from nuggets.maintenance.audit import Finding

        with self._transactions.reading() as view:
            notes = view.state.notes.find(project=self.project, hidden=False)
        outdated = [
            Finding("outdated", (note.id,), f"{note.title!r:.80}: {reason}")
            for note in notes
            if note.anchors
            for reason in self._stale_reasons(note, ask_git=True)
        ]
        return [*super().audit(), *outdated]

    def _stale_reasons(
        self, note: MemoryNote, *, ask_git: bool, of_any_project: bool = False
    ) -> Sequence[str]:
        is_asked = bool(note.anchors) and (of_any_project or note.project == self.project)
        root = self._folder_of_files(note.project) if is_asked else ""
        if not root:
            return ()
        from nuggets.filesystem.anchors import is_gone, stale_reasons

        moved: Mapping[str, str] = {}
        if any(is_gone(root, anchor) for anchor in note.anchors):
            moved = self._recorded_moves(note.id)
            if ask_git:
                from nuggets.filesystem.moved_files import find_moved

                moved = {**moved, **find_moved(root, note.anchors)}
        return stale_reasons(root, note.anchors, moved)

    def _recorded_moves(self, note_id: str) -> Mapping[str, str]:
        """Where files that a note names went, as the daily pass found out."""
        from nuggets.maintenance.daily_schedule import MOVED_FILES_MARK

        with self._transactions.reading() as view:
            moves: Mapping[str, str] = view.state.marks.get(MOVED_FILES_MARK, {}).get(note_id, {})
            return moves
