"""Repair what an examination found, without losing a byte.

What is damaged is renamed to `<name>.damaged-<n>`, and what can be read of it is saved. The store
itself imports edits of the documented files and writes them again.
"""

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress

from nuggets.domain import times
from nuggets.domain.records import Changes, Commit
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import open_plain, sync_directory, unwritable
from nuggets.stores.doctor.database_defects import derive_rows_again
from nuggets.stores.doctor.defects import (
    DAMAGED_DATABASE,
    DAMAGED_FILE,
    LEFTOVER,
    OPEN_TO_OTHERS,
    WRONG_COLUMNS,
    WRONG_INDEX,
    Defect,
)
from nuggets.stores.doctor.examination import examine
from nuggets.stores.doctor.salvage import salvage
from nuggets.stores.exports.register import GRAPH, forget
from nuggets.stores.process_lock import hold_shelf_lock
from nuggets.stores.set_aside_files import DAMAGED, free_name
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sqlite.bulk_insert import build_indexes, put_commit
from nuggets.stores.sqlite.database import Database, building


def repair(
    directory: str, kinds: Sequence[IndexKind], sync_exports: Callable[[], None]
) -> list[Defect]:
    """Repair what `examine` finds; the same defects, each with what was done.

    `sync_exports`: makes the store import edits of the documented files and write them again.
    """
    defects = examine(directory, kinds)
    if not defects:
        return []
    with hold_shelf_lock(directory):
        for number, defect in enumerate(defects):
            try:
                done = _mend(directory, defect, kinds)
            except OSError as problem:
                raise unwritable(defect.path, problem) from problem
            defects[number] = defect._replace(remedy=done or defect.remedy)
    if all(defect.remedy or not defect.harmful for defect in defects):
        with suppress(StoreError):  # the next examination tells of it
            sync_exports()
    remaining = {(defect.kind, defect.path): defect for defect in examine(directory, kinds)}
    told = [
        defect._replace(mended=remaining.pop((defect.kind, defect.path), None) is None)
        for defect in defects
    ]
    return [*told, *remaining.values()]


def _mend(directory: str, defect: Defect, kinds: Sequence[IndexKind]) -> str:
    """Repair one defect; what was done, where that says more than the remedy."""
    path = defect.path
    if defect.kind == OPEN_TO_OTHERS and os.path.lexists(path):
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
    elif defect.kind == LEFTOVER and os.path.lexists(path):
        os.unlink(path)
    elif defect.kind == DAMAGED_DATABASE:
        return _replace_database(directory, kinds)
    elif defect.kind == DAMAGED_FILE and os.path.lexists(path):
        os.rename(path, free_name(path + DAMAGED))
        _forget_export(directory, path)
    elif defect.kind.startswith((WRONG_COLUMNS, WRONG_INDEX)):
        database = Database(path)
        try:
            database.begin(writing=True)
            derive_rows_again(database, kinds)
            database.commit()
        finally:
            database.close()
    return ""


def _forget_export(directory: str, path: str) -> None:
    """Remove a file from the register, so that it is written again."""
    with suppress(StoreError, OSError):
        database = Database(os.path.join(directory, "nuggets.db"))
        try:
            forget(database, os.path.relpath(path, directory))
        finally:
            database.close()


def _replace_database(directory: str, kinds: Sequence[IndexKind]) -> str:
    """Put a new database in the place of the damaged one, so that there always is one."""
    path = os.path.join(directory, "nuggets.db")
    damaged_path = free_name(path + DAMAGED)
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        os.rename(path, damaged_path)  # a link or a directory: nothing of ours is in it
    with building(path) as database:
        saved = salvage(path, database)
        last = max(saved.last_revision, _exported_revision(directory))
        if last:  # the new revision comes after all that anyone has seen of this shelf
            put_commit(database, Commit(last + 1, times.now(), Changes(action="doctor")))
        build_indexes(database, kinds)
        with suppress(FileNotFoundError):
            os.link(path, damaged_path)
        with suppress(FileNotFoundError):
            os.rename(f"{path}-wal", f"{damaged_path}-wal")
        with suppress(FileNotFoundError):
            os.unlink(f"{path}-shm")
        sync_directory(directory)
    return (
        f"set it aside as {os.path.basename(damaged_path)}; saved {saved.notes} notes and "
        f"{saved.commits} steps of the history; the documented files complete it"
    )


def _exported_revision(directory: str) -> int:
    """The revision that graph.json shows; 0 if there is none."""
    with suppress(OSError, ValueError, IndexError):
        with open(os.path.join(directory, GRAPH), "rb", opener=open_plain) as file:
            head = file.read(200)
        return int(head.split(b'"revision":')[1].split(b",")[0])
    return 0
