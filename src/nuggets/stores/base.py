"""What stores share with indexes, databases and those who ask for defects."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from nuggets.domain import state
from nuggets.domain.records import MemoryNote
from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql.schema import Replaced


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
