"""The state of a shelf, asked of its database: every question is one statement or a few."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from nuggets.records import MemoryNote, NoteKind, NuggetConfig
from nuggets.sql import chunks, placeholders
from nuggets.state import NoteCounts, Notes, title_form
from nuggets.stores.sqlite.database import Database
from nuggets.stores.sqlite.rows import (
    LENGTH_OF_TITLE,
    note_of,
    nugget_of,
    title_length,
    title_number,
)
from nuggets.text import folded

_NOTE = (
    "SELECT n.id, n.record, r.hits, r.session, r.sessions, r.accessed_at"
    " FROM notes n LEFT JOIN recalls r ON r.place = n.place"
)
_CHUNK = 500  # notes read at a time


class SqliteNotes(Notes):
    """The notes of a database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def _select(self, rest: str, parameters: Collection[Any] = ()) -> list[MemoryNote]:
        rows = self._database().execute(f"{_NOTE} {rest}", tuple(parameters))
        return [note_of(*row) for row in rows]

    def __getitem__(self, note_id: str) -> MemoryNote:
        found = self._select("WHERE n.id = ?", (note_id,))
        if not found:
            raise KeyError(note_id)
        return found[0]

    def get(self, note_id: str, default: Any = None) -> Any:
        found = self._select("WHERE n.id = ?", (note_id,))
        return found[0] if found else default

    def __contains__(self, note_id: object) -> bool:
        sql = "SELECT 1 FROM notes WHERE id = ?"
        return self._database().value(sql, (note_id,)) is not None

    def __iter__(self) -> Iterator[str]:
        return (
            note_id
            for (note_id,) in self._database()
            .execute("SELECT id FROM notes ORDER BY place")
            .fetchall()
        )

    def __len__(self) -> int:
        return int(self._database().value("SELECT count(*) FROM notes"))

    def values(self) -> Iterator[MemoryNote]:  # type: ignore[override]
        return (note for _, note in self.placed())

    def placed(self) -> Iterator[tuple[int, MemoryNote]]:
        """All notes with their places; a chunk at a time, so that a large shelf is never in
        memory as a whole."""
        place = -1
        while True:
            sql = f"{_NOTE.replace('SELECT', 'SELECT n.place,', 1)} WHERE n.place > ?"
            rows = self._database().execute(f"{sql} ORDER BY n.place LIMIT {_CHUNK}", (place,))
            chunk = rows.fetchall()
            if not chunk:
                return
            place = chunk[-1][0]
            yield from ((row[0], note_of(*row[1:])) for row in chunk)

    def items(self) -> Iterator[tuple[str, MemoryNote]]:  # type: ignore[override]
        return ((note.id, note) for note in self.values())

    def many(self, ids: Iterable[str]) -> dict[str, MemoryNote]:
        asked = dict.fromkeys(ids)
        found: dict[str, MemoryNote] = {}
        for chunk in chunks(asked):
            wanted = placeholders(chunk)
            found.update((n.id, n) for n in self._select(f"WHERE n.id IN ({wanted})", chunk))
        return {note_id: found[note_id] for note_id in asked if note_id in found}

    def find(
        self,
        *,
        nugget: str | None = None,
        title: str | None = None,
        kind: NoteKind | None = None,
        project: str | None = None,
        hidden: bool | None = None,
    ) -> list[MemoryNote]:
        asked = {
            "title": None if title is None else title_number(title),
            "nugget": None if nugget is None else folded(nugget),
            "kind": kind,
            "hidden": hidden,
            "project": project,
        }
        named = {name: value for name, value in asked.items() if value is not None}
        where = " AND ".join(f"n.{name} = ?" for name in named) or "1"
        found = self._select(f"WHERE {where} ORDER BY n.place", named.values())
        if title is None:
            return found
        form = title_form(title)  # other titles may have the same number
        return [note for note in found if title_form(note.title) == form]

    def linking_to(self, ids: Collection[str]) -> list[MemoryNote]:
        sources: dict[str, None] = {}
        for chunk in chunks(ids):
            wanted = placeholders(chunk)
            sql = f"SELECT source FROM links WHERE target IN ({wanted})"
            sources.update((source, None) for (source,) in self._database().execute(sql, chunk))
        return list(self.many(sources).values())

    def abbreviated(self, part: str) -> list[MemoryNote]:
        # Ids are lower case but for those of hand-written files, which are few: LIKE folds ASCII.
        pattern = part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        where = "WHERE n.id LIKE ? ESCAPE '\\' OR n.id LIKE ? ESCAPE '\\' ORDER BY n.place"
        return self._select(where, (f"{pattern}%", f"%-{pattern}"))

    def titled_like(self, length: int, slips: int) -> Iterator[str]:
        least, most = title_length(length - slips), title_length(length + slips)
        sql = f"SELECT id FROM notes WHERE {LENGTH_OF_TITLE} BETWEEN ? AND ? AND hidden = 0"
        rows = self._database().execute(f"{sql} LIMIT 2000", (least, most)).fetchall()
        return (note_id for (note_id,) in rows)

    def recalled(self, at_least: int) -> list[MemoryNote]:
        places = (
            "WHERE n.place IN (SELECT place FROM notes WHERE hits > 0 AND hits >= ?"
            " UNION SELECT place FROM recalls WHERE hits > 0 AND hits >= ?) ORDER BY n.place"
        )
        found = self._select(places, (at_least, at_least))
        return [note for note in found if note.hits >= at_least]

    def leading(self, projects: Collection[str], most: int) -> list[MemoryNote]:
        named = tuple(projects)
        ours = f"n.hidden = 0 AND n.project IN ({placeholders(named)})"
        found = [
            *self._select(
                f"WHERE n.type = 'preference' AND {ours} ORDER BY n.place DESC LIMIT {most}", named
            ),
            *self._select(
                "WHERE n.place IN (SELECT place FROM (SELECT place, hits FROM notes WHERE hits > 0"
                " UNION ALL SELECT place, hits FROM recalls WHERE hits > 0)"
                f" ORDER BY hits DESC LIMIT {2 * most}) AND {ours}",
                named,
            ),
            *self._select(f"WHERE {ours} ORDER BY n.place DESC LIMIT {most}", named),
        ]
        return list({note.id: note for note in found}.values())

    def counts(self) -> NoteCounts:
        sql = "SELECT nugget, kind, count(*) FROM notes WHERE hidden = 0 GROUP BY nugget, kind"
        return {(nugget, kind): count for nugget, kind, count in self._database().execute(sql)}

    def projects(self) -> dict[str, Counter[NoteKind]]:
        found: dict[str, Counter[NoteKind]] = {}
        sql = "SELECT project, kind, sum(1 - hidden) FROM notes GROUP BY project, kind"
        for project, kind, count in self._database().execute(sql):
            found.setdefault(project, Counter())[kind] = count
        return found


