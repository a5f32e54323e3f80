"""The history of a shelf: what memories said before, and which commit `undo` reverts.

What the changes of an undo are: `maintenance/undo.py`.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice

from nuggets.domain.names_and_tags import identity, identity_of
from nuggets.domain.records import Commit, MemoryNote, MemoryVersion
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
from nuggets.operations.transactions import Decision, Transactions


def list_commits(
    context: ShelfContext, note: str | None, limit: int, since: int
) -> Sequence[Commit]:
    """The commits after a revision, newest first: all that changed something, or one note."""
    store = context.transactions.store
    with context.transactions.reading():
        if note is not None:
            note_id = find_id(context, note, None)
            commits = store.commits(since, note_id, newest_first=True)
        else:
            newest_first = store.commits(since, newest_first=True)
            commits = (commit for commit in newest_first if not undo.is_quiet(commit))
        return list(islice(commits, limit))


def find_commit(transactions: Transactions, revision: int) -> Commit:
    for commit in transactions.store.commits(max(0, revision - 1)):
        if commit.revision == revision:
            return commit
        break
    raise NotFound(f"the history has no revision {revision}; see `nuggets history`")


# --- what a memory said -------------------------------------------------------------------------


def find_versions(context: ShelfContext, name: str, nugget: str | None) -> Sequence[MemoryVersion]:
    """What a memory said and when, oldest first; also what it superseded."""
    with context.transactions.reading() as view:
        versions: list[MemoryVersion] = []
        waiting = [_id_with_history(context, name, nugget)]
        for note_id in waiting:  # grows while it is gone through
            current = view.state.notes.get(note_id)
            versions += versions_of(context.transactions.store.earlier_images(note_id), current)
            superseded = current.supersedes if current is not None else ()
            waiting += (old for old in superseded if old not in waiting)
        return sorted(versions, key=lambda version: version.valid_from)


def find_id(context: ShelfContext, name: str, nugget: str | None) -> str:
    """The id of a note; a deleted note can be named by its full id."""
    notes = context.transactions.state.notes
    if notes.is_damaged(name.strip()):
        return name.strip()
    try:
        return argument_checks.resolve(notes, name, nugget, project=context.project).id
    except NotFound:
        if any(True for _ in context.transactions.store.commits(note=name)):
            return name
        raise


def _id_with_history(context: ShelfContext, name: str, nugget: str | None) -> str:
    """The id of a note; a deleted one can be named by its id, or by its title as long as the
    history has it."""

    def is_called_so(note: MemoryNote) -> bool:
        return (
            fold_case(note.title) == fold_case(name)
            and nugget in (None, note.nugget_name)
            and not is_foreign(note, context.project)
        )

    try:
        return find_id(context, name, nugget)
    except NotFound:
        for commit in context.transactions.store.commits(newest_first=True):
            for note in commit.before.put:
                if note.id in commit.changes.drop and is_called_so(note):
                    return note.id
        raise


def forgotten_fact_ids(context: ShelfContext, nugget: str, key: str) -> list[str]:
    """The ids of deleted facts that had this key, from the history."""
    wanted = {identity(nugget, key, visible) for visible in visible_projects(context.project)}
    notes = context.transactions.state.notes
    return list(
        dict.fromkeys(
            note.id
            for commit in context.transactions.store.commits(0)
            for note in commit.changes.put
            if note.kind == "fact" and note.id not in notes and identity_of(note) in wanted
        )
    )


# --- undo ---------------------------------------------------------------------------------------


def undo_commit(
    context: ShelfContext, files: MemoryFiles, revision: int | None, *, dry_run: bool
) -> Commit:
    """Revert a commit, by default the client's own last change in this project."""
    transactions = context.transactions

    def decide() -> Decision[Commit]:
        commit = last_to_undo(context) if revision is None else find_commit(transactions, revision)
        since = transactions.store.commits(commit.revision)
        return undo.revert(transactions.state, commit, since)

    if dry_run:
        with transactions.reading():
            return decide()[1]
    commit = transactions.update("undo", context.client, decide)
    is_of_file = commit.changes.action == EDIT_OF_MEMORY_FILE  # its line returns
    if is_of_file or reverted_pins(commit.changes.marks, commit.before.marks):
        files.promote_to(files.written_files())
    return commit


def last_to_undo(context: ShelfContext) -> Commit:
    """The commit that `undo` reverts if none is named."""
    if context.transactions.has_pending_changes:
        raise Conflict(
            "the last change is not saved yet: save_all (or end the batch) "
            "before you undo it, or name the revision to take back"
        )
    store = context.transactions.store
    return undo.last_change_of(
        lambda: store.commits(newest_first=True), context.client, context.project
    )


def find_undoable(transactions: Transactions, revisions: Iterable[int]) -> set[int]:
    """Those of the commits that `undo` would revert at the moment."""
    undoable = set()
    with transactions.reading() as view:
        for revision in revisions:
            with suppress(NotFound, Conflict):
                undo.revert(view.state, find_commit(transactions, revision))
                undoable.add(revision)
    return undoable


# --- for an import into another shelf -----------------------------------------------------------


def recorded_past(transactions: Transactions) -> ShelfPast:
    """When people changed, dropped and imported notes, as far as the history reaches."""
    with transactions.reading():
        commits = list(transactions.store.commits(0))
    return ShelfPast(
        undo.changed_by_people(commits), undo.drop_times(commits), undo.imported_notes(commits)
    )


def as_other(transactions: Transactions) -> OtherShelf:
    """Everything on a shelf, with its past."""
    with transactions.reading() as view:
        notes, nuggets = tuple(view.state.notes.values()), tuple(view.state.nuggets.values())
        return OtherShelf(notes, nuggets, recorded_past(transactions))
