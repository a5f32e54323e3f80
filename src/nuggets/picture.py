"""What this process knows of a shelf: its notes and the two indexes over them.

Derived from a store and changed only by `apply`, so it can be thrown away at any time.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nuggets.facts.index import FactIndex
from nuggets.records import Changes
from nuggets.state import State

if TYPE_CHECKING:
    from nuggets.search.index import SearchIndex


class Picture:
    """The state at one revision, and indexes that follow it."""

    def __init__(self, kept: Callable[[], bytes] = bytes) -> None:
        """`kept`: the search index that another process kept, however old."""
        self._kept = kept
        self.revision = -1  # nothing is read yet
        self.state = State()
        self.facts = FactIndex()
        self._search: SearchIndex | None = None

    def apply(self, changes: Changes) -> None:
        """Move everything on; notes that are here already cost nothing."""
        known = self.state.notes.get
        news = changes._replace(
            put=tuple(note for note in changes.put if known(note.id) is not note)
        )
        self.state.apply(news)
        self.facts.apply(news)
        if self._search is not None:
            self._search.apply(news)

    @property
    def search(self) -> "SearchIndex":
        """Built when someone searches first: most commands never do."""
        if self._search is None:
            from nuggets.search.index import SearchIndex

            self._search = SearchIndex(self._kept())
            self._search.apply(self.state.everything())
        return self._search

    def search_to_keep(self) -> Sequence[bytes | memoryview] | None:
        """The search index for a later process; None if that is not worth while."""
        return None if self._search is None else self._search.to_keep()
