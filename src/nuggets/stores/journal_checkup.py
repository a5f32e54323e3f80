"""What a doctor looks at in a journal, and how damaged logs, snapshots and gaps are mended."""

from collections.abc import Iterator
from contextlib import suppress

from nuggets.errors import StoreCorrupt, StoreError
from nuggets.files import replace_file
from nuggets.state import State
from nuggets.stores import lines
from nuggets.stores.findings import Defect, aside, set_aside
from nuggets.stores.journal import Journal
from nuggets.stores.logs import Moved, Position


def journal_findings(journal: Journal) -> Iterator[Defect]:
    try:
        snapshots, logs = journal.names()
    except StoreError as problem:
        yield Defect("unreadable journal", journal.directory, str(problem), "", True)
        return
    for revision, name in sorted(snapshots.items()):
        try:
            journal.load_snapshot(revision, State())
        except StoreCorrupt as problem:
            last = revision == max(snapshots)
            remedy = "set it aside; the logs before it lead to the same state"
            yield Defect("damaged snapshot", journal.path(name), str(problem), remedy, last)
        except FileNotFoundError:
            continue  # folded away while we looked
        except StoreError as problem:
            yield Defect("unreadable journal", journal.path(name), str(problem), "", True)
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
            yield Defect("unreadable journal", journal.directory, str(problem), remedy, True)


def _log_findings(path: str, *, last: bool) -> Iterator[Defect]:
    sound, rest = _sound_part(path)
    if not rest:
        return
    if lines.is_torn(rest, sound):
        if last:
            remedy = "nothing to do: it was never acknowledged, and the next write replaces it"
            yield Defect("torn tail", path, f"{len(rest)} bytes", remedy, harmful=False)
    else:
        remedy = "keep a copy aside, and go on from the last sound line"
        problem = f"byte {sound} of {sound + len(rest)} is damaged"
        yield Defect("damaged log", path, problem, remedy, harmful=True)


def _sound_part(path: str) -> tuple[int, bytes]:
    """How far a log can be read, and what comes after that."""
    offset = 0
    with suppress(OSError), open(path, "rb") as file:
        for written in file:
            if lines.checked(written) is None:
                return offset, written + file.read()
            offset += len(written)
    return offset, b""


def cut_log(path: str) -> None:
    """Keep the lines before the damage. The log is there at every moment: should we die in between,
    it is as damaged as before."""
    sound, _ = _sound_part(path)
    with open(path, "rb") as file:
        whole = file.read()
    replace_file(aside(path), [whole], durable=True)
    replace_file(path, [whole[:sound]], durable=True)


def bridge(journal: Journal) -> None:
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
                set_aside(journal.path(name))


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
