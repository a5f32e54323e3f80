"""The search index of a shelf: derived, in memory, following changes. Knows no store."""

from typing import TYPE_CHECKING, Any

from nuggets.errors import InvalidInput
from nuggets.records import Changes, MemoryNote, NoteFilterOptions, SearchNotesResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

POOL = 20  # results that share one softmax
TEMPERATURE = 0.35
RELEVANCE_THRESHOLD = 0.26  # without the boost; 0.21 is a note that has nothing to do with it
BLOCK = 8192  # notes read together: bounds the memory while a large shelf is read
MOST_GAPS = 0.25  # of all rows; more, and the gaps are closed
DIGITS = 9  # differences beyond are rounding, not ranking


class SearchIndex:
    """Remembers changes at once and reads them when the next question comes."""

    def __init__(self) -> None:
        self._pending: dict[str, MemoryNote | None] = {}
        self._core: Any = None

    def apply(self, changes: Changes) -> None:
        """Take note of what became different; costs nothing until someone searches."""
        for note in changes.put:
            self._pending[note.id] = note
        for note_id in changes.drop:
            self._pending[note_id] = None

    def search(
        self, query: str, limit: int = 5, filters: NoteFilterOptions = NoteFilterOptions()
    ) -> list[SearchNotesResult]:
        """The notes that answer the query, best first; none if nothing is near enough."""
        if not query.strip():
            raise InvalidInput("the query is empty; say what to search for")
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; it must be at least 1")
        core = self._refreshed()
        return core.search(query, limit, filters)

    def _refreshed(self) -> Any:
        from nuggets.search.core import Core

        if self._core is None:
            self._core = Core()
        if self._pending:
            pending, self._pending = self._pending, {}
            self._core.take(pending)
        return self._core
