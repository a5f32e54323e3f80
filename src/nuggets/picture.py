"""What this process knows of a shelf: its notes and the two indexes over them.

Derived from a store and changed only by `apply`, so it can be thrown away at any time.
"""

from typing import TYPE_CHECKING

from nuggets.facts.index import FactIndex
from nuggets.records import Changes
from nuggets.state import State

if TYPE_CHECKING:
    from nuggets.search.index import SearchIndex


class Picture:
    """The state at one revision, and indexes that follow it."""

    def __init__(self) -> None:
        self.revision = 0
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

            self._search = SearchIndex()
            self._search.apply(self.state.everything())
        return self._search
