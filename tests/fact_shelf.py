"""Notes and nuggets in memory with a fact index beside them, as a store would keep them."""

import sqlite3
from collections.abc import Mapping, Sequence

from nuggets.domain.records import Changes, MemoryNote, NuggetConfig, RecallResult
from nuggets.facts import TABLES
from nuggets.facts.fact_index import FactIndex
from nuggets.language.text import fold_case


def fact_database(path: str = ":memory:") -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    for table in TABLES:
        database.execute(table)
    return database


class FactShelf:
    """Applies changes in the order of a store; places are never given out again."""

    def __init__(self, database: sqlite3.Connection | None = None) -> None:
        self.database = database or fact_database()
        self.notes: dict[str, MemoryNote] = {}
        self.places: dict[str, int] = {}
        self.nuggets: dict[str, NuggetConfig] = {}
        self.last_place = 0
        self.index = self.another_process()

    def another_process(self) -> FactIndex:
        """An index of the same database that remembers nothing."""
        return FactIndex(self.database, self._fetch, lambda: self.nuggets)

    def _fetch(self, ids: Sequence[str]) -> Mapping[str, MemoryNote]:
        return {note_id: self.notes[note_id] for note_id in ids}

    def apply(self, changes: Changes) -> None:
        self.nuggets.update((fold_case(config.name), config) for config in changes.put_nuggets)
        replaced: list[tuple[int, MemoryNote | None, MemoryNote | None]] = []
        for note in changes.put:
            if note.id not in self.places:
                self.last_place += 1
                self.places[note.id] = self.last_place
            replaced.append((self.places[note.id], self.notes.get(note.id), note))
            self.notes[note.id] = note
        for note_id in changes.drop:
            if note_id in self.notes:
                replaced.append((self.places.pop(note_id), self.notes.pop(note_id), None))
        for name in changes.drop_nuggets:
            self.nuggets.pop(fold_case(name), None)
        self.index.update(replaced)

    def recall(self, query: str, nugget: str | None = None, project: str = "") -> RecallResult:
        return self.index.recall(query, nugget, project)

    def rebuild(self) -> None:
        self.index.rebuild((self.places[note.id], note) for note in self.notes.values())
