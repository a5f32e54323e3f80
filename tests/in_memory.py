"""A shelf's store without a directory, for tests that look at the store or change its manners."""

from nuggets.operations.transactions import KINDS
from nuggets.stores.sqlite.store import SqliteStore


class InMemoryStore(SqliteStore):
    """Gone when the process ends."""

    def __init__(self) -> None:
        super().__init__("", KINDS)

    @property
    def revision(self) -> int:
        return self.position[0]
