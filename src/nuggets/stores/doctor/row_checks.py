"""What every row of a table must be, so that the rest of Nuggets can read it."""

import json
from collections.abc import Callable
from typing import Any

from nuggets.domain import times
from nuggets.errors import StoreCorrupt
from nuggets.named_tuple import NamedTuple
from nuggets.stores.sql.row_format import DAMAGE, Rest, note_of, nugget_from_text, with_recalls

LAST_REVISION = 1 << 53  # up to there every program that reads JSON counts exactly


class Rows(NamedTuple):
    """The rows of a table that is not derived from others."""

    table: str
    key: str  # a number that grows from row to row
    columns: str
    check: Callable[..., object]  # of these columns; raises one of `DAMAGE`, or `StoreCorrupt`
    keys: str = ""  # by which a row is found in any SQL database
    remedy: str = ""  # the beginning of a statement that takes the record out; else a commit does

    def is_sound(self, row: tuple[Any, ...]) -> bool:
        """Can the row be read?"""
        try:
            self.check(*row)
        except (StoreCorrupt, *DAMAGE):
            return False
        return True


def _check_nugget(fold: str, config: str) -> None:
    nugget_from_text(config)


def _check_mark(name: str, value: str) -> None:
    json.loads(value)


def _check_recalls(hits: int, session: str, sessions: str, accessed_at: str) -> None:
    _require(int, hits)
    _require(str, session, *json.loads(sessions))
    times.normalize_time(accessed_at)


def _check_touch(revision: int | None, note: str, session: str, at: str, kind: str) -> None:
    _require(str, note, session, kind)
    times.normalize_time(at)


def _check_superseded(note: str, until: str, record: str) -> None:
    note_of(note, record)


def _check_commit(revision: int, at: str, action: str, client: str, rest: str) -> None:
    _require(str, action, client)
    if not 0 < revision <= LAST_REVISION or times.normalize_time(at) != at:
        raise ValueError(f"revision {revision} of {at!r:.40}")
    Rest.from_json(rest)


def _check_change(note: str, dropped: int, before: str | None, recalls: str) -> None:
    if before is not None:
        with_recalls(note_of(note, before), recalls)
    elif recalls:
        json.loads(recalls)


def _require(kind: type, *values: object) -> None:
    for value in values:
        if type(value) is not kind:
            raise TypeError(f"{value!r:.80} is no {kind.__name__}")


NOTES = Rows("notes", "place", "id, record", note_of, "id")
RECALLS = Rows("recalls", "place", "hits, session, sessions, accessed_at", _check_recalls)
COMMITS = Rows(
    "commits",
    "revision",
    "revision, at, action, client, rest",
    _check_commit,
    "revision",
    "UPDATE commits SET rest = '[]'",
)
CHANGES = Rows(
    "changes",
    "position",
    "note, dropped, before, recalls",
    _check_change,
    "revision, position",
    "DELETE FROM changes",
)
_NUGGETS = Rows("nuggets", "place", "fold, config", _check_nugget, "fold")
_SUPERSEDED = Rows(
    "superseded",
    "number",
    "note, until, record",
    _check_superseded,
    "number",
    "DELETE FROM superseded",
)
OTHERS = (  # that a repair copies as they are
    _NUGGETS,
    _SUPERSEDED,
    Rows("marks", "rowid", "name, value", _check_mark),
    Rows("touches", "number", "revision, note, session, at, kind", _check_touch),
)
RECORDS = (NOTES, _NUGGETS, _SUPERSEDED, CHANGES, COMMITS)
