"""The documented files, `<name>.nugget.json` and `graph/graph.json`: pictures of the journal.

A picture says in its first line which revision it shows and the moment of that revision, and its
modification time is set to that very moment: if the two agree, nobody else has touched it. The
graph is painted last and says how far all of them are.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from nuggets import codec, times
from nuggets.errors import InvalidInput, StoreBusy
from nuggets.files import private_directory, replace_file, unreadable, unwritable
from nuggets.records import MemoryNote, NuggetConfig
from nuggets.state import State
from nuggets.text import folded

GRAPH_VERSION = 3
NUGGET_VERSION = 4
SUFFIX = ".nugget.json"
GRAPH_FIELDS = "graph.json"  # the mark that keeps what others wrote beside the notes
_HEAD_BYTES = 512  # version, revision, time and a name of 200 bytes always fit

Signature = tuple[int, int, int, int]


class Shown(NamedTuple):
    """The revision that a picture shows, and the moment of that revision."""

    revision: int
    saved_at: str


class Pictures:
    """Both kinds of file of one directory. Writing is for whoever holds the store's lock."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.graph_path = os.path.join(directory, "graph", "graph.json")
        self._known: dict[str, Signature] = {}  # ours or taken in; until they change again
        self._spoilt: set[str] = set()  # of those, the ones to be painted again

    # --- looking ----------------------------------------------------------------------------

    def shown(self) -> Shown | None:
        """What the graph's picture shows, if nobody else has touched it."""
        with suppress(OSError):
            head = self._head(self.graph_path)
            if head and _stamp(head.saved_at) == os.lstat(self.graph_path).st_mtime_ns:
                return head
        return None

    def claimed(self) -> Shown | None:
        """What the graph's file says it shows, whoever wrote it last."""
        return self._head(self.graph_path)

    def foreign(
        self, wrote: Callable[[str, Shown], bool], taken_in: Callable[[str, Any], bool]
    ) -> list[str]:
        """The files that someone else wrote and nobody took in yet, the graph first.

        `wrote`: is a file that shows this one of our own? `taken_in`: was this one, at this
        modification time and size, taken in before?
        """
        found = []
        there = list(self.paths())
        for path in set(self._known).difference(there):
            self._forget(path)
        for path in there:
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                continue
            if self._known.get(path) == _signature(status):
                continue
            self._spoilt.discard(path)
            if not self._is_picture(path, status, wrote):
                if not taken_in(self.label(path), version_of(status)):
                    found.append(path)
                    continue
                self._spoilt.add(path)
            self._known[path] = _signature(status)
        return sorted(found, key=self.graph_path.__ne__)

    def _is_picture(
        self, path: str, status: os.stat_result, wrote: Callable[[str, Shown], bool]
    ) -> bool:
        if not stat.S_ISREG(status.st_mode):
            return False
        head = self._head(path)
        if head is not None:
            stamped = _stamp(head.saved_at) == status.st_mtime_ns
            return stamped and not self._is_renamed(path) and wrote(path, head)
        if _was_torn(path, status):
            self._spoilt.add(path)
            return True
        return False

    def incomplete(self, nuggets: Iterable[str]) -> set[str]:
        """Folded names of those nuggets without a sound picture, and of pictures without a
        nugget; from what was seen at the last look."""
        there = {folded(self.name_of(path)) for path in set(self._known) - {self.graph_path}}
        spoilt = {folded(self.name_of(path)) for path in set(self._spoilt) - {self.graph_path}}
        return there.symmetric_difference(map(folded, nuggets)) | spoilt

    def took_in(self, path: str, status: os.stat_result) -> None:
        """What this file says is in the journal now; it can be painted again."""
        self._known[path] = _signature(status)
        self._spoilt.add(path)

    def paths(self) -> Iterator[str]:
        """Every documented file that is there."""
        try:
            with os.scandir(self.directory) as entries:
                names = [entry.name for entry in entries]
        except FileNotFoundError:
            return
        except OSError as problem:
            raise unreadable(self.directory, problem) from problem
        for name in names:
            if name.endswith(SUFFIX) and not name.startswith("."):
                yield os.path.join(self.directory, name)
        if os.path.lexists(self.graph_path):
            yield self.graph_path

    def label(self, path: str) -> str:
        """The file's name as a mark in the journal calls it."""
        return f"seen {os.path.relpath(path, self.directory)}"

    def name_of(self, path: str) -> str:
        return os.path.basename(path).removesuffix(SUFFIX)

    def _head(self, path: str) -> Shown | None:
        fields = _first_fields(path)
        try:
            return Shown(int(fields["revision"]), times.normal(fields["savedAt"]))
        except (InvalidInput, KeyError, TypeError, ValueError):
            return None

    def _is_renamed(self, path: str) -> bool:
        """Does a nugget's file say another name than it has?"""
        if path == self.graph_path:
            return False
        return folded(str(_first_fields(path).get("name"))) != folded(self.name_of(path))

    # --- painting ---------------------------------------------------------------------------

    def paint(
        self, state: State, shown: Shown, notes: Collection[str] | None, nuggets: Iterable[str]
    ) -> None:
        """Bring the files to a revision. `notes`: ids that changed, None for all of them;
        `nuggets`: folded names of those that changed, came or went."""
        facts: dict[str, list[MemoryNote]] = {name: [] for name in nuggets}
        for note in state.notes.values() if facts else ():
            if note.kind == "fact" and not note.hidden:
                of_nugget = facts.get(folded(note.nugget_name))
                if of_nugget is not None:
                    of_nugget.append(note)
        for fold, of_nugget in facts.items():
            config = state.nuggets.get(fold)
            if config is not None:
                self._paint_nugget(config, of_nugget, shown)
        for path in list(self.paths()) if facts else ():
            fold = folded(self.name_of(path))
            if fold in facts and path != self.graph_path:
                self._erase_other(path, state.nuggets.get(fold))
        self._paint_graph(state, shown, notes)

    def _erase_other(self, path: str, config: NuggetConfig | None) -> None:
        """A file of a nugget that is gone, or under another spelling of its name."""
        right = self._nugget_path(config.name) if config else ""
        if path == right:
            return
        try:
            if self._is_known(path) and not (right and os.path.samefile(path, right)):
                os.unlink(path)
                self._forget(path)
        except OSError as problem:
            raise unwritable(path, problem) from problem

    def _paint_graph(self, state: State, shown: Shown, changed: Collection[str] | None) -> None:
        lines = self._old_lines() if changed is not None else {}
        for note_id in changed or ():
            note = state.notes.get(note_id)
            if note is None:
                lines.pop(note_id, None)
            else:
                lines[note_id] = codec.dumps(codec.note_to_json(note)).encode()
        whole = changed is not None and lines.keys() == state.notes.keys()

        def parts() -> Iterator[bytes]:
            fields = codec.dumps(state.marks.get(GRAPH_FIELDS, {}))[1:-1]
            head = _first_line(GRAPH_VERSION, shown)
            yield f'{head}{"," if fields else ""}{fields},"notes":['.encode()
            separator = b"\n"
            for note in state.notes.values():
                yield separator
                yield (lines[note.id] if whole else codec.dumps(codec.note_to_json(note)).encode())
                separator = b",\n"
            yield b"\n]}\n"

        private_directory(os.path.dirname(self.graph_path))
        self._place(self.graph_path, parts(), shown)

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
                lines[note_id.decode(errors="replace")] = line.removesuffix(b",")
        return lines

    def _paint_nugget(self, config: NuggetConfig, facts: list[MemoryNote], shown: Shown) -> None:
        shape = codec.nugget_to_json(config, facts)
        lines = ",\n".join(map(codec.dumps, shape.pop("facts")))
        head = _first_line(NUGGET_VERSION, shown)
        text = f'{head},{codec.dumps(shape)[1:-1]},"facts":[\n{lines}\n]}}\n'
        self._place(self._nugget_path(config.name), [text.encode()], shown)

    def _place(self, path: str, content: Iterable[bytes], shown: Shown) -> None:
        """Not synced: the journal is what counts, and a picture torn by a power cut shows."""
        if not self._is_known(path):
            raise StoreBusy(f"{path} was saved by someone just now; it will be taken in first")
        replace_file(path, content, durable=False, mtime_ns=_stamp(shown.saved_at))
        self._known[path] = _signature(os.lstat(path))
        self._spoilt.discard(path)

    def _is_known(self, path: str) -> bool:
        try:
            return self._known.get(path) == _signature(os.lstat(path))
        except FileNotFoundError:
            return True  # nothing there to be overwritten

    def _forget(self, path: str) -> None:
        self._known.pop(path, None)
        self._spoilt.discard(path)

    def _nugget_path(self, name: str) -> str:
        return os.path.join(self.directory, name + SUFFIX)


