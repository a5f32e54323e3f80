"""Write changes to the tables of a database, with before-images. Inside a transaction."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from nuggets.domain.codec import dumps
from nuggets.domain.records import Changes, MemoryNote, NuggetConfig, Touch
from nuggets.domain.state import apply_touch
from nuggets.domain.times import commit_time
from nuggets.errors import StoreCorrupt
from nuggets.language.text import fold_case
from nuggets.stores.sql.row_format import (
    NOTHING_ELSE,
    Rest,
    note_of,
    recalls_kept,
    recalls_of,
    record_of,
    title_number,
)
from nuggets.stores.sql.schema import Replaced

if TYPE_CHECKING:
    from nuggets.stores.sql.schema import Database
    from nuggets.stores.sql.state import SqlNotes, SqlState

_SELECT_NOTES = (
    "SELECT n.place, n.id, n.record, r.hits, r.session, r.sessions, r.accessed_at"
    " FROM notes n LEFT JOIN recalls r ON r.place = n.place"
)
_SELECT_NOTE = f"{_SELECT_NOTES} WHERE n.id = ?"
_WHERE_IT_STANDS = (  # the last revision and its time, the last place, are there recalls since
    "SELECT coalesce((SELECT max(revision) FROM commits), 0),"
    " coalesce((SELECT at FROM commits ORDER BY revision DESC LIMIT 1), ''),"
    " coalesce((SELECT max(place) FROM notes), 0),"
    " EXISTS (SELECT 1 FROM touches WHERE revision IS NULL)"
)
INSERT_NOTE = (
    "INSERT INTO notes (nugget, kind, type, title, project, hidden, hits, record, id, place)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_COMMIT = "INSERT INTO commits (revision, at, action, client, rest) VALUES (?, ?, ?, ?, ?)"
_INSERT_CHANGE = (
    "INSERT INTO changes (revision, position, note, dropped, before, recalls)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
_INSERT_IF_NEW = f"{INSERT_NOTE} ON CONFLICT (id) DO NOTHING"
_UNRECORDED = (-1, 1, "")  # stands for a note that this commit has not changed before


def columns_of(note: MemoryNote) -> tuple[str, str, str, int, str, int, int, str]:
    """A row of `notes` without its place and id: columns to select by, and the whole note."""
    return (
        fold_case(note.nugget_name),
        note.kind,
        note.type,
        title_number(note.title),
        note.project,
        int(note.hidden),
        note.hits,
        record_of(note),
    )


class CommitWriter:
    """Writes one commit: one change, or all changes of a batch."""

    def __init__(self, database: Database, state: SqlState, *, after: int = 0) -> None:
        """`after`: a revision that somebody has seen of another database in this place."""
        self._database = database
        self._state = state
        row = database.execute(_WHERE_IT_STANDS).fetchone()
        self.revision: int = max(row[0], after) + 1
        self._last_at: str = row[1]
        self._next_place: int = row[2] + 1
        self._has_hits = bool(row[3])  # that belong to this commit, and have no revision yet
        # Of notes that this commit has changed before: place in `changes`, and what stands there.
        self._recorded: dict[str, tuple[int, int, str]] = {}
        self._taken_out = set[str]()  # ids whose damaged records this commit has deleted
        self._actions: dict[str, None] = {}
        self._client = ""
        self._nuggets: dict[str, NuggetConfig | None] = {}
        self._nuggets_before: dict[str, NuggetConfig | None] = {}
        self._marks: dict[str, Any] = {}
        self._marks_before: dict[str, Any] = {}
        self._names: dict[str, str] = {}  # how nuggets are spelt, by folded name

    def copy(self) -> CommitWriter:
        """A copy, to return to after a rollback to a savepoint that is made after this."""
        copy = CommitWriter.__new__(CommitWriter)
        for name, value in vars(self).items():
            setattr(copy, name, value.copy() if isinstance(value, dict | list | set) else value)
        return copy

    def apply(self, changes: Changes) -> list[Replaced]:
        """Write the changes; the notes that they replace."""
        self._actions[changes.action] = None
        self._client = changes.client or self._client
        self._apply_nuggets(changes)
        replaced = [self._put(note) for note in changes.put]
        self.count(changes.touches)  # after the puts, which do not include them
        replaced += [dropped for note_id in changes.drop if (dropped := self._drop(note_id))]
        for name, value in changes.marks.items():
            self._marks_before.setdefault(name, self._state.marks.get(name))
            self._marks[name] = value
            write_mark(self._database, name, value)
        return replaced

    def count(self, touches: Collection[Touch]) -> bool:
        """Count recalls; whether any was a new hit."""
        return apply_touches(self._database, self._state.notes, touches, self.revision)

    def _apply_nuggets(self, changes: Changes) -> None:
        if not (changes.put_nuggets or changes.drop_nuggets):
            return
        nuggets = self._state.nuggets
        for config in changes.put_nuggets:
            fold = fold_case(config.name)
            self._nuggets_before.setdefault(fold, nuggets.get(fold))
            self._nuggets[fold] = config
            self._names[fold] = config.name
            self._database.execute(
                "INSERT INTO nuggets (place, fold, config)"
                " VALUES ((SELECT coalesce(max(place), 0) + 1 FROM nuggets), ?, ?)"
                " ON CONFLICT (fold) DO UPDATE SET config = excluded.config",
                (fold, dumps(config)),
            )
        for name in changes.drop_nuggets:
            fold = fold_case(name)
            self._nuggets_before.setdefault(fold, nuggets.get(fold))
            self._nuggets[fold] = None
            self._names[fold] = name
            self._database.execute("DELETE FROM nuggets WHERE fold = ?", (fold,))

    def _put(self, note: MemoryNote) -> Replaced:
        columns = columns_of(note)
        _, dropped, _ = self._recorded.get(note.id, _UNRECORDED)
        if (dropped or note.id in self._taken_out) and self._insert(columns, note.id):
            place, before = self._next_place, None
            self._next_place += 1
        else:
            row = self._database.execute(_SELECT_NOTE, (note.id,)).fetchone()
            place, before = row[0], self._read_replaced(*row[1:])
            if before is None:
                self._delete(place)
                self._taken_out.add(note.id)
                return self._put(note)
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

    def _insert(self, columns: tuple[Any, ...], note_id: str) -> bool:
        """Whether the note is new."""
        row = (*columns, note_id, self._next_place)
        return self._database.execute(_INSERT_IF_NEW, row).rowcount > 0

    def _drop(self, note_id: str) -> Replaced | None:
        row = self._database.execute(_SELECT_NOTE, (note_id,)).fetchone()
        if row is None:
            if note_id not in self._recorded:
                self._record(note_id, None, None)
            return None
        place, before = row[0], self._read_replaced(*row[1:])
        self._delete(place)
        self._relink(note_id, before, None)
        self._record(note_id, before, None)
        return Replaced(place, before, None) if before else None

    def _delete(self, place: int) -> None:
        self._database.execute("DELETE FROM notes WHERE place = ?", (place,))
        self._database.execute("DELETE FROM recalls WHERE place = ?", (place,))

    def _read_replaced(self, note_id: str, *row: Any) -> MemoryNote | None:
        """The note that is replaced; None if its record is damaged: then nothing leads back."""
        try:
            return note_of(note_id, *row)
        except StoreCorrupt:
            self._database.execute("DELETE FROM links WHERE source = ?", (note_id,))
            return None

    def _relink(self, note_id: str, before: MemoryNote | None, after: MemoryNote | None) -> None:
        old_links, new_links = before.links if before else (), after.links if after else ()
        if old_links == new_links:
            return
        old, new = {link.to for link in old_links}, {link.to for link in new_links}
        self._database.executemany(
            "DELETE FROM links WHERE target = ? AND source = ?",
            [(target, note_id) for target in sorted(old - new)],
        )
        self._database.executemany(
            "INSERT INTO links (target, source) VALUES (?, ?)",
            [(target, note_id) for target in sorted(new - old)],
        )

    def _record(self, note_id: str, before: MemoryNote | None, after: MemoryNote | None) -> None:
        """Record the note's first before-image in this commit, and whether it exists after it."""
        dropped, recalls = int(after is None), "" if after is None else recalls_kept(after)
        earlier = self._recorded.get(note_id)
        position = len(self._recorded) if earlier is None else earlier[0]
        if earlier == (position, dropped, recalls):
            return
        self._recorded[note_id] = position, dropped, recalls
        if earlier is None:
            record = None if before is None else record_of(before)
            row = (self.revision, position, note_id, dropped, record, recalls)
            self._database.executemany(_INSERT_CHANGE, [row])
        else:
            self._database.execute(
                "UPDATE changes SET dropped = ?, recalls = ? WHERE revision = ? AND position = ?",
                (dropped, recalls, self.revision, position),
            )

    def finish(self, now: str) -> None:
        """Write the commit's row, with a later time than the last commit, and assign to it the
        recalls since then."""
        actions = list(self._actions)
        row = (
            self.revision,
            commit_time(self._last_at, now),
            actions[0] if len(actions) == 1 else "save",
            self._client,
            self._rest().to_json(),
        )
        self._database.executemany(INSERT_COMMIT, [row])
        if self._has_hits:
            self._database.executemany(
                "UPDATE touches SET revision = ? WHERE revision IS NULL", [(self.revision,)]
            )

    def _rest(self) -> Rest:
        if not self._nuggets and not self._marks:
            return NOTHING_ELSE
        put = tuple(config for config in self._nuggets.values() if config is not None)
        dropped = tuple(self._names[fold] for fold, c in self._nuggets.items() if c is None)
        before = tuple(config for config in self._nuggets_before.values() if config is not None)
        new = tuple(self._names[fold] for fold, c in self._nuggets_before.items() if c is None)
        return Rest(put, dropped, self._marks, before, new, self._marks_before)


