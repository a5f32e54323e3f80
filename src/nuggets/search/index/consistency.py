"""Compare the tables with what a rebuilt index would hold. Changes nothing."""

from typing import TYPE_CHECKING, Any

from nuggets.search.index.corpus_stats import LENGTH, NOTES, read_statistics
from nuggets.search.index.documents import created_digits, flags_of, links_of
from nuggets.search.index.inverted_index import InvertedIndex
from nuggets.search.index.note_analyzer import analyze, to_storable
from nuggets.search.index.postings import BLOCK, length_byte
from nuggets.search.index.recent_changes import read_recent
from nuggets.search.index.segments import GROUP
from nuggets.search.index.vocabulary import Vocabulary
from nuggets.search.scoring.weights import boost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nuggets.domain.records import MemoryNote
    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.note_analyzer import Analysis

PRIME = (1 << 61) - 1  # sums of checksums stay small
MOST_NAMED = 5  # keys that a difference names

Key = tuple[int, str]  # space, and a term or label


class _Expected:
    """What the tables should hold, as sums that do not depend on order."""

    def __init__(self) -> None:
        self.postings: dict[Key, int] = {}
        self.words: dict[tuple[int, str, int], int] = {}
        self.notes: dict[int, int] = {}
        self.lengths: dict[int, int] = {}

    def add(self, doc: int, space: int, analysis: "Analysis") -> None:
        length = length_byte(analysis.length)
        self.notes[space] = self.notes.get(space, 0) + 1
        self.lengths[space] = self.lengths.get(space, 0) + analysis.length
        for term, code in analysis.terms.items():
            _add(self.postings, (space, term), _checksum(doc, code << 8 | length))
        for label in analysis.labels:
            _add(self.postings, (space, label), _checksum(doc, 0))
        for word, count in analysis.words.items():
            key = (space, word, analysis.language)
            self.words[key] = self.words.get(key, 0) + count


def differences(database: "Database", notes: "Iterable[MemoryNote]") -> list[str]:
    """Descriptions of all differences; none if the index is right."""
    expected, note_ids, complaints = _Expected(), set(), []
    for note in notes:
        analysis, note_id = analyze(note), to_storable(note.id)
        note_ids.add(note_id)
        row = database.execute(
            "SELECT doc, space, length, created, flags, boost, links FROM search_documents"
            " WHERE note = ?",
            (note_id,),
        ).fetchone()
        if row is None:
            complaints.append(f"search: {note.id} is not indexed")
            continue
        if row[1:] != (
            int(note.hidden),
            analysis.length,
            created_digits(note),
            flags_of(note, analysis),
            boost(note),
            to_storable(links_of(note)),
        ):
            complaints.append(f"search: the entry of {note.id} is outdated")
        expected.add(row[0], row[1], analysis)
    for (note_id,) in database.execute("SELECT note FROM search_documents"):
        if note_id not in note_ids:
            complaints.append(f"search: {note_id} is indexed, but there is no such note")
    for space in (0, 1):
        complaints += _compare_space(database, space, expected)
    return complaints


def _compare_space(database: "Database", space: int, expected: _Expected) -> "Iterator[str]":
    recent = read_recent(database)
    index = InvertedIndex(database, (space,), recent)
    keys = {key for where, key in expected.postings if where == space} | set(index.keys())
    wrong = [
        key
        for key in sorted(keys)
        if not key.startswith(GROUP)
        and _postings_sum(index, key) != expected.postings.get((space, key), 0)
    ]
    yield from _describe("postings", wrong)
    vocabulary = Vocabulary(database, (space,), recent)
    words = dict(vocabulary.all_counts())
    wanted = {key[1:]: count for key, count in expected.words.items() if key[0] == space}
    yield from _describe("words", [key[0] for key in _compare(words, wanted)])
    statistics = read_statistics(database, space)
    for name, counted in ((NOTES, expected.notes), (LENGTH, expected.lengths)):
        recorded, right = statistics.get(name, 0), counted.get(space, 0)
        if recorded != right:
            yield f"search: the number {name!r} is {recorded}, not {right}"


def _compare(a: "Mapping[Any, int]", b: "Mapping[Any, int]") -> list[Any]:
    return [key for key in {**a, **b} if a.get(key, 0) != b.get(key, 0)]


def _describe(what: str, wrong: list[str]) -> "Iterator[str]":
    if wrong:
        names = ", ".join(map(repr, wrong[:MOST_NAMED]))
        yield f"search: {len(wrong)} {what} are not those of the notes, such as {names}"


def _postings_sum(index: InvertedIndex, key: str) -> int:
    total = 0
    for block, docs, marks in index.postings(key):
        base = block * BLOCK
        for place, offset in enumerate(docs):
            total += _checksum(base + offset, marks[place] if marks else 0)
    index.forget(key)
    return total % PRIME


def _checksum(doc: int, mark: int) -> int:
    return (doc * 1_000_003 + mark + 1) * 2_654_435_761 % PRIME


def _add(sums: dict[Key, int], key: Key, value: int) -> None:
    sums[key] = (sums.get(key, 0) + value) % PRIME
