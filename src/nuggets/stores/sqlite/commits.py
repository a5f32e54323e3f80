"""The history in a database: what each commit changed, and what leads back.

A commit keeps before-images only. What a note became is the next before-image of it, or the note
that is there now, with the recalls that were counted at the time.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nuggets.codec import dumps
from nuggets.records import NO_EXTRA, Changes, Commit, MemoryNote, NuggetConfig, Touch
from nuggets.stores.sqlite.database import Database
from nuggets.stores.sqlite.rows import note_of, nugget_of, nugget_record, with_recalls
from nuggets.stores.sqlite.state import SqliteNotes

_CHUNK = 64  # commits read at a time


class Rest(NamedTuple):
    """What a commit changed besides notes."""

    put_nuggets: tuple[NuggetConfig, ...] = ()
    drop_nuggets: tuple[str, ...] = ()
    marks: Mapping[str, Any] = NO_EXTRA
    before_nuggets: tuple[NuggetConfig, ...] = ()
    new_nuggets: tuple[str, ...] = ()  # names of those that were not there before
    before_marks: Mapping[str, Any] = NO_EXTRA

    def to_json(self) -> str:
        return dumps(
            [
                [nugget_record(config) for config in self.put_nuggets],
                self.drop_nuggets,
                self.marks,
                [nugget_record(config) for config in self.before_nuggets],
                self.new_nuggets,
                self.before_marks,
            ]
            if self != Rest()
            else []
        )

    @classmethod
    def from_json(cls, text: str) -> "Rest":
        fields = json.loads(text)
        if not fields:
            return cls()
        put, drop, marks, before, new, before_marks = fields
        return cls(
            tuple(map(nugget_of, put)),
            tuple(drop),
            marks,
            tuple(map(nugget_of, before)),
            tuple(new),
            before_marks,
        )


def commits(
    database: Database, since: int, note: str | None = None, *, newest_first: bool = False
) -> Iterator[Commit]:
    """The commits after a revision, or those of them that changed a note."""
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
        yield from (_commit(database, *row) for row in rows)


def _commit(
    database: Database, revision: int, at: str, action: str, client: str, rest: str
) -> Commit:
    told = Rest.from_json(rest)
    put, drop, before, new = _notes(database, revision)
    touches = database.execute(
        "SELECT note, session, at FROM touches WHERE revision = ? ORDER BY number", (revision,)
    )
    return Commit(
        revision,
        at,
        Changes(
            put=tuple(put),
            drop=tuple(drop),
            put_nuggets=told.put_nuggets,
            drop_nuggets=told.drop_nuggets,
            touches=tuple(Touch(*touch) for touch in touches),
            marks=told.marks,
            action=action,
            client=client,
        ),
        Changes(
            put=tuple(before),
            drop=tuple(new),
            put_nuggets=told.before_nuggets,
            drop_nuggets=told.new_nuggets,
            marks=told.before_marks,
        ),
    )


def _notes(
    database: Database, revision: int
) -> tuple[list[MemoryNote], list[str], list[MemoryNote], list[str]]:
    """What the commit put and dropped; what that was before, and which of it was new."""
    put, drop, before, new = [], [], [], []
    sql = "SELECT note, dropped, before, recalls FROM changes WHERE revision = ? ORDER BY position"
    rows = database.execute(sql, (revision,)).fetchall()
    left = _after(database, revision, [row[0] for row in rows if not row[1]])
    for note_id, dropped, earlier, recalls in rows:
        after = left.get(note_id)
        if dropped:
            drop.append(note_id)
        elif after is not None:
            put.append(with_recalls(after, recalls))
        if earlier is not None:
            before.append(note_of(note_id, earlier))
        elif not dropped:
            new.append(note_id)
    return put, drop, before, new


def _after(database: Database, revision: int, ids: list[str]) -> dict[str, MemoryNote | None]:
    """The notes as a commit left them; those that were purged since are left out."""
    later = database.execute(
        "SELECT c.note, c.before FROM changes c JOIN"
        " (SELECT note, min(revision) AS first FROM changes WHERE revision > ? AND note IN"
        " (SELECT note FROM changes WHERE revision = ?) GROUP BY note) f"
        " ON f.note = c.note AND f.first = +c.revision",  # by note: a commit may have thousands
        (revision, revision),
    )
    changed = {
        note_id: None if before is None else note_of(note_id, before) for note_id, before in later
    }
    now = SqliteNotes(lambda: database).many(i for i in ids if i not in changed)
    return {**changed, **now}
