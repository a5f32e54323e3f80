"""Follows changes of notes in the tables of the index. Called inside a write transaction."""

from itertools import count as count_from
from typing import TYPE_CHECKING

from nuggets.search.corpus_stats import (
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
from nuggets.search.dates import ordinal
from nuggets.search.documents import boost, created_digits, flags_of, links_of
from nuggets.search.groups import GroupWriter
from nuggets.search.merging import merge_all, merge_slice
from nuggets.search.note_analyzer import LABEL, Analysis, analyze, to_storable
from nuggets.search.recent import read_recent, write_recent
from nuggets.search.schema import NAMES
from nuggets.search.segments import SegmentBuilder, block_of, write_segment
from nuggets.search.vocabulary import add_labels, add_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nuggets.records import MemoryNote
    from nuggets.search.recent import Change
    from nuggets.sql import Database

RECENT = 64  # notes that wait for a segment: the more, the less often a term is written anew
BULK = 32_768  # notes of one segment at most: bounds the memory while a large shelf is read

# The revision moves on by another step each time and in each process: what was rolled back is not
# taken for what somebody else wrote since.
_STEPS = count_from(1 + (id(object()) >> 4) % 65_521)

Pair = tuple["MemoryNote | None", "MemoryNote | None"]


class IndexWriter:
    """One update: documents are written as they come, what many of them share at the end."""

    def __init__(self, database: "Database") -> None:
        self._database = database
        self._groups = GroupWriter(database)
        row = database.execute(
            "SELECT value FROM search_statistics WHERE space = ? AND name = ?", (WHOLE, NEXT_DOC)
        ).fetchone()
        self._first_doc = self._next_doc = row[0] if row else 0
        self._recent = {
            doc for (doc,) in database.execute("SELECT doc FROM search_recent WHERE removed = 0")
        }
        self._changes: dict[tuple[int, bool], Change] = {}
        self._gathered = _Gathered()
        self._statistics: dict[tuple[int, str], int] = {}
        self._labels: dict[tuple[int, str], int] = {}

    def update(self, replaced: "Iterable[Pair]") -> None:
        for before, after in replaced:
            if before is None or after is None or not _reads_alike(before, after):
                self._replace(before, after)
            elif not _ranks_alike(before, after):
                self._set_facts(before, after)
            if len(self._changes) > RECENT:
                self._gather()
        self._finish()

    def _replace(self, before: "MemoryNote | None", after: "MemoryNote | None") -> None:
        if before is not None:
            self._remove(before)
        if after is not None:
            self._add(after)

    def _set_facts(self, before: "MemoryNote", after: "MemoryNote") -> None:
        """What may change without the words changing."""
        links = to_storable(links_of(after))
        self._database.execute(
            "UPDATE search_documents SET boost = ?, links = ? WHERE note = ?",
            (boost(after), links, to_storable(after.id)),
        )
        change = bool(links) - bool(links_of(before))
        self._count(int(after.hidden), LINKED, change)

    def _add(self, note: "MemoryNote") -> None:
        doc, self._next_doc = self._next_doc, self._next_doc + 1
        analysis, space = analyze(note), int(note.hidden)
        groups = self._groups.join(space, analysis.groups, analysis.length)
        self._changes[doc, False] = (doc, space, analysis, groups)
        self._database.execute(
            "INSERT INTO search_documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
                to_storable(links_of(note)),
            ),
        )
        self._count_note(note, space, analysis, 1)

    def _remove(self, note: "MemoryNote") -> None:
        row = self._database.execute(
            "SELECT doc, space FROM search_documents WHERE note = ?", (to_storable(note.id),)
        ).fetchone()
        if row is None:
            return
        doc, space = row
        analysis = analyze(note)
        groups = self._groups.leave(space, analysis.groups, analysis.length)
        self._database.execute("DELETE FROM search_documents WHERE doc = ?", (doc,))
        if doc in self._recent:
            self._recent.remove(doc)
            self._database.execute("DELETE FROM search_recent WHERE doc = ?", (doc,))
        elif self._changes.pop((doc, False), None) is None:
            self._changes[doc, True] = (doc, space, analysis, groups)
        self._count_note(note, space, analysis, -1)

    def _count_note(self, note: "MemoryNote", space: int, analysis: Analysis, sign: int) -> None:
        self._count(space, NOTES, sign)
        self._count(space, LENGTH, sign * analysis.length)
        self._count(space, LINKED, sign * bool(links_of(note)))
        if ordinal(note.created_at[:10]):
            self._count(space, f"{YEAR}{note.created_at[:4]}", sign)
        if analysis.language:
            self._count(space, f"{LANGUAGE}{analysis.language}", sign)
        named = (term for term in analysis.terms if term.startswith(LABEL))
        for label in (*analysis.labels, *named):
            self._labels[space, label] = self._labels.get((space, label), 0) + sign

    def _count(self, space: int, name: str, change: int) -> None:
        self._statistics[space, name] = self._statistics.get((space, name), 0) + change

    def _finish(self) -> None:
        """Few notes wait for others; many become a segment."""
        if self._gathered.notes:
            self._gather()
            self._write_segments()
            merge_all(self._database)
        elif self._changes or self._statistics:
            write_recent(self._database, self._changes)
            self._write_counts()
            if len(self._recent) + len(self._changes) >= RECENT:
                flush_recent(self._database)
            else:
                merge_slice(self._database)

    def _gather(self) -> None:
        """Too many changes to let them wait."""
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
        add_labels(self._database, self._labels)
        self._count(WHOLE, REVISION, next(_STEPS))
        self._count(WHOLE, NEXT_DOC, self._next_doc - self._first_doc)
        add_statistics(self._database, self._statistics)
        self._first_doc = self._next_doc
        self._statistics, self._labels = {}, {}


