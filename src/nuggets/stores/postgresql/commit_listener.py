"""Listens for commits to a shelf: the server announces them, so nobody need poll the revision.

An announcement can be missed (a writer that is killed after its commit, a connection that is lost,
a pooler that passes none on), so every few seconds a commit is assumed.
"""

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.errors import StoreError
from nuggets.stores.postgresql.database import Database

if TYPE_CHECKING:
    from nuggets.filesystem.database_url import DatabaseUrl

CHANNEL = "nuggets"
MISSED_SECONDS = 5.0  # after that an announcement may have been missed


class CommitListener:
    """A connection that listens. One thread at a time may use it."""

    def __init__(self, url: "DatabaseUrl", shelf: int) -> None:
        self._url = url
        self._shelf = str(shelf)
        self._listening: Database | None = None
        self._number = 0
        self._counted_at = 0.0

    def count(self) -> int:
        """A number that changes when someone may have written."""
        may_have_changed = time.monotonic() - self._counted_at > MISSED_SECONDS
        try:
            if self._listening is None:
                self._listening = Database(self._url, is_session=True)
                may_have_changed = True
                self._listening.run(f"LISTEN {CHANNEL}")
            may_have_changed = self._shelf in self._listening.announcements() or may_have_changed
        except StoreError:
            self.close()
            may_have_changed = True
        if may_have_changed:
            self._number += 1
            self._counted_at = time.monotonic()
        return self._number

    def close(self) -> None:
        if self._listening is not None:
            with suppress(StoreError):
                self._listening.close()
            self._listening = None
