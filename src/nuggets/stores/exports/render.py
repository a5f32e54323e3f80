"""Render the documented files: what their first line says, and their bytes.

The first line has the revision that a file shows, the time of that revision, and the number of the
last recall that it counts. An edit is compared with what its author saw, which is that revision.
"""

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any
from zlib import crc32

from nuggets.domain import codec, times
from nuggets.domain.records import MemoryNote, NuggetConfig
from nuggets.domain.state import Database
from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

GRAPH_VERSION = 3
NUGGET_VERSION = 4
GRAPH_FIELDS = "graph.json"  # the mark that keeps unknown fields beside the notes
FIRST_BYTES = b'{"version":'  # of every export
_REVISION_FIELDS = (b'"revision":', b'"recalls":')  # the first and the last in the first line
_HEAD_BYTES = 512  # version, revision, time and recalls always fit
_BEFORE_NOTES, _BEFORE_ID, _AFTER_NOTES = b',"notes":[', b'{"id":"', b"\n]}\n"


class ExportedRevision(NamedTuple):
    """What an export shows: a revision, its time, and all recalls up to a number."""

    revision: int
    saved_at: str
    touch: int | None = None  # None: its author removed that field


def current_revision(database: Database) -> tuple[ExportedRevision, str]:
    """What an export shows that is made now, and the graph's fields beside the notes, as JSON."""
    sql = (
        "SELECT revision, at, (SELECT max(number) FROM touches),"
        " (SELECT value FROM marks WHERE name = ?) FROM commits ORDER BY revision DESC LIMIT 1"
    )
    row = database.execute(sql, (GRAPH_FIELDS,)).fetchone() or (0, "", 0, None)
    revision, at, touch, fields = row
    return ExportedRevision(revision, at, touch or 0), fields or "{}"


# --- their first line -------------------------------------------------------------------------


def _head(version: int, exported: ExportedRevision) -> str:
    fields = {
        "version": version,
        "revision": exported.revision,
        "savedAt": exported.saved_at,
        "recalls": exported.touch,
    }
    return codec.dumps(fields)[:-1]


def read_exported_revision(fields: Mapping[str, Any]) -> ExportedRevision | None:
    """What a file shows according to its fields; None if they do not say."""
    revision, saved_at, touch = (fields.get(name) for name in ("revision", "savedAt", "recalls"))
    if type(revision) is not int or revision < 1 or not isinstance(saved_at, str):
        return None
    try:
        return ExportedRevision(
            revision, times.normalize_time(saved_at), touch if type(touch) is int else None
        )
    except InvalidInput:
        return None


# --- their bytes ------------------------------------------------------------------------------


def nugget_text(
    config: NuggetConfig, facts: Iterable[MemoryNote], exported: ExportedRevision
) -> bytes:
    """A nugget's file, facts oldest first: one that an undo restored stands where it stood."""
    shape = codec.nugget_to_json(config, sorted(facts, key=attrgetter("created_at")))
    lines = ",\n".join(map(codec.dumps, shape.pop("facts")))
    head = _head(NUGGET_VERSION, exported)
    return f'{head},{codec.dumps(shape)[1:-1]},"facts":[\n{lines}\n]}}\n'.encode()


def graph_parts(exported: ExportedRevision, fields: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The graph's file, a note on each line; in parts, because it may not fit into memory.

    `fields`: those beside the notes, as JSON.
    """
    head, others = _head(GRAPH_VERSION, exported), fields[1:-1]
    yield f"{head}{',' if others else ''}{others}".encode() + _BEFORE_NOTES
    separator = b"\n"
    for line in lines:
        yield separator + line
        separator = b",\n"
    yield _AFTER_NOTES


def note_line(note: MemoryNote) -> bytes:
    """A note in the graph's file."""
    return codec.dumps(codec.note_to_json(note)).encode()


def lines_by_id(graph: bytes) -> dict[str, bytes]:
    """The lines of the notes in a file that `graph_parts` made."""
    begin = graph.find(_BEFORE_NOTES + b"\n") + len(_BEFORE_NOTES) + 1
    lines = graph[begin : -len(_AFTER_NOTES)].split(b",\n")
    ends = (line.find(b'"', len(_BEFORE_ID)) for line in lines)
    ids = (line[len(_BEFORE_ID) : end] for line, end in zip(lines, ends, strict=True))
    return {i.decode(): line for i, line in zip(ids, lines, strict=True) if b"\\" not in i}


class Checksum:
    """The checksum of a file's bytes that come in parts, without its revision: it tells whether the
    file says the same. It guards against accidents, so 32 bits and the size are enough: loading a
    cryptographic hash takes longer than writing small files."""

    def __init__(self) -> None:
        self._is_in_head = True
        self._crc = 0
        self._size = 0

    def add(self, part: bytes) -> bytes:
        body = part
        if self._is_in_head:
            self._is_in_head = False
            begin, end = (part.find(field, 0, _HEAD_BYTES) for field in _REVISION_FIELDS)
            if 0 < begin < end:
                body = part[:begin] + part[part.index(b",", end) :]
        self._crc = crc32(body, self._crc)
        self._size += len(body)
        return part

    def __str__(self) -> str:
        return f"{self._crc:08x}-{self._size}"


def checksum_of(content: bytes) -> str:
    checksum = Checksum()
    checksum.add(content)
    return str(checksum)
