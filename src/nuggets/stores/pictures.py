"""The documented files, `<name>.nugget.json` and `graph/graph.json`: pictures of the journal.

People and other programs may read and edit them. A picture says in its first line when it was
saved, and its modification time is set to that very moment: if the two agree, nobody else has
touched it. If not, `edits` gives what it says now, so that it can be taken in before it is ever
written again.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from nuggets import codec, times
from nuggets.errors import InvalidInput, StoreCorrupt, StoreError
from nuggets.files import private_directory, replace_file
from nuggets.records import MemoryNote, NuggetConfig, OutsideEdit
from nuggets.state import State
from nuggets.text import folded

GRAPH_VERSION = 3
NUGGET_VERSION = 4
SUFFIX = ".nugget.json"
_HEAD_BYTES = 160  # the first line with version, revision and time always fits

Signature = tuple[int, int, int, int]
R = TypeVar("R")


class Shown(NamedTuple):
    """What a picture's first line says of it."""

    revision: int
    saved_at: str


class Pictures:
    """Both kinds of file of one directory. Writing is for whoever holds the store's lock."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.graph_path = os.path.join(directory, "graph", "graph.json")
        self._known: dict[str, Signature] = {}  # files seen to be ours; until they change again

    # --- looking ----------------------------------------------------------------------------

    def graph_revision(self) -> int:
        """The revision that the graph's picture shows; 0 if there is none to go by."""
        shown = self._shown(self.graph_path)
        return shown.revision if shown else 0

    def edits(self) -> list[OutsideEdit]:
        """What others wrote into the files since we did, the graph first; mostly nothing."""
        foreign = [path for path in self._paths() if not self._is_ours(path)]
        return [self._edit(path) for path in sorted(foreign, key=self.graph_path.__ne__)]

    def _edit(self, path: str) -> OutsideEdit:
        shape = self._parsed(path)
        revision = shape.get("revision", 0) if isinstance(shape, dict) else 0
        if not isinstance(revision, int):
            revision = 0
        if path == self.graph_path:
            return OutsideEdit(revision, notes=tuple(_graph_notes(shape, path)))
        config, facts = _checked(path, codec.nugget_from_json, shape)
        stem = os.path.basename(path).removesuffix(SUFFIX)
        if folded(config.name) != folded(stem):
            config = config._replace(name=stem)  # a renamed or copied file is what its name says
        return OutsideEdit(revision, nugget=config, facts=tuple(facts))

    def seen(self) -> None:
        """What others wrote has been taken in."""
        for path in self._paths():
            self._known[path] = _signature(os.lstat(path))

    def _paths(self) -> Iterator[str]:
        try:
            with os.scandir(self.directory) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                        yield entry.path
        except FileNotFoundError:
            return
        if os.path.lexists(self.graph_path):
            yield self.graph_path

    def _is_ours(self, path: str) -> bool:
        status = os.lstat(path)
        if self._known.get(path) == _signature(status):
            return True
        if not stat.S_ISREG(status.st_mode):
            return False
        shown = self._shown(path)
        ours = shown is not None and _stamp(shown.saved_at) == status.st_mtime_ns
        if ours or (shown is None and _was_torn(path, status)):
            self._known[path] = _signature(status)
            return True
        return False

    def _shown(self, path: str) -> Shown | None:
        try:
            with open(path, "rb") as file:
                return _head(file.read(_HEAD_BYTES))
        except OSError:
            return None

    def _parsed(self, path: str) -> Any:
        if os.path.islink(path) or not os.path.isfile(path):
            raise StoreError(
                f"{path} is not a plain file; move it away, and Nuggets writes it anew"
            )
        with open(path, "rb") as file:
            text = file.read()
        return _checked(path, codec.loads, text.removeprefix(b"\xef\xbb\xbf"))

    # --- painting ---------------------------------------------------------------------------

    def paint(
        self, state: State, revision: int, notes: Collection[str] | None, nuggets: Iterable[str]
    ) -> None:
        """Bring the files to a revision. `notes`: ids that changed, None for all of them."""
        saved_at = times.now()
        facts: dict[str, list[MemoryNote]] = {name: [] for name in nuggets}
        for note in state.notes.values() if facts else ():
            if note.kind == "fact" and not note.hidden and note.nugget_name in facts:
                facts[note.nugget_name].append(note)
        for name, of_nugget in facts.items():
            config = state.nuggets.get(folded(name))
            if config is not None:
                self._paint_nugget(config, of_nugget, revision, saved_at)
        self._paint_graph(state, revision, saved_at, notes)  # last: it says how far all of them are

    def erase(self, name: str) -> None:
        """Take a nugget's file away."""
        for path in list(self._paths()):
            if folded(os.path.basename(path).removesuffix(SUFFIX)) == folded(name):
                os.unlink(path)
                self._known.pop(path, None)

    def nugget_path(self, name: str) -> str:
        return os.path.join(self.directory, name + SUFFIX)

    def _paint_graph(
        self, state: State, revision: int, saved_at: str, changed: Collection[str] | None
    ) -> None:
        private_directory(os.path.dirname(self.graph_path))
        head = codec.dumps(
            {"version": GRAPH_VERSION, "revision": revision, "savedAt": saved_at}
        ).encode()
        lines = self._old_lines() if changed is not None else {}
        for note_id in changed if changed is not None else state.notes:
            note = state.notes.get(note_id)
            if note is None:
                lines.pop(note_id, None)
            else:
                lines[note_id] = codec.dumps(codec.note_to_json(note)).encode()
        if len(lines) != len(state.notes):  # the old picture was not what we thought: start afresh
            lines = {
                note.id: codec.dumps(codec.note_to_json(note)).encode()
                for note in state.notes.values()
            }
        body = head[:-1] + b',"notes":[\n' + b",\n".join(lines.values()) + b"\n]}\n"
        self._place(self.graph_path, body, saved_at)

    def _old_lines(self) -> dict[str, bytes]:
        """The notes of the picture as it is, undecoded: only what changed is encoded again."""
        try:
            with open(self.graph_path, "rb") as file:
                text = file.read()
        except OSError:
            return {}
        lines = {}
        for line in text.split(b"\n")[1:-2]:
            if line.startswith(b'{"id":"'):
                note_id = line[7 : line.find(b'"', 7)]
                lines[note_id.decode()] = line.removesuffix(b",")
        return lines

    def _paint_nugget(
        self, config: NuggetConfig, facts: list[MemoryNote], revision: int, saved_at: str
    ) -> None:
        shape = codec.nugget_to_json(config, facts)
        lines = ",\n".join(map(codec.dumps, shape.pop("facts")))
        head = codec.dumps({"version": NUGGET_VERSION, "revision": revision, "savedAt": saved_at})
        text = f'{head[:-1]},{codec.dumps(shape)[1:-1]},"facts":[\n{lines}\n]}}\n'
        self._place(self.nugget_path(config.name), text.encode(), saved_at)

    def _place(self, path: str, content: bytes, saved_at: str) -> None:
        """Not synced: the journal is what counts, and a picture torn by a power cut shows."""
        if os.path.islink(path):
            raise StoreError(f"{path} is a link; move it away, and Nuggets writes the file itself")
        replace_file(path, content, durable=False, mtime_ns=_stamp(saved_at))
        self._known[path] = _signature(os.stat(path))


