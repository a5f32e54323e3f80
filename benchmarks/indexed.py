"""The two indexes over notes in memory, each in a database of its own: without a shelf around."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nuggets import facts, search
from nuggets.domain.records import (
    Changes,
    MemoryNote,
    NuggetConfig,
    RecallResult,
    SearchNotesResult,
)
from nuggets.facts.fact_index import FactIndex
from nuggets.language.text import fold_case
from nuggets.search.search_index import SearchIndex

if TYPE_CHECKING:
    from nuggets.search.encoder_signal import Meaning


class _Notes:
    """Notes by id, with the places that a store would give them."""

    def __init__(self, tables: Sequence[str]) -> None:
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        for statement in tables:
            self.database.execute(statement)
        self.notes: dict[str, MemoryNote] = {}
        self.places: dict[str, int] = {}
        self.nuggets: dict[str, NuggetConfig] = {}

    def fetch(self, ids: Sequence[str]) -> Mapping[str, MemoryNote]:
        return {note_id: self.notes[note_id] for note_id in ids if note_id in self.notes}

    def replaced(self, changes: Changes) -> list[tuple[int, MemoryNote | None, MemoryNote | None]]:
        """What the changes replace; they are applied."""
        self.nuggets |= {fold_case(config.name): config for config in changes.put_nuggets}
        found: list[tuple[int, MemoryNote | None, MemoryNote | None]] = []
        for note in changes.put:
            place = self.places.setdefault(note.id, len(self.places))
            found.append((place, self.notes.get(note.id), note))
            self.notes[note.id] = note
        for note_id in changes.drop:
            found.append((self.places[note_id], self.notes.pop(note_id), None))
        return found


class IndexedFacts(_Notes):
    """A fact index that follows changes."""

    def __init__(self) -> None:
        super().__init__(facts.TABLES)
        self.index = FactIndex(self.database, self.fetch, lambda: self.nuggets)

    def apply(self, changes: Changes) -> None:
        self.database.execute("BEGIN")
        self.index.update(self.replaced(changes))
        self.database.execute("COMMIT")

    def recall(self, query: str, nugget: str | None = None) -> RecallResult:
        return self.index.recall(query, nugget)


class IndexedNotes(_Notes):
    """A search index that follows changes."""

    def __init__(self) -> None:
        super().__init__(search.TABLES)
        self.index = SearchIndex(self.database, self.fetch)

    def apply(self, changes: Changes) -> None:
        self.database.execute("BEGIN")
        self.index.update(self.replaced(changes))
        self.database.execute("COMMIT")

    def search(
        self, query: str, limit: int = 5, meaning: "Meaning | None" = None
    ) -> list[SearchNotesResult]:
        return self.index.search(query, limit, meaning=meaning)
