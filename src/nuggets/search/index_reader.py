"""The index as one transaction sees it: everything that a question reads. Ranks nothing."""

from typing import TYPE_CHECKING

from nuggets.search.documents import DocumentReader, Statistics
from nuggets.search.postings import PostingsReader
from nuggets.search.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nuggets.domain.state import Database


class IndexReader:
    """Statistics, words, postings and documents of the same notes."""

    def __init__(self, database: "Database", statistics: Statistics, with_archived: bool) -> None:
        self.stats = statistics
        self.postings = PostingsReader(
            database, with_archived, statistics.numbered, statistics.recent
        )
        self.documents = DocumentReader(database, with_archived)
        self.vocabulary = Vocabulary(database, self.postings)

    def forget_if_many(self) -> None:
        """Bound the memory of a long-lived process."""
        self.postings.forget_if_many()
        self.documents.forget_if_many()
