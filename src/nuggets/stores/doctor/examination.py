"""Examine a shelf's directory: the database, the documented files, and leftover files."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress

from nuggets.domain.records import Defect
from nuggets.errors import StoreBusy, StoreError
from nuggets.filesystem.atomic_files import full_disk, has_living_writer, is_leftover
from nuggets.filesystem.shelf_location import sync_program
from nuggets.stores.backup import REPLACED
from nuggets.stores.doctor.database_defects import (
    DAMAGED_DATABASE,
    damaged_database,
    find_database_defects,
)
from nuggets.stores.exports.edits import parse_edit, read_settled
from nuggets.stores.exports.register import (
    GRAPH,
    Export,
    changed_files,
    documented_files,
    exports,
    status_of,
)
from nuggets.stores.exports.write import checksum_of
from nuggets.stores.process_lock import hold_shelf_lock
from nuggets.stores.sql.history import believed_time
from nuggets.stores.sql.row_format import DAMAGE
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import reading_file, refuse_orphaned_log

DAMAGED_FILE = "damaged file"
LEFTOVER = "leftover"
OPEN_TO_OTHERS = "open to others"
LEAST_FREE = 1 << 20  # bytes: with less, a write of some size fails
_LOCK_SECONDS = 1.0  # files are put in place in less
_OUR_NAMES = ("nuggets.", "recalls", "graph", "backups", REPLACED)  # their beginnings


def examine(directory: str, kinds: Sequence[IndexKind]) -> list[Defect]:
    """Everything that is not in order; nothing is changed."""
    if not os.path.isdir(directory):
        return []
    database = list(_examine_database(directory, kinds))
    files = _find_export_defects(directory)
    if any(defect.kind == DAMAGED_DATABASE for defect in database):
        files = (defect for defect in files if defect.harmful)  # no register tells edits apart
    return [
        *database,
        *files,
        *_find_clock_jump(directory),
        *_find_full_disk(directory),
        *_find_sync_program(directory),
        *_find_other_files(directory),
        *_find_leftovers(directory),
        *_find_open_modes(directory),
    ]


def _examine_database(directory: str, kinds: Sequence[IndexKind]) -> Iterator[Defect]:
    path = os.path.join(directory, "nuggets.db")
    try:
        refuse_orphaned_log(path)
    except StoreError as problem:
        yield damaged_database(path, str(problem))
    if os.path.lexists(path):
        yield from find_database_defects(path, kinds)


def _find_export_defects(directory: str) -> Iterator[Defect]:
    """Files that cannot be read, and those that someone edited; nothing is changed."""
    graph = os.path.join(directory, os.path.dirname(GRAPH))
    if os.path.lexists(graph) and not os.path.isdir(graph):
        reason = "a file stands where a directory should be"
        yield Defect(DAMAGED_FILE, graph, reason, "set it aside", harmful=False)
    recorded, files = _read_register(directory), documented_files(directory)
    if changed_files(files, recorded):  # or another process was just putting them in place
        with suppress(StoreError), hold_shelf_lock(directory, _LOCK_SECONDS):
            recorded, files = _read_register(directory), documented_files(directory)
    refused = [name for name in files if name in recorded and recorded[name].problem]
    for name in dict.fromkeys([*refused, *changed_files(files, recorded)]):
        path = os.path.join(directory, name)
        try:
            file = read_settled(path)
            if name not in recorded or recorded[name].checksum != checksum_of(file.content):
                parse_edit(directory, name, file)
                if name in refused and recorded[name].status == status_of(file.status):
                    raise StoreError(recorded[name].problem)
                reason = "edited or copied by someone; the next command imports what is new"
                yield Defect("edited file", path, reason, "import it", harmful=False)
        except StoreBusy:
            continue  # someone is saving it: it will show the next time
        except StoreError as problem:
            remedy = "set it aside, and write it again from the database"
            yield Defect(DAMAGED_FILE, path, str(problem), remedy, harmful=True)


def _read_register(directory: str) -> dict[str, Export]:
    """The recorded exports; none if the database cannot be read."""
    path = os.path.join(directory, "nuggets.db")
    with suppress(StoreError, OSError, *DAMAGE), reading_file(path) as database:
        return exports(database)
    return {}


def _find_sync_program(directory: str) -> Iterator[Defect]:
    """A database that a program copies while it is open arrives damaged elsewhere."""
    if program := sync_program(directory):
        problem = (
            f"it lies in a folder that {program} copies to other machines, which damages an open "
            "database. Move the shelf elsewhere (NUGGETS_DIR), and use `nuggets pair` with a "
            "folder there"
        )
        yield Defect("copied database", directory, problem, "", harmful=False)


def _find_clock_jump(directory: str) -> Iterator[Defect]:
    """Dates of the last changes that lie far after all others; only a person knows why."""
    path = os.path.join(directory, "nuggets.db")
    with suppress(StoreError, OSError, *DAMAGE), reading_file(path) as database:
        last = SqlState(lambda: database).position[1]
        believed = believed_time(database, last) if last else last
        if believed != last:
            problem = (
                f"the changes before {believed[:10]} and after it lie far apart: was the clock "
                "wrong? Until there are changes on some more days, the history is kept as if no "
                "time had passed"
            )
            yield Defect("clock", path, problem, "", harmful=False)


def _find_full_disk(directory: str) -> Iterator[Defect]:
    full = full_disk(directory, LEAST_FREE)
    if full:
        problem = f"its disk has {full}; little or nothing can be stored until you free some"
        yield Defect("full disk", directory, problem, "", harmful=True)


def _find_other_files(directory: str) -> Iterator[Defect]:
    """Links, pipes and directories in the place of our files: only who made them knows why."""
    files = ("nuggets.lock", "recalls.jsonl", "nuggets.db-wal", "nuggets.db-shm", "token", "graph")
    for name in files:
        path = os.path.join(directory, name)
        if os.path.islink(path):
            kind, what = "link", f"a link to {os.readlink(path)}, which is not written to"
        elif name != "graph" and os.path.exists(path) and not os.path.isfile(path):
            kind, what = "no file", "no plain file, and one belongs there"
        else:
            continue
        problem = f"it is {what}; move it away, or put the file back"
        yield Defect(kind, path, problem, "", harmful=True)


def _find_leftovers(directory: str) -> Iterator[Defect]:
    """Temporary files of writers that died."""
    for path in _our_paths(directory):
        name = os.path.basename(path)
        if is_leftover(name) and not os.path.isdir(path) and not has_living_writer(name):
            problem = "a writer died before it was finished"
            yield Defect(LEFTOVER, path, problem, "delete it", harmful=False)


def _find_open_modes(directory: str) -> Iterator[Defect]:
    """Files and directories that other users may read or write."""
    for path in (directory, *_our_paths(directory)):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            continue  # removed while we looked
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & 0o077:
            problem = f"others may use it ({stat.S_IMODE(mode):o})"
            yield Defect(OPEN_TO_OTHERS, path, problem, "make it private", harmful=False)


def _our_paths(directory: str) -> Iterator[str]:
    """Files and directories that belong to the shelf."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.startswith(_OUR_NAMES) or "nugget.json" in name:
            yield path
            if os.path.isdir(path) and not os.path.islink(path):
                with suppress(OSError):
                    yield from (os.path.join(path, child) for child in sorted(os.listdir(path)))
