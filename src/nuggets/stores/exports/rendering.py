"""Render the bytes of the documented files.

A graph is rendered as a whole, or from the existing export: then only changed notes are encoded.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import attrgetter

from nuggets.domain import codec
from nuggets.domain.records import MemoryNote, NuggetConfig
from nuggets.domain.state import State
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import open_plain
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.layout import (
    GRAPH_FIELDS,
    GRAPH_VERSION,
    NUGGET_VERSION,
    ExportedRevision,
    first_line,
)

_BLOCK_BYTES = 1 << 16  # of an existing export that are read at a time
_NOTES_BETWEEN_PAUSES = 16  # encoding them takes about as long as a block
_BEFORE_ID = b'{"id":"'
_SEPARATOR = b",\n"
_END = b"\n]}\n"
_MOST_SEARCHED = 8  # with more ids, splitting a block is quicker than searching each id in it

Pause = Callable[[], None]
"""Called between parts, so that a background thread can let others go first."""


class Unusable(StoreError):
    """The existing export cannot be updated: the graph must be rendered as a whole."""


class ChangedNotes(NamedTuple):
    """What changed since an export."""

    lines: Mapping[bytes, bytes]  # encoded id -> the note's new line, in order of place
    gone: Collection[bytes]  # encoded ids whose line is removed; `lines` may have a new one
    total: int  # number of all notes


def nugget_text(
    config: NuggetConfig, facts: Iterable[MemoryNote], exported: ExportedRevision
) -> bytes:
    """A nugget's file, facts oldest first: one that an undo restored stands where it stood."""
    shape = codec.nugget_to_json(config, sorted(facts, key=attrgetter("created_at")))
    lines = ",\n".join(map(codec.dumps, shape.pop("facts")))
    head = first_line(NUGGET_VERSION, exported)
    return f'{head},{codec.dumps(shape)[1:-1]},"facts":[\n{lines}\n]}}\n'.encode()


def graph_parts(head: bytes, state: State, pause: Pause) -> Iterator[bytes]:
    """The graph's file as a whole: every note is encoded."""
    yield head
    separator = b"\n"
    for number, note in enumerate(state.notes.values()):
        if number % _NOTES_BETWEEN_PAUSES == 0:
            pause()
        yield separator + line_of(note)
        separator = _SEPARATOR
    yield _END


def updated_graph_parts(
    path: str, head: bytes, changed: ChangedNotes, pause: Pause
) -> Iterator[bytes]:
    """The graph's file from the existing export: only changed notes are encoded."""
    yield head
    count, new_lines, separator = 0, dict(changed.lines), b"\n"
    beginnings = [_BEFORE_ID + note_id + b'"' for note_id in {*changed.lines, *changed.gone}]
    for block in _read_blocks(path, pause):
        if len(beginnings) > _MOST_SEARCHED or any(start in block for start in beginnings):
            lines = [
                new_lines.pop(note_id, line)
                for line in block.split(_SEPARATOR)
                if (note_id := _id_in(line)) not in changed.gone
            ]
            count += len(lines)
            block = _SEPARATOR.join(lines)
        else:
            count += block.count(b"\n") + 1
        if block:
            yield separator + block
            separator = _SEPARATOR
    for line in new_lines.values():
        yield separator + line
        separator = _SEPARATOR
    if count + len(new_lines) != changed.total:
        raise Unusable(f"{path} does not have a line for every note")
    yield _END


def _read_blocks(path: str, pause: Pause) -> Iterator[bytes]:
    """Whole lines of an export's notes, without the end of the last one."""
    try:
        with open(path, "rb", opener=open_plain) as file:
            file.readline()
            while block := file.read(_BLOCK_BYTES) + file.readline():
                pause()
                if notes := block.removesuffix(_END[1:]).rstrip(b",\n"):
                    yield notes
    except OSError as problem:
        raise Unusable(f"{path}: {problem.strerror}") from problem


def _id_in(line: bytes) -> bytes:
    return line[len(_BEFORE_ID) : line.find(b'"', len(_BEFORE_ID))]


def graph_head(state: State, exported: ExportedRevision) -> bytes:
    fields = codec.dumps(state.marks.get(GRAPH_FIELDS, {}))[1:-1]
    head = first_line(GRAPH_VERSION, exported)
    return f'{head}{"," if fields else ""}{fields},"notes":['.encode()


def line_of(note: MemoryNote) -> bytes:
    return codec.dumps(codec.note_to_json(note)).encode()


def encoded_id(note_id: str) -> bytes:
    """An id as it stands in a line; `Unusable` if it has characters that JSON escapes."""
    encoded = codec.dumps(note_id)[1:-1].encode()
    if b"\\" in encoded:
        raise Unusable(f"the id {note_id!r} cannot be found in a line")
    return encoded