def _head(text: bytes) -> Shown | None:
    """The first line of a picture of ours, which is JSON up to its first list or object."""
    line = text[:_HEAD_BYTES].partition(b"\n")[0].decode(errors="replace")
    parts = line.lstrip("\ufeff").lstrip("{").split(",")[:3]
    try:
        shape = codec.loads("{" + ",".join(parts) + "}", "first line")
        return Shown(int(shape["revision"]), times.normal(shape["savedAt"]))
    except (InvalidInput, KeyError, TypeError, ValueError):
        return None


def _stamp(moment: str) -> int:
    """A moment as nanoseconds since the epoch: whole milliseconds, which clocks hardly ever hit."""
    parsed = times.parsed(moment)
    return int(parsed.timestamp()) * 10**9 + parsed.microsecond // 1000 * 10**6


def _was_torn(path: str, status: os.stat_result) -> bool:
    """Our own stamp on a file without words: a power cut came before its content reached the
    medium. Nobody's edit is lost by painting it again."""
    if status.st_mtime_ns % 10**6:
        return False
    with open(path, "rb") as file:
        return not file.read().strip(b"\0")


def _signature(status: os.stat_result) -> Signature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _graph_notes(shape: object, path: str) -> Iterator[codec.Json]:
    if not isinstance(shape, dict) or not isinstance(shape.get("notes"), list):
        raise _damaged(path, "there is no list of notes in it")
    seen: set[str] = set()
    for number, note in enumerate(shape["notes"], 1):
        checked: codec.Json = _checked(path, codec.checked_note, note, f"note {number}")
        if checked["id"] in seen:
            raise _damaged(path, f"the id {checked['id']!r} stands twice")
        seen.add(checked["id"])
        yield checked


def _checked(path: str, read: Callable[[Any, str], R], shape: Any, where: str = "") -> R:
    try:
        return read(shape, where or os.path.basename(path))
    except InvalidInput as problem:
        raise _damaged(path, str(problem)) from None


def _damaged(path: str, problem: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} cannot be read: {problem}. It was left as it is and nothing was changed. Correct "
        "it, or run `nuggets doctor --fix`: that sets it aside and writes it again from the journal"
    )
