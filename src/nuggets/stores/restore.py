"""Restore a backup: it replaces a shelf's database.

The replaced database is kept in `replaced-<n>`, a directory that is a shelf by itself; if it is
damaged, its files are kept as they are.
"""

import os
import time
from collections.abc import Callable
from contextlib import closing, suppress

from nuggets.domain import times
from nuggets.domain.records import Changes, MemoryNote, NuggetConfig
from nuggets.errors import Conflict, InvalidInput, StoreBusy, StoreCorrupt, StoreError
from nuggets.filesystem.atomic_files import (
    free_name,
    private_directory,
    sync_directory,
    temporary_path,
    unwritable,
)
from nuggets.named_tuple import NamedTuple
from nuggets.stores.backup import REPLACED, Backup, open_backup, read_backup, unpack
from nuggets.stores.doctor.database_defects import NOTES, check_records
from nuggets.stores.exports.register import documented_files
from nuggets.stores.process_lock import hold_shelf_lock
from nuggets.stores.sql.commit_writer import CommitWriter
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import (
    WRITE_AHEAD_LOG,
    Database,
    explain_errors,
    reading_file,
    remove_database,
    sync_file,
)

_READER_SECONDS = 5.0  # for readers of the database that is replaced, who take milliseconds
RESTORED = "restored"  # the mark that says from which backup


class Difference(NamedTuple):
    """What a restore changes, in numbers of notes."""

    back: int  # that are not here now
    gone: int  # that are not in the backup
    changed: int


class Restored(NamedTuple):
    """What was restored, and where the shelf is that it replaced."""

    backup: Backup
    difference: Difference
    replaced: str  # "" if there was none


class RecordChecks(NamedTuple):
    """They raise `InvalidInput` for a record that no shelf could have written."""

    note: Callable[[MemoryNote], object]
    nugget: Callable[[NuggetConfig], object]


def compare(directory: str, path: str, checks: RecordChecks) -> Restored:
    """What a restore would do."""
    backup = _check_backup(path, checks)
    with open_backup(path) as database:
        restored = _read_versions(database)
    current = _current_versions(os.path.join(directory, "nuggets.db"))
    return Restored(backup, _compare(current, restored), "")


def restore(directory: str, path: str, now: str, checks: RecordChecks) -> Restored:
    """Put the backup in place, under the shelf's lock."""
    result = compare(directory, path, checks)
    private_directory(directory)
    current = os.path.join(directory, "nuggets.db")
    temporary = temporary_path(current)
    with hold_shelf_lock(directory), explain_errors(current):
        try:
            if unpack(path, temporary) != result.backup.checksum:
                raise Conflict(f"{path} was changed meanwhile. Nothing was restored; retry")
            revision, at = _current_position(current)
            moment = times.commit_time(at, now)
            _commit_restore(temporary, os.path.basename(path), revision, moment)
            replaced = _keep_replaced(directory, current) if os.path.lexists(current) else ""
            os.replace(temporary, current)
            sync_directory(directory)
        except OSError as problem:
            raise unwritable(current, problem) from problem
        finally:
            remove_database(temporary)
    return result._replace(replaced=replaced)


def _check_backup(path: str, checks: RecordChecks) -> Backup:
    """Raise an error unless the backup may replace a shelf: its checksum is right, its database is
    sound, ours and not newer, and it holds only records that a shelf could have written, because
    anyone can compute a checksum."""
    backup = read_backup(path)
    with open_backup(path) as database:
        state = SqlState(lambda: database)
        try:
            check_records(database, NOTES)
            for config in state.nuggets.values():
                checks.nugget(config)
            for note in state.notes.values():
                checks.note(note)
        except (InvalidInput, StoreCorrupt) as problem:
            raise StoreCorrupt(
                f"{path} holds what no shelf could have written ({problem!s:.200}). Nothing was "
                "changed; to import what is valid, copy it to nuggets.db in a directory of its own "
                "and name that in `nuggets import`"
            ) from problem
    return backup


def _commit_restore(path: str, name: str, revision: int, now: str) -> None:
    """Commit to the restored database that it was restored.

    Its new revision comes after all that anyone has seen of this shelf, and it has no exports yet.
    """
    with closing(Database(path)) as database:
        state = SqlState(lambda: database)
        database.begin(writing=True)
        writer = CommitWriter(database, state, after=revision)
        mark = {RESTORED: {"from": name, "revision": state.revision}}
        writer.apply(Changes(marks=mark, action="restore"))
        writer.finish(now)
        database.execute("DELETE FROM exports")
        database.commit()
        database.execute(f"PRAGMA {WRITE_AHEAD_LOG}")
        database.checkpoint()
    sync_file(path)


def _keep_replaced(directory: str, current: str) -> str:
    """Move the current database and its documented files to a directory of their own."""
    folder = free_name(os.path.join(directory, REPLACED))
    private_directory(folder)
    try:
        is_sound = _empty_log(current)
    except StoreBusy:
        os.rmdir(folder)
        raise
    os.link(current, os.path.join(folder, "nuggets.db"))
    if not is_sound:  # keep all its bytes as they are
        with suppress(FileNotFoundError):
            os.rename(f"{current}-wal", os.path.join(folder, "nuggets.db-wal"))
    for name in sorted(documented_files(directory)):
        target = os.path.join(folder, name)
        private_directory(os.path.dirname(target))
        os.rename(os.path.join(directory, name), target)
    sync_directory(folder)
    for suffix in ("-wal", "-shm"):  # they are empty: the database holds everything
        with suppress(FileNotFoundError):
            os.unlink(f"{current}{suffix}")
    return folder


def _empty_log(current: str) -> bool:
    """Move the log into the database; False if that is damaged."""
    try:
        database = Database(current)
    except StoreError:
        return False
    try:
        deadline = time.monotonic() + _READER_SECONDS
        while not database.checkpoint():
            if time.monotonic() > deadline:
                raise StoreBusy(f"someone is still reading {current}. Nothing was changed; retry")
            time.sleep(0.01)
    except StoreCorrupt:
        return False
    finally:
        database.close()
    return True


def _current_versions(path: str) -> dict[str, int]:
    """The versions of the current notes; none if they cannot be read."""
    with suppress(StoreError, OSError), reading_file(path) as database:
        return _read_versions(database)
    return {}


def _read_versions(database: Database) -> dict[str, int]:
    """For each note id a number that differs if the note differs."""
    rows = database.execute("SELECT id, record FROM notes")
    return {note_id: hash(record) for note_id, record in rows}


def _compare(current: dict[str, int], restored: dict[str, int]) -> Difference:
    return Difference(
        len(restored.keys() - current.keys()),
        len(current.keys() - restored.keys()),
        sum(current[note_id] != restored[note_id] for note_id in current.keys() & restored.keys()),
    )


def _current_position(path: str) -> tuple[int, str]:
    """Revision and time of the current database; 0 and "" if it cannot be read."""
    with suppress(StoreError, OSError), reading_file(path) as database:
        return SqlState(lambda: database).position
    return 0, ""
