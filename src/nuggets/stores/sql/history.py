"""The history in a database: what each commit changed, how long that is kept, and erasing from it.

A commit keeps before-images only. The note after a commit is its next before-image, or the current
note, with the recalls that were counted at that time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from nuggets.domain.codec import dumps
from nuggets.domain.records import (
    Changes,
    Commit,
    CommitSummary,
    EarlierImage,
    MemoryNote,
    Touch,
)
from nuggets.domain.times import parse
from nuggets.errors import StoreCorrupt
from nuggets.stores.sql.row_format import (
    NOTHING_ELSE,
    Rest,
    note_of,
    with_recalls,
)
from nuggets.stores.sql.state import Damage, SqlNotes, read_record

if TYPE_CHECKING:
    from nuggets.stores.sql.schema import Database


class History:
    """The commits of a database that are still kept."""

    def __init__(self, database: Database, damage: Damage | None = None) -> None:
        """`damage`: where to note records that cannot be read, which are left out then; without it
        they are errors."""
        self._database = database
        self._damage = damage

    def commits(
        self, since: int = 0, note: str | None = None, *, newest_first: bool = False
    ) -> Iterator[Commit]:
        """The commits after a revision, or those of them that changed a note."""
        of_note = " AND revision IN (SELECT revision FROM changes WHERE note = ?)" if note else ""
        sql = (
            "SELECT revision, at, action, client, rest FROM commits WHERE revision > ?"
            f"{of_note} ORDER BY revision {'DESC' if newest_first else 'ASC'}"
        )
        rows = self._database.execute(sql, (since, note) if note else (since,)).fetchall()
        yield from (self._commit(*row) for row in rows)

    def summaries(self, since: int = 0) -> Iterator[CommitSummary]:
        """The commits after a revision without their notes, which are most of the work; oldest
        first."""
        touches: dict[int, list[Touch]] = {}
        rows = self._database.execute(
            "SELECT revision, note, session, at, kind FROM touches WHERE revision > ?"
            " ORDER BY number",
            (since,),
        )
        for revision, *touch in rows:
            touches.setdefault(revision, []).append(Touch(*touch))
        rows = self._database.execute(
            "SELECT revision, at, action, client, rest,"
            " (SELECT count(*) FROM changes WHERE changes.revision = commits.revision)"
            " FROM commits WHERE revision > ? ORDER BY revision",
            (since,),
        )
        for revision, at, action, client, text, notes in rows.fetchall():
            rest = self._rest(revision, text)
            yield CommitSummary(
                revision,
                at,
                action,
                client,
                notes,
                bool(rest.put_nuggets or rest.drop_nuggets),
                tuple(touches.get(revision, ())),
            )

    def earlier_images(self, note: str) -> Iterator[EarlierImage]:
        """A note before each of its changes, oldest first. Of commits that are no longer kept only
        those that changed its text, and only if the note still exists."""
        rows = self._database.execute(
            "SELECT until, record FROM superseded WHERE note = ? ORDER BY number", (note,)
        ).fetchall()
        rows += self._database.execute(
            "SELECT k.at, c.before FROM changes c JOIN commits k ON k.revision = c.revision"
            " WHERE c.note = ? ORDER BY c.revision",
            (note,),
        ).fetchall()
        for until, record in rows:
            image = None if record is None else self._image(note, record)
            if record is None or image is not None:
                yield EarlierImage(image, until)

    def hits(self) -> Iterator[Touch]:
        """The hits that are still known, oldest first."""
        sql = "SELECT note, session, at, kind FROM touches ORDER BY number"
        return (Touch(*row) for row in self._database.execute(sql).fetchall())

    def _image(self, note_id: str, record: str) -> MemoryNote | None:
        """The note of a record; None if it is damaged and that is to be noted."""
        return read_record(self._damage, note_id, None, note_of, note_id, record)

    def _rest(self, revision: int, text: str) -> Rest:
        name = f"revision {revision}"
        return read_record(self._damage, name, NOTHING_ELSE, Rest.from_json, text)

    def _commit(self, revision: int, at: str, action: str, client: str, text: str) -> Commit:
        rest = self._rest(revision, text)
        put, drop, before, new = self._notes(revision)
        touches = self._database.execute(
            "SELECT note, session, at, kind FROM touches WHERE revision = ? ORDER BY number",
            (revision,),
        )
        return Commit(
            revision,
            at,
            Changes(
                put=tuple(put),
                drop=tuple(drop),
                put_nuggets=rest.put_nuggets,
                drop_nuggets=rest.drop_nuggets,
                touches=tuple(Touch(*touch) for touch in touches),
                marks=rest.marks,
                action=action,
                client=client,
            ),
            Changes(
                put=tuple(before),
                drop=tuple(new),
                put_nuggets=rest.before_nuggets,
                drop_nuggets=rest.new_nuggets,
                marks=rest.before_marks,
            ),
        )

    def _notes(
        self, revision: int
    ) -> tuple[list[MemoryNote], list[str], list[MemoryNote], list[str]]:
        """Notes that the commit put, ids that it dropped, earlier notes, and ids of new notes."""
        put, drop, before, new = [], [], [], []
        rows = self._database.execute(
            "SELECT note, dropped, before, recalls FROM changes WHERE revision = ?"
            " ORDER BY position",
            (revision,),
        ).fetchall()
        ids = [row[0] for row in rows if not row[1]]
        left = self._notes_after(revision, ids)
        for note_id, dropped, earlier, recalls in rows:
            after = left.get(note_id)
            if dropped:
                drop.append(note_id)
            elif after is not None:
                put.append(with_recalls(after, recalls))
            if earlier is not None:
                image = self._image(note_id, earlier)
                before += [] if image is None else [image]
            elif not dropped:
                new.append(note_id)
        return put, drop, before, new

    def _notes_after(self, revision: int, ids: list[str]) -> dict[str, MemoryNote | None]:
        """The notes as a commit left them; those that were purged since are left out."""
        later = self._database.execute(
            "SELECT c.note, c.before FROM changes c JOIN"
            " (SELECT note, min(revision) AS first FROM changes WHERE revision > ? AND note IN"
            " (SELECT note FROM changes WHERE revision = ?) GROUP BY note) f"
            " ON f.note = c.note AND f.first = +c.revision",  # by note: a commit may have thousands
            (revision, revision),
        )
        changed = {
            note_id: None if before is None else self._image(note_id, before)
            for note_id, before in later.fetchall()
        }
        now = SqlNotes(lambda: self._database, self._damage).many(
            i for i in ids if i not in changed
        )
        return {**changed, **now}


# --- how long it is kept ----------------------------------------------------------------------
# Old commits are deleted; notes, their recalls and their earlier texts stay.


JUMP_DAYS = 90  # a longer time without a change may be a clock that was set wrong
DAYS_OF_USE = 7  # on so many days after it there were changes: then it was a pause
TEXTS_KEPT = 100  # earlier texts of one note, of deleted commits: ours, so that it stays small
_BEYOND_ALL = 1 << 62  # a revision that no shelf reaches


def believed_time(database: Database, now: str) -> str:
    """Now, or the end of the last day before a jump of the clock that nothing has confirmed yet: a
    wrong clock must not make everything old."""
    days = database.execute(
        "SELECT DISTINCT substr(at, 1, 10) AS day FROM commits WHERE at <= ? ORDER BY day DESC"
        f" LIMIT {DAYS_OF_USE}",
        (now,),
    )
    believed = now
    later = parse(now)
    for (day,) in days.fetchall():
        moment = min(f"{day}T23:59:59.999Z", now)
        if later - parse(moment) > timedelta(days=JUMP_DAYS):
            believed = moment
        later = parse(moment)
    return believed


def prune(database: Database, before: str, now: str) -> None:
    """Inside a transaction: delete what is older than a moment.

    The last commit stays, and all from the oldest export on: edits of it are compared with what it
    showed. So do all from the first one on that is dated between `before` and now: a later one with
    an old date has it from a wrong clock.
    """
    last_old = database.value(
        "SELECT max(revision) FROM commits WHERE at < ? AND revision < (SELECT max(revision)"
        " FROM commits) AND revision < (SELECT coalesce(min(revision), ?) FROM exports"
        " WHERE revision > 0) AND revision < (SELECT coalesce(min(revision), ?) FROM commits"
        " WHERE at BETWEEN ? AND ?)",
        (before, _BEYOND_ALL, _BEYOND_ALL, before, now),
    )
    if last_old is not None:
        _keep_texts(database, last_old)
        for table in ("commits", "changes", "touches"):
            database.execute(f"DELETE FROM {table} WHERE revision <= ?", (last_old,))


def _keep_texts(database: Database, last: int) -> None:
    """Keep what notes said before commits up to a revision changed it; not of archived notes, which
    include those of sessions."""
    rows = database.execute(
        "SELECT c.note, k.at, c.before, coalesce((SELECT d.before FROM changes d"
        " WHERE d.note = c.note AND d.revision > c.revision ORDER BY d.revision LIMIT 1), n.record)"
        " FROM commits k JOIN changes c ON c.revision = k.revision JOIN notes n ON n.id = c.note"
        " WHERE k.revision <= ? AND c.before IS NOT NULL ORDER BY k.revision",
        (last,),
    ).fetchall()
    kept = []
    for note_id, until, record, next_record in rows:
        try:
            before, after = note_of(note_id, record), note_of(note_id, next_record)
        except StoreCorrupt:
            continue  # what cannot be read is no text to keep
        if not before.hidden and (before.title, before.content) != (after.title, after.content):
            kept.append((note_id, until, record))
    database.executemany(
        "INSERT INTO superseded (number, note, until, record)"
        " VALUES ((SELECT coalesce(max(number), 0) + 1 FROM superseded), ?, ?, ?)",
        kept,
    )
    for note_id in dict.fromkeys(note_id for note_id, _, _ in kept):
        database.execute(
            "DELETE FROM superseded WHERE note = ? AND number NOT IN (SELECT number"
            f" FROM superseded WHERE note = ? ORDER BY number DESC LIMIT {TEXTS_KEPT})",
            (note_id, note_id),
        )
    database.execute("DELETE FROM superseded WHERE note NOT IN (SELECT id FROM notes)")


# --- erasing notes from it --------------------------------------------------------------------
# Commits keep their revision; only what they hold of the notes goes, with every link to them.


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
