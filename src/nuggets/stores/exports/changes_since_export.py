"""What changed since an export: notes, and nuggets whose files would differ now."""

from collections.abc import Iterable, Iterator

from nuggets.domain.sql_interface import Database, chunks, placeholders
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.layout import ExportedRevision
from nuggets.stores.sql.commit_reader import Rest
from nuggets.stores.sql.row_format import note_of


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
