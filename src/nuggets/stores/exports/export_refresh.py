"""Refresh the documented files: plan which differ, render them, put them in place."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from nuggets.domain.records import NuggetConfig
from nuggets.domain.sql_interface import Database
from nuggets.domain.state import State
from nuggets.errors import StoreBusy
from nuggets.filesystem.atomic_files import (
    is_leftover,
    private_directory,
    read_if_plain,
    replace_file,
    unwritable,
)
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.export_fingerprints import (
    Checksum,
    Export,
    checksum_of,
    exports,
    size_in,
    status_of,
)
from nuggets.stores.exports.exported_state import Changed, changed_since, moment_of
from nuggets.stores.exports.layout import (
    GRAPH,
    GRAPH_VERSION,
    ExportedRevision,
    begins_with,
    documented_files,
    first_line,
    nugget_file,
    nugget_in,
)
from nuggets.stores.exports.rendering import (
    ChangedNotes,
    Pause,
    encoded_id,
    graph_head,
    graph_parts,
    line_of,
    nugget_text,
    updated_graph_parts,
)

_COARSEST_NS = 2 * 10**9  # the coarsest file time (FAT: 2 s; ext3, HFS+ and NFS: 1 s)
_LEFTOVER_SECONDS = 60.0  # older temporary files have no living writer

# Measured, per note that is encoded and per byte of a file that is written from its old lines, or
# from its facts.
_NOTE_MS = 0.09
_GRAPH_MS = 3e-6
_NUGGET_MS = 3.5e-4


_FEW_CHANGES = 1000  # are always rendered singly
_MOST_SHARE = 0.3  # of the notes


class File(NamedTuple):
    """A file to be put in place: its row, without checksum and status, and its content."""

    row: Export
    content: Iterable[bytes]


class Plan(NamedTuple):
    """What a refresh has to do."""

    exported: ExportedRevision
    files: Mapping[str, os.stat_result]
    recorded: Mapping[str, Export]
    changed: Changed | None  # since the graph that is there; None: all of it is written
    nuggets: Mapping[str, NuggetConfig]  # to be written, by the names of their files
    obsolete: tuple[str, ...]  # files to be removed
    graph: bool

    def is_left_alone(self, name: str) -> bool:
        return name in self.files and bool(self.recorded.get(name, Export(name)).problem)

    @property
    def is_empty(self) -> bool:
        return not (self.graph or self.nuggets or self.obsolete)


def plan_refresh(
    database: Database,
    state: State,
    directory: str,
    exported: ExportedRevision,
    *,
    renew: bool = False,
    whole: bool = False,
) -> Plan:
    """Find out which files must be written or removed.

    `renew`: every file gets the current revision, also if nothing else in it changes.
    `whole`: nothing is copied from the existing files.
    """
    files, recorded, nuggets = documented_files(directory), exports(database), state.nuggets
    changed = (
        None if whole else _changes_since_refresh(database, directory, files, recorded.get(GRAPH))
    )
    names = {nugget_file(config.name): fold for fold, config in nuggets.items()}

    def is_current(name: str) -> bool:
        export = recorded.get(name)
        if name not in files or export is None or not export.is_sound:
            return False
        if renew and export.revision != exported.revision:
            return False
        return changed is not None and names[name] not in changed.nuggets

    plan = Plan(exported, files, recorded, changed, {}, (), False)
    wanted = {
        name: nuggets[fold]
        for name, fold in names.items()
        if not plan.is_left_alone(name) and not is_current(name)
    }
    spelt = {fold: name for name, fold in names.items()}
    obsolete = tuple(
        name
        for name in recorded
        if name != GRAPH
        and name not in names
        and not plan.is_left_alone(name)
        and not _is_same(directory, name, spelt.get(fold_case(nugget_in(name))))
    )
    return plan._replace(nuggets=wanted, obsolete=obsolete, graph=_is_stale(plan))


def is_cheap(database: Database, most: float) -> bool:
    """Can a refresh take at most so many milliseconds? Estimated without reading the changes, and
    without counting more of them than fit: every write asks."""
    graph = exports(database).get(GRAPH)
    if graph is None or graph.edited or not graph.status:
        rows = "notes"
    else:
        rows = f"changes WHERE revision > {graph.revision:d}"
        most -= size_in(graph.status) * _GRAPH_MS
    if most < 0:
        return False
    counted = f"SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT {int(most / _NOTE_MS) + 1}) AS few"
    (count,) = database.execute(counted).fetchone()
    return bool(count * _NOTE_MS <= most)


def milliseconds(plan: Plan) -> float:
    """The estimated time for the nuggets' files, which are rendered from their facts."""
    sizes = (plan.files[name].st_size for name in plan.nuggets if name in plan.files)
    return sum(sizes) * _NUGGET_MS


def _is_stale(plan: Plan) -> bool:
    graph = plan.recorded.get(GRAPH)
    return (
        graph is None
        or GRAPH not in plan.files
        or graph.revision < plan.exported.revision
        or (bool(graph.edited) and not graph.problem)
    )


def _changes_since_refresh(
    database: Database, directory: str, files: Mapping[str, os.stat_result], graph: Export | None
) -> Changed | None:
    """Changes since the last refresh; None if the graph must be rendered as a whole.

    The graph is written last, so its revision holds for all files.
    """
    if graph is None or graph.edited or GRAPH not in files:
        return None
    saved_at = moment_of(database, graph.revision)
    if saved_at is None:
        return None
    exported = ExportedRevision(graph.revision, saved_at, graph.touch)
    if not graph.problem:
        head = first_line(GRAPH_VERSION, exported)
        if graph.status != status_of(files[GRAPH]) or not begins_with(
            os.path.join(directory, GRAPH), head
        ):
            return None
    return None if _is_most_changed(database, exported) else changed_since(database, exported)


