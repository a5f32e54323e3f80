"""The state of a shelf, read from its database: each query is one statement or a few."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from nuggets.domain.names_and_tags import title_form
from nuggets.domain.records import MemoryNote, NoteKind, NuggetConfig
from nuggets.domain.state import NoteCounts, Notes, chunks, placeholders
from nuggets.errors import StoreCorrupt
from nuggets.language.text import fold_case
from nuggets.stores.sql.row_format import (
    LENGTH_OF_TITLE,
    note_of,
    nugget_from_text,
    title_length,
    title_number,
)

if TYPE_CHECKING:
    from nuggets.stores.sql.schema import Cursor, Database

_NOTE = (
    "SELECT n.id, n.record, r.hits, r.session, r.sessions, r.accessed_at"
    " FROM notes n LEFT JOIN recalls r ON r.place = n.place"
)
_CHUNK = 500  # notes that one statement reads: this bounds the memory
_MOST_KEPT = 200  # notes in the memory of a transaction that reads; a question is about fewer

Damage = dict[str, StoreCorrupt]
"""Records that cannot be read, by their names, as far as reading has met them."""

R = TypeVar("R")
F = TypeVar("F")


def read_record(
    damage: Damage | None, name: str, instead: F, read: Callable[..., R], *fields: Any
) -> R | F:
    """What `read` makes of a record. Of a damaged one it is `instead`, and `damage` tells of it;
    without `damage` that is an error."""
    try:
        return read(*fields)
    except StoreCorrupt as problem:
        if damage is None:
            raise
        damage[name] = problem
        return instead


class SqlNotes(Notes):
    """The notes of a database."""

    def __init__(self, database: Callable[[], Database], damage: Damage | None = None) -> None:
        """`damage`: where to note records that cannot be read, which are passed over then; without
        it they are errors."""
        self._database = database
        self._damage = damage
        self.kept: dict[str, MemoryNote] | None = None

    def _select(self, rest: str, parameters: Collection[Any] = ()) -> list[MemoryNote]:
        rows = self._database().execute(f"{_NOTE} {rest}", tuple(parameters))
        return [note for row in rows if (note := self.read(*row)) is not None]

    def read(self, note_id: str, *row: Any) -> MemoryNote | None:
        """The note of a row; None if its record is damaged."""
        return read_record(self._damage, note_id, None, note_of, note_id, *row)

    def is_damaged(self, note_id: str) -> bool:
        sql = "SELECT 1 FROM notes WHERE id = ?"
        is_there = self._database().value(sql, (note_id,)) is not None
        return is_there and note_id not in self

    def __getitem__(self, note_id: str) -> MemoryNote:
        return self.many((note_id,))[note_id]

    def get(self, note_id: str, default: Any = None) -> Any:
        return self.many((note_id,)).get(note_id, default)

    def __contains__(self, note_id: object) -> bool:
        return isinstance(note_id, str) and self.get(note_id) is not None

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
        return (note for _, note in self.with_places())

    def with_places(self) -> Iterator[tuple[int, MemoryNote]]:
        """All notes with their places, read in chunks: a large shelf does not fit into memory."""
        place = -1
        while True:
            sql = f"{_NOTE.replace('SELECT', 'SELECT n.place,', 1)} WHERE n.place > ?"
            rows = self._database().execute(f"{sql} ORDER BY n.place LIMIT {_CHUNK}", (place,))
            chunk = rows.fetchall()
            for row in chunk:
                note = self.read(*row[1:])
                if note is not None:
                    yield row[0], note
            if len(chunk) < _CHUNK:
                return
            if chunk[-1][0] <= place:  # a torn tree leads to the same rows again and again
                raise StoreCorrupt("the notes do not stand in their order; `nuggets doctor --fix`")
            place = chunk[-1][0]

    def items(self) -> Iterator[tuple[str, MemoryNote]]:  # type: ignore[override]
        return ((note.id, note) for note in self.values())

    def many(self, ids: Iterable[str]) -> dict[str, MemoryNote]:
        unique_ids = dict.fromkeys(ids)
        notes = {} if self.kept is None else self.kept
        for chunk in chunks([note_id for note_id in unique_ids if note_id not in notes]):
            where = f"WHERE n.id IN ({placeholders(chunk)})"
            notes.update((note.id, note) for note in self._select(where, chunk))
        found = {note_id: notes[note_id] for note_id in unique_ids if note_id in notes}
        if self.kept is not None and len(self.kept) > _MOST_KEPT:
            self.kept.clear()
        return found

    def find(
        self,
        *,
        nugget: str | None = None,
        title: str | None = None,
        kind: NoteKind | None = None,
        project: str | None = None,
        hidden: bool | None = None,
    ) -> list[MemoryNote]:
        filters = {
            "title": None if title is None else title_number(title),
            "nugget": None if nugget is None else fold_case(nugget),
            "kind": kind,
            "hidden": hidden,
            "project": project,
        }
        set_filters = {name: value for name, value in filters.items() if value is not None}
        where = " AND ".join(f"n.{name} = ?" for name in set_filters) or "TRUE"
        notes = self._select(f"WHERE {where} ORDER BY n.place", set_filters.values())
        if title is None:
            return notes
        form = title_form(title)  # other titles may have the same number
        return [note for note in notes if title_form(note.title) == form]

    def rows_since(self, revision: int, touch: int) -> Cursor:
        """The rows of all notes for `read`, each with its record only if the note was changed or
        recalled after a revision and a recall."""
        changed = (
            "n.id IN (SELECT note FROM changes WHERE revision > ?"
            " UNION SELECT note FROM touches WHERE number > ?"
            " UNION SELECT i.id FROM recalls c JOIN notes i ON i.place = c.place"
            " WHERE c.accessed_at >= (SELECT at FROM commits WHERE revision = ?))"
        )
        sql = _NOTE.replace("n.record", f"CASE WHEN {changed} THEN n.record END")
        return self._database().execute(f"{sql} ORDER BY n.place", (revision, touch, revision))

    def linking_to(self, ids: Collection[str]) -> list[MemoryNote]:
        sources: dict[str, None] = {}
        for chunk in chunks(ids):
            sql = f"SELECT source FROM links WHERE target IN ({placeholders(chunk)})"
            sources.update((source, None) for (source,) in self._database().execute(sql, chunk))
        return list(self.many(sources).values())

    def find_by_id_part(self, part: str) -> list[MemoryNote]:
        # Ids are lower case, except a few in hand-written files: folding ASCII is enough.
        pattern = part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        where = (
            "WHERE lower(n.id) LIKE ? ESCAPE '\\' OR lower(n.id) LIKE ? ESCAPE '\\'"
            " ORDER BY n.place"
        )
        return self._select(where, (f"{pattern}%", f"%-{pattern}"))

    def ids_with_title_length(self, length: int, slips: int) -> Iterator[str]:
        least, most = title_length(length - slips), title_length(length + slips)
        sql = f"SELECT id FROM notes WHERE {LENGTH_OF_TITLE} BETWEEN ? AND ? AND hidden = 0"
        rows = self._database().execute(f"{sql} LIMIT 2000", (least, most)).fetchall()
        return (note_id for (note_id,) in rows)

    def with_hits(self, at_least: int) -> list[MemoryNote]:
        places = (
            "WHERE n.place IN (SELECT place FROM notes WHERE hits > 0 AND hits >= ?"
            " UNION SELECT place FROM recalls WHERE hits > 0 AND hits >= ?) ORDER BY n.place"
        )
        notes = self._select(places, (at_least, at_least))
        return [note for note in notes if note.hits >= at_least]

    def leading(self, projects: Collection[str], most: int) -> list[MemoryNote]:
        parameters = tuple(projects)
        visible = f"n.hidden = 0 AND n.project IN ({placeholders(parameters)})"
        notes = [
            *self._select(
                f"WHERE n.type = 'preference' AND {visible} ORDER BY n.place DESC LIMIT {most}",
                parameters,
            ),
            *self._select(
                "WHERE n.place IN (SELECT place FROM (SELECT place, hits FROM notes WHERE hits > 0"
                " UNION ALL SELECT place, hits FROM recalls WHERE hits > 0) AS counted"
                f" ORDER BY hits DESC LIMIT {2 * most}) AND {visible}",
                parameters,
            ),
            *self._select(f"WHERE {visible} ORDER BY n.place DESC LIMIT {most}", parameters),
        ]
        return list({note.id: note for note in notes}.values())

    def recent_ids(self, most: int) -> list[str]:
        recalled = (
            "SELECT n.id FROM notes AS n JOIN recalls AS r ON r.place = n.place WHERE n.hidden = 0"
            f" AND r.hits > 0 ORDER BY r.accessed_at DESC LIMIT {most:d}"
        )
        newest = f"SELECT id FROM notes WHERE hidden = 0 ORDER BY place DESC LIMIT {most:d}"
        database = self._database()
        ids = [row[0] for sql in (recalled, newest) for row in database.execute(sql).fetchall()]
        return list(dict.fromkeys(ids))[:most]

    def counts(self) -> NoteCounts:
        sql = "SELECT nugget, kind, count(*) FROM notes WHERE hidden = 0 GROUP BY nugget, kind"
        return {(nugget, kind): count for nugget, kind, count in self._database().execute(sql)}

    def projects(self) -> dict[str, Counter[NoteKind]]:
        counts: dict[str, Counter[NoteKind]] = {}
        sql = "SELECT project, kind, sum(1 - hidden) FROM notes GROUP BY project, kind"
        for project, kind, count in self._database().execute(sql):
            counts.setdefault(project, Counter())[kind] = count
        return counts


class SqlMarks(Mapping[str, Any]):
    """Small named values of a database."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database
        self.kept: dict[str, str | None] | None = None  # also those that are not there

    def __getitem__(self, name: str) -> Any:
        kept = {} if self.kept is None else self.kept
        if name not in kept:
            sql = "SELECT value FROM marks WHERE name = ?"
            kept[name] = self._database().value(sql, (name,))
        value = kept[name]
        if value is None:
            raise KeyError(name)
        return json.loads(value)

    def __iter__(self) -> Iterator[str]:
        rows = self._database().execute("SELECT name FROM marks ORDER BY name").fetchall()
        return (name for (name,) in rows)

    def __len__(self) -> int:
        return int(self._database().value("SELECT count(*) FROM marks"))


