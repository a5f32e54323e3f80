"""The state that an export showed, computed backwards from before-images and recalls; and what
changed since then."""

from collections.abc import Iterable, Iterator
from typing import Any

from nuggets.domain.records import Changes, MemoryNote, NuggetConfig
from nuggets.domain.sql_interface import Database, chunks, placeholders
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


class Changed(NamedTuple):
    """What changed since an export."""

    notes: set[str]  # ids
    dropped: set[str]  # ids of those that were dropped at some time: their place is another one
    nuggets: set[str]  # folded names


def changed_since(database: Database, exported: ExportedRevision) -> Changed:
    """Everything that differs from the export, recalls included."""
    sql = "SELECT note, dropped, before FROM changes WHERE revision > ?"
    rows = database.execute(sql, (exported.revision,)).fetchall()
    notes = {note_id for note_id, _, _ in rows}
    dropped = {note_id for note_id, is_dropped, _ in rows if is_dropped}
    notes |= set(_recalled_notes(database, exported))
    nuggets = set(_nuggets_of_facts(database, notes))
    for note in (note_of(i, before) for i, _, before in rows if before is not None):
        if note.kind == "fact":
            nuggets.add(fold_case(note.nugget_name))
    sql = "SELECT rest FROM commits WHERE revision > ? AND rest <> '[]'"
    for (text,) in database.execute(sql, (exported.revision,)).fetchall():
        rest = Rest.from_json(text)
        nuggets.update(fold_case(config.name) for config in rest.put_nuggets)
        nuggets.update(map(fold_case, rest.drop_nuggets))
    return Changed(notes, dropped, nuggets)


def _recalled_notes(database: Database, exported: ExportedRevision) -> Iterator[str]:
    """Notes with a new hit, or shown again in a session that counted before."""
    counted = "SELECT DISTINCT note FROM touches WHERE number > ?"
    shown_again = (
        "SELECT n.id FROM recalls r JOIN notes n ON n.place = r.place WHERE r.accessed_at >= ?"
    )
    for sql, since in ((counted, exported.touch), (shown_again, exported.saved_at)):
        yield from (note_id for (note_id,) in database.execute(sql, (since,)).fetchall())


def _nuggets_of_facts(database: Database, notes: Iterable[str]) -> Iterator[str]:
    for chunk in chunks(notes):
        ids = placeholders(chunk)
        sql = f"SELECT DISTINCT nugget FROM notes WHERE kind = 'fact' AND id IN ({ids})"
        yield from (nugget for (nugget,) in database.execute(sql, chunk).fetchall())
