"""The tables of a shelf, their migrations, and the indexes over the notes. Plain SQL, no vendor's
types.

`notes.record` is the whole note; the other columns are those that operations select by (a title by
its `row_format.title_number`). Recalls since a note was last written are in `recalls`, so that
counting one does not write the note again. `changes` is the history: for each revision and note
what the note was before. What it became is the next before-image, or the current note. When old
commits are deleted, before-images of another text go to `superseded`: what a memory said once is
known for longer than who changed what.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.errors import StoreCorrupt, StoreError
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    from nuggets.domain import state
    from nuggets.domain.records import MemoryNote

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


SCHEMA = 1  # raise it with a step in MIGRATIONS

TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE nuggets (place INTEGER PRIMARY KEY, fold TEXT NOT NULL UNIQUE,"
    " config TEXT NOT NULL)",
    "CREATE TABLE notes (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " nugget TEXT NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, title INTEGER NOT NULL,"
    " project TEXT NOT NULL, hidden INTEGER NOT NULL, hits INTEGER NOT NULL, record TEXT NOT NULL)",
    "CREATE INDEX notes_by_title ON notes (title)",
    "CREATE INDEX notes_by_nugget ON notes (nugget, kind, hidden)",
    "CREATE INDEX notes_by_project ON notes (project, kind, hidden) WHERE project <> ''",
    "CREATE INDEX notes_by_type ON notes (type) WHERE type = 'preference'",
    "CREATE INDEX notes_by_hits ON notes (hits) WHERE hits > 0",
    "CREATE TABLE recalls (place INTEGER PRIMARY KEY, hits INTEGER NOT NULL,"
    " session TEXT NOT NULL, sessions TEXT NOT NULL, accessed_at TEXT NOT NULL)",
    "CREATE INDEX recalls_by_hits ON recalls (hits) WHERE hits > 0",
    "CREATE TABLE links (target TEXT NOT NULL, source TEXT NOT NULL,"
    " PRIMARY KEY (target, source)) WITHOUT ROWID",
    "CREATE TABLE marks (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE commits (revision INTEGER PRIMARY KEY, at TEXT NOT NULL, action TEXT NOT NULL,"
    " client TEXT NOT NULL, rest TEXT NOT NULL)",
    "CREATE TABLE changes (revision INTEGER NOT NULL, position INTEGER NOT NULL,"
    " note TEXT NOT NULL, dropped INTEGER NOT NULL, before TEXT, recalls TEXT NOT NULL,"
    " PRIMARY KEY (revision, position)) WITHOUT ROWID",
    "CREATE INDEX changes_by_note ON changes (note, revision)",
    "CREATE TABLE superseded (number INTEGER PRIMARY KEY, note TEXT NOT NULL, until TEXT NOT NULL,"
    " record TEXT NOT NULL)",
    "CREATE INDEX superseded_by_note ON superseded (note)",
    "CREATE TABLE touches (number INTEGER PRIMARY KEY, revision INTEGER, note TEXT NOT NULL,"
    " session TEXT NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL)",
    "CREATE INDEX touches_by_revision ON touches (revision)",
    "CREATE TABLE exports (name TEXT PRIMARY KEY, revision INTEGER NOT NULL,"
    " touch INTEGER NOT NULL, checksum TEXT NOT NULL, status TEXT NOT NULL,"
    " edited INTEGER NOT NULL, problem TEXT NOT NULL)",
)

MIGRATIONS: dict[int, tuple[str, ...]] = {}  # schema number -> statements that lead to it


class IndexKind(NamedTuple):
    """How a store makes an index."""

    name: str
    format: int  # if another number is recorded, the index is rebuilt
    tables: tuple[str, ...]  # statements that create the tables
    make: Callable[[state.Database, state.State], Index]
    optional: bool = False  # exists only where `enable_index` made it


def statements() -> Iterator[str]:
    """The statements that make a new shelf."""
    yield from TABLES
    yield f"INSERT INTO meta (name, value) VALUES ('schema', '{SCHEMA}')"
    yield f"INSERT INTO meta (name, value) VALUES ('shelf', '{os.urandom(8).hex()}')"


def record_format(kind: IndexKind) -> str:
    """The statement that records the format of an index."""
    return (
        f"INSERT INTO meta (name, value) VALUES ('index {kind.name}', '{kind.format}')"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )


def read_meta(database: Database) -> dict[str, str]:
    """What a shelf says of itself: its schema, the formats of its indexes, unfinished work."""
    return dict(iter(database.execute("SELECT name, value FROM meta")))


def refuse_newer(meta: Mapping[str, str]) -> None:
    """Raise an error if a later version wrote the shelf."""
    number = _schema_number(meta)
    if number > SCHEMA:
        raise StoreError(
            "this shelf was written by a newer version of Nuggets "
            f"(schema {number}, here {SCHEMA}); update Nuggets. Nothing was changed"
        )


def migrate(database: Database, meta: Mapping[str, str]) -> None:
    """Bring an older shelf to today's schema; each step is a transaction."""
    for number in range(_schema_number(meta) + 1, SCHEMA + 1):
        database.execute("BEGIN IMMEDIATE")
        try:
            for statement in MIGRATIONS[number]:
                database.execute(statement)
            database.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (str(number),))
            database.execute("COMMIT")
        except BaseException:
            with suppress(StoreError):  # SQLite may have rolled it back by itself
                database.execute("ROLLBACK")
            raise