_nugget_of = lru_cache(maxsize=64)(nugget_from_text)


class SqlNuggets(Mapping[str, NuggetConfig]):
    """The nuggets of a database by folded name, oldest first."""

    def __init__(self, database: Callable[[], Database], damage: Damage | None = None) -> None:
        self._database = database
        self._damage = damage
        self.kept: dict[str, NuggetConfig] | None = None

    def __getitem__(self, fold: str) -> NuggetConfig:
        kept = {} if self.kept is None else self.kept
        if fold not in kept:
            kept[fold] = self._read(fold)
        return kept[fold]

    def _read(self, fold: str) -> NuggetConfig:
        config = None
        with suppress(UnicodeEncodeError):  # no nugget has half a character in its name
            config = self._database().value("SELECT config FROM nuggets WHERE fold = ?", (fold,))
        if config is None:
            raise KeyError(fold)
        return self.parse(fold, config)

    def parse(self, fold: str, config: str) -> NuggetConfig:
        # The facts of a damaged one do not depend on it.
        return read_record(self._damage, fold, NuggetConfig(fold), _nugget_of, config)

    def values(self) -> list[NuggetConfig]:  # type: ignore[override]
        sql = "SELECT fold, config FROM nuggets ORDER BY place"
        return [self.parse(*row) for row in self._database().execute(sql).fetchall()]

    def __iter__(self) -> Iterator[str]:
        rows = self._database().execute("SELECT fold FROM nuggets ORDER BY place").fetchall()
        return (fold for (fold,) in rows)

    def __len__(self) -> int:
        return int(self._database().value("SELECT count(*) FROM nuggets"))


