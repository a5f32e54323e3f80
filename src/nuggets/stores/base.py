"""What every store promises. A backend is this and nothing else."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from nuggets.records import Changes, Commit, Touch


class Store(Protocol):
    """All notes of one shelf, at a revision that grows by one with every write."""

    def read(self, since: int) -> tuple[Changes, int]:
        """What became different after revision `since`, and the revision now.

        From 0 it is everything. Never waits for a writer. `StaleWrite` if nothing leads on from
        there, as when a backup was put in place of the history it was part of: read everything.
        """

    def write(self, changes: Changes, expected: int) -> int:
        """All of it or nothing, durable on return; the new revision.

        `StaleWrite` if someone else wrote after `expected`: read again and decide again.
        """

    def exclusive(self) -> AbstractContextManager[None]:
        """Nobody else writes inside: a read in here is not stale at the write.

        May be nested. `StoreBusy` names the holder if it takes too long to get in.
        """

    def touch(self, touches: Sequence[Touch]) -> None:
        """Note that memories were shown. Whoever says so knows it: `read` need not say it again.

        Never waits and never fails: the last ones may be lost with the power, and a store that
        cannot be written just does not count.
        """

    def commits(self, since: int) -> Iterable[Commit]:
        """The history after a revision as far as it is kept, oldest first, with what leads back."""

    def erase(self, note_ids: Collection[str]) -> list[str]:
        """Take all that was ever written of these notes out of the history as well; where it was.

        They must have been dropped before. Nothing can bring them back.
        """

    def keep(self, name: str, parts: Iterable[bytes | memoryview], at: int) -> None:
        """Something derived from revision `at`, for a later process to begin with.

        Not kept if someone wrote since, or is writing: it may be about to be erased. Never fails;
        may be lost at any time, and an `erase` takes it away.
        """

    def kept(self, name: str) -> bytes:
        """What was kept last under that name, of whatever age; empty if there is nothing."""

    @property
    def directory(self) -> str:
        """Where its files are; "" if it has none."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should see to, such as files that are left as they are, and why."""

    def close(self) -> None:
        """Leave everything in order for whoever comes next."""
