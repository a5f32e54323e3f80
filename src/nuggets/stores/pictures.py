"""The documented files, `<name>.nugget.json` and `graph/graph.json`: pictures of the journal.

A picture says in its first line which revision it shows and the moment of that revision, and its
modification time is set to that very moment: if the two agree, nobody else has touched it. What is
painted into them: painting.py. How one is read that somebody else wrote: edits.py.
"""

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from nuggets import codec, times
from nuggets.errors import InvalidInput, StoreBusy
from nuggets.files import replace_file, unreadable, unwritable
from nuggets.text import folded

GRAPH_VERSION = 3
NUGGET_VERSION = 4
SUFFIX = ".nugget.json"
GRAPH_FIELDS = "graph.json"  # the mark that keeps what others wrote beside the notes
_HEAD_BYTES = 512  # version, revision, time and a name of 200 bytes always fit
_COARSEST = 2  # seconds: what the clocks of file systems tell apart (FAT; ext3, HFS+ and NFS: 1)

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
        self._refused: dict[str, tuple[Signature, str]] = {}  # neither; why, until they change
        self._painted: Shown | None = None  # how far we came while the graph's file is refused

    # --- where they are ---------------------------------------------------------------------

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

    def nugget_path(self, name: str) -> str:
        return os.path.join(self.directory, name + SUFFIX)

    def name_of(self, path: str) -> str:
        return os.path.basename(path).removesuffix(SUFFIX)

    def label(self, path: str) -> str:
        """The file's name as a mark in the journal calls it."""
        return f"seen {os.path.relpath(path, self.directory)}"

    # --- what they show ---------------------------------------------------------------------

    def shown(self) -> Shown | None:
        """What the graph's picture shows, if nobody else has touched it. It is painted last, so
        that says how far all of them are."""
        shown = self.claimed()
        if self.graph_path in self._refused:
            return self._painted or shown
        with suppress(OSError):
            status = os.lstat(self.graph_path)
            ours = self._known.get(self.graph_path) == _signature(status)
            if shown and (
                _is_stamped(status, shown) or (ours and self.graph_path not in self._spoilt)
            ):
                return shown
        return None

    def claimed(self) -> Shown | None:
        """What the graph's file says it shows, whoever wrote it last."""
        return shown_in(_first_fields(self.graph_path))

    def are_current(self, shown: Shown, nuggets: Collection[str]) -> bool:
        """Is there nothing to be painted, at this revision with these nuggets?"""
        return self.shown() == shown and not self.incomplete(nuggets)

    def incomplete(self, nuggets: Collection[str]) -> set[str]:
        """Those nuggets (by their folded names) without a sound picture, and pictures without a
        nugget; from what was seen at the last look. A file that is refused is left as it is."""
        there, spoilt, refused = (
            {folded(self.name_of(path)) for path in paths if path != self.graph_path}
            for paths in (set(self._known), set(self._spoilt), set(self._refused))
        )
        return there.symmetric_difference(nuggets) - refused | spoilt

    # --- what others wrote ------------------------------------------------------------------

    def foreign(
        self,
        wrote: Callable[[str, Shown], bool],
        took_in: Callable[[str, os.stat_result], bool],
    ) -> list[str]:
        """The files that someone else wrote and nobody took in yet, the graph first.

        `wrote`: is a file that shows this one of our own? `took_in`: is this version of a file
        one that was taken in before?
        """
        found = []
        there = list(self.paths())
        for path in {*self._known, *self._refused}.difference(there):
            self._forget(path)
        for path in there:
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                continue
            if self._known.get(path) == _signature(status) or self._is_refused(path, status):
                continue
            self._forget(path)
            if not self._is_picture(path, status, wrote):
                if not took_in(path, status):
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
        fields = _first_fields(path)
        shown = shown_in(fields)
        if shown is not None:
            named = path == self.graph_path or (
                folded(str(fields.get("name"))) == folded(self.name_of(path))
            )
            return named and _is_stamped(status, shown) and wrote(path, shown)
        if _was_torn(path, status):
            self._spoilt.add(path)
            return True
        return False

    def took_in(self, path: str, status: os.stat_result) -> None:
        """What this file says is in the journal now; it can be painted again."""
        self._known[path] = _signature(status)
        self._spoilt.add(path)

    # --- what cannot be taken in ------------------------------------------------------------

    def refuse(self, path: str, status: os.stat_result, why: str) -> None:
        """Leave this file as it is, and do without it, until it changes."""
        self._forget(path)
        self._refused[path] = _signature(status), why

    def refused(self) -> dict[str, str]:
        """The files that are left as they are, and why."""
        return {path: why for path, (_, why) in self._refused.copy().items()}

    def _is_refused(self, path: str, status: os.stat_result) -> bool:
        return path in self._refused and self._refused[path][0] == _signature(status)

    # --- putting them in place --------------------------------------------------------------

    def place(self, path: str, content: Iterable[bytes], shown: Shown) -> None:
        """Not synced: the journal is what counts, and a picture torn by a power cut shows."""
        if path == self.graph_path:
            self._painted = shown
        if path in self._refused:
            return
        self._refuse_unknown(path)
        written = replace_file(
            path,
            content,
            durable=False,
            mtimes_ns=_stamps(shown.saved_at),
            last_look=lambda: self._refuse_unknown(path),  # painting many notes takes its time
        )
        self._forget(path)
        with suppress(FileNotFoundError):
            found = _signature(os.lstat(path))
            if found[:3] == _signature(written)[:3]:  # else someone saved it at once
                self._known[path] = found

    def remove(self, path: str) -> None:
        """Unless it was saved since we looked."""
        try:
            if self._is_known(path):
                os.unlink(path)
                self._forget(path)
        except OSError as problem:
            raise unwritable(path, problem) from problem

    def _refuse_unknown(self, path: str) -> None:
        if not self._is_known(path):
            raise StoreBusy(f"{path} was saved by someone just now; it will be taken in first")

    def _is_known(self, path: str) -> bool:
        try:
            return self._known.get(path) == _signature(os.lstat(path))
        except FileNotFoundError:
            return True  # nothing there to be overwritten

    def _forget(self, path: str) -> None:
        self._known.pop(path, None)
        self._refused.pop(path, None)
        self._spoilt.discard(path)


