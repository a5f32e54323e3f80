"""The history in a database: what each commit changed, and what was there before.

A commit keeps before-images only. The note after a commit is its next before-image, or the current
note, with the recalls that were counted at that time.
"""

from collections.abc import Iterator
from typing import Any

from nuggets.domain.records import (
    Changes,
    Commit,
    CommitSummary,
    EarlierImage,
    MemoryNote,
    Touch,
)
from nuggets.errors import StoreCorrupt
from nuggets.stores.sql.database_interface import Database
from nuggets.stores.sql.row_format import (
    NOTHING_ELSE,
    Rest,
    note_of,
    with_recalls,
)
from nuggets.stores.sql.state import Damage, SqlNotes

_CHUNK = 64  # commits read at a time


def _image(note_id: str, record: str, damage: Damage | None) -> MemoryNote | None:
    """The note of a record; None if it is damaged and that is to be noted."""
    try:
        return note_of(note_id, record)
    except StoreCorrupt as problem:
        if damage is None:
            raise
        damage[note_id] = problem
        return None


def _rest(revision: int, text: str, damage: Damage | None) -> Rest:
    try:
        return Rest.from_json(text)
    except StoreCorrupt as problem:
        if damage is None:
            raise
        damage[f"revision {revision}"] = problem
        return NOTHING_ELSE


def commits(
    database: Database,
    since: int,
    note: str | None = None,
    *,
    newest_first: bool = False,
    damage: Damage | None = None,
) -> Iterator[Commit]:
    """The commits after a revision, or those of them that changed a note.

    `damage`: where to note records that cannot be read, which are left out then; without it they
    are errors.
    """
    order = "DESC" if newest_first else "ASC"
    of_note = " AND revision IN (SELECT revision FROM changes WHERE note = ?)" if note else ""
    bound = " AND revision < ?" if newest_first else ""
    last = (1 << 62) if newest_first else since
    while True:
        parameters: list[Any] = [since if newest_first else last]
        parameters += [note] if note else []
        parameters += [last] if newest_first else []
        sql = (
            "SELECT revision, at, action, client, rest FROM commits WHERE revision > ?"
            f"{of_note}{bound} ORDER BY revision {order} LIMIT {_CHUNK}"
        )
        rows = database.execute(sql, parameters).fetchall()
        if not rows:
            return
        last = rows[-1][0]
        yield from (_commit(database, damage, *row) for row in rows)


def commit_summaries(
    database: Database, since: int, damage: Damage | None = None
) -> Iterator[CommitSummary]:
    """The commits after a revision without their notes, which are most of the work."""
    touches: dict[int, list[Touch]] = {}
    rows = database.execute(
        "SELECT revision, note, session, at, kind FROM touches WHERE revision > ? ORDER BY number",
        (since,),
    )
    for revision, *touch in rows:
        touches.setdefault(revision, []).append(Touch(*touch))
    rows = database.execute(
        "SELECT revision, at, action, client, rest,"
        " (SELECT count(*) FROM changes WHERE changes.revision = commits.revision)"
        " FROM commits WHERE revision > ? ORDER BY revision",
        (since,),
    )
    for revision, at, action, client, rest, notes in rows.fetchall():
        rest_of_commit = _rest(revision, rest, damage)
        yield CommitSummary(
            revision,
            at,
            action,
            client,
            notes,
            bool(rest_of_commit.put_nuggets or rest_of_commit.drop_nuggets),
            tuple(touches.get(revision, ())),
        )


def earlier_images(
    database: Database, note: str, damage: Damage | None = None
) -> Iterator[EarlierImage]:
    """A note before each of its changes, oldest first; of deleted commits those of its text."""
    rows = database.execute(
        "SELECT until, record FROM superseded WHERE note = ? ORDER BY number", (note,)
    ).fetchall()
    rows += database.execute(
        "SELECT k.at, c.before FROM changes c JOIN commits k ON k.revision = c.revision"
        " WHERE c.note = ? ORDER BY c.revision",
        (note,),
    ).fetchall()
    for until, record in rows:
        image = None if record is None else _image(note, record, damage)
        if record is None or image is not None:
            yield EarlierImage(image, until)


def counted_hits(database: Database) -> Iterator[Touch]:
    """The hits that the history still has, oldest first."""
    rows = database.execute("SELECT note, session, at, kind FROM touches ORDER BY number")
    return (Touch(*row) for row in rows.fetchall())


def _commit(
    database: Database,
    damage: Damage | None,
    revision: int,
    at: str,
    action: str,
    client: str,
    rest: str,
) -> Commit:
    rest_of_commit = _rest(revision, rest, damage)
    put, drop, before, new = _notes(database, revision, damage)
    touches = database.execute(
        "SELECT note, session, at, kind FROM touches WHERE revision = ? ORDER BY number",
        (revision,),
    )
    return Commit(
        revision,
        at,
        Changes(
            put=tuple(put),
            drop=tuple(drop),
            put_nuggets=rest_of_commit.put_nuggets,
            drop_nuggets=rest_of_commit.drop_nuggets,
            touches=tuple(Touch(*touch) for touch in touches),
            marks=rest_of_commit.marks,
            action=action,
            client=client,
        ),
        Changes(
            put=tuple(before),
            drop=tuple(new),
            put_nuggets=rest_of_commit.before_nuggets,
            drop_nuggets=rest_of_commit.new_nuggets,
            marks=rest_of_commit.before_marks,
        ),
    )


def _notes(
    database: Database, revision: int, damage: Damage | None
) -> tuple[list[MemoryNote], list[str], list[MemoryNote], list[str]]:
    """Notes that the commit put, ids that it dropped, earlier notes, and ids of new notes."""
    put, drop, before, new = [], [], [], []
    sql = "SELECT note, dropped, before, recalls FROM changes WHERE revision = ? ORDER BY position"
    rows = database.execute(sql, (revision,)).fetchall()
    ids = [row[0] for row in rows if not row[1]]
    left = _notes_after(database, revision, ids, damage)
    for note_id, dropped, earlier, recalls in rows:
        after = left.get(note_id)
        if dropped:
            drop.append(note_id)
        elif after is not None:
            put.append(with_recalls(after, recalls))
        if earlier is not None:
            image = _image(note_id, earlier, damage)
            before += [] if image is None else [image]
        elif not dropped:
            new.append(note_id)
    return put, drop, before, new


def _notes_after(
    database: Database, revision: int, ids: list[str], damage: Damage | None
) -> dict[str, MemoryNote | None]:
    """The notes as a commit left them; those that were purged since are left out."""
    later = database.execute(
        "SELECT c.note, c.before FROM changes c JOIN"
        " (SELECT note, min(revision) AS first FROM changes WHERE revision > ? AND note IN"
        " (SELECT note FROM changes WHERE revision = ?) GROUP BY note) f"
        " ON f.note = c.note AND f.first = +c.revision",  # by note: a commit may have thousands
        (revision, revision),
    )
    changed = {
        note_id: None if before is None else _image(note_id, before, damage)
        for note_id, before in later.fetchall()
    }
    now = SqlNotes(lambda: database, damage).many(i for i in ids if i not in changed)
    return {**changed, **now}