class _Gathered:
    """Changes on their way into segments."""

    def __init__(self) -> None:
        self.notes = 0
        self._builders: dict[tuple[int, int], SegmentBuilder] = {}  # by space and block
        self._words: dict[tuple[int, int], dict[str, int]] = {}  # by space and language

    def add(self, changes: "Mapping[tuple[int, bool], Change]") -> None:
        for (doc, removed), (_, space, analysis, groups) in changes.items():
            self.notes += 1
            place = (space, block_of(doc))
            builder = self._builders.get(place)
            if builder is None:
                builder = self._builders[place] = SegmentBuilder()
            (builder.remove if removed else builder.add)(doc, analysis, groups)
            words = self._words.setdefault((space, analysis.language), {})
            sign = -1 if removed else 1
            for word, count in analysis.words.items():
                words[word] = words.get(word, 0) + sign * count

    def write(self, database: "Database") -> None:
        for (space, block), builder in self._builders.items():
            write_segment(database, space, block, builder)
        add_words(database, self._words)


def flush_recent(database: "Database") -> None:
    """The notes that wait become a segment."""
    gathered = _Gathered()
    gathered.add(read_recent(database))
    gathered.write(database)
    database.execute("DELETE FROM search_recent")


def _reads_alike(a: "MemoryNote", b: "MemoryNote") -> bool:
    """Whether the notes differ only in what is kept beside the postings."""
    return (
        a.content == b.content
        and (a.title, a.tags, a.nugget_name, a.kind) == (b.title, b.tags, b.nugget_name, b.kind)
        and (a.subject, a.scope, a.type, a.created_at) == (b.subject, b.scope, b.type, b.created_at)
        and (a.id, a.hidden, a.project) == (b.id, b.hidden, b.project)
    )


def _ranks_alike(a: "MemoryNote", b: "MemoryNote") -> bool:
    """Of notes that read alike: whether nothing else that a ranking looks at differs."""
    return (a.links, a.confidence, a.stability) == (b.links, b.confidence, b.stability)


def raise_revision(database: "Database") -> None:
    """Tell other processes that the tables are not what they were."""
    add_statistics(database, {(WHOLE, REVISION): next(_STEPS)})


def clear(database: "Database") -> None:
    """Delete all that was derived, except for the revision: other processes go by it."""
    for table in NAMES:
        if table != "search_statistics":
            database.execute(f"DELETE FROM {table}")
    database.execute(
        "DELETE FROM search_statistics WHERE NOT (space = ? AND name = ?)", (WHOLE, REVISION)
    )
    raise_revision(database)
