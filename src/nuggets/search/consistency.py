"""Compare the tables with what a rebuilt index would hold. Changes nothing."""

from array import array
from typing import TYPE_CHECKING

from nuggets.search import documents
from nuggets.search.note_analyzer import analyze, names_of, to_storable, words_of
from nuggets.search.postings import BLOCK, term_key
from nuggets.search.weights import boost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nuggets.domain.records import MemoryNote
    from nuggets.domain.state import Database

MOST_NAMED = 5  # words that a difference names


class _Expected:
    """What the tables should hold; postings as checksums that do not depend on order."""

    def __init__(self) -> None:
        self.postings: dict[int, int] = {}  # by key
        self.names: dict[int, str] = {}  # terms and labels by key
        self.words: set[tuple[str, str]] = set()
        self.numbers: dict[str, int] = {}

    def add(self, doc: int, note: "MemoryNote") -> None:
        analysis = analyze(note)
        for name, amount in ((documents.NOTES, 1), (documents.LENGTH, analysis.length)):
            name = documents.ARCHIVED + name if note.hidden else name
            self.numbers[name] = self.numbers.get(name, 0) + amount
        for key, code in analysis.codes.items():
            _add(self.postings, key, doc, code)
        self.names.update({term_key(name): name for name in names_of(note, analysis)})
        self.words.update(words_of(analysis.tokens, analysis.language))


def differences(database: "Database", notes: "Iterable[MemoryNote]") -> list[str]:
    """Descriptions of all differences; none if the index is right."""
    expected, note_ids, complaints = _Expected(), set(), []
    for note in notes:
        analysis, note_id = analyze(note), to_storable(note.id)
        note_ids.add(note_id)
        row = database.execute(
            "SELECT doc, length, created, flags, boost, groups, links FROM search_documents"
            " WHERE note = ?",
            (note_id,),
        ).fetchone()
        if row is None:
            complaints.append(f"search: {note.id} is not indexed")
            continue
        if (row[0] < 0, *row[1:]) != (
            note.hidden,
            analysis.length,
            documents.created_digits(note),
            documents.flags_of(note, analysis),
            boost(note),
            documents.groups_of(note),
            to_storable(documents.links_of(note)),
        ):
            complaints.append(f"search: the entry of {note.id} is outdated")
        expected.add(row[0], note)
    for (note_id,) in database.execute("SELECT note FROM search_documents"):
        if note_id not in note_ids:
            complaints.append(f"search: {note_id} is indexed, but there is no such note")
    return [*complaints, *_compare(database, expected)]


def _compare(database: "Database", expected: _Expected) -> "Iterator[str]":
    stored: dict[int, int] = {}
    for key, block, docs, codes in database.execute(
        "SELECT term, block, docs, codes FROM search_postings"
    ):
        for offset, code in zip(array("H", docs), codes, strict=True):
            _add(stored, key, block * BLOCK + offset, code)
    for key, doc, code in database.execute("SELECT term, doc, code FROM search_recent"):
        _add(stored, key, doc, code)
    wrong = [
        expected.names.get(key, "a term that no note has")
        for key in {**stored, **expected.postings}
        if stored.get(key) != expected.postings.get(key)
    ]
    yield from _describe("postings", wrong)
    words = set(database.execute("SELECT word, term FROM search_words"))
    # Another form of a word that notes have may stay.
    unused = {pair for pair in words if term_key(pair[1]) not in expected.postings}
    yield from _describe("words", [word for word, _ in (expected.words - words) | unused])
    numbers = documents.read_numbers(database)
    for name, right in expected.numbers.items():
        if numbers.get(name, 0) != right:
            yield f"search: the number {name!r} is {numbers.get(name, 0)}, not {right}"


def _describe(what: str, wrong: list[str]) -> "Iterator[str]":
    if wrong:
        names = ", ".join(map(repr, sorted(wrong)[:MOST_NAMED]))
        yield f"search: {len(wrong)} {what} are not those of the notes, such as {names}"


def _add(checksums: dict[int, int], key: int, doc: int, code: int) -> None:
    checksums[key] = checksums.get(key, 0) ^ hash((doc, code))
