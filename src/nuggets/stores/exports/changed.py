"""What changed since an export: notes, and nuggets whose files would say something else now."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nuggets.sql import Database, chunks, placeholders
from nuggets.stores.exports.layout import Shown
from nuggets.stores.sqlite.commits import Rest
from nuggets.stores.sqlite.rows import note_of
from nuggets.text import folded


class Changed(NamedTuple):
    """Since an export."""

    notes: set[str]  # ids
    dropped: set[str]  # those of them that were away at some time: their place is another one
    nuggets: set[str]  # folded names


def changed_since(database: Database, shown: Shown) -> Changed:
    """All that is not as the export says, recalls included."""
    sql = "SELECT note, dropped, before FROM changes WHERE revision > ?"
    rows = database.execute(sql, (shown.revision,)).fetchall()
    notes = {note_id for note_id, _, _ in rows}
    dropped = {note_id for note_id, gone, _ in rows if gone}
    notes |= set(_recalled(database, shown))
    nuggets = set(_nuggets_of_facts(database, notes))
    for note in (note_of(i, before) for i, _, before in rows if before is not None):
        if note.kind == "fact":
            nuggets.add(folded(note.nugget_name))
    sql = "SELECT rest FROM commits WHERE revision > ? AND rest <> '[]'"
    for (text,) in database.execute(sql, (shown.revision,)).fetchall():
        rest = Rest.from_json(text)
        nuggets.update(folded(config.name) for config in rest.put_nuggets)
        nuggets.update(map(folded, rest.drop_nuggets))
    return Changed(notes, dropped, nuggets)


def _recalled(database: Database, shown: Shown) -> Iterator[str]:
    """Counted since, or shown without being counted."""
    counted = "SELECT DISTINCT note FROM touches WHERE number > ?"
    seen = "SELECT n.id FROM recalls r JOIN notes n ON n.place = r.place WHERE r.accessed_at >= ?"
    for sql, since in ((counted, shown.touch), (seen, shown.saved_at)):
        yield from (note_id for (note_id,) in database.execute(sql, (since,)).fetchall())


def _nuggets_of_facts(database: Database, notes: Iterable[str]) -> Iterator[str]:
    for chunk in chunks(notes):
        wanted = placeholders(chunk)
        sql = f"SELECT DISTINCT nugget FROM notes WHERE kind = 'fact' AND id IN ({wanted})"
        yield from (nugget for (nugget,) in database.execute(sql, chunk).fetchall())
