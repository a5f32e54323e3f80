"""What the index keeps of all notes together, and of each without its words; and the index as one
transaction sees it. Ranks nothing."""

from itertools import count as count_from
from math import sqrt
from typing import TYPE_CHECKING, Any

from nuggets.domain.state import chunks, placeholders
from nuggets.language.dates import YEARS_BACK, ordinal
from nuggets.language.languages import LANGUAGES
from nuggets.named_tuple import NamedTuple
from nuggets.search.note_analyzer import SAYS_WHEN, own_tags, tag_label
from nuggets.search.postings import MOST_KEYS, PostingsReader, term_key
from nuggets.search.weights import boost

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nuggets.domain.records import MemoryNote
    from nuggets.domain.state import Database
    from nuggets.search.note_analyzer import Analysis

# --- numbers over all notes: counts, mean length, years, languages --------------------------------


# Names of numbers about visible notes; `ARCHIVED` stands before those of archived ones.
NOTES, LENGTH, LINKED, YEAR, LANGUAGE = "notes", "length", "linked", "year=", "language="
ARCHIVED = "archived "
REVISION, NEXT, NEXT_ARCHIVED = "revision", "next doc", "next archived doc"
RECENT = "recent"  # notes whose postings are not in blocks yet

# The revision grows by a different step each time and in each process, so that a revision that was
# rolled back never equals one that another process wrote.
_STEPS = count_from(1 + (id(object()) >> 4) % 65_521)


class Statistics(NamedTuple):
    """Numbers of the notes that a question searches."""

    revision: int
    notes: int
    numbered: int  # documents of visible notes that there were
    recent: int  # notes that no block has yet
    mean: float  # significant words of a note
    linked: bool  # whether any note has links
    years: range  # from the first to the last note, the most recent ones if there are many
    languages: tuple[str, ...]  # besides English


def read_numbers(database: "Database") -> dict[str, int]:
    return dict(database.execute("SELECT name, value FROM search_statistics"))


def add_numbers(database: "Database", changes: "Mapping[str, int]") -> int:
    """Add to the numbers, and tell other processes that the tables changed: by how much the
    revision grew."""
    rows, step = [(name, value) for name, value in changes.items() if value], next(_STEPS)
    database.executemany(
        "INSERT INTO search_statistics VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = search_statistics.value + excluded.value",
        [*rows, (REVISION, step)],
    )
    if any(value < 0 for _, value in rows):
        database.execute("DELETE FROM search_statistics WHERE value = 0")
    return step


def read_statistics(database: "Database", with_archived: bool) -> Statistics:
    numbers = read_numbers(database)
    sums = {name: value for name, value in numbers.items() if not name.startswith(ARCHIVED)}
    if with_archived:
        for name, value in numbers.items():
            if name.startswith(ARCHIVED):
                name = name.removeprefix(ARCHIVED)
                sums[name] = sums.get(name, 0) + value
    notes = sums.get(NOTES, 0)
    years = sorted(int(name.removeprefix(YEAR)) for name in sums if name.startswith(YEAR))
    first = max(years[0], years[-1] - YEARS_BACK) if years else 1
    return Statistics(
        numbers.get(REVISION, 0),
        notes,
        numbers.get(NEXT, 0),
        numbers.get(RECENT, 0),
        sums.get(LENGTH, 0) / max(notes, 1),
        sums.get(LINKED, 0) > 0,
        range(first, years[-1] + 1 if years else first),
        tuple(
            language
            for number, language in enumerate(LANGUAGES, 1)
            if sums.get(f"{LANGUAGE}{number}")
        ),
    )


# --- each note as ranking needs it, without its words: one row a note -----------------------------


ASKS = 1  # a flag, beside SAYS_WHEN
BETWEEN_LINKS = "\n"
MOST_LINKS = 32  # of a note, the newest: a note with more is a table of contents
DIGITS = 17  # of a time in ISO form, to the millisecond
# Of a note, the newest that lend words; one with more gives less weight to each. Measured on
# packages, the family with more than two: four give nDCG .812 instead of .814.
LINKS_KEPT = 2
GROUPS_KEPT = 4  # own tags of a note that make it part of a group

_NO_DIGITS = bytes(code for code in range(256) if not b"0"[0] <= code <= b"9"[0])
COLUMNS = "doc, note, length, norm, created, flags, boost, groups, links"


class Document(NamedTuple):
    """One note as ranking sees it. Archived ones have numbers below 0."""

    doc: int
    note: str
    length: int
    norm: float
    created: int  # the digits of its time
    flags: int
    boost: float
    groups: tuple[str, ...]  # keys of the labels of its own tags
    links: tuple[str, ...]  # note ids
    reach: float  # weight of each of its links

    @property
    def day(self) -> int:
        """As an ordinal; 0 if the note has no day."""
        digits = f"{self.created:0{DIGITS}}"
        return ordinal(f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}")


Neighbour = tuple[Document, bool]  # a linked note, and whether it was written earlier


