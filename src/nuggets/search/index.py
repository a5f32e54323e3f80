"""The search index of a shelf: derived, in memory, following changes. Knows no store."""

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
    nor for the libraries that this takes.
    """

    def __init__(self, kept: bytes = b"") -> None:
        """`kept`: what an earlier index gave to keep, of whatever age."""
        self._kept = kept
        self._unkept = 0  # notes that were read and are not in `kept`
        self._pending: dict[str, MemoryNote | None] = {}
        self._collection: Collection | None = None
        self._searches: dict[bool, Search] = {}

    def apply(self, changes: Changes) -> None:
        """Take note of what became different."""
        for note in changes.put:
            self._pending[note.id] = note
        for note_id in changes.drop:
            self._pending[note_id] = None

    def search(
        self, query: str, limit: int = 5, filters: NoteFilterOptions = EVERYTHING
    ) -> list[SearchNotesResult]:
        """The notes that answer the query, best first; none if nothing is near enough."""
        _check(query)
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least 1 result")
        return self._search(filters.include_hidden).results(query, limit, filters)

    def explain(self, query: str, note_id: str) -> "Explanation":
        """Why a note has the relevance it has for this query, hidden or not."""
        from nuggets.search.explanation import explain

        _check(query)
        search = self._search(include_hidden=True)
        assert self._collection is not None
        row = self._collection.table.rows.get(note_id)
        if row is None:
            raise NotFound(f"there is no note {note_id!r} to explain")
        if not self._collection.table.hidden.all[row]:
            search = self._search(include_hidden=False)
        return explain(search, self._collection, query, row)

    def to_keep(self) -> "Sequence[bytes | memoryview] | None":
        """The index for a later process, in parts; None if that has not enough new to offer."""
        from nuggets.search.keeping import to_parts

        if self._collection is None or self._unkept < WORTH_KEEPING:
            return None
        self._search(include_hidden=False)  # what came since the last question
        self._unkept = 0
        self._searches.clear()  # places change when gaps are closed
        return to_parts(self._collection)

    def _search(self, include_hidden: bool) -> "Search":
        from nuggets.search.results import Search

        if self._collection is None:
            self._collection = self._taken_up()
        if self._pending:
            pending, self._pending = self._pending, {}
            known = len(self._collection.table)
            if self._collection.take(pending):
                self._searches.clear()
            self._unkept += max(0, len(self._collection.table) - known)  # gaps may be closed
        if include_hidden not in self._searches:
            self._searches[include_hidden] = Search(self._collection, include_hidden)
        return self._searches[include_hidden]

    def _taken_up(self) -> "Collection":
        """What was kept, as far as it is still so; what is in it need not be read again."""
        from nuggets.search.collection import Collection
        from nuggets.search.keeping import from_bytes

        now = {note_id: note for note_id, note in self._pending.items() if note is not None}
        known = from_bytes(self._kept, now) if self._kept else None
        self._kept = b""
        if known is None:
            return Collection()
        self._pending = {
            note_id: note
            for note_id, note in self._pending.items()
            if note_id not in known.table.rows
        }
        return known


def _check(query: str) -> None:
    if not query.strip():
        raise InvalidInput("the query is empty; say what to search for")
