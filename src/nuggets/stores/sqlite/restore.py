"""Putting a backup in the place of a shelf's database. What was there is kept in `replaced-<n>`,
a directory that is a shelf by itself.

For a database that is damaged as well: then its files are kept as they are.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from nuggets import times
from nuggets.errors import StoreBusy, StoreError
from nuggets.files import private_directory, sync_directory, unwritable
from nuggets.records import Changes, Commit
from nuggets.stores.lock import locked
from nuggets.stores.sqlite.backup import Backup, opened_backup, read_backup, unpack
from nuggets.stores.sqlite.database import Database, open_read_only, sync_file
from nuggets.stores.sqlite.filling import put_commit
from nuggets.stores.sqlite.state import SqliteState

LOCK_SECONDS = 10.0
_READER_SECONDS = 5.0  # for those who still read what is about to be replaced
RESTORED = "restored"  # the mark that says from which backup


class Difference(NamedTuple):
    """What a restore changes, in numbers of notes."""

    back: int  # that are not here now
    gone: int  # that came since
    changed: int


class Restored(NamedTuple):
    """What was restored, and where the shelf is that it replaced."""

    backup: Backup
    difference: Difference
    replaced: str  # "" if there was none


def compare(directory: str, path: str) -> Restored:
    """What a restore would do."""
    backup = read_backup(path)
    with opened_backup(path) as database:
        there = _versions(database)
    return Restored(backup, _difference(_present(directory), there), "")


def restore(directory: str, path: str, now: str) -> Restored:
    """Put the backup in place, under the shelf's lock."""
    planned = compare(directory, path)
    private_directory(directory)
    present = os.path.join(directory, "nuggets.db")
    temporary = f"{present}.{os.getpid():x}-{time.monotonic_ns():x}.tmp"
    with locked(os.path.join(directory, "nuggets.lock"), LOCK_SECONDS):
        try:
            unpack(path, temporary)
            revision, at = _position(present)
            _prepare(temporary, os.path.basename(path), revision, times.moment_after(at, now))
            replaced = _keep(directory, present) if os.path.lexists(present) else ""
            os.replace(temporary, present)
            sync_directory(directory)
        except OSError as problem:
            raise unwritable(present, problem) from problem
        finally:
            for leftover in (temporary, f"{temporary}-wal", f"{temporary}-shm"):
                with suppress(OSError):
                    os.unlink(leftover)
    return planned._replace(replaced=replaced)


def _prepare(path: str, name: str, revision: int, now: str) -> None:
    """Its revision comes after all that anyone has seen here, and no file is its export yet."""
    database = Database(path)
    try:
        known, at = SqliteState(lambda: database).position
        mark = {RESTORED: {"from": name, "revision": known}}
        changes = Changes(marks=mark, action="restore")
        before = Changes(marks={RESTORED: None})
        moment = times.moment_after(at, now)
        database.begin(writing=True)
        put_commit(database, Commit(max(known, revision) + 1, moment, changes, before))
        database.execute("DELETE FROM exports")
        database.commit()
        database.execute("PRAGMA journal_mode = WAL")
        database.checkpoint()
    finally:
        database.close()
    sync_file(path)


def _keep(directory: str, present: str) -> str:
    """What is there now, with its documented files, in a directory of its own."""
    number = 1
    while os.path.lexists(os.path.join(directory, f"replaced-{number}")):
        number += 1
    place = os.path.join(directory, f"replaced-{number}")
    private_directory(place)
    try:
        _copy(present, os.path.join(place, "nuggets.db"))
    except StoreBusy:
        os.rmdir(place)
        raise
    except StoreError:  # damaged: its bytes as they are
        os.link(present, os.path.join(place, "nuggets.db"))
        with suppress(FileNotFoundError):
            os.rename(f"{present}-wal", os.path.join(place, "nuggets.db-wal"))
    for name in _documented(directory):
        target = os.path.join(place, name)
        private_directory(os.path.dirname(target))
        os.rename(os.path.join(directory, name), target)
    sync_directory(place)
    for beside in (f"{present}-wal", f"{present}-shm"):  # empty: all is in the database
        with suppress(FileNotFoundError):
            os.unlink(beside)
    return place


def _copy(present: str, target: str) -> None:
    """A whole copy; the log of the original is empty afterwards."""
    database = Database(present)
    try:
        deadline = time.monotonic() + _READER_SECONDS
        while not database.checkpoint():
            if time.monotonic() > deadline:
                raise StoreBusy(f"someone is still reading {present}. Nothing was changed; retry")
            time.sleep(0.01)
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            database.backup_to(target)
        except StoreError:
            os.unlink(target)
            raise
        sync_file(target)
    finally:
        database.close()


def _documented(directory: str) -> Iterator[str]:
    for name in sorted(os.listdir(directory)):
        if name.endswith(".nugget.json") and not name.startswith("."):
            yield name
    graph = os.path.join("graph", "graph.json")
    if os.path.lexists(os.path.join(directory, graph)):
        yield graph


def _present(directory: str) -> dict[str, int]:
    """The notes that are here, each with a number for its version; none if they cannot be read."""
    path = os.path.join(directory, "nuggets.db")
    with suppress(StoreError, OSError):
        database = open_read_only(path)
        try:
            return _versions(database)
        finally:
            database.close()
    return {}


def _versions(database: Database) -> dict[str, int]:
    rows = database.execute("SELECT id, record FROM notes")
    return {note_id: hash(record) for note_id, record in rows}


def _difference(here: dict[str, int], there: dict[str, int]) -> Difference:
    return Difference(
        len(there.keys() - here.keys()),
        len(here.keys() - there.keys()),
        sum(here[one] != there[one] for one in here.keys() & there.keys()),
    )


def _position(present: str) -> tuple[int, str]:
    with suppress(StoreError, OSError):
        database = open_read_only(present)
        try:
            return SqliteState(lambda: database).position
        finally:
            database.close()
    return 0, ""
