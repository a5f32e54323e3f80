"""What a doctor looks at in a shelf's directory, and how it is mended without losing a byte.

`examine` only looks. `repair` sets what is damaged aside as `<name>.damaged-<n>` and goes on from
what can be read of it. Taking in the documented files is left to the store.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from nuggets import times
from nuggets.errors import StoreError
from nuggets.files import is_leftover, sync_directory, unwritable
from nuggets.records import Changes, Commit
from nuggets.stores import moving_in
from nuggets.stores.base import IndexKind
from nuggets.stores.defects import Defect, aside
from nuggets.stores.exports.examination import (
    DAMAGED_FILE,
    documented_defects,
    forget_export,
)
from nuggets.stores.lock import locked
from nuggets.stores.moving_in.journal import Journal
from nuggets.stores.sqlite.database import Database, building, refuse_orphaned_log
from nuggets.stores.sqlite.examination import DAMAGED, damaged, database_defects, derive_again
from nuggets.stores.sqlite.filling import build_indexes, put_commit
from nuggets.stores.sqlite.salvage import salvage

LOCK_SECONDS = 10.0
OPEN, LEFTOVER, JOURNAL = "open to others", "leftover", "damaged journal"
_OURS = ("nuggets.", "recalls", "graph", "backups", "replaced-", moving_in.JOURNAL)


def examine(directory: str, kinds: Sequence[IndexKind]) -> list[Defect]:
    """Everything that is not in order; nothing is changed."""
    if not os.path.isdir(directory):
        return []
    database = list(_database(directory, kinds))
    files = documented_defects(directory)
    if any(defect.kind == DAMAGED for defect in database):  # which files are ours, it would say
        files = (defect for defect in files if defect.harmful)
    return [
        *database,
        *files,
        *_journal(directory),
        *_links(directory),
        *_leftovers(directory),
        *_open_modes(directory),
    ]


def repair(directory: str, kinds: Sequence[IndexKind], settle: Callable[[], None]) -> list[Defect]:
    """Mend what `examine` finds, under the lock; the same findings, marked with what is done.

    `settle`: has the store take in and export the documented files.
    """
    found = examine(directory, kinds)
    if not found:
        return []
    with locked(os.path.join(directory, "nuggets.lock"), LOCK_SECONDS):
        for number, defect in enumerate(found):
            try:
                done = _mend(directory, defect, kinds)
            except OSError as problem:
                raise unwritable(defect.path, problem) from problem
            found[number] = defect._replace(remedy=done or defect.remedy)
    if all(defect.remedy or not defect.harmful for defect in found):
        settle()
    left = {(defect.kind, defect.path) for defect in examine(directory, kinds)}
    return [one._replace(mended=(one.kind, one.path) not in left) for one in found]


def _mend(directory: str, defect: Defect, kinds: Sequence[IndexKind]) -> str:
    """What was done, where that says more than the remedy."""
    path = defect.path
    if defect.kind == OPEN and os.path.lexists(path):
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
    elif defect.kind == LEFTOVER and os.path.lexists(path):
        os.unlink(path)
    elif defect.kind == DAMAGED:
        return _replace_damaged(directory, kinds)
    elif defect.kind == DAMAGED_FILE and os.path.lexists(path):
        os.rename(path, aside(path))
        forget_export(directory, path)
    elif defect.kind == JOURNAL:
        from nuggets.stores.moving_in.move import move_in

        move_in(directory, kinds, salvage=True)
    elif defect.kind.startswith("wrong "):
        database = Database(path)
        try:
            database.begin(writing=True)
            derive_again(database, kinds)
            database.commit()
        finally:
            database.close()
    return ""


# --- the database -----------------------------------------------------------------------------


def _database(directory: str, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    path = os.path.join(directory, "nuggets.db")
    try:
        refuse_orphaned_log(path)
    except StoreError as problem:
        yield damaged(path, str(problem))
    if os.path.lexists(path):
        yield from database_defects(path, kinds)


def _replace_damaged(directory: str, kinds: Sequence[IndexKind]) -> str:
    """At every moment there is a database: the new one takes the place of the old."""
    path = os.path.join(directory, "nuggets.db")
    kept = aside(path)
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        os.rename(path, kept)  # a link or a directory: nothing of ours is in it
    with building(path) as database:
        saved = salvage(path, database)
        last = max(saved.last_revision, _exported_revision(directory))
        if last:  # what anyone has seen of this shelf comes before
            now = Commit(last + 1, times.now(), Changes(action="doctor"))
            put_commit(database, now)
        build_indexes(database, kinds, lambda text: None)
        with suppress(FileNotFoundError):
            os.link(path, kept)
        with suppress(FileNotFoundError):
            os.rename(f"{path}-wal", f"{kept}-wal")
        with suppress(FileNotFoundError):
            os.unlink(f"{path}-shm")
        sync_directory(directory)
    return (
        f"set it aside as {os.path.basename(kept)}; saved {saved.notes} notes and {saved.commits} "
        "steps of the history; the documented files complete it"
    )


def _exported_revision(directory: str) -> int:
    """The revision that graph.json says it shows; 0 if it says none."""
    with suppress(OSError, ValueError, IndexError):
        with open(os.path.join(directory, "graph", "graph.json"), "rb") as file:
            head = file.read(200)
        return int(head.split(b'"revision":')[1].split(b",")[0])
    return 0


# --- what lies around -------------------------------------------------------------------------


def _journal(directory: str) -> Iterator[Defect]:
    """The files of the version before the database."""
    journal = os.path.join(directory, moving_in.JOURNAL)
    if moving_in.is_needed(directory):
        try:
            Journal(journal).load()
        except StoreError as problem:
            remedy = "move all that can be read into nuggets.db, and keep the files aside"
            yield Defect(JOURNAL, journal, str(problem), remedy, harmful=True)
    elif os.path.isdir(journal):
        why = "an earlier version of Nuggets wrote it after its memory had moved to nuggets.db"
        way = f"{why}; stop that program, copy the directory and `nuggets import` it"
        yield Defect("second journal", journal, way, "", harmful=True)
    for name in sorted(os.listdir(directory)):
        if name.startswith(moving_in.SET_ASIDE):
            why = "the files of an earlier version; all they hold is in nuggets.db. Remove them"
            path = os.path.join(directory, name)
            yield Defect("old journal", path, f"{why} when you like", "", harmful=False)


def _links(directory: str) -> Iterator[Defect]:
    """Nothing is written through them; only who made them knows where they should lead."""
    for name in ("nuggets.lock", "recalls.jsonl", "nuggets.db-wal", "nuggets.db-shm"):
        path = os.path.join(directory, name)
        if os.path.islink(path):
            where = f"it is a link to {os.readlink(path)}"
            problem = f"{where}, which is not written to; move it away, or put the file back"
            yield Defect("link", path, problem, "", harmful=True)


def _leftovers(directory: str) -> Iterator[Defect]:
    for path in _ours(directory):
        name = os.path.basename(path)
        for ending in ("-copy", "-wal", "-shm", "-journal"):
            name = name.removesuffix(ending)
        if is_leftover(name.removesuffix("-copy")) and not os.path.isdir(path):
            problem = "a writer died before it was finished"
            yield Defect(LEFTOVER, path, problem, "delete it", harmful=False)


def _open_modes(directory: str) -> Iterator[Defect]:
    for path in (directory, *_ours(directory)):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            continue  # put in place while we looked
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & 0o077:
            problem = f"others may use it ({stat.S_IMODE(mode):o})"
            yield Defect(OPEN, path, problem, "make it private", harmful=False)


def _ours(directory: str) -> Iterator[str]:
    """Files and directories that belong to the shelf."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.startswith(_OURS) or "nugget.json" in name:
            yield path
            if os.path.isdir(path) and not os.path.islink(path):
                with suppress(OSError):
                    yield from (os.path.join(path, one) for one in sorted(os.listdir(path)))
