"""Fill a database that is being built with notes, history and indexes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from nuggets.domain.codec import dumps
from nuggets.domain.records import Commit, MemoryNote, NuggetConfig
from nuggets.language.text import fold_case
from nuggets.stores.base import IndexKind
from nuggets.stores.sql import schema
from nuggets.stores.sql.commit_reader import Rest
from nuggets.stores.sql.commit_writer import INSERT_NOTE, columns_of
from nuggets.stores.sql.database_interface import Database as SqlDatabase
from nuggets.stores.sql.row_format import nugget_record, recalls_kept, record_of
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import Database

T = TypeVar("T")
Report = Callable[[str], None]  # called with a line about the progress
STEP = 5000  # notes between two reports


def put_nuggets(database: Database, configs: Iterable[NuggetConfig]) -> None:
    database.executemany(
        "INSERT OR REPLACE INTO nuggets (fold, config) VALUES (?, ?)",
        ((fold_case(config.name), dumps(nugget_record(config))) for config in configs),
    )


def put_notes(database: Database, notes: Iterable[MemoryNote]) -> None:
    """Insert new notes in this order, with their links."""
    for note in notes:
        database.execute(INSERT_NOTE, (*columns_of(note), note.id, None))
        put_links(database, note)


def put_links(database: SqlDatabase, note: MemoryNote) -> None:
    database.executemany(
        "INSERT INTO links (target, source) VALUES (?, ?) ON CONFLICT (target, source) DO NOTHING",
        [(link.to, note.id) for link in note.links],
    )


def put_commit(database: Database, commit: Commit) -> None:
    """Insert a commit with its before-images; the notes themselves are put separately."""
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
        "INSERT INTO touches (revision, note, session, at, kind) VALUES (?, ?, ?, ?, ?)",
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
    """Build all indexes over the notes in the database."""
    state = SqlState(lambda: database)
    total = len(state.notes)
    for kind in schema.existing_kinds(database, kinds):
        report(f"{kind.name} index")
        schema.recreate(database, kind)
        index = kind.make(database, state)
        index.rebuild(
            report_progress(state.notes.with_places(), total, f"{kind.name} index", report)
        )


def report_progress(parts: Iterable[T], total: int, what: str, report: Report) -> Iterator[T]:
    """The same parts; reports how many were used."""
    for number, part in enumerate(parts):
        if number % STEP == 0:
            report(f"{what}: {number} of {total} notes")
        yield part
