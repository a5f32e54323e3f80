"""What a journal still tells of earlier revisions: its commits, and everything as it once was.

Loaded only when someone asks for history, or edited a file that shows an earlier revision.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import groupby, pairwise

from nuggets.records import Commit
from nuggets.state import State
from nuggets.stores import lines
from nuggets.stores.logs import Logs, Moved, Position


def commits(journal: Logs, since: int) -> Iterator[Commit]:
    """All commits after a revision that are still kept, oldest first, with what leads back."""
    _, logs = journal.names()
    for start, following in pairwise([*sorted(logs), 0]):
        if following and following <= since + 1:
            continue
        position = Position(logs[start], revision=max(since, start - 1))
        with suppress(Moved):  # folded away just now: as if it had been before we looked
            for _, shape in journal.entries(position):
                if "revision" in shape:
                    yield Commit(
                        shape["revision"],
                        shape["at"],
                        lines.changes_from_json(shape["changes"]),
                        lines.changes_from_json(shape["before"]),
                    )


def states_at(journal: Logs, revisions: Collection[int]) -> dict[int, tuple[State, str]]:
    """Everything as it was at these revisions, each with its moment, as far as the history reaches
    back. The way on from a snapshot is gone once, however many of them lie on it."""
    snapshots, _ = journal.names()

    def origin(revision: int) -> int:
        return max((number for number in snapshots if number <= revision), default=0)

    found: dict[int, tuple[State, str]] = {}
    for start, wanted in groupby(sorted(set(revisions)), origin):
        with suppress(FileNotFoundError):  # folded away just now
            found.update(_states_from(journal, start, set(wanted)))
    return found


def _states_from(
    journal: Logs, origin: int, wanted: set[int]
) -> Iterator[tuple[int, tuple[State, str]]]:
    state, last = State(), max(wanted)
    if origin:
        at = journal.load_snapshot(origin, state).at
        if origin in wanted:
            yield origin, (state.copy(), at)
    for reached, commit in enumerate(commits(journal, origin) if origin < last else (), origin + 1):
        if commit.revision != reached:
            return  # a part is not kept any more
        state.apply(commit.changes)
        if reached in wanted:
            yield reached, (state.copy(), commit.at)
        if reached == last:
            return
