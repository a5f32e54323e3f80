"""The search index of a shelf, kept in tables of its database. Knows no store."""

from typing import TYPE_CHECKING

from nuggets.errors import InvalidInput, NotFound
from nuggets.records import NoteFilterOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nuggets.records import MemoryNote, SearchNotesResult
    from nuggets.search.explanation import Explanation
    from nuggets.search.snapshot import Snapshot
    from nuggets.sql import Database

    Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, before, after

EVERYTHING = NoteFilterOptions()


class SearchIndex:
    """Follows changes inside the transaction that makes them, and answers questions.

    A question reads what it needs and nothing else. A process that asks again reads again only
    what another change may have made different.
    """

    FORMAT = 1  # raise it whenever notes are analysed in another way
    has_unsaved = False  # a question works nothing out that would be worth saving

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
        self._revision = -1

    def update(self, replaced: "Iterable[Replaced]") -> None:
        """Follow changes: place, note as it was and note as it is; None before a note was made,
        and after it was dropped. Must be called in the transaction that writes the notes."""
        from nuggets.search.index_writer import IndexWriter

        IndexWriter(self._database).update((before, after) for _, before, after in replaced)

    def save(self) -> None:
        """Nothing to save."""

    def search(
        self,
        query: str,
        limit: int = 5,
        filters: NoteFilterOptions = EVERYTHING,
        project: str | None = None,
    ) -> "list[SearchNotesResult]":
        """The notes that answer the query, best first; none if nothing is near enough.

        `project`: notes of this project and of no project rank before other projects' notes.
        """
        from nuggets.search.results import Search

        text = _check_query(query)
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least 1 result")
        search = Search(self._snapshot(filters.include_hidden), self._notes)
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
        from nuggets.search.index_writer import flush_recent, raise_revision
        from nuggets.search.merging import remove_traces

        flush_recent(self._database)
        remove_traces(self._database)
        raise_revision(self._database)

    def rebuild(self, notes: "Iterable[tuple[int, MemoryNote]]") -> None:
        """Index all notes again."""
        from nuggets.search.index_writer import IndexWriter, clear

        clear(self._database)
        IndexWriter(self._database).update((None, note) for _, note in notes)

    def check(self) -> list[str]:
        """What differs from an index made afresh, in words; nothing if all is in order."""
        from nuggets.search.consistency import differences

        return differences(self._database, self._all_notes())

    def _snapshot(self, include_hidden: bool) -> "Snapshot":
        """The tables as they are now; what was read before is kept until they change."""
        from nuggets.search.snapshot import IN_SIGHT, WITH_ARCHIVED, Snapshot, read_revision

        revision = read_revision(self._database)
        if revision != self._revision:
            self._snapshots, self._revision = {}, revision
        spaces = WITH_ARCHIVED if include_hidden else IN_SIGHT
        if spaces not in self._snapshots:
            self._snapshots[spaces] = Snapshot(self._database, spaces)
        snapshot = self._snapshots[spaces]
        snapshot.forget_if_many()
        return snapshot


def _check_query(query: str) -> str:
    """The query as a database can be asked for it."""
    from nuggets.search.note_analyzer import to_storable

    if not query.strip():
        raise InvalidInput("the query is empty; say what to search for")
    return to_storable(query)
