"""Rows for a database that is being built: notes, history and indexes that come from elsewhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from nuggets.codec import dumps
from nuggets.records import Commit, MemoryNote, NuggetConfig
from nuggets.stores.base import IndexKind
from nuggets.stores.sqlite import schema
from nuggets.stores.sqlite.commits import Rest
from nuggets.stores.sqlite.database import Database
from nuggets.stores.sqlite.rows import nugget_record, recalls_kept, record_of
from nuggets.stores.sqlite.state import SqliteState
from nuggets.stores.sqlite.writing import INSERT_NOTE, columns_of
from nuggets.text import folded

T = TypeVar("T")
Report = Callable[[str], None]  # told what is being done, again and again
STEP = 5000  # notes between two reports


def put_nuggets(database: Database, configs: Iterable[NuggetConfig]) -> None:
    database.executemany(
        "INSERT OR REPLACE INTO nuggets (fold, config) VALUES (?, ?)",
        ((folded(config.name), dumps(nugget_record(config))) for config in configs),
    )


def put_notes(database: Database, notes: Iterable[MemoryNote]) -> None:
    """New ones, in this order, with their links."""
    for note in notes:
        database.execute(INSERT_NOTE, (*columns_of(note), note.id))
        put_links(database, note)


def put_links(database: Database, note: MemoryNote) -> None:
    database.executemany(
        "INSERT OR IGNORE INTO links (target, source) VALUES (?, ?)",
        [(link.to, note.id) for link in note.links],
    )


def put_commit(database: Database, commit: Commit) -> None:
    """A step of the history with what leads back; the notes themselves are put separately."""
    changes, before = commit.changes, commit.before
    rest = Rest(
        changes.put_nuggets,
        changes.drop_nuggets,
        changes.marks,
        before.put_nuggets,
        before.drop_nuggets,
        before.marks,
    )
    database.execute(
        "INSERT INTO commits (revision, at, action, client, rest) VALUES (?, ?, ?, ?, ?)",
        (commit.revision, commit.at, changes.action, changes.client, rest.to_json()),
    )
    database.executemany(
        "INSERT INTO changes (revision, position, note, dropped, before, recalls)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        _rows_of(commit),
    )
    database.executemany(
        "INSERT INTO touches (revision, note, session, at) VALUES (?, ?, ?, ?)",
        [(commit.revision, *touch) for touch in changes.touches if touch.session],
    )


def _rows_of(commit: Commit) -> Iterator[tuple[int, int, str, int, str | None, str]]:
    before = {note.id: record_of(note) for note in commit.before.put}
    after: dict[str, MemoryNote | None] = {note.id: note for note in commit.changes.put}
    after.update(dict.fromkeys(commit.changes.drop))
    for position, (note_id, note) in enumerate(after.items()):
        recalls = "" if note is None else recalls_kept(note)
        yield commit.revision, position, note_id, int(note is None), before.get(note_id), recalls


def build_indexes(database: Database, kinds: Sequence[IndexKind], report: Report) -> None:
    """All indexes over the notes that are there."""
    state = SqliteState(lambda: database)
    total = len(state.notes)
    for kind in kinds:
        report(f"{kind.name} index")
        schema.recreate(database, kind)
        index = kind.make(database, state)
        index.rebuild(reported(state.notes.placed(), total, f"{kind.name} index", report))


def reported(parts: Iterable[T], total: int, what: str, report: Report) -> Iterator[T]:
    """The same parts, telling how far they are."""
    for number, part in enumerate(parts):
        if number % STEP == 0:
            report(f"{what}: {number} of {total} notes")
        yield part
