"""The contract of every store. A backend is this and nothing else."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from nuggets.domain import state
from nuggets.domain.records import (
    Changes,
    Commit,
    CommitSummary,
    EarlierImage,
    ExportsStatus,
    MemoryNote,
    Touch,
)
from nuggets.domain.state import State
from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql.schema import Replaced

if TYPE_CHECKING:
    from nuggets.stores.sql.shelf_copy import Copied


class Index(Protocol):
    """Tables derived from all notes, written in the same transactions."""

    def update(self, replaced: Sequence[Replaced]) -> None:
        """Follow a change, inside its transaction."""

    def rebuild(self, notes: Iterable[tuple[int, MemoryNote]]) -> None:
        """Index these notes, each with its place, and nothing else."""

    def forget_traces(self, note_ids: Collection[str]) -> None:
        """Remove everything that is left of notes that were dropped."""

    def save(self) -> None:
        """Save what was computed while reading, inside a transaction."""

    @property
    def has_unsaved(self) -> bool:
        """Is there anything to save?"""

    def check(self) -> list[str]:
        """Complaints about what a rebuild would make differently."""


class Store(Protocol):
    """All notes of one shelf, at a revision that grows by one with every write."""

    @property
    def process(self) -> int:
        """The process that opened it. No other may use it, which a forked child could."""

    @property
    def state(self) -> State:
        """The current state. Read it inside `reading` or `exclusive`."""

    @property
    def indexes(self) -> Mapping[str, Any]:
        """The indexes of that state by name."""

    def has_index(self, name: str) -> bool:
        """Does this shelf have the index? Read it inside `reading` or `exclusive`."""

    def enable_index(self, name: str) -> None:
        """Make an optional index, unless the shelf has it."""

    def disable_index(self, name: str) -> None:
        """Drop an optional index with its tables."""

    @property
    def has_unsaved(self) -> bool:
        """Did an index compute anything that the next `touch` should save?"""

    @property
    def position(self) -> tuple[int, str]:
        """The last revision and its time; 0 and "" at the beginning."""

    def needs_migration(self) -> bool:
        """Will the first read migrate tables or index all notes, which may take long?"""

    def reading(self) -> AbstractContextManager[None]:
        """All reads inside see one revision. Never waits for a writer."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Nobody else writes inside. May be nested.

        If another holds the lock for too long, `StoreBusy` names it.
        """

    def batch(self) -> AbstractContextManager[None]:
        """All writes inside become one commit at the end; after an error, none."""

    def write(self, changes: Changes) -> int:
        """Write all changes or none, durably unless in a batch; the new revision."""

    def private_copy(self) -> "Store":
        """A temporary store that holds what this one holds now, or at the moment that is being
        read. Nobody else sees what is written to it."""

    def touch(self, touches: Sequence[Touch]) -> None:
        """Count recalls. Never waits and never fails.

        A power cut may lose the last ones; a store that cannot be written counts none. Notes that
        were merely shown may be kept back for the next write, `flush_touches` or `close`.
        """

    def flush_touches(self) -> None:
        """Write what `touch` keeps back, so that the state shows it. Never waits and never
        fails."""

    def commits(
        self, since: int = 0, note: str | None = None, *, newest_first: bool = False
    ) -> Iterator[Commit]:
        """The commits after a revision that are still kept, or those that changed a note."""

    def commit_summaries(self, since: int = 0) -> Iterator[CommitSummary]:
        """The commits after a revision that are still kept, without the notes; oldest first."""

    def earlier_images(self, note: str) -> Iterator[EarlierImage]:
        """A note before each of its changes, oldest first. Of commits that are no longer kept only
        those that changed its text, and only if the note still exists."""

    def hits(self) -> Iterator[Touch]:
        """The hits that the history still has, oldest first."""

    def erase(self, note_ids: Collection[str]) -> list[str]:
        """Erase dropped notes from the history and all files; the paths. Cannot be undone."""

    def believed_time(self) -> str:
        """Now; or an earlier moment if the clock has jumped ahead of all changes, which nothing has
        confirmed yet."""

    def prune_history(self, before: str) -> None:
        """Delete the commits before a moment, except the last and those that exports need."""

    def copy_to(self, path: str) -> None:
        """Copy everything into an empty file; others may write meanwhile."""

    def copy_from(
        self, source: "Store", report: Callable[[str], None] = ..., *, dry_run: bool = False
    ) -> "Copied":
        """Copy everything from another store into this one, which must be empty.

        An interrupted copy leaves nothing. `report` is told what is being copied.
        """

    @property
    def unfinished_erasure(self) -> str:
        """Why a file may still hold what was erased; "" if none does."""

    @property
    def directory(self) -> str:
        """Where its files are; "" if it has none."""

    @property
    def is_remote(self) -> bool:
        """Is it on a database server? Then the directory holds only what stays on this machine."""

    def refresh_exports(self) -> None:
        """Write all documented files at the current revision, however long that takes."""

    def follow_exports(self) -> None:
        """Write the documented files of a small shelf, and have those of a larger one written by
        another process. Never fails."""

    def exports_status(self) -> ExportsStatus | None:
        """The revision of the documented files; None if there are none."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should do something about, such as files that cannot be read."""

    def find_defects(self, *, fix: bool) -> "list[Defect]":
        """What is not in order with files, rows and indexes; `fix` mends what can be."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know of: no file that a purge would have to look into."""

    def close(self) -> None:
        """Finish what is outstanding, and close all files."""


# --- what a store needs of a database: SQL (`domain/state.py`) and transactions -------


class Cursor(state.Cursor, Protocol):
    """The rows that a statement returns, and how many it changed."""

    @property
    def rowcount(self) -> int: ...


class Database(Protocol):
    """One connection to a database. One thread at a time may use it."""

    @property
    def path(self) -> str:
        """Where it is, for messages."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...

    def value(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """The first column of the first row; None if there is no row."""

    def begin(self, *, writing: bool) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def set_durable(self, durable: bool) -> None:
        """Whether a commit waits until it is synced to the disk."""


# --- what can be wrong in a shelf's directory -------------------------------------------------


DAMAGED_DATABASE = "damaged database"
DAMAGED_RECORDS = "damaged records"
WRONG_COLUMNS = "wrong columns"
WRONG_INDEX = "wrong index"
DAMAGED_FILE = "damaged file"
LEFTOVER = "leftover"
OPEN_TO_OTHERS = "open to others"
UNFINISHED_PURGE = "unfinished purge"


class Defect(NamedTuple):
    """One thing that is not as it should be."""

    kind: str  # one of the above, or one that only a person can repair
    path: str
    problem: str
    remedy: str  # what a repair does about it; "" if it leaves that to a person
    harmful: bool  # the shelf does not work, or something was lost
    mended: bool = False