def apply_touches(
    database: Database, notes: SqlNotes, touches: Collection[Touch], revision: int | None = None
) -> bool:
    """Count recalls of notes that exist. Whether any was a new hit.

    `revision`: of the commit that they belong to; None: of the next one.
    """
    if not touches:
        return False
    current = notes.many(touch.note_id for touch in touches)
    recalls, hits = {}, []
    for touch in touches:
        before = current.get(touch.note_id)
        if before is None:
            continue
        after = apply_touch(before, touch)
        if after == before:
            continue
        current[touch.note_id] = after
        recalls[touch.note_id] = (touch.note_id, *recalls_of(after))
        if after.hits != before.hits:
            hits.append((revision, *touch))
    database.executemany(
        "INSERT INTO recalls (place, hits, session, sessions, accessed_at)"
        " VALUES ((SELECT place FROM notes WHERE id = ?), ?, ?, ?, ?)"
        " ON CONFLICT (place) DO UPDATE SET hits = excluded.hits,"
        " session = excluded.session, sessions = excluded.sessions,"
        " accessed_at = excluded.accessed_at",
        recalls.values(),
    )
    database.executemany(
        "INSERT INTO touches (number, revision, note, session, at, kind)"
        " VALUES ((SELECT coalesce(max(number), 0) + 1 FROM touches), ?, ?, ?, ?, ?)",
        hits,
    )
    return bool(hits)


def write_mark(database: Database, name: str, value: Any) -> None:
    """Write a mark; None deletes it."""
    if value is None:
        database.execute("DELETE FROM marks WHERE name = ?", (name,))
    else:
        database.execute(
            "INSERT INTO marks (name, value) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, dumps(value)),
        )
