"""Fill a database that is being built with notes, history and indexes."""

from collections.abc import Iterator, Sequence

from nuggets.domain.codec import dumps
from nuggets.domain.records import Commit, MemoryNote, NuggetConfig
from nuggets.language.text import fold_case
from nuggets.stores.sql import schema
from nuggets.stores.sql.database_interface import Database as SqlDatabase
from nuggets.stores.sql.row_format import Rest, nugget_record, recalls_kept, record_of
from nuggets.stores.sql.schema import IndexKind
from nuggets.stores.sql.state import SqlState
from nuggets.stores.sqlite.database import Database


def put_nugget(database: Database, config: NuggetConfig) -> None:
    database.execute(
        "INSERT OR REPLACE INTO nuggets (fold, config) VALUES (?, ?)",
        (fold_case(config.name), dumps(nugget_record(config))),
    )


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


def build_indexes(database: Database, kinds: Sequence[IndexKind]) -> None:
    """Build all indexes over the notes in the database."""
    state = SqlState(lambda: database)
    for kind in schema.existing_kinds(schema.read_meta(database), kinds):
        schema.recreate(database, kind)
        kind.make(database, state).rebuild(state.notes.with_places())
