"""The search index of a shelf, kept in tables of its database. Knows no store.

The tables are written in the transaction that writes the notes. Documents of visible notes are
numbered upwards from 0, those of archived notes lie below 0, so that ordinary questions read no row
of them.
"""

from array import array
from typing import TYPE_CHECKING

from nuggets.domain.records import NoteFilterOptions
from nuggets.errors import NotFound
from nuggets.search import documents
from nuggets.search.note_analyzer import analyze, names_of, words_of
from nuggets.search.postings import BLOCK, term_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nuggets.domain.records import MemoryNote, SearchNotesResult
    from nuggets.domain.state import Database
    from nuggets.search.encoder_signal import Meaning
    from nuggets.search.explanation import Explanation
    from nuggets.search.index_writer import Pair
    from nuggets.search.results import Search

    Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, before, after

EVERYTHING = NoteFilterOptions()
MOST_NAMED = 5  # words that a difference names


class SearchIndex:
    """Follows changes inside the transaction that makes them, and answers questions.

    A question reads only what it needs. A process that asks again reads nothing twice until
    something changes.
    """

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
        self._readers: dict[bool, documents.IndexReader] = {}  # by whether archived notes are read
        self._written: tuple[int, set[str]] = (0, set())  # see `IndexWriter`
        self._last: tuple[documents.IndexReader, str, Search] | None = None  # `--why` asks it again

    def update(self, replaced: "Iterable[Replaced]") -> None:
        """Follow changes: place, note as it was and note as it is; None before a note was made,
        and after it was dropped. Must be called in the transaction that writes the notes."""
        self._write((before, after) for _, before, after in replaced)

    def _write(self, pairs: "Iterable[Pair]") -> None:
        from nuggets.search.index_writer import IndexWriter

        revision, written = self._written
        self._written = 0, set()  # so it is if this fails
        writer = IndexWriter(self._database, revision, written)
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
        """The notes that answer the query, best first; none if nothing is near enough. The query
        and the limit were checked.

        `project`: notes of this project and of no project rank before other projects' notes.
        `meaning`: compares a question with notes by what they mean, as a further signal.
        """
        from nuggets.search.results import Search

        reader = self._reader(filters.include_hidden)
        search = Search(reader, self._notes, query, meaning)
        self._last = (reader, query, search)
        return search.results(limit, filters, project)

    def explain(self, query: str, note_id: str, include_hidden: bool = False) -> "Explanation":
        """Why a note has the relevance it has for this query, archived or not."""
        from nuggets.search.explanation import explain
        from nuggets.search.results import Search

        reader = self._reader(include_hidden)
        document = reader.documents.of_note(note_id)
        if document is None and not include_hidden:
            reader = self._reader(include_hidden=True)
            document = reader.documents.of_note(note_id)
        if document is None:
            raise NotFound(f"there is no note {note_id!r} to explain")
        if self._last is None or self._last[:2] != (reader, query):
            self._last = (reader, query, Search(reader, self._notes, query))
        return explain(self._last[2], reader, document)

    def forget_traces(self, note_ids: "Iterable[str]") -> None:
        """Nothing to do: what was dropped left no word in any table."""

    def rebuild(self, notes: "Iterable[tuple[int, MemoryNote]]") -> None:
        """Index all notes again."""
        from nuggets.search.index_writer import clear

        clear(self._database)
        self._write((None, note) for _, note in notes)

    def check(self) -> list[str]:
        """What differs from a newly built index, in words; nothing if all is in order."""
        expected = _Expected()
        complaints = [
            complaint
            for note in self._all_notes()
            for complaint in expected.add(note, self._row_of(note))
        ]
        return [*complaints, *expected.compare(self._database)]

    def _row_of(self, note: "MemoryNote") -> "tuple[int, ...] | None":
        row: tuple[int, ...] | None = self._database.execute(
            f"SELECT {documents.COLUMNS} FROM search_documents WHERE note = ?",
            (note.id,),
        ).fetchone()
        return row

    def _reader(self, include_hidden: bool) -> documents.IndexReader:
        """The tables as they are now; what was read is kept until they change."""
        statistics = documents.read_statistics(self._database, include_hidden)
        reader = self._readers.get(include_hidden)
        if reader is None or reader.is_full or reader.stats.revision != statistics.revision:
            reader = documents.IndexReader(self._database, statistics, include_hidden)
            self._readers[include_hidden] = reader
        return reader


class _Expected:
    """What the tables should hold; postings as checksums that do not depend on order."""

    def __init__(self) -> None:
        self._notes: set[str] = set()
        self._postings: dict[int, int] = {}  # by key
        self._names: dict[int, str] = {}  # terms and labels by key
        self._words: set[tuple[str, str]] = set()
        self._numbers: dict[str, int] = {}

    def add(self, note: "MemoryNote", row: "Sequence[int] | None") -> "Iterator[str]":
        """Expect what the index should have of a note, and compare its row."""
        self._notes.add(note.id)
        if row is None:
            yield f"search: {note.id} is not indexed"
            return
        analysis, doc = analyze(note), row[0]
        if (doc < 0) != note.hidden or tuple(row) != documents.row_of(doc, note, analysis):
            yield f"search: the entry of {note.id} is outdated"
        for name, amount in ((documents.NOTES, 1), (documents.LENGTH, analysis.length)):
            name = documents.ARCHIVED + name if note.hidden else name
            self._numbers[name] = self._numbers.get(name, 0) + amount
        for key, code in analysis.codes.items():
            _add(self._postings, key, doc, code)
        self._names.update({term_key(name): name for name in names_of(note, analysis)})
        self._words.update(words_of(analysis.tokens, analysis.language))

    def compare(self, database: "Database") -> "Iterator[str]":
        for (note_id,) in database.execute("SELECT note FROM search_documents"):
            if note_id not in self._notes:
                yield f"search: {note_id} is indexed, but there is no such note"
        stored: dict[int, int] = {}
        for key, block, docs, codes in database.execute(
            "SELECT term, block, docs, codes FROM search_postings"
        ):
            for offset, code in zip(array("H", docs), codes, strict=True):
                _add(stored, key, block * BLOCK + offset, code)
        for key, doc, code in database.execute("SELECT term, doc, code FROM search_recent"):
            _add(stored, key, doc, code)
        wrong = [
            self._names.get(key, "a term that no note has")
            for key in {**stored, **self._postings}
            if stored.get(key) != self._postings.get(key)
        ]
        yield from _describe("postings", wrong)
        words = set(database.execute("SELECT word, term FROM search_words"))
        # Another form of a word that notes have may stay.
        unused = {pair for pair in words if term_key(pair[1]) not in self._postings}
        yield from _describe("words", [word for word, _ in (self._words - words) | unused])
        numbers = documents.read_numbers(database)
        for name, right in self._numbers.items():
            if numbers.get(name, 0) != right:
                yield f"search: the number {name!r} is {numbers.get(name, 0)}, not {right}"


def _describe(what: str, wrong: list[str]) -> "Iterator[str]":
    if wrong:
        names = ", ".join(map(repr, sorted(wrong)[:MOST_NAMED]))
        yield f"search: {len(wrong)} {what} are not those of the notes, such as {names}"


def _add(checksums: dict[int, int], key: int, doc: int, code: int) -> None:
    checksums[key] = checksums.get(key, 0) ^ hash((doc, code))
