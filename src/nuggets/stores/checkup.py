"""What a doctor looks at in a store's directory, and how it is mended without losing a byte.

`examine` only looks. `repair` sets what is damaged aside as `<name>.damaged-<n>`, goes on from what
can be read, and has the documented files painted again.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from nuggets.errors import StoreCorrupt, StoreError
from nuggets.files import is_leftover, replace_file, sync_directory, unwritable
from nuggets.state import State
from nuggets.stores import lines
from nuggets.stores.adoption import Adopt
from nuggets.stores.edits import read_edit
from nuggets.stores.journal import Journal
from nuggets.stores.json_files import LOCK_SECONDS, JsonFileStore
from nuggets.stores.lock import locked
from nuggets.stores.logs import Moved, Position
from nuggets.stores.pictures import Pictures, Shown


class Finding(NamedTuple):
    """One thing that is not as it should be."""

    kind: str  # e.g. "damaged log"
    path: str
    problem: str
    remedy: str  # what repair does about it
    harmful: bool  # keeps the store from working, or says that something was lost
    mended: bool = False


def examine(directory: str) -> list[Finding]:
    """Everything that is not in order; nothing is changed."""
    directory = os.path.abspath(os.path.expanduser(directory))
    if not os.path.isdir(directory):
        return []
    journal = Journal(os.path.join(directory, "journal"))
    found = [*_journal_findings(journal), *_picture_findings(directory, journal)]
    found += _leftovers(directory)
    found += _open_modes(directory)
    return found


def repair(directory: str, adopt: Adopt) -> list[Finding]:
    """Mend what `examine` finds, under the lock; the same findings, marked with what is done."""
    directory = os.path.abspath(os.path.expanduser(directory))
    found = examine(directory)
    if not found:
        return []
    journal = Journal(os.path.join(directory, "journal"))
    if os.path.isdir(journal.directory):
        with locked(os.path.join(journal.directory, "lock"), LOCK_SECONDS):
            for finding in found:
                _mend(finding)
            _bridge(journal)
    store = JsonFileStore(directory, adopt, paint_seconds=0)
    with store.exclusive():
        pass  # takes edits in, sweeps, paints
    left = {(finding.kind, finding.path) for finding in examine(directory)}
    return [f._replace(mended=(f.kind, f.path) not in left) for f in found]


def _mend(finding: Finding) -> None:
    if finding.kind in _MENDING:
        try:
            if os.path.lexists(finding.path):  # else another finding moved it aside
                _MENDING[finding.kind](finding.path)
        except OSError as problem:
            raise unwritable(finding.path, problem) from problem


# --- the journal ------------------------------------------------------------------------------


def _journal_findings(journal: Journal) -> Iterator[Finding]:
    try:
        snapshots, logs = journal.names()
    except StoreError as problem:
        yield Finding("unreadable journal", journal.directory, str(problem), "", True)
        return
    for revision, name in sorted(snapshots.items()):
        try:
            journal.load_snapshot(revision, State())
        except StoreCorrupt as problem:
            last = revision == max(snapshots)
            remedy = "set it aside; the logs before it lead to the same state"
            yield Finding("damaged snapshot", journal.path(name), str(problem), remedy, last)
        except FileNotFoundError:
            continue  # folded away while we looked
        except StoreError as problem:
            yield Finding("unreadable journal", journal.path(name), str(problem), "", True)
    damaged = False
    for name in (logs[start] for start in sorted(logs)):
        for finding in _log_findings(journal.path(name), last=name == logs[max(logs)]):
            damaged = damaged or finding.harmful
            yield finding
    try:
        journal.load()
    except StoreError as problem:
        if not damaged:
            gap = isinstance(problem, StoreCorrupt)
            remedy = "set aside what comes after a gap and go on from before it" if gap else ""
            yield Finding("unreadable journal", journal.directory, str(problem), remedy, True)


def _log_findings(path: str, *, last: bool) -> Iterator[Finding]:
    sound, rest = _sound_part(path)
    if not rest:
        return
    if lines.is_torn(rest, sound):
        if last:
            remedy = "nothing to do: it was never acknowledged, and the next write replaces it"
            yield Finding("torn tail", path, f"{len(rest)} bytes", remedy, harmful=False)
    else:
        remedy = "keep a copy aside, and go on from the last sound line"
        problem = f"byte {sound} of {sound + len(rest)} is damaged"
        yield Finding("damaged log", path, problem, remedy, harmful=True)


def _sound_part(path: str) -> tuple[int, bytes]:
    """How far a log can be read, and what comes after that."""
    offset = 0
    with suppress(OSError), open(path, "rb") as file:
        for written in file:
            if lines.checked(written) is None:
                return offset, written + file.read()
            offset += len(written)
    return offset, b""


def _cut_log(path: str) -> None:
    """Keep the lines before the damage. The log is there at every moment: should we die in between,
    it is as damaged as before."""
    sound, _ = _sound_part(path)
    with open(path, "rb") as file:
        whole = file.read()
    replace_file(_aside(path), [whole], durable=True)
    replace_file(path, [whole[:sound]], durable=True)


def _bridge(journal: Journal) -> None:
    """Set aside what comes after a gap that no snapshot bridges. What it said, the pictures may
    still show: they are newer than the journal then, and are taken in like any edit."""
    while True:
        try:
            journal.load()
            return
        except StoreCorrupt:
            snapshots, logs = journal.names()
            reached = _reached(journal, max(snapshots, default=0))
            later = [name for start, name in sorted(logs.items()) if start > reached.revision + 1]
            if not later:
                raise
            for name in later:
                _set_aside(journal.path(name))


def _reached(journal: Journal, revision: int) -> Position:
    """How far the logs can be followed from a revision."""
    _, logs = journal.names()
    position = Position(revision=revision)
    for start in sorted(logs):
        if start <= position.revision + 1:
            with suppress(Moved, StoreCorrupt):
                for reached, _ in journal.entries(
                    Position(logs[start], revision=position.revision)
                ):
                    position = reached
    return position


def _set_aside(path: str) -> None:
    os.rename(path, _aside(path))
    sync_directory(os.path.dirname(path))


def _aside(path: str) -> str:
    number = 1
    while os.path.lexists(f"{path}.damaged-{number}"):
        number += 1
    return f"{path}.damaged-{number}"


# --- the documented files ---------------------------------------------------------------------


def _picture_findings(directory: str, journal: Journal) -> Iterator[Finding]:
    pictures = Pictures(directory)
    try:
        state, position, _ = journal.load()
    except StoreError:
        state, position = State(), Position()
    graph = os.path.dirname(pictures.graph_path)
    if os.path.lexists(graph) and not os.path.isdir(graph):
        why = "a file stands where a directory should be"
        yield Finding("damaged picture", graph, why, "set it aside", harmful=False)
    for path in pictures.foreign(lambda path, shown: True, lambda label, version: False):
        try:
            read_edit(path, pictures.graph_path)
        except StoreError as problem:
            remedy = "set it aside and paint it again from the journal"
            yield Finding("damaged picture", path, str(problem), remedy, harmful=True)
        else:
            why = "someone edited it; the next command takes that in"
            yield Finding("edited picture", path, why, "take it in", harmful=False)
    now = Shown(position.revision, position.at)
    if position.revision and not pictures.are_current(now, state.nuggets):
        why = f"not at revision {position.revision}"
        yield Finding("old pictures", directory, why, "paint them again", harmful=False)


# --- what lies around -------------------------------------------------------------------------


def _leftovers(directory: str) -> Iterator[Finding]:
    for path in _ours(directory):
        if is_leftover(os.path.basename(path)):
            problem = "a writer died before it was finished"
            yield Finding("leftover", path, problem, "delete it", harmful=False)


def _open_modes(directory: str) -> Iterator[Finding]:
    for path in (directory, *_ours(directory)):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            continue  # swept or folded away while we looked
        if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & 0o077:
            problem = f"others may use it ({stat.S_IMODE(mode):o})"
            yield Finding("open to others", path, problem, "make it private", harmful=False)


def _ours(directory: str) -> Iterator[str]:
    """Files and directories that belong to the store."""
    for folder in (directory, os.path.join(directory, "graph"), os.path.join(directory, "journal")):
        with suppress(OSError):
            for name in sorted(os.listdir(folder)):
                ours = folder != directory or name in ("graph", "journal") or "nugget.json" in name
                if ours:
                    yield os.path.join(folder, name)


def _make_private(path: str) -> None:
    os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)


_MENDING: dict[str, Callable[[str], None]] = {
    "damaged snapshot": _set_aside,
    "damaged log": _cut_log,
    "damaged picture": _set_aside,
    "open to others": _make_private,
}
