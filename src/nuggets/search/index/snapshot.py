"""The index as one transaction sees it: everything that a question reads. Ranks nothing."""

from typing import TYPE_CHECKING

from nuggets.domain.sql_interface import chunks, placeholders
from nuggets.search.index.corpus_stats import REVISION, REWRITTEN, WHOLE, read_stats
from nuggets.search.index.documents import Documents
from nuggets.search.index.inverted_index import InvertedIndex
from nuggets.search.index.recent_changes import read_recent
from nuggets.search.index.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.recent_changes import Change
    from nuggets.search.index.segment_reader import SegmentReader
    from nuggets.search.query.query import Query

QUERIES_KEPT = 64
IN_SIGHT, WITH_ARCHIVED = (0,), (0, 1)  # spaces


class Snapshot:
    """Statistics, words, postings and documents of the same notes."""

    def __init__(
        self, database: "Database", spaces: "Sequence[int]", previous: "Snapshot | None" = None
    ) -> None:
        """`previous`: an earlier snapshot of the same tables; its valid caches are taken over."""
        known: Mapping[tuple[int, bool], Change] | None = previous._recent if previous else None
        recent = read_recent(database, known)
        self._recent: Mapping[tuple[int, bool], Change] = recent
        self.revision = read_revision(database)
        self._database = database
        self._archived = len(spaces) > 1
        self._group_lengths: dict[int, int] = {}
        self.queries: dict[str, Query] = {}  # parsed before: `--why` asks the same question again
        self.stats = read_stats(database, spaces)
        self.vocabulary = Vocabulary(database, spaces, recent)
        reader: SegmentReader | None = previous.index.reader if previous else None
        if reader:
            reader.follow()
        self.index: InvertedIndex = InvertedIndex(database, spaces, recent, reader)
        self.documents: Documents = Documents(database, spaces, self.revision)
        if previous and previous.documents.revision == self.revision:
            self.documents = previous.documents

    def forget_if_many(self) -> None:
        """Bound the memory of a long-lived process."""
        if len(self.queries) > QUERIES_KEPT:
            self.queries = {}
        self.index.forget_if_many()
        self.documents.forget_if_many()

    def group_lengths(self, groups: "Collection[int]") -> list[int]:
        """The lengths of these groups; -1 of those that have one note only, or nearly all."""
        known = self._group_lengths
        unknown = set(groups).difference(known)
        if unknown:
            self._read_group_lengths(unknown)
        return [known.get(group, -1) for group in groups]

    def _read_group_lengths(self, groups: "Iterable[int]") -> None:
        size, length = "size", "length"
        if self._archived:
            size, length = "size + archived_size", "length + archived_length"
        for some in chunks(groups):
            rows = self._database.execute(
                f"SELECT number, CASE WHEN {size} > 1 AND {size} <= ? THEN {length} ELSE -1 END"
                f" FROM search_groups WHERE number IN ({placeholders(some)})",
                (self.stats.largest_group, *some),
            )
            self._group_lengths.update(rows)


def read_revision(database: "Database") -> int:
    """A number that every change raises."""
    return _read_whole(database, REVISION)


def read_rewriting(database: "Database") -> int:
    """A number that changes whenever segments are rewritten instead of merged."""
    return _read_whole(database, REWRITTEN)


def _read_whole(database: "Database", name: str) -> int:
    row = database.execute(
        "SELECT value FROM search_statistics WHERE space = ? AND name = ?", (WHOLE, name)
    ).fetchone()
    return row[0] if row else 0
