"""Migrate a journal to a database: notes, nuggets, marks, recalls and the whole history.

The database is built under a temporary name, compared with the journal note by note and renamed;
then the journal is set aside. A process that dies on the way leaves the journal as it was, and the
next process begins again.
"""

import os
from collections.abc import Sequence

from nuggets.domain.records import Changes, Commit
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import private_directory, sync_directory
from nuggets.named_tuple import NamedTuple
from nuggets.stores.base import IndexKind
from nuggets.stores.journal_migration import JOURNAL, SET_ASIDE, has_unmigrated_journal
from nuggets.stores.journal_migration.journal import Journal
from nuggets.stores.journal_migration.old_exports import register_old_exports
from nuggets.stores.process_lock import LOCK_SECONDS, hold_lock, hold_shelf_lock
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_writer import apply_touches, write_mark
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.bulk_insert import (
    Report,
    build_indexes,
    put_commit,
    put_notes,
    put_nuggets,
    report_progress,
)
from nuggets.stores.sqlite.database import Database, building

_MIGRATED = "journal moved in"  # the row in `meta` that says which journal


class MigrationResult(NamedTuple):
    """What was migrated."""

    notes: int  # how many
    journal: str  # where the old files are now


def migrate_with_lock(
    directory: str, kinds: Sequence[IndexKind], report: Report
) -> MigrationResult | None:
    """Take the shelf's lock, and migrate the journal."""
    private_directory(directory)
    with hold_shelf_lock(directory):
        return migrate_journal(directory, kinds, report)


def migrate_journal(
    directory: str,
    kinds: Sequence[IndexKind],
    report: Report = lambda text: None,
    *,
    salvage: bool = False,
) -> MigrationResult | None:
    """Migrate the journal; None if there is none. The caller holds the shelf's lock.

    `salvage`: leave out what cannot be read instead of raising an error.
    """
    path, journal_path = (os.path.join(directory, name) for name in ("nuggets.db", JOURNAL))
    if not has_unmigrated_journal(directory):
        _finish_interrupted(path, journal_path)
        return None
    with hold_lock(os.path.join(journal_path, "lock"), LOCK_SECONDS):
        report("reading the journal")
        journal = Journal(journal_path, salvage=salvage)
        journal.load()
        with building(path) as database:
            _fill(database, journal, directory, report)
            build_indexes(database, kinds, report)
        return MigrationResult(len(journal.state.notes), _set_aside(journal_path))


def _fill(database: Database, journal: Journal, directory: str, report: Report) -> None:
    """Copy everything but the indexes."""
    state = journal.state
    for statement in schema.statements():
        database.execute(statement)
    migrated = (_MIGRATED, _identify(journal))
    database.execute("INSERT INTO meta (name, value) VALUES (?, ?)", migrated)
    put_nuggets(database, state.nuggets.values())
    notes = state.notes.values()
    put_notes(database, report_progress(notes, len(notes), "notes", report))
    for name, value in state.marks.items():
        write_mark(database, name, value)
    report("history")
    moments = _copy_history(database, journal)
    touches = tuple(journal.waiting_touches())
    apply_touches(database, touches)
    state.apply(Changes(touches=touches))
    _verify(database, journal, len(moments))
    register_old_exports(database, directory, moments)


def _copy_history(database: Database, journal: Journal) -> dict[int, str]:
    """Copy the commits; the time of each by its revision."""
    times = {}
    for commit in journal.commits():
        if commit.revision <= journal.revision:
            put_commit(database, commit)
            times[commit.revision] = commit.at
    if journal.revision and journal.revision not in times:  # there is nothing but a snapshot
        put_commit(database, Commit(journal.revision, journal.at, Changes()))
        times[journal.revision] = journal.at
    return times


def _verify(database: Database, journal: Journal, commits: int) -> None:
    """Raise an error if the database does not hold what the journal holds."""
    migrated, state = SqlState(lambda: database), journal.state
    same = (
        len(migrated.notes) == len(state.notes)
        and all(a == b for a, b in zip(migrated.notes.values(), state.notes.values(), strict=True))
        and list(migrated.nuggets.items()) == list(state.nuggets.items())
        and dict(migrated.marks) == state.marks
        and migrated.revision == journal.revision
        and database.value("SELECT count(*) FROM commits") == commits
    )
    if not same:
        raise StoreError(
            f"{journal.directory} was not migrated: the new database does not hold the same. "
            "Nothing was changed; please report this, and keep the directory as it is"
        )


def _finish_interrupted(path: str, journal_path: str) -> None:
    """Set the journal aside if a process died after it put the database in place."""
    if os.path.isdir(journal_path) and os.path.isfile(path):
        database = Database(path)
        try:
            migrated = database.value("SELECT value FROM meta WHERE name = ?", (_MIGRATED,))
        finally:
            database.close()
        if migrated is not None:
            journal = Journal(journal_path, salvage=True)
            journal.load()
            if migrated == _identify(journal):
                _set_aside(journal_path)


def _identify(journal: Journal) -> str:
    """Differs from that of a journal that was begun or written later."""
    return f"{os.stat(journal.directory).st_ino} {journal.revision}"


def _set_aside(journal_path: str) -> str:
    """Rename it to the first free name; that name."""
    parent = os.path.dirname(journal_path)
    target, number = os.path.join(parent, SET_ASIDE), 1
    while os.path.lexists(target):
        number += 1
        target = os.path.join(parent, f"{SET_ASIDE}-{number}")
    os.rename(journal_path, target)
    sync_directory(parent)
    return target
