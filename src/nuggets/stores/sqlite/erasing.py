"""Take notes out of everything that a database ever kept: it is not enough to drop them.

Commits keep their place and their number; only what they said of the notes is gone, with every
link to them. `secure_delete` overwrites what is deleted.
"""

import json
from collections.abc import Collection
from typing import Any

from nuggets.codec import dumps
from nuggets.stores.sqlite.database import Database


def erase(database: Database, note_ids: Collection[str]) -> None:
    """Inside a transaction: before-images, links in those of other notes, recalls, marks."""
    for note_id in note_ids:
        database.execute(
            "UPDATE changes SET before = NULL, recalls = '' WHERE note = ?", (note_id,)
        )
        database.execute("DELETE FROM touches WHERE note = ?", (note_id,))
        for table, key, column in (
            ("changes", "revision, position", "before"),
            ("commits", "revision", "rest"),
            ("marks", "name", "value"),
        ):
            _scrub(database, table, key, column, note_id)


def _scrub(database: Database, table: str, key: str, column: str, note_id: str) -> None:
    """Take what is said of a note out of the JSON in a column."""
    wanted = dumps(note_id)[1:-1]
    rows = database.execute(
        f"SELECT {key}, {column} FROM {table} WHERE instr({column}, ?) > 0", (wanted,)
    ).fetchall()
    where = " AND ".join(f"{name} = ?" for name in key.split(", "))
    for *place, value in rows:
        said = dumps(scrubbed(json.loads(value), (note_id,)))
        database.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (said, *place))


def scrubbed(value: Any, note_ids: Collection[str]) -> Any:
    """The same without the notes themselves, links to them, and what marks say of them."""
    if isinstance(value, dict):
        kept = (name for name in value if name not in note_ids)
        return {name: scrubbed(value[name], note_ids) for name in kept}
    if isinstance(value, list):
        return [scrubbed(part, note_ids) for part in value if not _speaks_of(part, note_ids)]
    return value


def _speaks_of(part: Any, note_ids: Collection[str]) -> bool:
    if isinstance(part, dict):
        named = (part.get(name) for name in ("id", "to", "noteId"))
        return any(_is_one_of(name, note_ids) for name in named) or _tells_of(part, note_ids)
    return isinstance(part, list) and part[:1] != [] and _is_one_of(part[0], note_ids)


def _tells_of(part: dict[str, Any], note_ids: Collection[str]) -> bool:
    """Is it a step of a clean-up that was taken with one of them? That calls it by its title."""
    told = part.get("detail") if "noteId" in part else None
    return isinstance(told, str) and any(f" {note_id} " in f" {told} " for note_id in note_ids)


def _is_one_of(value: Any, note_ids: Collection[str]) -> bool:
    return isinstance(value, str) and value in note_ids
