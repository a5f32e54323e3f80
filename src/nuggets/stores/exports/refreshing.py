"""Bringing the documented files up to date: only those that would say something else now."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from nuggets.errors import StoreBusy
from nuggets.files import is_leftover, private_directory, replace_file, unwritable
from nuggets.records import NuggetConfig
from nuggets.sql import Database
from nuggets.state import State
from nuggets.stores.exports.changed import Changed, changed_since
from nuggets.stores.exports.layout import (
    GRAPH,
    GRAPH_VERSION,
    Shown,
    begins_with,
    documented_files,
    first_line,
    nugget_file,
    nugget_in,
)
from nuggets.stores.exports.past import moment_of
from nuggets.stores.exports.register import Checksum, Export, exports, size_in, status_of
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
from nuggets.text import folded

_COARSEST_NS = 2 * 10**9  # what the clocks of file systems tell apart (FAT; ext3, HFS+ and NFS: 1)
_LEFTOVER_SECONDS = 60.0  # nobody who is writing an export pauses that long

# Measured, per note that is encoded and per byte of a file that is written from its old lines, or
# from its facts.
_NOTE_MS = 0.09
_GRAPH_MS = 3e-6
_NUGGET_MS = 3.5e-4


class File(NamedTuple):
    """A file to be put in place: its row, without checksum and status, and its content."""

    row: Export
    content: Iterable[bytes]


class Plan(NamedTuple):
    """What a refresh has to do."""

    shown: Shown
    files: Mapping[str, os.stat_result]
    known: Mapping[str, Export]
    changed: Changed | None  # since the graph that is there; None: all of it is written
    nuggets: Mapping[str, NuggetConfig]  # to be written, by the names of their files
    gone: tuple[str, ...]  # files to be removed
    graph: bool

    def is_left_alone(self, name: str) -> bool:
        return name in self.files and bool(self.known.get(name, Export(name)).problem)

    @property
    def is_empty(self) -> bool:
        return not (self.graph or self.nuggets or self.gone)


def planned(
    database: Database,
    state: State,
    directory: str,
    shown: Shown,
    *,
    renew: bool = False,
    whole: bool = False,
) -> Plan:
    """`renew`: every file is to show the revision now, also if it would say nothing else.
    `whole`: nothing is taken over from the files that are there."""
    files, known, nuggets = documented_files(directory), exports(database), state.nuggets
    changed = None if whole else _changed(database, directory, files, known.get(GRAPH))
    names = {nugget_file(config.name): fold for fold, config in nuggets.items()}

    def is_current(name: str) -> bool:
        export = known.get(name)
        if name not in files or export is None or not export.is_sound:
            return False
        if renew and export.revision != shown.revision:
            return False
        return changed is not None and names[name] not in changed.nuggets

    plan = Plan(shown, files, known, changed, {}, (), False)
    wanted = {
        name: nuggets[fold]
        for name, fold in names.items()
        if not plan.is_left_alone(name) and not is_current(name)
    }
    spelt = {fold: name for name, fold in names.items()}
    gone = tuple(
        name
        for name in known
        if name != GRAPH
        and name not in names
        and not plan.is_left_alone(name)
        and not _is_same(directory, name, spelt.get(folded(nugget_in(name))))
    )
    return plan._replace(nuggets=wanted, gone=gone, graph=_is_stale(plan))


def is_cheap(database: Database, most: float) -> bool:
    """Might a refresh take no longer than that? Found out without looking what has changed."""
    graph = exports(database).get(GRAPH)
    if graph is None or graph.edited or not graph.status:
        (notes,) = database.execute("SELECT count(*) FROM notes").fetchone()
        return bool(notes * _NOTE_MS <= most)
    sql = "SELECT count(*) FROM changes WHERE revision > ?"
    (changes,) = database.execute(sql, (graph.revision,)).fetchone()
    return bool(size_in(graph.status) * _GRAPH_MS + changes * _NOTE_MS <= most)


def milliseconds(plan: Plan) -> float:
    """About how long the nuggets' files take, which are written from their facts."""
    sizes = (plan.files[name].st_size for name in plan.nuggets if name in plan.files)
    return sum(sizes) * _NUGGET_MS


