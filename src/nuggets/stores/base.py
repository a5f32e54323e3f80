"""What every store promises. A backend is this and nothing else."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from nuggets.records import Changes, Commit, ExportsStatus, MemoryNote, Touch
from nuggets.sql import Database
from nuggets.state import State


class Replaced(NamedTuple):
    """A note as it was and as it is; None where it is not there."""

    place: int  # of its id, growing with every new one
    before: MemoryNote | None
    after: MemoryNote | None


class Index(Protocol):
    """Something derived from all notes, kept in tables beside them and written with them."""

    def update(self, replaced: Sequence[Replaced]) -> None:
        """Follow a change, inside its transaction."""

    def rebuild(self, notes: Iterable[tuple[int, MemoryNote]]) -> None:
        """Begin anew with these notes, each with its place."""

    def forget_traces(self, note_ids: Collection[str]) -> None:
        """Leave nothing behind of notes that were dropped."""

    def save(self) -> None:
        """Write down what was worked out while reading, inside a transaction."""

    @property
    def has_unsaved(self) -> bool:
        """Is there anything to save?"""

    def check(self) -> list[str]:
        """What is not as it would be if made anew, in words."""


class IndexKind(NamedTuple):
    """How a store makes an index."""

    name: str
    format: int  # another one than what is recorded: it is rebuilt
    tables: tuple[str, ...]  # statements that create them
    make: Callable[[Database, State], Index]


class Store(Protocol):
    """All notes of one shelf, at a revision that grows by one with every write."""

    @property
    def state(self) -> State:
        """What is there now. Ask inside `reading` or `exclusive`."""

    @property
    def indexes(self) -> Mapping[str, Any]:
        """The indexes by name, over the same state."""

    @property
    def has_unsaved(self) -> bool:
        """Did an index work anything out that the next `touch` should save?"""

    @property
    def position(self) -> tuple[int, str]:
        """The last revision and its moment; 0 and "" at the beginning."""

    def reading(self) -> AbstractContextManager[None]:
        """What is asked inside belongs to one revision. Never waits for a writer."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Nobody else writes inside. May be nested.

        `StoreBusy` names the holder if it takes too long to get in.
        """

    def batch(self) -> AbstractContextManager[None]:
        """All writes inside become one, at the end; none of them if an error leaves it."""

    def write(self, changes: Changes) -> int:
        """All of it or nothing, durable on return unless in a batch; the new revision."""

    def preview(self, changes: Changes) -> AbstractContextManager[None]:
        """State and indexes as if these changes were written, inside."""

    def touch(self, touches: Sequence[Touch]) -> None:
        """Count that memories were shown. Never waits and never fails.

        The last ones may be lost with the power; a store that cannot be written does not count.
        """

    def commits(
        self, since: int = 0, note: str | None = None, *, newest_first: bool = False
    ) -> Iterator[Commit]:
        """The history after a revision as far as it is kept, or what of it changed a note."""

    def erase(self, note_ids: Collection[str]) -> list[str]:
        """Take all that was ever written of these notes out of the history as well; where it was.

        They must have been dropped before. Nothing can bring them back.
        """

    def prune_history(self, before: str) -> None:
        """Forget the steps before a moment, but for the last and what exports still need."""

    def copy_to(self, path: str) -> None:
        """A copy of everything, into an empty file; others may write meanwhile."""

    @property
    def unfinished_erasure(self) -> str:
        """Why what was erased may still stand in a file; "" if it does not."""

    @property
    def directory(self) -> str:
        """Where its files are; "" if it has none."""

    def refresh_exports(self) -> None:
        """Bring all documented files to the revision now, whatever that costs."""

    def exports_status(self) -> ExportsStatus | None:
        """How far the documented files are; None if there are none."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should see to, such as files that are left as they are, and why."""

    def close(self) -> None:
        """Leave everything in order for whoever comes next."""
