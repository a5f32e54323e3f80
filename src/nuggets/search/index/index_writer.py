"""Write changes of notes into the tables of the index. Called inside a write transaction."""

from collections import Counter
from itertools import count as count_from
from typing import TYPE_CHECKING, Any

from nuggets.language.dates import ordinal
from nuggets.search.index.corpus_stats import (
    LANGUAGE,
    LENGTH,
    LINKED,
    NEXT_DOC,
    NOTES,
    REVISION,
    WHOLE,
    YEAR,
    add_statistics,
)
from nuggets.search.index.documents import created_digits, flags_of, links_of
from nuggets.search.index.note_analyzer import Analysis, analyze, to_storable
from nuggets.search.index.recent_changes import read_recent, write_recent
from nuggets.search.index.schema import NAMES
from nuggets.search.index.segment_merging import begin_merges, merge_all, merge_slice
from nuggets.search.index.segments import block_of
from nuggets.search.index.tag_groups import GroupWriter
from nuggets.search.scoring.weights import boost

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nuggets.domain.records import MemoryNote
    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.bulk_analysis import NoteColumns
    from nuggets.search.index.recent_changes import Change
    from nuggets.search.index.segment_builder import SegmentBuilder

RECENT = 64  # notes that wait for a segment: the more, the less often a term is rewritten
NOTES_ANALYZED_TOGETHER = 2048  # notes that are analyzed at once, and
CHARACTERS_TOGETHER = 4_000_000  # of their contents: both bound the memory
BULK = 32_768  # notes of one segment at most: bounds the memory while a large shelf is read

# The revision grows by a different step each time and in each process, so that a revision that was
# rolled back never equals one that another process wrote.
_STEPS = count_from(1 + (id(object()) >> 4) % 65_521)

_WHERE_IT_STANDS = (  # the number of the next document, notes that wait for a segment, any merges
    "SELECT (SELECT value FROM search_statistics WHERE space = ? AND name = ?),"
    " (SELECT count(*) FROM search_recent),"
    " EXISTS (SELECT 1 FROM search_segments WHERE target <> 0)"
)

Pair = tuple["MemoryNote | None", "MemoryNote | None"]