def _is_stale(plan: Plan) -> bool:
    graph = plan.known.get(GRAPH)
    return (
        graph is None
        or GRAPH not in plan.files
        or graph.revision < plan.shown.revision
        or (bool(graph.edited) and not graph.problem)
    )


def _changed(
    database: Database, directory: str, files: Mapping[str, os.stat_result], graph: Export | None
) -> Changed | None:
    """Since the last refresh. The graph is written last, so it says how far all files are."""
    if graph is None or graph.edited or GRAPH not in files:
        return None
    saved_at = moment_of(database, graph.revision)
    if saved_at is None:
        return None
    shown = Shown(graph.revision, saved_at, graph.touch)
    if not graph.problem:
        head = first_line(GRAPH_VERSION, shown)
        if graph.status != status_of(files[GRAPH]) or not begins_with(
            os.path.join(directory, GRAPH), head
        ):
            return None
    return changed_since(database, shown)


def rendered(
    directory: str, database: Database, state: State, plan: Plan, pause: Pause
) -> Iterator[File]:
    """The files to be put in place. The graph comes last: it says how far all of them are.

    Only a graph that is written as a whole is still read from the database after this.
    """
    shown = plan.shown
    for name, config in plan.nuggets.items():
        pause()
        facts = state.notes.find(nugget=config.name, kind="fact", hidden=False)
        yield File(_row(name, shown), [nugget_text(config, facts, shown)])
    if plan.graph and not plan.is_left_alone(GRAPH):
        head = graph_head(state, shown)
        if plan.changed is None:
            content = graph_parts(head, state, pause)
        else:
            notes = _changed_notes(database, state, plan.changed, pause)
            content = updated_graph_parts(os.path.join(directory, GRAPH), head, notes, pause)
        yield File(_row(GRAPH, shown), content)


def _row(name: str, shown: Shown) -> Export:
    return Export(name, shown.revision, shown.touch or 0)


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


def remove_gone(directory: str, plan: Plan) -> None:
    """Files whose nugget is gone or spelt otherwise, unless they were saved since we looked."""
    for name in plan.gone:
        path = os.path.join(directory, name)
        try:
            if is_as_recorded(path, plan.known.get(name)):
                os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as problem:
            raise unwritable(path, problem) from problem


def _is_same(directory: str, name: str, other: str | None) -> bool:
    """Where case makes no difference, two spellings are one file."""
    with suppress(OSError):
        return other is not None and os.path.samefile(
            os.path.join(directory, name), os.path.join(directory, other)
        )
    return False


def is_as_recorded(path: str, known: Export | None) -> bool:
    """Is a file still the one that we know, or is there none that could be overwritten?"""
    try:
        status = status_of(os.lstat(path))
        return known is not None and known.status == status
    except (FileNotFoundError, NotADirectoryError):
        return True


def placed(directory: str, file: File, last_look: Callable[[Export], None]) -> Export:
    """Put a file in place, and its row as it is then. Not synced: the database is what counts.

    `last_look` may still refuse when all is written. The file is dated a little back: a save in
    the same tick of the clock would look like ours.
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
    )
    row = row._replace(checksum=str(checksum))
    with suppress(FileNotFoundError):
        found = os.lstat(path)
        same = (written.st_ino, written.st_size, written.st_mtime_ns)
        if (found.st_ino, found.st_size, found.st_mtime_ns) == same:  # else someone saved at once
            return row._replace(status=status_of(found))
    return row


def refuse_unknown(directory: str, plan: Plan, row: Export) -> None:
    """What someone saved while we were writing is taken in first."""
    path = os.path.join(directory, row.name)
    if not is_as_recorded(path, plan.known.get(row.name)):
        raise StoreBusy(f"{path} was saved by someone just now; it will be taken in first")


def sweep(directory: str) -> None:
    """Remove files that dead writers left unfinished."""
    before = time.time() - _LEFTOVER_SECONDS
    for folder in (directory, os.path.join(directory, os.path.dirname(GRAPH))):
        with suppress(OSError):
            for name in filter(is_leftover, os.listdir(folder)):
                path = os.path.join(folder, name)
                if os.lstat(path).st_mtime < before:
                    os.unlink(path)
