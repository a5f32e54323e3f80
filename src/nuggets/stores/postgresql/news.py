"""News of commits to a shelf: the server announces them, so that nobody need ask for the revision.

An announcement can be missed (a writer that is killed after its commit, a connection that is lost,
a pooler that passes none on), so every few seconds there may be news anyway.
"""

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.errors import StoreError
from nuggets.stores.postgresql.database import Database

if TYPE_CHECKING:
    from nuggets.filesystem.database_url import DatabaseUrl

CHANNEL = "nuggets"
MISSED_SECONDS = 5.0  # after that there may be news that were missed


class News:
    """A connection that listens. One thread at a time may use it."""

    def __init__(self, url: "DatabaseUrl", shelf: int) -> None:
        self._url = url
        self._shelf = str(shelf)
        self._listening: Database | None = None
        self._number = 0
        self._counted_at = 0.0

    def count(self) -> int:
        """A number that changes when someone may have written."""
        is_news = time.monotonic() - self._counted_at > MISSED_SECONDS
        try:
            if self._listening is None:
                self._listening, is_news = Database(self._url), True
                self._listening.run(f"LISTEN {CHANNEL}")
            is_news = self._shelf in self._listening.announcements() or is_news
        except StoreError:
            self.close()
            is_news = True
        if is_news:
            self._number += 1
            self._counted_at = time.monotonic()
        return self._number

    def close(self) -> None:
        if self._listening is not None:
            with suppress(StoreError):
                self._listening.close()
            self._listening = None
