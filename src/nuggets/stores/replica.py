"""What one process holds of a journal: the state at a revision, and the last steps to it."""

import gc
import os
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from nuggets.errors import StaleWrite
from nuggets.records import Changes
from nuggets.state import State, merged
from nuggets.stores.journal import Journal
from nuggets.stores.logs import Moved, Position, Step


class Replica:
    """Follows a journal. Not safe between threads: its owner sees to that."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.state = State()
        self.position = Position()
        self.recent: deque[Step] = deque()
        self.loaded = False
        self.parted = False  # from the history that was read here: whoever did reads everything

    def refresh(self) -> None:
        """Take over what others committed."""
        if self.loaded and not self._journal.moved_on(self.position):
            return
        if self.loaded:
            with suppress(Moved):
                self.position, steps = self._journal.follow(self.position)
                for step in steps:
                    self.advance(self.position, step)
                return
        before = self.position
        with _collector_off():
            self.state, self.position, self.recent = self._journal.load()
        self.loaded = True
        if before.revision and self.moment(before.revision) != before.at:
            self.parted = True  # a backup was put in its place; its numbers may look the same

    def put_there(self) -> float:
        """When the log was last written, or was copied to where it is; nobody can set that."""
        try:
            return os.stat(self._journal.path(self.position.log)).st_ctime
        except OSError:
            return 0.0

    def advance(self, position: Position, step: Step) -> None:
        """Take over a step of our own."""
        self.position = position
        self.state.apply(step.changes)
        self.recent.append(step)

    def changes(self, since: int) -> Changes:
        if since == 0:
            self.parted = False
            return self.state.everything()
        if since == self.position.revision and not self.parted:
            return Changes()
        steps = None if self.parted else self.steps(since)
        if steps is None:
            raise StaleWrite(f"the history no longer reaches back to revision {since}; read it all")
        return merged(step.changes for step in steps)

    def steps(self, since: int) -> list[Step] | None:
        """All steps after a revision; None if they are not in memory."""
        first = self.recent[0].revision if self.recent else self.position.revision + 1
        if not first - 1 <= since <= self.position.revision:
            return None
        return [step for step in self.recent if step.revision > since]

    def moment(self, revision: int) -> str | None:
        if revision == self.position.revision:
            return self.position.at
        place = revision - (self.recent[0].revision if self.recent else revision + 1)
        return self.recent[place].at if 0 <= place < len(self.recent) else None

    def pasts(self, revisions: Collection[int]) -> dict[int, tuple[State, str]]:
        """Everything as it was at some revisions, each with its moment, as far as that is kept."""
        now = self.position.revision
        found = {now: (self.state.copy(), self.position.at)}
        if earlier := set(revisions) - found.keys():
            from nuggets.stores.past import states_at

            found.update(states_at(self._journal, earlier))
        return found


@contextmanager
def _collector_off() -> Iterator[None]:
    """Loading makes many objects and no garbage: the collector would only look at them all."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