def _is_most_changed(database: Database, exported: ExportedRevision) -> bool:
    """After many changes a whole file is as quick, and is rendered without holding all notes."""
    sql = "SELECT count(*) FROM changes WHERE revision > ?"
    (changes,) = database.execute(sql, (exported.revision,)).fetchone()
    if changes < _FEW_CHANGES:
        return False
    (notes,) = database.execute("SELECT count(*) FROM notes").fetchone()
    return bool(changes > notes * _MOST_SHARE)


def render_files(
    directory: str, database: Database, state: State, plan: Plan, pause: Pause
) -> Iterator[File]:
    """The files to be put in place, the graph last: its revision holds for all of them.

    Only a graph that is rendered as a whole reads the database after this function.
    """
    exported = plan.exported
    for name, config in plan.nuggets.items():
        pause()
        facts = state.notes.find(nugget=config.name, kind="fact", hidden=False)
        yield File(_row(name, exported), [nugget_text(config, facts, exported)])
    if plan.graph and not plan.is_left_alone(GRAPH):
        head = graph_head(state, exported)
        if plan.changed is None:
            content = graph_parts(head, state, pause)
        else:
            notes = _changed_notes(database, state, plan.changed, pause)
            content = updated_graph_parts(os.path.join(directory, GRAPH), head, notes, pause)
        yield File(_row(GRAPH, exported), content)


def _row(name: str, exported: ExportedRevision) -> Export:
    return Export(name, exported.revision, exported.touch or 0)


def _changed_notes(
    database: Database, state: State, changed: Changed, pause: Pause
) -> ChangedNotes:
    places = dict(_places(database, changed.notes))
    lines = {}
    for note_id in sorted(places, key=places.__getitem__):
        pause()
        lines[encoded_id(note_id)] = line_of(state.notes[note_id])
    gone = {encoded_id(i) for i in changed.notes if i in changed.dropped or i not in places}
    (count,) = database.execute("SELECT count(*) FROM notes").fetchone()
    return ChangedNotes(lines, gone, count)


def _places(database: Database, notes: Iterable[str]) -> Iterator[tuple[str, int]]:
    for note_id in notes:
        row = database.execute("SELECT place FROM notes WHERE id = ?", (note_id,)).fetchone()
        if row is not None:
            yield note_id, row[0]


def remove_obsolete(directory: str, plan: Plan) -> None:
    """Remove files whose nugget was dropped or renamed, unless someone saved them meanwhile."""
    for name in plan.obsolete:
        path = os.path.join(directory, name)
        try:
            if is_as_recorded(path, plan.recorded.get(name)):
                os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as problem:
            raise unwritable(path, problem) from problem


def _is_same(directory: str, name: str, other_name: str | None) -> bool:
    """Are two spellings one file, as on file systems that ignore case?"""
    with suppress(OSError):
        return other_name is not None and os.path.samefile(
            os.path.join(directory, name), os.path.join(directory, other_name)
        )
    return False


def is_as_recorded(path: str, recorded: Export | None) -> bool:
    """Is the file the recorded one, or is there none?

    Its content decides if its status differs: sweeping a second name of it changes its time.
    """
    try:
        status = status_of(os.lstat(path))
        if recorded is None or recorded.status == status:
            return recorded is not None
        return checksum_of(read_if_plain(path)) == recorded.checksum
    except (FileNotFoundError, NotADirectoryError):
        return True


def place_file(directory: str, file: File, last_look: Callable[[Export], None]) -> Export:
    """Put a file in place; its row with checksum and status. Not synced: the database is the truth.

    `last_look` is called before the rename and may raise an error. The file is dated back, so that
    a save within the same tick of the clock gets another time.
    """
    row, checksum = file.row, Checksum()
    path = os.path.join(directory, row.name)
    private_directory(os.path.dirname(path))
    written = replace_file(
        path,
        map(checksum.add, file.content),
        durable=False,
        mtime_ns=time.time_ns() - _COARSEST_NS,
        last_look=lambda: last_look(row._replace(checksum=str(checksum))),
        spares_writers=True,
    )
    row = row._replace(checksum=str(checksum))
    with suppress(FileNotFoundError):
        status = os.lstat(path)
        same = (written.st_ino, written.st_size, written.st_mtime_ns)
        if (
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
        ) == same:  # else someone saved at once
            return row._replace(status=status_of(status))
    return row


def refuse_unknown(directory: str, plan: Plan, row: Export) -> None:
    """Raise an error if someone saved the file meanwhile: that edit is imported first."""
    path = os.path.join(directory, row.name)
    if not is_as_recorded(path, plan.recorded.get(row.name)):
        raise StoreBusy(f"{path} was saved by someone just now; that edit is imported first")


def sweep(directory: str) -> None:
    """Remove files that dead writers left unfinished."""
    before = time.time() - _LEFTOVER_SECONDS
    for subfolder in ("", os.path.dirname(GRAPH), "backups", os.path.join("hooks", "repositories")):
        folder = os.path.join(directory, subfolder)
        with suppress(OSError):
            for name in filter(is_leftover, os.listdir(folder)):
                path = os.path.join(folder, name)
                if os.lstat(path).st_mtime < before:
                    os.unlink(path)
