"""The bytes of the documented files. A graph is written anew as a whole, or line by line from the
export that is there: then only the notes that changed are encoded again."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import NamedTuple

from nuggets import codec
from nuggets.errors import StoreError
from nuggets.records import MemoryNote, NuggetConfig
from nuggets.state import State
from nuggets.stores.exports.layout import (
    GRAPH_FIELDS,
    GRAPH_VERSION,
    NUGGET_VERSION,
    Shown,
    first_line,
)

_BYTES = 1 << 16  # of an old export that are looked through at a time
_NOTES = 16  # encoded at a time: about as long as that takes
_BEFORE_ID = b'{"id":"'
_SEPARATOR = b",\n"
_END = b"\n]}\n"
_SOUGHT = 8  # notes that are looked for in a block before its lines are gone through

Pause = Callable[[], None]
"""Called between parts, so that a thread in the background can let others go first."""


class Unusable(StoreError):
    """The export that is there cannot be taken over: it is to be written as a whole."""


class ChangedNotes(NamedTuple):
    """What changed since an export."""

    lines: Mapping[bytes, bytes]  # encoded id -> the note's new line, in order of place
    gone: Collection[bytes]  # encoded ids whose line goes; one that is in `lines` moves to the end
    total: int  # of all notes


def nugget_text(config: NuggetConfig, facts: Iterable[MemoryNote], shown: Shown) -> bytes:
    """A nugget's file, its facts oldest first: one that an undo brought back stands where it
    stood."""
    shape = codec.nugget_to_json(config, sorted(facts, key=attrgetter("created_at")))
    lines = ",\n".join(map(codec.dumps, shape.pop("facts")))
    head = first_line(NUGGET_VERSION, shown)
    return f'{head},{codec.dumps(shape)[1:-1]},"facts":[\n{lines}\n]}}\n'.encode()


def graph_parts(head: bytes, state: State, pause: Pause) -> Iterator[bytes]:
    """The graph's file, every note encoded."""
    yield head
    separator = b"\n"
    for number, note in enumerate(state.notes.values()):
        if number % _NOTES == 0:
            pause()
        yield separator + line_of(note)
        separator = _SEPARATOR
    yield _END


def updated_graph_parts(
    path: str, head: bytes, changed: ChangedNotes, pause: Pause
) -> Iterator[bytes]:
    """The graph's file from the export that is there."""
    yield head
    count, waiting, separator = 0, dict(changed.lines), b"\n"
    sought = [_BEFORE_ID + note_id + b'"' for note_id in {*changed.lines, *changed.gone}]
    for block in _blocks(path, pause):
        if len(sought) > _SOUGHT or any(beginning in block for beginning in sought):
            lines = [
                waiting.pop(note_id, line)
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
    for line in waiting.values():
        yield separator + line
        separator = _SEPARATOR
    if count + len(waiting) != changed.total:
        raise Unusable(f"{path} does not have a line for every note")
    yield _END


def _blocks(path: str, pause: Pause) -> Iterator[bytes]:
    """Whole lines of an export's notes, without what ends the last of them."""
    try:
        with open(path, "rb") as file:
            file.readline()
            while block := file.read(_BYTES) + file.readline():
                pause()
                if notes := block.removesuffix(_END[1:]).rstrip(b",\n"):
                    yield notes
    except OSError as problem:
        raise Unusable(f"{path}: {problem.strerror}") from problem


def _id_in(line: bytes) -> bytes:
    return line[len(_BEFORE_ID) : line.find(b'"', len(_BEFORE_ID))]


def graph_head(state: State, shown: Shown) -> bytes:
    fields = codec.dumps(state.marks.get(GRAPH_FIELDS, {}))[1:-1]
    head = first_line(GRAPH_VERSION, shown)
    return f'{head}{"," if fields else ""}{fields},"notes":['.encode()


def line_of(note: MemoryNote) -> bytes:
    return codec.dumps(codec.note_to_json(note)).encode()


def encoded_id(note_id: str) -> bytes:
    """An id as a line begins with it; one with quotes in it would be cut short there."""
    encoded = codec.dumps(note_id)[1:-1].encode()
    if b"\\" in encoded:
        raise Unusable(f"the id {note_id!r} cannot be found in a line")
    return encoded
