"""A journal taken over into a database: notes, nuggets, marks, recalls and the whole history.

The database is built beside, compared with the journal note by note, and put in place by a rename;
then the journal is set aside. Whoever dies on the way leaves the journal as it was, and the next
one begins again.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

from nuggets.errors import StoreError
from nuggets.files import private_directory, sync_directory
from nuggets.records import Changes, Commit
from nuggets.stores.base import IndexKind
from nuggets.stores.lock import locked
from nuggets.stores.moving_in import JOURNAL, SET_ASIDE, is_needed
from nuggets.stores.moving_in.journal import Journal
from nuggets.stores.moving_in.old_exports import record_own_files
from nuggets.stores.sqlite import schema
from nuggets.stores.sqlite.database import Database, building
from nuggets.stores.sqlite.filling import (
    Report,
    build_indexes,
    put_commit,
    put_notes,
    put_nuggets,
    reported,
)
from nuggets.stores.sqlite.state import SqliteState
from nuggets.stores.sqlite.writing import apply_touches, write_mark

LOCK_SECONDS = 10.0
_MOVED = "journal moved in"  # the name in `meta` that says which journal


class Moved(NamedTuple):
    """What was taken over."""

    notes: int
    commits: int
    journal: str  # where the old files are now
    damage: str  # what could not be read, if that was allowed


def move_in_locked(
    directory: str, kinds: Sequence[IndexKind], report: Report, *, salvage: bool = False
) -> Moved | None:
    """The same for whoever does not hold the shelf's lock yet."""
    private_directory(directory)
    with locked(os.path.join(directory, "nuggets.lock"), LOCK_SECONDS):
        return move_in(directory, kinds, report, salvage=salvage)


def move_in(
    directory: str,
    kinds: Sequence[IndexKind],
    report: Report = lambda text: None,
    *,
    salvage: bool = False,
) -> Moved | None:
    """Take the journal over, under the shelf's lock; None if there is nothing to take.

    `salvage`: what cannot be read is left out instead of refusing all of it.
    """
    path, journal_path = (os.path.join(directory, name) for name in ("nuggets.db", JOURNAL))
    if not is_needed(directory):
        _finish(path, journal_path)
        return None
    with locked(os.path.join(journal_path, "lock"), LOCK_SECONDS):
        report("reading the journal")
        journal = Journal(journal_path, salvage=salvage)
        journal.load()
        with building(path) as database:
            commits = _fill(database, journal, directory, report)
            build_indexes(database, kinds, report)
        return Moved(len(journal.state.notes), commits, _set_aside(journal_path), journal.damage)


def _fill(database: Database, journal: Journal, directory: str, report: Report) -> int:
    state = journal.state
    for statement in schema.statements():
        database.execute(statement)
    moved = (_MOVED, _identity(journal))
    database.execute("INSERT INTO meta (name, value) VALUES (?, ?)", moved)
    put_nuggets(database, state.nuggets.values())
    notes = state.notes.values()
    put_notes(database, reported(notes, len(notes), "notes", report))
    for name, value in state.marks.items():
        write_mark(database, name, value)
    report("history")
    commits, moments = 0, {journal.revision: journal.at}
    for commit in journal.commits():
        if commit.revision <= journal.revision:
            put_commit(database, commit)
            commits += 1
            moments[commit.revision] = commit.at
    if journal.revision and journal.revision != SqliteState(lambda: database).revision:
        put_commit(database, Commit(journal.revision, journal.at, Changes()))  # a snapshot alone
    touches = tuple(journal.waiting_touches())
    apply_touches(database, touches)
    state.apply(Changes(touches=touches))
    _compare(database, journal, commits)
    record_own_files(database, directory, moments)
    return commits


def _compare(database: Database, journal: Journal, commits: int) -> None:
    """Refuse a database that does not say what the journal says."""
    found, state = SqliteState(lambda: database), journal.state
    same = (
        len(found.notes) == len(state.notes)
        and all(a == b for a, b in zip(found.notes.values(), state.notes.values(), strict=True))
        and list(found.nuggets.items()) == list(state.nuggets.items())
        and dict(found.marks) == state.marks
        and found.revision == journal.revision
        and database.value("SELECT count(*) FROM commits") in (commits, commits + 1)
    )
    if not same:
        raise StoreError(
            f"{journal.directory} was not taken over: the new database does not say the same. "
            "Nothing was changed; please report this, and keep the directory as it is"
        )


def _finish(path: str, journal_path: str) -> None:
    """Set the journal aside for someone who died between the last two steps."""
    if os.path.isdir(journal_path) and os.path.isfile(path):
        database = Database(path)
        try:
            moved = database.value("SELECT value FROM meta WHERE name = ?", (_MOVED,))
        finally:
            database.close()
        if moved is not None:
            journal = Journal(journal_path, salvage=True)
            journal.load()
            if moved == _identity(journal):
                _set_aside(journal_path)


def _identity(journal: Journal) -> str:
    """Tells this journal from one that was begun or written since."""
    return f"{os.stat(journal.directory).st_ino} {journal.revision}"


def _set_aside(journal_path: str) -> str:
    above = os.path.dirname(journal_path)
    target, number = os.path.join(above, SET_ASIDE), 1
    while os.path.lexists(target):
        number += 1
        target = os.path.join(above, f"{SET_ASIDE}-{number}")
    os.rename(journal_path, target)
    sync_directory(above)
    return target
