"""The search index of a shelf: derived, in memory, following changes. Knows no store."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from nuggets.errors import InvalidInput, NotFound
from nuggets.records import Changes, MemoryNote, NoteFilterOptions, SearchNotesResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nuggets.search.collection import Collection
    from nuggets.search.explanation import Explanation
    from nuggets.search.results import Search

EVERYTHING = NoteFilterOptions()
WORTH_KEEPING = 200  # notes read since the index was last kept: some 20 ms for the next process


class SearchIndex:
    """Remembers changes at once and reads them when the next question comes.

    So a cold command that only writes, or recalls by key, pays neither for reading the notes
    nor for the libraries that this takes. What is archived has an index of its own, together
    with everything else, made when it is first asked for: so it weighs on no other question.
    """

    def __init__(self, kept: bytes = b"") -> None:
        """`kept`: what an earlier index gave to keep, of whatever age."""
        self._in_sight = _View(kept)
        self._archived: dict[str, MemoryNote] = {}
        self._all: _View | None = None

    def apply(self, changes: Changes) -> None:
        """Take note of what became different."""
        for note in changes.put:
            if note.hidden:
                self._archived[note.id] = note
            else:
                self._archived.pop(note.id, None)
            self._in_sight.pending[note.id] = None if note.hidden else note
        for note_id in changes.drop:
            self._archived.pop(note_id, None)
            self._in_sight.pending[note_id] = None
        if self._all is not None:
            self._all.pending |= {note.id: note for note in changes.put}
            self._all.pending |= dict.fromkeys(changes.drop)

    def search(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = EVERYTHING,
        project: str | None = None,
    ) -> list[SearchNotesResult]:
        """The notes that answer the query, best first; none if nothing is near enough.

        `project`: its notes and those of none come before all of others.
        """
        _check(query)
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least 1 result")
        return self._view(filters.include_hidden).search().results(query, limit, filters, project)

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        """Why a note has the relevance it has for this query, archived or not."""
        from nuggets.search.explanation import explain

        _check(query)
        view = self._view(include_hidden or note_id in self._archived)
        search = view.search()
        row = view.collection.table.rows.get(note_id)
        if row is None:
            raise NotFound(f"there is no note {note_id!r} to explain")
        return explain(search, view.collection, query, row)

    def to_keep(self) -> "Sequence[bytes | memoryview] | None":
        """The index for a later process, in parts; None if that has not enough new to offer."""
        return self._in_sight.to_keep()

    def _view(self, include_hidden: bool) -> "_View":
        if not (include_hidden and self._archived):
            return self._in_sight
        if self._all is None:
            self._all = _View()
            self._in_sight.search()  # so that all notes are in its table
            seen = self._in_sight.collection.table
            self._all.expect(seen.notes[row] for row in seen.rows.values())
            self._all.expect(self._archived.values())
        return self._all


class _View:
    """Some of the notes, as far as they have been read."""

    def __init__(self, kept: bytes = b"") -> None:
        self._kept = kept
        self._unkept = 0  # notes that were read and are not in `kept`
        self.pending: dict[str, MemoryNote | None] = {}
        self._collection: Collection | None = None
        self._search: Search | None = None

    @property
    def collection(self) -> "Collection":
        if self._collection is None:
            self._collection = self._taken_up()
        return self._collection

    def expect(self, notes: Iterable[MemoryNote]) -> None:
        self.pending |= {note.id: note for note in notes}

    def search(self) -> "Search":
        """Over all that is known by now."""
        from nuggets.search.results import Search

        collection = self.collection
        if self.pending:
            pending, self.pending = self.pending, {}
            known = len(collection.table)
            if collection.take(pending):
                self._search = None
            self._unkept += max(0, len(collection.table) - known)  # gaps may be closed
        if self._search is None:
            self._search = Search(collection)
        return self._search

    def to_keep(self) -> "Sequence[bytes | memoryview] | None":
        from nuggets.search.keeping import to_parts

        if self._collection is None or self._unkept < WORTH_KEEPING:
            return None
        self.search()  # reads what came since the last question
        self._unkept = 0
        self._search = None  # places change when gaps are closed
        return to_parts(self._collection)

    def _taken_up(self) -> "Collection":
        """What was kept, as far as it is still so; what is in it need not be read again."""
        from nuggets.search.collection import Collection
        from nuggets.search.keeping import from_bytes

        now = {note_id: note for note_id, note in self.pending.items() if note is not None}
        known = from_bytes(self._kept, now) if self._kept else None
        self._kept = b""
        if known is None:
            return Collection()
        self.pending = {
            note_id: note
            for note_id, note in self.pending.items()
            if note_id not in known.table.rows
        }
        return known


def _check(query: str) -> None:
    if not query.strip():
        raise InvalidInput("the query is empty; say what to search for")