class SqliteMarks(Mapping[str, Any]):
    """Small named values of a database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def __getitem__(self, name: str) -> Any:
        value = self._database().value("SELECT value FROM marks WHERE name = ?", (name,))
        if value is None:
            raise KeyError(name)
        return json.loads(value)

    def __iter__(self) -> Iterator[str]:
        rows = self._database().execute("SELECT name FROM marks ORDER BY name").fetchall()
        return (name for (name,) in rows)

    def __len__(self) -> int:
        return int(self._database().value("SELECT count(*) FROM marks"))


class SqliteNuggets(Mapping[str, NuggetConfig]):
    """The nuggets of a database, by folded name, in order of creation."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def __getitem__(self, fold: str) -> NuggetConfig:
        config = None
        with suppress(UnicodeEncodeError):  # half a character names nothing
            config = self._database().value("SELECT config FROM nuggets WHERE fold = ?", (fold,))
        if config is None:
            raise KeyError(fold)
        return nugget_of(json.loads(config))

    def __iter__(self) -> Iterator[str]:
        rows = self._database().execute("SELECT fold FROM nuggets ORDER BY place").fetchall()
        return (fold for (fold,) in rows)

    def __len__(self) -> int:
        return int(self._database().value("SELECT count(*) FROM nuggets"))


class SqliteState:
    """What the database says now: inside a transaction, at one revision."""

    def __init__(self, database: Callable[[], Database]) -> None:
        """`database`: the one to ask; a store may open another."""
        self._database = database
        self.notes = SqliteNotes(database)
        self.nuggets = SqliteNuggets(database)
        self.marks = SqliteMarks(database)

    @property
    def revision(self) -> int:
        return self.position[0]

    @property
    def position(self) -> tuple[int, str]:
        """The last revision and its moment; 0 and "" at the beginning."""
        sql = "SELECT revision, at FROM commits ORDER BY revision DESC LIMIT 1"
        row = self._database().execute(sql).fetchone()
        return (0, "") if row is None else (row[0], row[1])
