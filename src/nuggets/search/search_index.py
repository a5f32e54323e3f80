"""The search index of a shelf, kept in tables of its database. Knows no store."""

from typing import TYPE_CHECKING

from nuggets.domain.records import NoteFilterOptions
from nuggets.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nuggets.domain.records import MemoryNote, SearchNotesResult
    from nuggets.domain.sql_interface import Database
    from nuggets.search.explanation import Explanation
    from nuggets.search.index.documents import Documents
    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.scoring.meaning_fusion import Meaning

    Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, before, after

EVERYTHING = NoteFilterOptions()


class SearchIndex:
    """Follows changes inside the transaction that makes them, and answers questions.

    A question reads only what it needs. A process that asks again reads again only what a change
    may have made different.
    """

    FORMAT = 3  # raise it whenever notes are analysed in another way
    has_unsaved = False  # a question computes nothing worth saving

    def __init__(
        self,
        database: "Database",
        notes: "Callable[[Sequence[str]], Mapping[str, MemoryNote]]",
        all_notes: "Callable[[], Iterable[MemoryNote]]" = tuple,
    ) -> None:
        """`notes` gives notes by their ids; `all_notes` all that there are, for `check`."""
        self._database = database
        self._notes = notes
        self._all_notes = all_notes
        self._snapshots: dict[tuple[int, ...], Snapshot] = {}
        self._rewriting = -1

    def update(self, replaced: "Iterable[Replaced]") -> None:
        """Follow changes: place, note as it was and note as it is; None before a note was made,
        and after it was dropped. Must be called in the transaction that writes the notes."""
        from nuggets.search.index.index_writer import IndexWriter

        pairs = [(before, after) for _, before, after in replaced]
        current = self._current_documents()
        IndexWriter(self._database).update(pairs)
        if current:  # a command that only writes imports nothing that reads
            from nuggets.search.index.note_analyzer import to_storable
            from nuggets.search.index.snapshot import read_revision

            revision = read_revision(self._database)
            ids = [to_storable(note.id) for pair in pairs for note in pair if note]
            for documents in current:
                documents.follow(ids, revision)

    def _current_documents(self) -> "list[Documents]":
        """Rows that were read and are still current."""
        if not self._snapshots:
            return []
        from nuggets.search.index.snapshot import read_revision

        revision = read_revision(self._database)
        kept = [snapshot.documents for snapshot in self._snapshots.values()]
        return [documents for documents in kept if documents.revision == revision]

    def save(self) -> None:
        """Nothing to save."""

    def search(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = EVERYTHING,
        project: str | None = None,
        meaning: "Meaning | None" = None,
    ) -> "list[SearchNotesResult]":
        """The notes that answer the query, best first; none if nothing is near enough.

        `project`: notes of this project and of no project rank before other projects' notes.
        `meaning`: compares a question with notes by what they mean, as a further signal.
        """
        from nuggets.search.results import Search

        text = _check_query(query)
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least 1 result")
        search = Search(self._snapshot(filters.include_hidden), self._notes, meaning)
        return search.results(text, limit, filters, project)

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        """Why a note has the relevance it has for this query, archived or not."""
        from nuggets.search.explanation import explain
        from nuggets.search.results import Search

        text = _check_query(query)
        note = self._notes([note_id]).get(note_id)
        if note is None:
            raise NotFound(f"there is no note {note_id!r} to explain")
        snapshot = self._snapshot(include_hidden or note.hidden)
        return explain(Search(snapshot, self._notes), snapshot, text, note)

    def forget_traces(self, note_ids: "Iterable[str]") -> None:
        """Leave no word of notes that were dropped in any table, wherever it waits for a merge."""
        from nuggets.search.index.index_writer import flush_recent, raise_revision
        from nuggets.search.index.segment_merging import remove_traces

        flush_recent(self._database)
        remove_traces(self._database)
        raise_revision(self._database)
        self._mark_rewritten()

    def rebuild(self, notes: "Iterable[tuple[int, MemoryNote]]") -> None:
        """Index all notes again."""
        from nuggets.search.index.index_writer import IndexWriter, clear

        clear(self._database)
        IndexWriter(self._database).update((None, note) for _, note in notes)
        self._mark_rewritten()

    def _mark_rewritten(self) -> None:
        """Make this and other processes forget what they read of segments."""
        from nuggets.search.index.corpus_stats import REWRITTEN, WHOLE, add_statistics
        from nuggets.search.index.snapshot import read_revision

        add_statistics(self._database, {(WHOLE, REWRITTEN): read_revision(self._database)})

    def check(self) -> list[str]:
        """What differs from a newly built index, in words; nothing if all is in order."""
        from nuggets.search.index.consistency import differences

        return differences(self._database, self._all_notes())

    def _snapshot(self, include_hidden: bool) -> "Snapshot":
        """The tables as they are now; what was read is kept until they change."""
        from nuggets.search.index.snapshot import (
            IN_SIGHT,
            WITH_ARCHIVED,
            Snapshot,
            read_revision,
            read_rewriting,
        )

        spaces = WITH_ARCHIVED if include_hidden else IN_SIGHT
        snapshot = self._snapshots.get(spaces)
        if snapshot is None or snapshot.revision != read_revision(self._database):
            rewriting = read_rewriting(self._database)
            if rewriting != self._rewriting:
                self._snapshots, self._rewriting, snapshot = {}, rewriting, None
            snapshot = self._snapshots[spaces] = Snapshot(self._database, spaces, snapshot)
        snapshot.forget_if_many()
        return snapshot


def _check_query(query: str) -> str:
    """The query in a form that the database can hold; InvalidInput if it is empty."""
    from nuggets.search.index.note_analyzer import to_storable

    if not query.strip():
        raise InvalidInput("the query is empty; say what to search for")
    return to_storable(query)