class IndexWriter:
    """One update: documents are written as they come, what many of them share at the end."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._groups = GroupWriter(database)
        next_doc, self._waiting, self._is_merging = database.execute(
            _WHERE_IT_STANDS, (WHOLE, NEXT_DOC)
        ).fetchone()
        self._first_doc = self._next_doc = next_doc or 0
        self._added: dict[str, MemoryNote] = {}  # to be analyzed, by id
        self._added_characters = 0
        self._documents: list[tuple[Any, ...]] = []  # rows to be written
        self._changes: dict[tuple[int, bool], Change] = {}
        self._gathered = _Gathered()
        self._statistics: dict[tuple[int, str], int] = {}

    def update(self, replaced: "Iterable[Pair]") -> None:
        for before, after in replaced:
            if before is None or after is None or not _reads_alike(before, after):
                self._replace(before, after)
            elif not _ranks_alike(before, after):
                self._set_facts(before, after)
            if (
                len(self._added) >= NOTES_ANALYZED_TOGETHER
                or self._added_characters >= CHARACTERS_TOGETHER
            ):
                self._add_all()
            if len(self._changes) > RECENT:
                self._gather()
        self._add_all()
        self._finish()

    def _replace(self, before: "MemoryNote | None", after: "MemoryNote | None") -> None:
        if before is not None:
            if before.id in self._added:
                self._add_all()
            self._remove(before)
        if after is not None:
            self._added[after.id] = after
            self._added_characters += len(after.content)

    def _set_facts(self, before: "MemoryNote", after: "MemoryNote") -> None:
        """Update what may change while the words stay the same."""
        self._write_documents()
        links = to_storable(links_of(after))
        self._database.execute(
            "UPDATE search_documents SET boost = ?, links = ? WHERE note = ?",
            (boost(after), links, to_storable(after.id)),
        )
        change = bool(links) - bool(links_of(before))
        self._count(int(after.hidden), LINKED, change)

    def _add_all(self) -> None:
        """Analyze the notes that were added; many of them together."""
        notes, self._added, self._added_characters = list(self._added.values()), {}, 0
        if len(notes) > RECENT and self._gathered.needs_numpy(len(notes)):
            self._add_together(notes)
            return
        for note in notes:
            analysis = analyze(note)
            doc, groups = self._add(note, analysis)
            self._changes[doc, False] = (doc, int(note.hidden), analysis, groups)
            if len(self._changes) > RECENT:
                self._gather()

    def _add_together(self, notes: "list[MemoryNote]") -> None:
        from nuggets.search.index.bulk_analysis import analyze_together

        self._gather()
        first = self._next_doc
        by_place: dict[tuple[int, int], list[int]] = {}  # of the notes, by space and block
        for number, note in enumerate(notes):
            place = (int(note.hidden), block_of(first + number))
            by_place.setdefault(place, []).append(number)
        columns = {
            place: analyze_together([notes[number] for number in numbers])
            for place, numbers in by_place.items()
        }
        analyses = {
            number: analysis
            for place, numbers in by_place.items()
            for number, analysis in zip(numbers, columns[place].analyses, strict=True)
        }
        groups = [self._add(note, analyses[number])[1] for number, note in enumerate(notes)]
        for place, numbers in by_place.items():
            docs = [first + number for number in numbers]
            self._gathered.add_together(
                place, docs, columns[place], [groups[number] for number in numbers]
            )
        self._gather()

    def _add(self, note: "MemoryNote", analysis: Analysis) -> tuple[int, list[int]]:
        """The numbers of its document and of its groups."""
        doc, self._next_doc = self._next_doc, self._next_doc + 1
        space = int(note.hidden)
        groups = self._groups.join(space, analysis.groups, analysis.length)
        links = to_storable(links_of(note))
        self._documents.append(
            (
                doc,
                to_storable(note.id),
                space,
                analysis.length,
                analysis.norm,
                created_digits(note),
                flags_of(note, analysis),
                boost(note),
                " ".join(map(str, groups)),
                links,
            )
        )
        self._count_note(note, space, analysis, 1, bool(links))
        return doc, groups

    def _write_documents(self) -> None:
        rows, self._documents = self._documents, []
        self._database.executemany(
            "INSERT INTO search_documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
        )

    def _remove(self, note: "MemoryNote") -> None:
        self._write_documents()
        row = self._database.execute(
            "SELECT doc, space FROM search_documents WHERE note = ?", (to_storable(note.id),)
        ).fetchone()
        if row is None:
            return
        doc, space = row
        analysis = analyze(note)
        groups = self._groups.leave(space, analysis.groups, analysis.length)
        self._database.execute("DELETE FROM search_documents WHERE doc = ?", (doc,))
        if self._changes.pop((doc, False), None) is None and not self._remove_recent(doc):
            self._changes[doc, True] = (doc, space, analysis, groups)
        self._count_note(note, space, analysis, -1, bool(links_of(note)))

    def _remove_recent(self, doc: int) -> bool:
        """Whether the document was waiting for a segment."""
        sql = "SELECT 1 FROM search_recent WHERE doc = ? AND removed = 0"
        if self._database.execute(sql, (doc,)).fetchone() is None:
            return False
        self._database.execute("DELETE FROM search_recent WHERE doc = ?", (doc,))
        self._waiting -= 1
        return True

    def _count_note(
        self, note: "MemoryNote", space: int, analysis: Analysis, sign: int, is_linked: bool
    ) -> None:
        self._count(space, NOTES, sign)
        self._count(space, LENGTH, sign * analysis.length)
        self._count(space, LINKED, sign * is_linked)
        if ordinal(note.created_at[:10]):
            self._count(space, f"{YEAR}{note.created_at[:4]}", sign)
        if analysis.language:
            self._count(space, f"{LANGUAGE}{analysis.language}", sign)

    def _count(self, space: int, name: str, change: int) -> None:
        self._statistics[space, name] = self._statistics.get((space, name), 0) + change

    def _finish(self) -> None:
        """Few notes wait for others; many become a segment."""
        self._write_documents()
        if self._gathered.notes:
            self._gather()
            self._write_segments()
            merge_all(self._database)
        elif self._changes or self._statistics:
            write_recent(self._database, self._changes)
            self._write_counts()
            if self._waiting + len(self._changes) >= RECENT:
                flush_recent(self._database)
                begin_merges(self._database)
            elif self._is_merging:
                merge_slice(self._database)

    def _gather(self) -> None:
        """Move the changes to segments: they are too many to wait."""
        self._write_documents()
        self._gathered.add(self._changes)
        self._changes = {}
        if self._gathered.notes >= BULK:
            self._write_segments()

    def _write_segments(self) -> None:
        self._gathered.write(self._database)
        self._gathered = _Gathered()
        self._write_counts()

    def _write_counts(self) -> None:
        self._groups.write(self._statistics)
        self._count(WHOLE, REVISION, next(_STEPS))
        self._count(WHOLE, NEXT_DOC, self._next_doc - self._first_doc)
        add_statistics(self._database, self._statistics)
        self._first_doc = self._next_doc
        self._statistics = {}


class _Gathered:
    """Changes that become segments."""

    def __init__(self) -> None:
        self.notes = 0
        self._builders: dict[tuple[int, int], SegmentBuilder] = {}  # by space and block
        self._words: dict[tuple[int, int], Counter[str]] = {}  # by space and language

    def add(self, changes: "Mapping[tuple[int, bool], Change]") -> None:
        for (doc, removed), (_, space, analysis, groups) in changes.items():
            self.notes += 1
            builder = self._builder((space, block_of(doc)))
            (builder.remove if removed else builder.add)(doc, analysis, groups)
            words = self._words.setdefault((space, analysis.language), Counter())
            if removed:
                words.subtract(analysis.words)
            else:
                words.update(analysis.words.keys())  # counting keys is quicker than adding counts
                for word, count in analysis.words.items():
                    if count > 1:
                        words[word] += count - 1

    def add_together(
        self,
        place: tuple[int, int],
        docs: "list[int]",
        columns: "NoteColumns",
        groups: list[list[int]],
    ) -> None:
        """`place`: space and block of all the documents."""
        self.notes += len(docs)
        self._builder(place).add_together(docs, columns, groups)
        for language, words in columns.words.items():
            self._words.setdefault((place[0], language), Counter()).update(words)

    def needs_numpy(self, more: int) -> bool:
        """Whether these changes and so many more will be packed with NumPy."""
        from nuggets.search.index.segment_builder import WORTH_NUMPY

        return self.notes + more >= WORTH_NUMPY

    def _builder(self, place: tuple[int, int]) -> "SegmentBuilder":
        builder = self._builders.get(place)
        if builder is None:
            from nuggets.search.index.segment_builder import SegmentBuilder  # for 1 write in 64

            builder = self._builders[place] = SegmentBuilder()
        return builder

    def write(self, database: "Database") -> None:
        from nuggets.search.index.vocabulary import add_words

        for (space, block), builder in self._builders.items():
            builder.write(database, space, block)
        add_words(database, self._words)


def flush_recent(database: "Database") -> None:
    """Write the notes that wait as a segment."""
    gathered = _Gathered()
    gathered.add(read_recent(database))
    gathered.write(database)
    database.execute("DELETE FROM search_recent")


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


def raise_revision(database: "Database") -> None:
    """Tell other processes that the tables changed."""
    add_statistics(database, {(WHOLE, REVISION): next(_STEPS)})


def clear(database: "Database") -> None:
    """Empty the index, except for the revision, which other processes compare."""
    for table in NAMES:
        if table != "search_statistics":
            database.execute(f"DELETE FROM {table}")
    database.execute(
        "DELETE FROM search_statistics WHERE NOT (space = ? AND name = ?)", (WHOLE, REVISION)
    )
    raise_revision(database)
