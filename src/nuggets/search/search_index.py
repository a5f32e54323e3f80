"""The search index of a shelf, kept in tables of its database. Knows no store.

The tables are written in the transaction that writes the notes. Documents of visible notes are
numbered upwards from 0, those of archived notes lie below 0, so that ordinary questions read no row
of them.
"""

from typing import TYPE_CHECKING

from nuggets.domain.records import NoteFilterOptions
from nuggets.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nuggets.domain.records import MemoryNote, SearchNotesResult
    from nuggets.domain.state import Database
    from nuggets.search.documents import IndexReader
    from nuggets.search.encoder_signal import Meaning
    from nuggets.search.explanation import Explanation
    from nuggets.search.index_writer import Pair
    from nuggets.search.results import Search

    Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, before, after

TABLES = (
    """CREATE TABLE search_documents (
        doc INTEGER PRIMARY KEY,
        note TEXT NOT NULL UNIQUE,
        length INTEGER NOT NULL,
        norm REAL NOT NULL,
        created INTEGER NOT NULL,
        flags INTEGER NOT NULL,
        boost REAL NOT NULL,
        groups TEXT NOT NULL,
        links TEXT NOT NULL
    )""",
    """CREATE TABLE search_postings (
        term INTEGER NOT NULL,
        block INTEGER NOT NULL,
        docs BLOB NOT NULL,
        codes BLOB NOT NULL,
        PRIMARY KEY (term, block)
    ) WITHOUT ROWID""",
    """CREATE TABLE search_recent (
        term INTEGER NOT NULL,
        doc INTEGER NOT NULL,
        code INTEGER NOT NULL,
        PRIMARY KEY (term, doc)
    ) WITHOUT ROWID""",
    """CREATE TABLE search_words (
        length INTEGER NOT NULL,
        word TEXT NOT NULL,
        term TEXT NOT NULL,
        letters INTEGER NOT NULL,
        PRIMARY KEY (length, word, term)
    ) WITHOUT ROWID""",
    "CREATE INDEX search_words_by_term ON search_words (term)",
    """CREATE TABLE search_statistics (
        name TEXT PRIMARY KEY,
        value INTEGER NOT NULL
    ) WITHOUT ROWID""",
)
NAMES = tuple(made.split()[2] for made in TABLES if made.startswith("CREATE TABLE"))

EVERYTHING = NoteFilterOptions()


class SearchIndex:
    """Follows changes inside the transaction that makes them, and answers questions.

    A question reads only what it needs. A process that asks again reads nothing twice until
    something changes.
    """

    FORMAT = 8  # raise it whenever notes are analysed in another way
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
        self._readers: dict[bool, IndexReader] = {}  # by whether archived notes are read
        self._written: tuple[int, set[str]] = (0, set())  # see `IndexWriter`
        self._last: tuple[IndexReader, str, Search] | None = None  # `--why` asks it again

    def update(self, replaced: "Iterable[Replaced]") -> None:
        """Follow changes: place, note as it was and note as it is; None before a note was made,
        and after it was dropped. Must be called in the transaction that writes the notes."""
        self._write((before, after) for _, before, after in replaced)

    def _write(self, pairs: "Iterable[Pair]") -> None:
        from nuggets.search.index_writer import IndexWriter

        writer = IndexWriter(self._database, *self._written)
        writer.update(pairs)
        self._written = writer.revision, writer.written

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
        reader = self._reader(filters.include_hidden)
        search = Search(reader, self._notes, text, meaning)
        self._last = (reader, text, search)
        return search.results(limit, filters, project)

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        """Why a note has the relevance it has for this query, archived or not."""
        from nuggets.search.explanation import explain
        from nuggets.search.results import Search

        text = _check_query(query)
        reader = self._reader(include_hidden)
        document = reader.documents.of_note(note_id)
        if document is None and not include_hidden:
            reader = self._reader(include_hidden=True)
            document = reader.documents.of_note(note_id)
        if document is None:
            raise NotFound(f"there is no note {note_id!r} to explain")
        if self._last is None or self._last[:2] != (reader, text):
            self._last = (reader, text, Search(reader, self._notes, text))
        return explain(self._last[2], reader, document)

    def forget_traces(self, note_ids: "Iterable[str]") -> None:
        """Nothing to do: what was dropped left no word in any table."""

    def rebuild(self, notes: "Iterable[tuple[int, MemoryNote]]") -> None:
        """Index all notes again."""
        from nuggets.search.index_writer import clear

        clear(self._database, NAMES)
        self._write((None, note) for _, note in notes)

    def check(self) -> list[str]:
        """What differs from a newly built index, in words; nothing if all is in order."""
        from nuggets.search.consistency import differences

        return differences(self._database, self._all_notes())

    def _reader(self, include_hidden: bool) -> "IndexReader":
        """The tables as they are now; what was read is kept until they change."""
        from nuggets.search.documents import IndexReader, read_statistics

        statistics = read_statistics(self._database, include_hidden)
        reader = self._readers.get(include_hidden)
        if reader is None or reader.stats.revision != statistics.revision:
            reader = IndexReader(self._database, statistics, include_hidden)
            self._readers[include_hidden] = reader
        reader.forget_if_many()
        return reader


def _check_query(query: str) -> str:
    """The query in a form that the database can hold; InvalidInput if it is empty."""
    from nuggets.search.note_analyzer import to_storable

    if not query.strip():
        raise InvalidInput("the query is empty; say what to search for")
    return to_storable(query)
