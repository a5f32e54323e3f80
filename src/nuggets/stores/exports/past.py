"""Everything as an export showed it, worked out backwards from before-images and recalls."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from nuggets.records import Changes, MemoryNote, NuggetConfig
from nuggets.sql import Database
from nuggets.state import State
from nuggets.stores.exports.layout import Shown
from nuggets.stores.sqlite.commits import Rest
from nuggets.stores.sqlite.rows import note_of
from nuggets.text import folded


class _Touch(NamedTuple):
    note: str
    revision: int | None  # of the commit before which it was counted; None: of none yet
    session: str


def moment_of(database: Database, revision: int) -> str | None:
    """When a revision came to be; None if the history does not reach back to it."""
    sql = "SELECT at FROM commits WHERE revision = ?"
    row = database.execute(sql, (revision,)).fetchone()
    return None if row is None else str(row[0])


def last_touch(database: Database, revision: int | None = None) -> int:
    """The number of the last recall; of those that a commit counted, with a revision."""
    where = "" if revision is None else " WHERE revision <= ?"
    sql = f"SELECT max(number) FROM touches{where}"
    row = database.execute(sql, () if revision is None else (revision,)).fetchone()
    return int(row[0] or 0)


def changes_back(database: Database, state: State, shown: Shown) -> Changes:
    """What leads from the state now to the one that an export showed."""
    touch = last_touch(database, shown.revision) if shown.touch is None else shown.touch
    earlier, since = _notes_before(database, shown.revision)
    rows = database.execute(
        "SELECT note, revision, session FROM touches WHERE number > ?", (touch,)
    )
    touches: dict[str, list[_Touch]] = {}
    for row in rows.fetchall():
        touches.setdefault(row[0], []).append(_Touch(*row))
    unchanged = state.notes.many(note_id for note_id in touches if note_id not in earlier)
    put = [
        _before_touches(note, touches.get(note.id, ()), since.get(note.id))
        for note in (*earlier.values(), *unchanged.values())
        if note is not None
    ]
    nuggets, marks = _rest_before(database, shown.revision)
    return Changes(
        put=tuple(put),
        drop=tuple(note_id for note_id, note in earlier.items() if note is None),
        put_nuggets=tuple(config for config in nuggets.values() if config is not None),
        drop_nuggets=tuple(name for name, config in nuggets.items() if config is None),
        marks=marks,
    )


def _notes_before(
    database: Database, revision: int
) -> tuple[dict[str, MemoryNote | None], dict[str, int]]:
    """Each note that changed after a revision as it was then, and which commit changed it first."""
    records: dict[str, tuple[int, str | None]] = {}
    sql = "SELECT note, revision, before FROM changes WHERE revision > ? ORDER BY revision DESC"
    for note_id, changed, before in database.execute(sql, (revision,)).fetchall():
        records[note_id] = changed, before
    earlier = {
        i: None if before is None else note_of(i, before) for i, (_, before) in records.items()
    }
    return earlier, {note_id: changed for note_id, (changed, _) in records.items()}


def _before_touches(note: MemoryNote, touches: Iterable[_Touch], before: int | None) -> MemoryNote:
    """Without those recalls that are counted in it: all, or those before a commit."""
    sessions = [
        touch.session
        for touch in touches
        if before is None or (touch.revision is not None and touch.revision <= before)
    ]
    if not sessions:
        return note
    left = tuple(session for session in note.hit_sessions if session not in sessions)
    return note._replace(
        hits=max(note.hits - len(sessions), 0),
        hit_sessions=left,
        last_hit_session=left[-1] if left else "",
    )


def _rest_before(
    database: Database, revision: int
) -> tuple[dict[str, NuggetConfig | None], dict[str, Any]]:
    """By folded name; None for those that were not there."""
    nuggets: dict[str, NuggetConfig | None] = {}
    marks: dict[str, Any] = {}
    sql = "SELECT rest FROM commits WHERE revision > ? AND rest <> '[]' ORDER BY revision DESC"
    for (text,) in database.execute(sql, (revision,)).fetchall():
        rest = Rest.from_json(text)
        nuggets.update((folded(config.name), config) for config in rest.before_nuggets)
        nuggets.update((folded(name), None) for name in rest.new_nuggets)
        marks.update(rest.before_marks)
    return nuggets, marks
