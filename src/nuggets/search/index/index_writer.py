"""Write changes of notes into the tables of the index. Called inside a write transaction."""

from typing import TYPE_CHECKING, Any

from nuggets.language.dates import ordinal
from nuggets.search.index.documents import created_digits, flags_of, groups_of, links_of
from nuggets.search.index.note_analyzer import Analysis, analyze, to_storable
from nuggets.search.index.postings import BLOCK, UNWEIGHTED, PostingsWriter, term_key
from nuggets.search.index.schema import NAMES
from nuggets.search.index.statistics import (
    ARCHIVED,
    LANGUAGE,
    LENGTH,
    LINKED,
    NEXT,
    NEXT_ARCHIVED,
    NOTES,
    REVISION,
    YEAR,
    add_numbers,
    read_numbers,
)
from nuggets.search.index.vocabulary import add_words, remove_words
from nuggets.search.scoring.weights import boost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nuggets.domain.records import MemoryNote
    from nuggets.domain.sql_interface import Database

    Pair = tuple[MemoryNote | None, MemoryNote | None]

GATHERED = 2_000_000  # postings that wait for being written together, 20 MB


def keys_of(analysis: Analysis) -> dict[int, int]:
    """By key, the codes of a note's terms and labels."""
    codes = {term_key(term): code for term, code in analysis.terms.items()}
    codes.update({term_key(label): UNWEIGHTED for label in analysis.labels})
    return codes


def doc_of(number: int, is_archived: bool) -> int:
    """The document of the next note: below 0 if archived, ascending within its block."""
    if not is_archived:
        return number
    block, offset = divmod(number, BLOCK)
    return (-1 - block) * BLOCK + offset


class IndexWriter:
    """One update: gathers what changes, and writes what many notes share at the end."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._postings = PostingsWriter(database)
        self._numbers = read_numbers(database)
        self._changes: dict[str, int] = {}  # of numbers
        self._documents: list[tuple[Any, ...]] = []  # rows to be written
        self._known: set[tuple[str, str]] = set()  # words and terms that were written
        self._new_words: set[tuple[str, str]] = set()
        self._removed_terms: dict[int, str] = {}  # by key
        self._gathered = 0

    def update(self, replaced: "Iterable[Pair]") -> None:
        for before, after in replaced:
            if before is None or after is None or not _reads_alike(before, after):
                if before is not None:
                    self._remove(before)
                if after is not None:
                    self._add(after)
            elif not _ranks_alike(before, after):
                self._set_facts(before, after)
            if self._gathered > GATHERED:
                self._write()
        self._write()

    def _add(self, note: "MemoryNote") -> None:
        analysis = analyze(note)
        counter = NEXT_ARCHIVED if note.hidden else NEXT
        doc = doc_of(self._numbers.get(counter, 0) + self._changes.get(counter, 0), note.hidden)
        self._count(counter, 1)
        links = to_storable(links_of(note))
        self._documents.append(
            (
                doc,
                to_storable(note.id),
                analysis.length,
                analysis.norm,
                created_digits(note),
                flags_of(note, analysis),
                boost(note),
                groups_of(note),
                links,
            )
        )
        keys = keys_of(analysis)
        self._postings.add(doc, keys)
        self._gathered += len(keys)
        self._new_words |= analysis.words.items() - self._known
        self._count_note(note, analysis, 1, bool(links))

    def _remove(self, note: "MemoryNote") -> None:
        self._write_documents()
        row = self._database.execute(
            "SELECT doc FROM search_documents WHERE note = ?", (to_storable(note.id),)
        ).fetchone()
        if row is None:
            return
        analysis = analyze(note)
        self._database.execute("DELETE FROM search_documents WHERE doc = ?", row)
        keys = keys_of(analysis)
        self._postings.remove(row[0], keys)
        self._gathered += len(keys)
        self._removed_terms.update({term_key(term): term for term in analysis.words.values()})
        self._count_note(note, analysis, -1, bool(links_of(note)))

    def _set_facts(self, before: "MemoryNote", after: "MemoryNote") -> None:
        """Update what may change while the words stay the same."""
        self._write_documents()
        links = to_storable(links_of(after))
        self._database.execute(
            "UPDATE search_documents SET boost = ?, links = ? WHERE note = ?",
            (boost(after), links, to_storable(after.id)),
        )
        self._count_of(after, LINKED, bool(links) - bool(links_of(before)))

    def _count_note(
        self, note: "MemoryNote", analysis: Analysis, sign: int, is_linked: bool
    ) -> None:
        self._count_of(note, NOTES, sign)
        self._count_of(note, LENGTH, sign * analysis.length)
        self._count_of(note, LINKED, sign * is_linked)
        if ordinal(note.created_at[:10]):
            self._count_of(note, f"{YEAR}{note.created_at[:4]}", sign)
        if analysis.language:
            self._count_of(note, f"{LANGUAGE}{analysis.language}", sign)

    def _count_of(self, note: "MemoryNote", name: str, change: int) -> None:
        self._count(ARCHIVED + name if note.hidden else name, change)

    def _count(self, name: str, change: int) -> None:
        self._changes[name] = self._changes.get(name, 0) + change

    def _write_documents(self) -> None:
        rows, self._documents = self._documents, []
        if rows:
            self._database.executemany(
                "INSERT INTO search_documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def _write(self) -> None:
        """Nothing is written, and other processes read nothing again, if nothing changed."""
        if not self._changes:
            return
        self._write_documents()
        emptied = self._postings.write()
        gone = {self._removed_terms[key] for key in emptied if key in self._removed_terms}
        if self._new_words:
            add_words(self._database, self._new_words)
            self._known |= self._new_words
        if gone:
            remove_words(self._database, gone)
            self._known = {pair for pair in self._known if pair[1] not in gone}
        add_numbers(self._database, self._changes)
        for name, change in self._changes.items():
            self._numbers[name] = self._numbers.get(name, 0) + change
        self._changes, self._gathered = {}, 0
        self._new_words, self._removed_terms = set(), {}


def _reads_alike(a: "MemoryNote", b: "MemoryNote") -> bool:
    """Whether the notes have the same postings and words."""
    return (
        a.content == b.content
        and (a.title, a.tags, a.nugget_name, a.kind) == (b.title, b.tags, b.nugget_name, b.kind)
        and (a.subject, a.scope, a.type, a.created_at) == (b.subject, b.scope, b.type, b.created_at)
        and (a.id, a.hidden, a.project) == (b.id, b.hidden, b.project)
    )


def _ranks_alike(a: "MemoryNote", b: "MemoryNote") -> bool:
    """Of notes with the same words: whether everything else that ranking uses is the same."""
    return (a.links, a.confidence, a.stability) == (b.links, b.confidence, b.stability)


def clear(database: "Database") -> None:
    """Empty the index; the revision, which other processes compare, goes on."""
    numbers = read_numbers(database)
    for table in NAMES[:-1]:
        database.execute(f"DELETE FROM {table}")
    add_numbers(database, {name: -value for name, value in numbers.items() if name != REVISION})
