"""The history of a shelf: what memories said before, and which commit `undo` reverts.

What the changes of an undo are: `maintenance/undo.py`.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice

from nuggets.domain.names_and_tags import identity, identity_of
from nuggets.domain.records import Commit, MemoryVersion
from nuggets.domain.times import versions_of
from nuggets.domain.visibility import is_foreign, visible_projects
from nuggets.errors import Conflict, NotFound
from nuggets.language.text import fold_case
from nuggets.maintenance import ShelfContext, undo
from nuggets.maintenance.promotion import MemoryFiles
from nuggets.maintenance.promotion.entries import reverted_pins
from nuggets.maintenance.promotion.hand_edits import ACTION as EDIT_OF_MEMORY_FILE
from nuggets.operations import argument_checks
from nuggets.operations.shelf_import import OtherShelf, ShelfPast
from nuggets.operations.transactions import Decision


class History:
    """All commits of a shelf, for someone who works in a project."""

    def __init__(self, context: ShelfContext) -> None:
        self._context = context
        self._transactions = context.transactions

    def list_commits(self, note: str | None, limit: int, since: int) -> Sequence[Commit]:
        """The commits after a revision, newest first: all that changed something, or one note."""
        store = self._transactions.store
        with self._transactions.reading():
            if note is not None:
                note_id = self.find_id(note, None)
                commits = store.history.commits(since, note_id, newest_first=True)
            else:
                newest_first = store.history.commits(since, newest_first=True)
                commits = (commit for commit in newest_first if not undo.is_quiet(commit))
            return list(islice(commits, limit))

    def find_commit(self, revision: int) -> Commit:
        for commit in self._transactions.store.history.commits(max(0, revision - 1)):
            if commit.revision == revision:
                return commit
            break
        raise NotFound(f"the history has no revision {revision}; see `nuggets history`")

    # --- what a memory said ----------------------------------------------------------------------

    def find_versions(self, name: str, nugget: str | None) -> Sequence[MemoryVersion]:
        """What a memory said and when, oldest first; also what it superseded."""
        with self._transactions.reading() as view:
            versions: list[MemoryVersion] = []
            waiting = [self._id_with_history(name, nugget)]
            for note_id in waiting:  # grows while it is gone through
                current = view.state.notes.get(note_id)
                versions += versions_of(
                    self._transactions.store.history.earlier_images(note_id), current
                )
                superseded = current.supersedes if current is not None else ()
                waiting += (old for old in superseded if old not in waiting)
            return sorted(versions, key=lambda version: version.valid_from)

    def find_id(self, name: str, nugget: str | None, *, changes: bool = False) -> str:
        """The id of a note; a deleted note can be named by its full id. `changes`: it is to be
        changed."""
        notes = self._transactions.state.notes
        if notes.is_damaged(name.strip()):
            return name.strip()
        try:
            return argument_checks.resolve(
                notes, name, nugget, project=self._context.project, changes=changes
            ).id
        except NotFound:
            if any(True for _ in self._transactions.store.history.commits(note=name)):
                return name
            raise

    def _id_with_history(self, name: str, nugget: str | None) -> str:
        """The id of a note; a deleted one can be named by its id, or by its title as long as the
        history has it."""
        try:
            return self.find_id(name, nugget)
        except NotFound:
            for commit in self._transactions.store.history.commits(newest_first=True):
                for note in commit.before.put:
                    is_called_so = fold_case(note.title) == fold_case(name)
                    is_meant = is_called_so and nugget in (None, note.nugget_name)
                    is_gone = note.id in commit.changes.drop
                    if is_meant and is_gone and not is_foreign(note, self._context.project):
                        return note.id
            raise

    def forgotten_fact_ids(self, nugget: str, key: str) -> list[str]:
        """The ids of deleted facts that had this key, from the history."""
        wanted = {
            identity(nugget, key, visible) for visible in visible_projects(self._context.project)
        }
        notes = self._transactions.state.notes
        return list(
            dict.fromkeys(
                note.id
                for commit in self._transactions.store.history.commits(0)
                for note in commit.changes.put
                if note.kind == "fact" and note.id not in notes and identity_of(note) in wanted
            )
        )

    # --- undo ------------------------------------------------------------------------------------

    def undo_commit(self, files: MemoryFiles, revision: int | None, *, dry_run: bool) -> Commit:
        """Revert a commit, by default the client's own last change in this project."""

        def decide() -> Decision[Commit]:
            commit = self.last_to_undo() if revision is None else self.find_commit(revision)
            since = self._transactions.store.history.commits(commit.revision)
            return undo.revert(self._transactions.state, commit, since)

        if dry_run:
            with self._transactions.reading():
                return decide()[1]
        commit = self._transactions.update("undo", self._context.client, decide)
        is_of_file = commit.changes.action == EDIT_OF_MEMORY_FILE  # its line returns
        if is_of_file or reverted_pins(commit.changes.marks, commit.before.marks):
            files.promote_to(files.written_files())
        return commit

    def last_to_undo(self) -> Commit:
        """The commit that `undo` reverts if none is named."""
        if self._transactions.has_pending_changes:
            raise Conflict(
                "the last change is not saved yet: save_all (or end the batch) "
                "before you undo it, or name the revision to take back"
            )
        newest_first = self._transactions.store.history.commits(newest_first=True)
        return undo.last_change_of(newest_first, self._context.client, self._context.project)

    def find_undoable(self, revisions: Iterable[int]) -> set[int]:
        """Those of the commits that `undo` would revert at the moment."""
        undoable = set()
        with self._transactions.reading() as view:
            for revision in revisions:
                with suppress(NotFound, Conflict):
                    undo.revert(view.state, self.find_commit(revision))
                    undoable.add(revision)
        return undoable

    # --- for an import into another shelf --------------------------------------------------------

    def recorded_past(self) -> ShelfPast:
        """When people changed, dropped and imported notes, as far as the history reaches."""
        with self._transactions.reading():
            return undo.recorded_past(self._transactions.store.history.commits(0))

    def as_other(self) -> OtherShelf:
        """Everything on a shelf, with its past."""
        with self._transactions.reading() as view:
            notes, nuggets = tuple(view.state.notes.values()), tuple(view.state.nuggets.values())
            return OtherShelf(notes, nuggets, self.recorded_past())