def first_line(version: int, shown: Shown) -> str:
    """Its beginning; `_first_fields` reads it back."""
    head = {"version": version, "revision": shown.revision, "savedAt": shown.saved_at}
    return codec.dumps(head)[:-1]


def shown_in(fields: Mapping[str, Any]) -> Shown | None:
    """What a file says it shows, if it does."""
    revision, saved_at = fields.get("revision"), fields.get("savedAt")
    if type(revision) is not int or revision < 1 or not isinstance(saved_at, str):
        return None
    try:
        return Shown(revision, times.normal(saved_at))
    except InvalidInput:
        return None


def _first_fields(path: str) -> codec.Json:
    """Those that our own pictures begin with; no value among them holds a comma."""
    fields: codec.Json = {}
    with suppress(OSError, InvalidInput, TypeError, ValueError):  # then it ends there
        with open(path, "rb") as file:
            line = file.read(_HEAD_BYTES).partition(b"\n")[0].decode(errors="replace")
        for part in line.lstrip("{").split(",")[:4]:
            fields.update(codec.loads("{" + part.rstrip("}") + "}", "first line"))
    return fields


def _stamps(moment: str) -> tuple[int, int]:
    """The modification times that say "saved at this moment", in nanoseconds since the epoch.

    The moment itself: whole milliseconds, which clocks hardly ever hit. And for a file system
    that cannot keep them, one that every clock has left behind: no later save can have it.
    """
    parsed = times.parsed(moment)
    seconds = int(parsed.timestamp())
    coarse = seconds // _COARSEST * _COARSEST - _COARSEST
    return seconds * 10**9 + parsed.microsecond // 1000 * 10**6, coarse * 10**9


def _is_stamped(status: os.stat_result, shown: Shown) -> bool:
    return status.st_mtime_ns in _stamps(shown.saved_at)


def _was_torn(path: str, status: os.stat_result) -> bool:
    """Our own stamp on a file without words: a power cut came before its content reached the
    medium. Nobody's edit is lost by painting it again."""
    if status.st_mtime_ns % 10**6:
        return False
    if not status.st_mtime_ns % 10**9 and time.time_ns() - status.st_mtime_ns < _COARSEST * 10**9:
        return False  # a coarse clock, and just now: someone may be in the middle of saving it
    try:
        with open(path, "rb") as file:
            return not file.read().strip(b"\0")
    except OSError:
        return False


def _signature(status: os.stat_result) -> Signature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