def is_outdated(meta: Mapping[str, str], kinds: Sequence[IndexKind]) -> bool:
    """Must the tables or an index be migrated first, because another version made them?"""
    return _schema_number(meta) < SCHEMA or bool(outdated_kinds(meta, kinds))


def outdated_kinds(meta: Mapping[str, str], kinds: Sequence[IndexKind]) -> list[IndexKind]:
    """The indexes that do not have today's format; an optional one only if it is there."""
    return [
        kind
        for kind in kinds
        if meta.get(f"index {kind.name}", str(kind.format) if kind.optional else "")
        != str(kind.format)
    ]


def existing_kinds(meta: Mapping[str, str], kinds: Sequence[IndexKind]) -> list[IndexKind]:
    """The indexes that this shelf has: those that are not optional, and those that were enabled."""
    return [kind for kind in kinds if not kind.optional or f"index {kind.name}" in meta]


def table_name(statement: str) -> str:
    """The name in a statement that makes a table."""
    return statement.split()[2]


def recreate(database: Database, kind: IndexKind) -> None:
    """Replace the tables of an index by empty ones."""
    prefix = f"{kind.name}\\_%"
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ? ESCAPE '\\'"
    for (name,) in database.execute(sql, (prefix,)).fetchall():
        database.execute(f'DROP TABLE "{name}"')
    for statement in (*kind.tables, record_format(kind)):
        database.execute(statement)


def _schema_number(meta: Mapping[str, str]) -> int:
    number = str(meta.get("schema", ""))[:9]
    if not number.isdecimal() or number == "0":
        raise StoreCorrupt(
            "the database does not say which version wrote it; nothing was changed. "
            "`nuggets doctor` says more"
        )
    return int(number)


# --- the indexes of a store: made when first used, updated with its changes -------------------


INDEXED_TOGETHER = 8000  # notes of a batch: bounds its memory


class Replaced(NamedTuple):
    """A note before and after a change; None where there is none."""

    place: int  # the number of its row, which grows with every new note
    before: MemoryNote | None
    after: MemoryNote | None


class IndexSet(dict[str, Any]):
    """All indexes over the state of one database by name, each made when it is first used."""

    def __init__(
        self, kinds: Sequence[IndexKind], database: Callable[[], Database], state: state.State
    ) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._database = database
        self._state = state
        self.forget()

    def __missing__(self, name: str) -> Any:
        self[name] = index = self._kinds[name].make(self._database(), self._state)
        return index

    def forget(self) -> None:
        """Drop all indexes: they may hold data of another database, or of a rolled back commit."""
        self.clear()
        # Changes of this transaction, by id and place: a place may be used again.
        self._pending: dict[tuple[str, int], Replaced] = {}
        self._existing: list[IndexKind] | None = None  # None: not looked for yet

    def all(self) -> list[Index]:
        """The indexes that the shelf has."""
        return [self[kind.name] for kind in self._find_existing()]

    def _find_existing(self) -> list[IndexKind]:
        if self._existing is None:
            kinds = tuple(self._kinds.values())
            self._existing = existing_kinds(read_meta(self._database()), kinds)
        return self._existing

    def set_existing(self, kinds: list[IndexKind]) -> None:
        """These are there now: another process may have made or dropped an optional one."""
        self._existing = kinds

    def kind(self, name: str) -> IndexKind | None:
        return self._kinds.get(name)

    def add(self, replaced: Iterable[Replaced]) -> None:
        """Queue changes of a transaction for the next `follow_changes`."""
        for place, before, after in replaced:
            name = (after or before).id, place  # type: ignore[union-attr]
            earlier = self._pending.get(name)
            self._pending[name] = Replaced(place, earlier.before if earlier else before, after)
        if len(self._pending) >= INDEXED_TOGETHER:
            self.follow_changes()

    def follow_changes(self) -> None:
        """Update the indexes with all queued changes at once: that is much cheaper than singly."""
        replaced, self._pending = list(self._pending.values()), {}
        if replaced:
            for index in self.all():
                index.update(replaced)

    @property
    def has_unsaved(self) -> bool:
        return any(index.has_unsaved for index in self.values())

    def save(self) -> None:
        """Save what the indexes computed while reading, inside a transaction."""
        if self.has_unsaved:
            for kind in self._find_existing():
                index = self.get(kind.name)  # one that was not asked computed nothing
                if index is not None and index.has_unsaved:
                    index.save()
