"""The index as one transaction sees it: everything that a question reads. Ranks nothing."""

from typing import TYPE_CHECKING

from nuggets.search.corpus_stats import REVISION, WHOLE, read_stats
from nuggets.search.documents import Documents
from nuggets.search.inverted_index import InvertedIndex
from nuggets.search.recent import read_recent
from nuggets.search.vocabulary import Vocabulary
from nuggets.sql import chunks, placeholders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nuggets.search.query import Query
    from nuggets.sql import Database

QUERIES_KEPT = 64
IN_SIGHT, WITH_ARCHIVED = (0,), (0, 1)  # spaces


class Snapshot:
    """Statistics, words, postings and documents of the same notes."""

    def __init__(self, database: "Database", spaces: "Sequence[int]") -> None:
        recent = read_recent(database)
        self._database = database
        self._archived = len(spaces) > 1
        self._group_lengths: dict[int, int] = {}
        self.queries: dict[str, Query] = {}  # understood before; whoever asks why asks again
        self.stats = read_stats(database, spaces)
        self.vocabulary = Vocabulary(database, spaces, recent)
        self.index = InvertedIndex(database, spaces, recent)
        self.documents = Documents(database, spaces)

    def forget_if_many(self) -> None:
        """Bound what a living process holds."""
        if len(self.queries) > QUERIES_KEPT:
            self.queries = {}
        self.index.forget_if_many()
        self.documents.forget_if_many()

    def group_lengths(self, groups: "Iterable[int]") -> dict[int, int]:
        """Of those groups that tell a topic: not of one note alone, nor of nearly all."""
        wanted = set(groups)
        size, length = "size", "length"
        if self._archived:
            size, length = "size + archived_size", "length + archived_length"
        for some in chunks([group for group in wanted if group not in self._group_lengths]):
            rows = self._database.execute(
                f"SELECT number, CASE WHEN {size} > 1 AND {size} <= ? THEN {length} ELSE -1 END"
                f" FROM search_groups WHERE number IN ({placeholders(some)})",
                (self.stats.largest_group, *some),
            )
            self._group_lengths.update(rows)
        return {
            group: self._group_lengths[group]
            for group in wanted
            if self._group_lengths.get(group, -1) >= 0
        }


def read_revision(database: "Database") -> int:
    """A number that every change raises."""
    row = database.execute(
        "SELECT value FROM search_statistics WHERE space = ? AND name = ?", (WHOLE, REVISION)
    ).fetchone()
    return row[0] if row else 0