def version_of(status: os.stat_result) -> list[int]:
    """What tells one saved version of a file from the next."""
    return [status.st_mtime_ns, status.st_size]


def _first_line(version: int, shown: Shown) -> str:
    """Its beginning; `_first_fields` reads it back."""
    head = {"version": version, "revision": shown.revision, "savedAt": shown.saved_at}
    return codec.dumps(head)[:-1]


def _first_fields(path: str) -> codec.Json:
    """Those that our own pictures begin with; no value among them holds a comma."""
    fields: codec.Json = {}
    with suppress(OSError, InvalidInput, TypeError, ValueError):  # then it ends there
        with open(path, "rb") as file:
            line = file.read(_HEAD_BYTES).partition(b"\n")[0].decode(errors="replace")
        for part in line.lstrip("{").split(",")[:4]:
            fields.update(codec.loads("{" + part.rstrip("}") + "}", "first line"))
    return fields


def _stamp(moment: str) -> int:
    """A moment as nanoseconds since the epoch: whole milliseconds, which clocks hardly ever hit."""
    parsed = times.parsed(moment)
    return int(parsed.timestamp()) * 10**9 + parsed.microsecond // 1000 * 10**6


def _was_torn(path: str, status: os.stat_result) -> bool:
    """Our own stamp on a file without words: a power cut came before its content reached the
    medium. Nobody's edit is lost by painting it again."""
    if status.st_mtime_ns % 10**6:
        return False
    try:
        with open(path, "rb") as file:
            return not file.read().strip(b"\0")
    except OSError:
        return False


def _signature(status: os.stat_result) -> Signature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
