"""Changes written to the tables of a database, with what leads back. Inside a transaction."""

from collections.abc import Iterable
from typing import Any

from nuggets.codec import dumps
from nuggets.records import Changes, MemoryNote, NuggetConfig, Touch
from nuggets.state import touched
from nuggets.stores.base import Replaced
from nuggets.stores.sqlite.commits import Rest
from nuggets.stores.sqlite.database import Database
from nuggets.stores.sqlite.rows import (
    note_of,
    nugget_record,
    recalls_kept,
    recalls_of,
    record_of,
    title_number,
)
from nuggets.stores.sqlite.state import SqliteState
from nuggets.text import folded

_KNOWN = (
    "SELECT n.place, n.id, n.record, r.hits, r.session, r.sessions, r.accessed_at"
    " FROM notes n LEFT JOIN recalls r ON r.place = n.place WHERE n.id = ?"
)
INSERT_NOTE = (
    "INSERT INTO notes (nugget, kind, type, title, project, hidden, hits, record, id)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def columns_of(note: MemoryNote) -> tuple[str, str, str, int, str, int, int, str]:
    """A row of `notes` without its place and id: what operations ask for, and the whole note."""
    return (
        folded(note.nugget_name),
        note.kind,
        note.type,
        title_number(note.title),
        note.project,
        int(note.hidden),
        note.hits,
        record_of(note),
    )


class CommitWriter:
    """One commit in the making: of one change, or of all that a batch changes."""

    def __init__(self, database: Database, state: SqliteState) -> None:
        self._database = database
        self._state = state
        self.revision = state.revision + 1
        self._positions: dict[str, int] = {}  # notes that this commit has changed before
        self._actions: dict[str, None] = {}
        self._client = ""
        self._nuggets: dict[str, NuggetConfig | None] = {}
        self._nuggets_before: dict[str, NuggetConfig | None] = {}
        self._marks: dict[str, Any] = {}
        self._marks_before: dict[str, Any] = {}
        self._names: dict[str, str] = {}  # spelling of nuggets that go

    def copy(self) -> "CommitWriter":
        """The same at this moment, to go back to."""
        other = CommitWriter.__new__(CommitWriter)
        for name, value in vars(self).items():
            setattr(other, name, dict(value) if isinstance(value, dict) else value)
        return other

    def apply(self, changes: Changes) -> list[Replaced]:
        """Write the changes; which notes they replace."""
        self._actions[changes.action] = None
        self._client = changes.client or self._client
        self._apply_nuggets(changes)
        replaced = [self._put(note) for note in changes.put]
        apply_touches(self._database, changes.touches)  # a put does not know of those that waited
        replaced += [gone for note_id in changes.drop if (gone := self._drop(note_id))]
        for name, value in changes.marks.items():
            self._marks_before.setdefault(name, self._state.marks.get(name))
            self._marks[name] = value
            write_mark(self._database, name, value)
        return replaced

    def _apply_nuggets(self, changes: Changes) -> None:
        if not (changes.put_nuggets or changes.drop_nuggets):
            return
        known = self._state.nuggets
        for config in changes.put_nuggets:
            fold = folded(config.name)
            self._nuggets_before.setdefault(fold, known.get(fold))
            self._nuggets[fold] = config
            self._names[fold] = config.name
            self._database.execute(
                "INSERT INTO nuggets (fold, config) VALUES (?, ?)"
                " ON CONFLICT (fold) DO UPDATE SET config = excluded.config",
                (fold, dumps(nugget_record(config))),
            )
        for name in changes.drop_nuggets:
            fold = folded(name)
            self._nuggets_before.setdefault(fold, known.get(fold))
            self._nuggets[fold] = None
            self._names[fold] = name
            self._database.execute("DELETE FROM nuggets WHERE fold = ?", (fold,))

    def _put(self, note: MemoryNote) -> Replaced:
        row = self._database.execute(_KNOWN, (note.id,)).fetchone()
        columns = columns_of(note)
        if row is None:
            cursor = self._database.execute(INSERT_NOTE, (*columns, note.id))
            place, before = int(cursor.lastrowid or 0), None
        else:
            place, before = row[0], note_of(*row[1:])
            self._database.execute(
                "UPDATE notes SET nugget = ?, kind = ?, type = ?, title = ?, project = ?,"
                " hidden = ?, hits = ?, record = ? WHERE place = ?",
                (*columns, place),
            )
            if row[3] is not None:
                self._database.execute("DELETE FROM recalls WHERE place = ?", (place,))
        self._relink(note.id, before, note)
        self._record(note.id, before, note)
        return Replaced(place, before, note)

    def _drop(self, note_id: str) -> Replaced | None:
        row = self._database.execute(_KNOWN, (note_id,)).fetchone()
        if row is None:
            if note_id not in self._positions:
                self._record(note_id, None, None)
            return None
        place, before = row[0], note_of(*row[1:])
        self._database.execute("DELETE FROM notes WHERE place = ?", (place,))
        self._database.execute("DELETE FROM recalls WHERE place = ?", (place,))
        self._relink(note_id, before, None)
        self._record(note_id, before, None)
        return Replaced(place, before, None)

    def _relink(self, note_id: str, before: MemoryNote | None, after: MemoryNote | None) -> None:
        old = {link.to for link in before.links} if before else set()
        new = {link.to for link in after.links} if after else set()
        if old == new:
            return
        self._database.executemany(
            "DELETE FROM links WHERE target = ? AND source = ?",
            [(target, note_id) for target in sorted(old - new)],
        )
        self._database.executemany(
            "INSERT INTO links (target, source) VALUES (?, ?)",
            [(target, note_id) for target in sorted(new - old)],
        )

    def _record(self, note_id: str, before: MemoryNote | None, after: MemoryNote | None) -> None:
        """The first before-image counts; then only whether it is there at the end."""
        recalls = "" if after is None else recalls_kept(after)
        position = self._positions.get(note_id)
        if position is None:
            position = self._positions[note_id] = len(self._positions)
            self._database.execute(
                "INSERT INTO changes (revision, position, note, dropped, before, recalls)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    self.revision,
                    position,
                    note_id,
                    int(after is None),
                    None if before is None else record_of(before),
                    recalls,
                ),
            )
        else:
            self._database.execute(
                "UPDATE changes SET dropped = ?, recalls = ? WHERE revision = ? AND position = ?",
                (int(after is None), recalls, self.revision, position),
            )

    def finish(self, at: str) -> None:
        """Write the commit itself; the recalls that waited belong to it."""
        put = tuple(config for config in self._nuggets.values() if config is not None)
        gone = tuple(self._names[fold] for fold, c in self._nuggets.items() if c is None)
        known = tuple(config for config in self._nuggets_before.values() if config is not None)
        new = tuple(self._names[fold] for fold, c in self._nuggets_before.items() if c is None)
        rest = Rest(put, gone, self._marks, known, new, self._marks_before)
        actions = list(self._actions)
        self._database.execute(
            "INSERT INTO commits (revision, at, action, client, rest) VALUES (?, ?, ?, ?, ?)",
            (
                self.revision,
                at,
                actions[0] if len(actions) == 1 else "save",
                self._client,
                rest.to_json(),
            ),
        )
        self._database.execute(
            "UPDATE touches SET revision = ? WHERE revision IS NULL", (self.revision,)
        )


def apply_touches(database: Database, touches: Iterable[Touch]) -> bool:
    """Count recalls; those of notes that are gone count nothing. Whether any made a hit."""
    counted = False
    for touch in touches:
        row = database.execute(_KNOWN, (touch.note_id,)).fetchone()
        if row is None:
            continue
        before = note_of(*row[1:])
        after = touched(before, touch)
        if after == before:
            continue
        database.execute(
            "INSERT INTO recalls (place, hits, session, sessions, accessed_at)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (place) DO UPDATE SET hits = excluded.hits,"
            " session = excluded.session, sessions = excluded.sessions,"
            " accessed_at = excluded.accessed_at",
            (row[0], *recalls_of(after)),
        )
        if after.hits != before.hits:
            counted = True
            database.execute(
                "INSERT INTO touches (note, session, at) VALUES (?, ?, ?)",
                (touch.note_id, touch.session, touch.at),
            )
    return counted


def write_mark(database: Database, name: str, value: Any) -> None:
    """A mark; None takes it away."""
    if value is None:
        database.execute("DELETE FROM marks WHERE name = ?", (name,))
    else:
        database.execute(
            "INSERT INTO marks (name, value) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, dumps(value)),
        )