class DocumentReader:
    """Reads rows of visible notes, or of archived ones too; each once."""

    def __init__(self, database: "Database", with_archived: bool) -> None:
        self._database = database
        self._condition = "" if with_archived else " AND doc >= 0"
        self._by_doc: dict[int, Document] = {}
        self._by_note: dict[str, Document | None] = {}
        self._neighbours: dict[int, list[Neighbour]] = {}

    def load(self, docs: "Collection[int]") -> list[Document]:
        """The rows of these documents, in their order."""
        known = self._by_doc
        unknown = set(docs).difference(known)
        if unknown:
            self._read("doc", list(unknown))
        return [row for row in map(known.get, docs) if row is not None]

    def load_notes(self, ids: "Iterable[str]") -> None:
        """Read the rows of these notes, as far as there are any."""
        unknown = [note for note in dict.fromkeys(ids) if note not in self._by_note]
        if unknown:
            self._by_note.update(dict.fromkeys(unknown))
            self._read("note", unknown)

    def of_note(self, note: str) -> Document | None:
        if note not in self._by_note:
            self.load_notes((note,))
        return self._by_note[note]

    def neighbours(self, documents: "Iterable[Document]") -> "dict[int, list[Neighbour]]":
        """By document, of those that have links: the newest notes that each is linked to."""
        linked = [document for document in documents if document.links]
        unknown = [document for document in linked if document.doc not in self._neighbours]
        self.load_notes(note for document in unknown for note in document.links)
        for document in unknown:
            self._neighbours[document.doc] = self._linked_to(document)
        return {document.doc: self._neighbours[document.doc] for document in linked}

    def _linked_to(self, document: Document) -> list[Neighbour]:
        linked = [
            neighbour
            for neighbour in map(self._by_note.get, document.links)
            if neighbour is not None and neighbour is not document
        ]
        # Of notes written at the same moment, the first link leads back: when a note is made it can
        # only be linked to one that is there already.
        return [
            (
                neighbour,
                (neighbour.created, neighbour is not linked[0]) <= (document.created, False),
            )
            for neighbour in linked[-LINKS_KEPT:]
        ]

    @property
    def is_full(self) -> bool:
        return len(self._by_note) > MOST_KEYS

    def newest(self, count: int) -> list[Document]:
        rows = self._database.execute(
            f"SELECT {COLUMNS} FROM search_documents WHERE true{self._condition}"
            " ORDER BY doc DESC LIMIT ?",
            (count,),
        )
        return [_document(row) for row in rows]

    def _read(self, column: str, values: "Sequence[int | str]") -> None:
        for some in chunks(values):
            for row in self._database.execute(
                f"SELECT {COLUMNS} FROM search_documents"
                f" WHERE {column} IN ({placeholders(some)}){self._condition}",
                some,
            ):
                document = _document(row)
                self._by_doc[document.doc] = self._by_note[document.note] = document


def _document(row: "Sequence[Any]") -> Document:
    columns, groups, links = row[:7], row[7], row[8]
    names = tuple(groups.split())
    if not links:
        return Document._make((*columns, names, (), 1.0))
    targets = tuple(links.split(BETWEEN_LINKS))
    return Document._make((*columns, names, targets, sqrt(min(1.0, LINKS_KEPT / len(targets)))))


def row_of(doc: int, note: "MemoryNote", analysis: "Analysis") -> tuple[Any, ...]:
    """The row of a note, in the order of `COLUMNS`."""
    tags = list(dict.fromkeys(own_tags(note)))[:GROUPS_KEPT]
    return (
        doc,
        note.id,
        analysis.length,
        analysis.norm,
        created_digits(note),
        ASKS * note.content.endswith("?") | SAYS_WHEN * analysis.says_when,
        boost(note),
        " ".join(str(term_key(tag_label(tag))) for tag in tags),
        links_of(note),
    )


def created_digits(note: "MemoryNote") -> int:
    """A time that compares like the note's, as a number."""
    digits = note.created_at.encode(errors="replace").translate(None, _NO_DIGITS)[:DIGITS]
    return int(digits.ljust(DIGITS, b"0")) if digits else 0


def links_of(note: "MemoryNote") -> str:
    targets = dict.fromkeys(link.to for link in note.links if link.to != note.id)
    return BETWEEN_LINKS.join(list(targets)[-MOST_LINKS:])


# --- all that a question reads --------------------------------------------------------------------


class IndexReader:
    """Statistics, postings and documents of the same notes."""

    def __init__(self, database: "Database", statistics: Statistics, with_archived: bool) -> None:
        self.database = database
        self.stats = statistics
        self.postings = PostingsReader(
            database, with_archived, statistics.numbered, statistics.recent
        )
        self.documents = DocumentReader(database, with_archived)

    @property
    def is_full(self) -> bool:
        """Whether a long-lived process has read so much that it should begin anew."""
        return self.postings.is_full or self.documents.is_full
