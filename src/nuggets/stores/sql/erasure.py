"""Erase notes from the rows of a shelf: history, links, recalls and marks.

Commits keep their revision; only what they hold of the notes goes, with every link to them.
"""

import json
from collections.abc import Collection
from typing import Any

from nuggets.domain.codec import dumps
from nuggets.stores.sql.database_interface import Database


def erase(database: Database, note_ids: Collection[str]) -> None:
    """Inside a transaction: erase before-images, links from other notes, recalls and marks."""
    for note_id in note_ids:
        database.execute(
            "UPDATE changes SET before = NULL, recalls = '' WHERE note = ?", (note_id,)
        )
        database.execute("DELETE FROM touches WHERE note = ?", (note_id,))
        database.execute("DELETE FROM superseded WHERE note = ?", (note_id,))
        for table, key, column in (
            ("changes", "revision, position", "before"),
            ("superseded", "number", "record"),
            ("commits", "revision", "rest"),
            ("marks", "name", "value"),
        ):
            _erase_from_column(database, table, key, column, note_id)


def drop_and_erase(database: Database, note_ids: Collection[str]) -> None:
    """Inside a transaction on a copy: erase the notes themselves, and all that is left of them."""
    for note_id in note_ids:
        place = database.value("SELECT place FROM notes WHERE id = ?", (note_id,))
        database.execute("DELETE FROM recalls WHERE place = ?", (place,))
        database.execute("DELETE FROM notes WHERE place = ?", (place,))
        database.execute("DELETE FROM links WHERE ? IN (target, source)", (note_id,))
        _erase_from_column(database, "notes", "place", "record", note_id)
    erase(database, note_ids)


def _erase_from_column(database: Database, table: str, key: str, column: str, note_id: str) -> None:
    """Remove a note from the JSON values of a column."""
    encoded_id = dumps(note_id)[1:-1]
    rows = database.execute(
        f"SELECT {key}, {column} FROM {table} WHERE instr({column}, ?) > 0", (encoded_id,)
    ).fetchall()
    where = " AND ".join(f"{name} = ?" for name in key.split(", "))
    for *row_key, value in rows:
        remaining = dumps(_remove_note(json.loads(value), note_id))
        database.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (remaining, *row_key))


def _remove_note(value: Any, note_id: str) -> Any:
    """A JSON value without the note, links to it, and what marks say of it."""
    if isinstance(value, dict):
        return {
            name: _remove_note(part, note_id) for name, part in value.items() if name != note_id
        }
    if isinstance(value, list):
        return [_remove_note(part, note_id) for part in value if not _is_about(part, note_id)]
    return value


def _is_about(part: Any, note_id: str) -> bool:
    """Is it the note, a link to it, or a step of a clean-up that names it?"""
    if isinstance(part, dict):
        if note_id in (part.get(name) for name in ("id", "to", "noteId")):
            return True
        detail = part.get("detail") if "noteId" in part else None
        return isinstance(detail, str) and f" {note_id} " in f" {detail} "
    return isinstance(part, list) and part[:1] == [note_id]
