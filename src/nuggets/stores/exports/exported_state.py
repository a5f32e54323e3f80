"""The state that an export showed, computed backwards from before-images and recalls."""

from collections.abc import Iterable
from typing import Any

from nuggets.domain.records import Changes, MemoryNote, NuggetConfig
from nuggets.domain.sql_interface import Database
from nuggets.domain.state import State
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.layout import ExportedRevision
from nuggets.stores.sql.commit_reader import Rest
from nuggets.stores.sql.row_format import note_of


class _Touch(NamedTuple):
    note: str
    revision: int | None  # of the commit that followed it; None if none did yet
    session: str


def current_revision(database: Database) -> ExportedRevision:
    """What an export shows that is made now."""
    sql = "SELECT revision, at FROM commits ORDER BY revision DESC LIMIT 1"
    revision, at = database.execute(sql).fetchone() or (0, "")
    return ExportedRevision(revision, at, last_touch(database))


def moment_of(database: Database, revision: int) -> str | None:
    """The time of a revision; None if the history does not reach back to it."""
    sql = "SELECT at FROM commits WHERE revision = ?"
    row = database.execute(sql, (revision,)).fetchone()
    return None if row is None else str(row[0])


def last_touch(database: Database, revision: int | None = None) -> int:
    """The number of the last recall, or of the last one that a revision counted."""
    where = "" if revision is None else " WHERE revision <= ?"
    sql = f"SELECT max(number) FROM touches{where}"
    row = database.execute(sql, () if revision is None else (revision,)).fetchone()
    return int(row[0] or 0)


def changes_back_to(database: Database, state: State, exported: ExportedRevision) -> Changes:
    """The changes that lead from the current state back to what an export showed."""
    touch = last_touch(database, exported.revision) if exported.touch is None else exported.touch
    earlier, since = _notes_before(database, exported.revision)
    rows = database.execute(
        "SELECT note, revision, session FROM touches WHERE number > ?", (touch,)
    )
    touches: dict[str, list[_Touch]] = {}
    for row in rows.fetchall():
        touches.setdefault(row[0], []).append(_Touch(*row))
    unchanged = state.notes.many(note_id for note_id in touches if note_id not in earlier)
    put = [
        _without_touches(note, touches.get(note.id, ()), since.get(note.id))
        for note in (*earlier.values(), *unchanged.values())
        if note is not None
    ]
    nuggets, marks = _rest_before(database, exported.revision)
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


def _without_touches(note: MemoryNote, touches: Iterable[_Touch], before: int | None) -> MemoryNote:
    """The note without recalls that it counts: all of them, or those before a commit."""
    sessions = [
        touch.session
        for touch in touches
        if before is None or (touch.revision is not None and touch.revision <= before)
    ]
    if not sessions:
        return note
    remaining = tuple(session for session in note.hit_sessions if session not in sessions)
    return note._replace(
        hits=max(note.hits - len(sessions), 0),
        hit_sessions=remaining,
        last_hit_session=remaining[-1] if remaining else "",
    )


def _rest_before(
    database: Database, revision: int
) -> tuple[dict[str, NuggetConfig | None], dict[str, Any]]:
    """Nuggets by folded name (None if there was none), and marks, as they were at a revision."""
    nuggets: dict[str, NuggetConfig | None] = {}
    marks: dict[str, Any] = {}
    sql = "SELECT rest FROM commits WHERE revision > ? AND rest <> '[]' ORDER BY revision DESC"
    for (text,) in database.execute(sql, (revision,)).fetchall():
        rest = Rest.from_json(text)
        nuggets.update((fold_case(config.name), config) for config in rest.before_nuggets)
        nuggets.update((fold_case(name), None) for name in rest.new_nuggets)
        marks.update(rest.before_marks)
    return nuggets, marks
