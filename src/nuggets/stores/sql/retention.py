"""How long the history is kept. Old commits are deleted a part at a time, so that nobody waits
long; notes, their recalls and their earlier texts stay."""

from datetime import timedelta

from nuggets.domain.times import parse
from nuggets.errors import StoreCorrupt
from nuggets.stores.sql.database_interface import Database
from nuggets.stores.sql.row_format import note_of

JUMP_DAYS = 90  # a longer time without a change may be a clock that was set wrong
DAYS_OF_USE = 7  # on so many days after it there were changes: then it was a pause
TEXTS_KEPT = 100  # earlier texts of one note, of commits that were deleted
_BEYOND_ALL = 1 << 62  # a revision that no shelf reaches
_MOST_ROWS = 2000  # that one transaction deletes of a table


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


def prune_some(database: Database, before: str, now: str) -> bool:
    """Inside a transaction: delete a part of what is older than a moment; False when none is left.

    The last commit stays, and all from the oldest export on: edits of it are compared with what it
    showed. So do all from the first one on that is dated between `before` and now: a later one with
    an old date has it from a wrong clock. Commits are deleted first, so that none is ever seen with
    half of its changes.
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
        database.execute("DELETE FROM commits WHERE revision <= ?", (last_old,))
    first = database.value("SELECT min(revision) FROM commits")
    deleted = 0
    for table, key in (("changes", "revision, position"), ("touches", "number")):
        old_rows = f"SELECT {key} FROM {table} WHERE revision < ? LIMIT {_MOST_ROWS}"
        deleted += database.execute(
            f"DELETE FROM {table} WHERE ({key}) IN ({old_rows})", (first or 0,)
        ).rowcount
    return deleted > 0


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