class SqlState:
    """The current state; inside a transaction, that of one revision."""

    def __init__(self, database: Callable[[], Database], damage: Damage | None = None) -> None:
        """`database`: a function, because a store may open another one."""
        self._database = database
        self.notes = SqlNotes(database, damage)
        self.nuggets = SqlNuggets(database, damage)
        self.marks = SqlMarks(database)

    def nuggets_with_facts(self) -> Iterator[tuple[NuggetConfig, list[MemoryNote]]]:
        """Every nugget, oldest first, with its facts that are not archived."""
        sql = (
            "SELECT g.fold, g.config, n.id, n.record, r.hits, r.session, r.sessions, r.accessed_at"
            " FROM nuggets g LEFT JOIN notes n"
            " ON n.nugget = g.fold AND n.kind = 'fact' AND n.hidden = 0"
            " LEFT JOIN recalls r ON r.place = n.place ORDER BY g.place, n.place"
        )
        for nugget, rows in groupby(self._database().execute(sql), itemgetter(0, 1)):
            facts = [self.notes.read(*row[2:]) for row in rows if row[2] is not None]
            yield self.nuggets.parse(*nugget), [fact for fact in facts if fact is not None]

    def keep(self, *, notes: bool = True) -> None:
        """Read each note, nugget and mark once, until `forget`: a search, the reasons for it and
        what is shown of it ask for the same ones. Without notes in a batch, which writes them."""
        self.notes.kept = {} if notes else None
        self.nuggets.kept, self.marks.kept = {}, {}

    def forget(self) -> None:
        self.notes.kept = self.nuggets.kept = self.marks.kept = None

    @property
    def revision(self) -> int:
        return self.position[0]

    @property
    def position(self) -> tuple[int, str]:
        """The last revision and its moment; 0 and "" at the beginning."""
        sql = "SELECT revision, at FROM commits ORDER BY revision DESC LIMIT 1"
        row = self._database().execute(sql).fetchone()
        return (0, "") if row is None else (row[0], row[1])
