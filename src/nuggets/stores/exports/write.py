"""Write the documented files: whole, under a temporary name, then in place under the lock.

The first line has the revision that a file shows, the time of that revision, and the number of the
last recall that it counts. An edit is compared with what its author saw, which is that revision.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from operator import attrgetter
from typing import Any
from zlib import crc32

from nuggets.domain import codec, times
from nuggets.domain.records import MemoryNote, NuggetConfig
from nuggets.domain.state import Database as AnyDatabase
from nuggets.errors import InvalidInput, StoreError
from nuggets.filesystem.atomic_files import (
    file_identity,
    is_leftover,
    private_directory,
    read_if_plain,
    unwritable,
    write_beside,
)
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.register import (
    GRAPH,
    Export,
    documented_files,
    exports,
    forget,
    nugget_file,
    record,
    refuse_link,
    status_of,
)
from nuggets.stores.sql.state import SqlNotes, SqlState
from nuggets.stores.sqlite.database import Database, explain_errors

_COARSEST_NS = 2 * 10**9  # the coarsest file time (FAT: 2 s; ext3, HFS+ and NFS: 1 s)
_LEFTOVER_SECONDS = 60.0  # older temporary files have no living writer


# --- a refresh --------------------------------------------------------------------------------


class _Rendered(NamedTuple):
    """A file that waits under a temporary name, and its row without a status."""

    temporary: str
    row: Export


def refresh(
    database: Database,
    lock: Callable[[], AbstractContextManager[object]] | None,
    *,
    renew: bool = False,
) -> None:
    """Write every file that differs from the database, on a connection that nobody else uses.

    Others may read and write meanwhile; `lock` keeps them from it while files are put in place.
    None: the caller holds it. `renew`: every file gets the current revision, also if nothing else
    in it changes.
    """
    path, directory = database.path, os.path.dirname(database.path)
    file = file_identity(path)
    waiting: list[_Rendered] = []
    try:
        with explain_errors(path):
            database.set_durable(False)
            database.begin(writing=lock is None)
            exported, fields, recorded = read_current(database)
            if not exported.revision:
                return
            files = _Files(documented_files(directory), recorded, exported.revision, renew)
            state, names = SqlState(lambda: database), []
            for config, facts in state.nuggets_with_facts():
                name = nugget_file(config.name)
                names.append(name)
                if files.must_be_written(name):
                    text = nugget_text(config, facts, exported)
                    if not files.is_current(name, checksum_of(text)):
                        waiting.append(_write(directory, name, exported, [text]))
            if files.must_be_written(GRAPH):
                known = None if renew else files.recorded.get(GRAPH)
                parts = graph_parts(exported, fields, _graph_lines(directory, state.notes, known))
                waiting.append(_write(directory, GRAPH, exported, parts))
            if lock is None:
                _place(database, directory, waiting, exported, names, recorded)
            else:
                database.rollback()  # a reader keeps the database's log from being truncated
                with lock():
                    if file_identity(path) != file:
                        raise StoreError(f"{path} was replaced; its files are written by others")
                    database.begin(writing=True)
                    _place(database, directory, waiting, exported, names, exports(database))
            _sweep(directory)
    finally:
        database.rollback()
        database.set_durable(True)
        for rendered in waiting:
            with suppress(OSError):  # most are in place
                os.unlink(rendered.temporary)


class _Files(NamedTuple):
    """The files that are there, and how they were recorded."""

    status: Mapping[str, os.stat_result]
    recorded: Mapping[str, Export]
    revision: int  # that they are to show
    renew: bool

    def must_be_written(self, name: str) -> bool:
        """Does it show another revision, and may it be replaced?"""
        row = self.recorded.get(name)
        is_left_alone = name in self.status and row is not None and row.problem
        return not is_left_alone and not self.is_current(name)

    def is_current(self, name: str, checksum: str | None = None) -> bool:
        """Does the file show this revision, or say the same, if that is enough?"""
        row = self.recorded.get(name)
        if row is None or not row.is_sound or name not in self.status:
            return False
        return row.revision == self.revision or (not self.renew and row.checksum == checksum)


def _graph_lines(
    directory: str, notes: SqlNotes, row: Export | None
) -> Iterator[bytes | memoryview]:
    """The lines of all notes. Of notes that are as they were when we wrote the file, its lines, as
    many at once as stand together: most notes are, and to read and render one takes a hundred times
    as long."""
    content = read_if_plain(os.path.join(directory, GRAPH)) if row and row.is_sound else b""
    if row is None or not content or checksum_of(content) != row.checksum:
        yield from map(note_line, notes.values())
        return
    lines, begin, end = lines_by_id(content), 0, 0
    for note_id, changed, *recalls in notes.rows_since(row.revision, row.touch):
        line = lines.get(note_id) if changed is None else None
        if line is not None and line.start == end + len(_NEXT_NOTE):
            end = line.stop
            continue
        if end:
            yield memoryview(content)[begin:end]
        begin, end = (line.start, line.stop) if line is not None else (0, 0)
        if line is None:
            note = None if changed is None else notes.read(note_id, changed, *recalls)
            yield note_line(note or notes[note_id])
    if end:
        yield memoryview(content)[begin:end]


def _write(
    directory: str, name: str, exported: ExportedRevision, parts: Iterable[bytes | memoryview]
) -> _Rendered:
    """Write a file under a temporary name. Not synced: the database is the truth. It is dated back,
    so that a save within the same tick of the clock gets another time."""
    path, checksum = os.path.join(directory, name), Checksum()
    refuse_link(directory, name)
    private_directory(os.path.dirname(path))
    mtime_ns = time.time_ns() - _COARSEST_NS
    temporary = write_beside(path, map(checksum.add, parts), durable=False, mtime_ns=mtime_ns)
    row = Export(name, exported.revision, exported.touch or 0, str(checksum))
    return _Rendered(temporary, row)


def _place(
    database: Database,
    directory: str,
    waiting: Iterable[_Rendered],
    exported: ExportedRevision,
    names: Collection[str],
    recorded: Mapping[str, Export],
) -> None:
    """Put files in place and record them, unless someone saved one meanwhile or wrote a newer one;
    remove those of nuggets that are gone. Inside a transaction, which is committed."""
    replaced: list[tuple[str, str, os.stat_result, Export]] = []
    rows: dict[str, Export] = {}
    try:
        for temporary, row in waiting:
            known, path = recorded.get(row.name), os.path.join(directory, row.name)
            before = _status_at(path)
            if known is not None and known.is_sound and known.revision > row.revision:
                continue
            if not _is_as_recorded(path, before, known):
                continue
            if before is not None and known is not None:
                with suppress(OSError):  # not every file system has links
                    os.link(path, f"{temporary}-copy")
                    replaced.append((path, f"{temporary}-copy", before, known))
            rows[row.name] = row._replace(status=_replace(temporary, path))
        _remove_obsolete(database, directory, recorded, names)
        graph = recorded.get(GRAPH)
        if graph is not None and graph.problem and graph.revision < exported.revision:
            # It is left alone; its row says how far the other files are.
            touch = exported.touch or 0
            rows[GRAPH] = graph._replace(revision=exported.revision, touch=touch)
    finally:  # also after an error: some are in place
        for path, copy, before, known in replaced:
            if _put_back_if_saved(path, copy, before):
                rows[known.name] = known
        record(database, rows.values())
        database.commit()


def _replace(temporary: str, path: str) -> str:
    """Put a file in place; its status, or "" if someone saved another at once."""
    try:
        written = os.lstat(temporary)
        os.replace(temporary, path)
        status = os.lstat(path)
    except OSError as problem:
        raise unwritable(path, problem) from problem
    fields = ("st_ino", "st_size", "st_mtime_ns")
    is_same = all(getattr(status, field) == getattr(written, field) for field in fields)
    return status_of(status) if is_same else ""


def _put_back_if_saved(path: str, copy: str, before: os.stat_result) -> bool:
    """A program may have opened the old file just before we replaced it, and save it just after:
    then that one stays. Whether it does."""
    with suppress(OSError):
        status = os.lstat(copy)
        if (status.st_size, status.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            os.replace(copy, path)
            return True
        os.unlink(copy)
    return False


def _status_at(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise unwritable(path, problem) from problem


def _is_as_recorded(path: str, status: os.stat_result | None, known: Export | None) -> bool:
    """Is the file the recorded one, or is there none? Its content decides if its status differs: a
    copy has another one, and so has a file of which a second name was removed."""
    if status is None or known is None:
        return status is None
    return known.status == status_of(status) or known.checksum == checksum_of(read_if_plain(path))


def _remove_obsolete(
    database: Database, directory: str, recorded: Mapping[str, Export], names: Collection[str]
) -> None:
    """Remove files whose nugget was dropped or renamed, unless someone saved them meanwhile."""
    spellings = {fold_case(name): name for name in names}
    for name in recorded.keys() - {GRAPH, *names}:
        path = os.path.join(directory, name)
        status = _status_at(path)
        if status is not None:
            if recorded[name].problem or _is_same_file(
                path, directory, spellings.get(fold_case(name))
            ):
                continue
            if _is_as_recorded(path, status, recorded[name]):
                try:
                    os.unlink(path)
                except OSError as problem:
                    raise unwritable(path, problem) from problem
        forget(database, name)


def _is_same_file(path: str, directory: str, name: str | None) -> bool:
    """Are two spellings one file, as on file systems that ignore case?"""
    with suppress(OSError):
        return name is not None and os.path.samefile(path, os.path.join(directory, name))
    return False


def _sweep(directory: str) -> None:
    """Remove files that dead writers left unfinished."""
    before = time.time() - _LEFTOVER_SECONDS
    for subfolder in ("", os.path.dirname(GRAPH), "backups", os.path.join("hooks", "repositories")):
        folder = os.path.join(directory, subfolder)
        with suppress(OSError):
            for name in filter(is_leftover, os.listdir(folder)):
                path = os.path.join(folder, name)
                if os.lstat(path).st_mtime < before:
                    os.unlink(path)


# --- what they show ---------------------------------------------------------------------------


# As documented.
GRAPH_VERSION = 3
NUGGET_VERSION = 4
GRAPH_FIELDS = "graph.json"  # the mark that keeps unknown fields beside the notes
FIRST_BYTES = b'{"version":'  # of every export
_REVISION_FIELDS = (b'"revision":', b'"recalls":')  # the first and the last in the first line
_HEAD_BYTES = 512  # version, revision, time and recalls always fit
_BEFORE_NOTES, _BEFORE_ID, _AFTER_NOTES = b',"notes":[', b'{"id":"', b"\n]}\n"
_NEXT_NOTE = b",\n"


class ExportedRevision(NamedTuple):
    """What an export shows: a revision, its time, and all recalls up to a number."""

    revision: int
    saved_at: str
    touch: int | None = None  # None: an export for others, or its author removed that field


def read_current(database: AnyDatabase) -> tuple[ExportedRevision, str, dict[str, Export]]:
    """What an export shows that is made now; the graph's fields beside the notes, as JSON; and the
    register. All in one statement."""
    rows = database.execute(
        "SELECT k.revision, k.at, (SELECT max(number) FROM touches),"
        f" (SELECT value FROM marks WHERE name = ?), {', '.join(f'e.{n}' for n in Export._fields)}"
        " FROM (SELECT revision, at FROM commits ORDER BY revision DESC LIMIT 1) k"
        " LEFT JOIN exports e ON TRUE",
        (GRAPH_FIELDS,),
    ).fetchall()
    revision, at, touch, fields = rows[0][:4] if rows else (0, "", 0, None)
    recorded = {row[4]: Export(*row[4:]) for row in rows if row[4] is not None}
    return ExportedRevision(revision, at, touch or 0), fields or "{}", recorded


# --- their first line -------------------------------------------------------------------------


def _head(version: int, exported: ExportedRevision) -> str:
    revision, saved_at, touch = exported
    fields = {"version": version, "revision": revision, "savedAt": saved_at, "recalls": touch}
    return codec.dumps({name: value for name, value in fields.items() if value is not None})[:-1]


def read_exported_revision(fields: Mapping[str, Any]) -> ExportedRevision | None:
    """What a file shows according to its fields; None if they do not say."""
    revision, saved_at, touch = (fields.get(name) for name in ("revision", "savedAt", "recalls"))
    if type(revision) is not int or revision < 1 or not isinstance(saved_at, str):
        return None
    try:
        saved_at = times.normalize_time(saved_at)
    except InvalidInput:
        return None
    return ExportedRevision(revision, saved_at, touch if type(touch) is int else None)


# --- their bytes ------------------------------------------------------------------------------


def nugget_text(
    config: NuggetConfig, facts: Iterable[MemoryNote], exported: ExportedRevision
) -> bytes:
    """A nugget's file, facts oldest first: one that an undo restored stands where it stood."""
    shape = codec.nugget_to_json(config, sorted(facts, key=attrgetter("created_at")))
    lines = ",\n".join(map(codec.dumps, shape.pop("facts")))
    head = _head(NUGGET_VERSION, exported)
    return f'{head},{codec.dumps(shape)[1:-1]},"facts":[\n{lines}\n]}}\n'.encode()


