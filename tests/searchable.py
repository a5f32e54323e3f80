"""Notes and indexes for the tests of search."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nuggets.domain.records import MemoryNote, NoteLink, SearchNotesResult
from nuggets.search import TABLES
from nuggets.search.search_index import SearchIndex

AT = "2026-01-01T09:00:00.000Z"


def note(number: int, title: str, content: str, *tags: str, **given: Any) -> MemoryNote:
    made = MemoryNote(
        id=f"note-n-{number:08x}",
        nugget_name="n",
        title=title,
        content=content,
        kind="note",
        subject="user:primary",
        scope="user",
        type="note",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at=AT,
        updated_at=AT,
        last_accessed_at=AT,
        tags=(*tags, "n", "scope:user", "type:note"),
    )
    return made._replace(**given)


def linked(first: MemoryNote, second: MemoryNote) -> tuple[MemoryNote, MemoryNote]:
    return (
        first._replace(links=(*first.links, NoteLink(second.id, "belongs", AT))),
        second._replace(links=(*second.links, NoteLink(first.id, "belongs", AT))),
    )


class Shelf:
    """Notes in a dict, with their index in a database in memory."""

    def __init__(self, *notes: MemoryNote) -> None:
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        for statement in TABLES:
            self.database.execute(statement)
        self.notes: dict[str, MemoryNote] = {}
        self.index = SearchIndex(self.database, self.fetch, lambda: self.notes.values())
        self.put(*notes)

    def fetch(self, ids: Sequence[str]) -> Mapping[str, MemoryNote]:
        return {note_id: self.notes[note_id] for note_id in ids if note_id in self.notes}

    def put(self, *notes: MemoryNote) -> None:
        pairs = []
        for one in notes:
            pairs.append((0, self.notes.get(one.id), one))
            self.notes[one.id] = one
        self.index.update(pairs)

    def drop(self, *ids: str) -> None:
        gone = [self.notes.pop(note_id) for note_id in ids if note_id in self.notes]
        self.index.update((0, one, None) for one in gone)

    def check_against(self, notes: Iterable[MemoryNote]) -> list[str]:
        """What a check says if these are all notes that there are."""
        there = list(notes)
        return SearchIndex(self.database, self.fetch, lambda: there).check()

    def search(self, query: str, *given: Any, **named: Any) -> list[SearchNotesResult]:
        return self.index.search(query, *given, **named)

    def explain(self, query: str, *given: Any, **named: Any) -> Any:
        return self.index.explain(query, *given, **named)


def index_of(*notes: MemoryNote) -> Shelf:
    return Shelf(*notes)


def titles(results: list[SearchNotesResult]) -> list[str]:
    return [result.note.title for result in results]


def found(index: Shelf, query: str, **given: Any) -> list[str]:
    return titles(index.search(query, **given))


def answered(index: Shelf, query: str, **given: Any) -> list[str]:
    """What is found, without notes that know little of the question."""
    return [one.note.title for one in index.search(query, **given) if not one.little_found]