def graph_parts(
    exported: ExportedRevision, fields: str, lines: Iterable[bytes | memoryview]
) -> Iterator[bytes | memoryview]:
    """The graph's file, a note on each line; in parts, because it may not fit into memory.

    `fields`: those beside the notes, as JSON.
    """
    head, others = _head(GRAPH_VERSION, exported), fields[1:-1]
    yield f"{head}{',' if others else ''}{others}".encode() + _BEFORE_NOTES
    separator = b"\n"
    for line in lines:
        yield separator
        yield line
        separator = _NEXT_NOTE
    yield _AFTER_NOTES


def note_line(note: MemoryNote) -> bytes:
    """A note in the graph's file."""
    return codec.dumps(codec.note_to_json(note)).encode()


def lines_by_id(graph: bytes) -> dict[str, range]:
    """Where the lines of the notes stand in a file that `graph_parts` made."""
    lines, end = {}, len(graph) - len(_AFTER_NOTES)
    begin = graph.find(_BEFORE_NOTES + b"\n") + len(_BEFORE_NOTES) + 1
    while begin < end:
        stop = graph.find(_NEXT_NOTE, begin, end)
        stop = end if stop < 0 else stop
        id_begin = begin + len(_BEFORE_ID)
        note_id = graph[id_begin : graph.find(b'"', id_begin, stop)]
        if b"\\" not in note_id:
            lines[note_id.decode()] = range(begin, stop)
        begin = stop + len(_NEXT_NOTE)
    return lines


class Checksum:
    """The checksum of a file's bytes that come in parts, without its revision: it tells whether the
    file says the same. It guards against accidents, so 32 bits and the size are enough: loading a
    cryptographic hash takes longer than writing small files."""

    def __init__(self) -> None:
        self._is_in_head = True
        self._crc = 0
        self._size = 0

    def add(self, part: bytes | memoryview) -> bytes | memoryview:
        body = memoryview(part)
        if self._is_in_head:
            self._is_in_head = False
            head = bytes(body[:_HEAD_BYTES])
            begin, end = map(head.find, _REVISION_FIELDS)
            rest = head.find(b",", end)
            if 0 < begin < end < rest:
                self._crc, self._size = crc32(head[:begin]), begin
                body = body[rest:]
        self._crc = crc32(body, self._crc)
        self._size += len(body)
        return part

    def __str__(self) -> str:
        return f"{self._crc:08x}-{self._size}"


def checksum_of(content: bytes) -> str:
    checksum = Checksum()
    checksum.add(content)
    return str(checksum)
