"""Write changes of notes into the tables of the index. Called inside a write transaction."""

from array import array
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from nuggets.domain.state import chunks, placeholders
from nuggets.language.dates import ordinal
from nuggets.search import documents
from nuggets.search.note_analyzer import Analysis, analyze, words_of
from nuggets.search.postings import BLOCK, KEPT_POSTINGS, MOST_KEYS, term_key
from nuggets.search.term_expansion import letters
from nuggets.search.weights import boost

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from nuggets.domain.records import MemoryNote
    from nuggets.domain.state import Database

    Pair = tuple[MemoryNote | None, MemoryNote | None]

# Notes with rows of their own. With more, a write takes less time on average and every question a
# little more: 256 notes of 700 bytes are 33 pages.
MOST_RECENT = 256


# What a note's postings and words are made of; and what else ranking uses, which may change alone.
read_of = attrgetter(
    *("content", "title", "tags", "nugget_name", "kind", "subject", "scope", "type"),
    *("created_at", "id", "hidden", "project"),
)
facts_of = attrgetter("links", "confidence", "stability")


class IndexWriter:
    """One update: gathers what changes, and writes what many notes share at the end."""

    def __init__(
        self, database: "Database", revision: int = 0, written: set[str] | None = None
    ) -> None:
        """`written`: tokens whose words the table had at this revision, to be continued. It is
        another one if another process has written since, or a write was undone."""
        self._database = database
        self._numbers = documents.read_numbers(database)
        self.written = written if written and self.revision == revision else set[str]()
        self._postings = PostingsWriter(database, self._numbers.get(documents.RECENT, 0))
        self._changes: dict[str, int] = {}  # of numbers
        self._documents: list[tuple[Any, ...]] = []  # rows to be written
        self._tokens: dict[int, set[str]] = {}  # of added notes, by language
        self._removed_terms: dict[int, str] = {}  # by key
        self._gathered = 0

    @property
    def revision(self) -> int:
        return self._numbers.get(documents.REVISION, 0)

    def update(self, replaced: "Iterable[Pair]") -> None:
        for before, after in replaced:
            if before is None or after is None or read_of(before) != read_of(after):
                if before is not None:
                    self._remove(before)
                if after is not None:
                    self._add(after)
            elif facts_of(before) != facts_of(after):
                self._set_facts(before, after)
            if self._gathered > KEPT_POSTINGS:
                self._write()
        self._write()

    def _add(self, note: "MemoryNote") -> None:
        analysis = analyze(note)
        counter = documents.NEXT_ARCHIVED if note.hidden else documents.NEXT
        doc = self._numbers.get(counter, 0) + self._changes.get(counter, 0)
        if note.hidden:  # below 0, ascending within its block
            doc += BLOCK * (-1 - 2 * (doc // BLOCK))
        self._count(counter, 1)
        self._documents.append(documents.row_of(doc, note, analysis))
        self._postings.add(doc, analysis.codes)
        self._gathered += len(analysis.codes)
        self._tokens.setdefault(analysis.language, set()).update(analysis.tokens)
        self._count_note(note, analysis, 1)

    def _remove(self, note: "MemoryNote") -> None:
        self._write_documents()
        row = self._database.execute(
            "SELECT doc FROM search_documents WHERE note = ?", (note.id,)
        ).fetchone()
        if row is None:
            return
        analysis = analyze(note)
        self._database.execute("DELETE FROM search_documents WHERE doc = ?", row)
        self._postings.remove(row[0], analysis.codes)
        self._gathered += len(analysis.codes)
        words = words_of(analysis.tokens, analysis.language)
        self._removed_terms.update({term_key(term): term for _, term in words})
        self._count_note(note, analysis, -1)

    def _set_facts(self, before: "MemoryNote", after: "MemoryNote") -> None:
        """Update what may change while the words stay the same."""
        self._write_documents()
        links = documents.links_of(after)
        self._database.execute(
            "UPDATE search_documents SET boost = ?, links = ? WHERE note = ?",
            (boost(after), links, after.id),
        )
        self._count_of(after, documents.LINKED, bool(links) - bool(documents.links_of(before)))

    def _count_note(self, note: "MemoryNote", analysis: Analysis, sign: int) -> None:
        self._count_of(note, documents.NOTES, sign)
        self._count_of(note, documents.LENGTH, sign * analysis.length)
        self._count_of(note, documents.LINKED, sign * bool(documents.links_of(note)))
        if ordinal(note.created_at[:10]):
            self._count_of(note, f"{documents.YEAR}{note.created_at[:4]}", sign)
        if analysis.language:
            self._count_of(note, f"{documents.LANGUAGE}{analysis.language}", sign)

    def _count_of(self, note: "MemoryNote", name: str, change: int) -> None:
        self._count(documents.ARCHIVED + name if note.hidden else name, change)

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
        recent = self._postings.recent
        emptied = self._postings.write()
        self._count(documents.RECENT, self._postings.recent - recent)
        gone = {self._removed_terms[key] for key in emptied if key in self._removed_terms}
        if gone:
            self._database.executemany(
                "DELETE FROM search_words WHERE term = ?", [(term,) for term in gone]
            )
            self.written.clear()
        for language, tokens in self._tokens.items():
            # The same token may be another word in another language.
            new = tokens if language else tokens - self.written
            self._database.executemany(
                "INSERT INTO search_words VALUES (?, ?, ?, ?)"
                " ON CONFLICT (length, word, term) DO NOTHING",
                [
                    (len(word), word, term, letters(word))
                    for word, term in sorted(words_of(new, language))
                ],
            )
            if not language and len(self.written) < MOST_KEYS:
                self.written |= new
        self._count(documents.REVISION, documents.add_numbers(self._database, self._changes))
        for name, change in self._changes.items():
            self._numbers[name] = self._numbers.get(name, 0) + change
        self._changes, self._gathered = {}, 0
        self._tokens, self._removed_terms = {}, {}


def clear(database: "Database") -> None:
    """Empty the tables of the index. Of the numbers the revision goes on: other processes compare
    it."""
    numbers = documents.read_numbers(database)
    numbers.pop(documents.REVISION, None)
    for table in ("documents", "postings", "recent", "words"):
        database.execute(f"DELETE FROM search_{table}")
    documents.add_numbers(database, {name: -value for name, value in numbers.items()})


# --- postings -------------------------------------------------------------------------------------


class PostingsWriter:
    """Gathers changes of postings, and writes each row once.

    The newest notes have a row for each posting, in a small table: a note that is written alone
    changes a few pages there, instead of a page for each of its terms. When they are many, all are
    moved into blocks.
    """

    def __init__(self, database: "Database", recent: int) -> None:
        """`recent`: how many notes the small table has."""
        self._database = database
        self.recent = recent
        self._added: dict[int, Mapping[int, int]] = {}  # by document, codes by key
        self._removed: dict[int, Collection[int]] = {}  # by document, keys

    def add(self, doc: int, codes: "Mapping[int, int]") -> None:
        """The codes by key. Documents must be added in ascending order within a block."""
        self._added[doc] = codes

    def remove(self, doc: int, keys: "Collection[int]") -> None:
        if doc in self._added:
            del self._added[doc]
        else:
            self._removed[doc] = keys

    def write(self) -> list[int]:
        """Write what was gathered; the keys of terms that no note has any more."""
        added, self._added = self._added, {}
        removed, self._removed = self._removed, {}
        touched = self._remove_recent(removed)
        blocks: dict[int, _Changes] = {}
        for doc, keys in removed.items():
            block, offset = divmod(doc, BLOCK)
            gone = blocks.setdefault(block, _Changes()).gone
            for key in keys:
                gone.setdefault(key, set()).add(offset)
        if self.recent + len(added) > MOST_RECENT:
            for key, doc, code in self._take_recent():
                blocks.setdefault(doc // BLOCK, _Changes()).add(doc, {key: code})
            for doc, codes in added.items():
                blocks.setdefault(doc // BLOCK, _Changes()).add(doc, codes)
        elif added:
            self._database.executemany(
                "INSERT INTO search_recent VALUES (?, ?, ?)",
                [(key, doc, code) for doc in added for key, code in added[doc].items()],
            )
            self.recent += len(added)
        for block, changes in sorted(blocks.items()):
            for some in chunks(sorted({*changes.added, *changes.gone})):
                touched.update(self._write_rows(block, dict.fromkeys(some), changes))
        return self._without_postings(touched)

    def _remove_recent(self, removed: "dict[int, Collection[int]]") -> set[int]:
        """Delete the documents that the small table has, from the argument too; their keys."""
        if not self.recent or not removed:
            return set()
        recent = [
            doc
            for some in chunks(removed)
            for (doc,) in self._database.execute(
                f"SELECT DISTINCT doc FROM search_recent WHERE doc IN ({placeholders(some)})"
                f" AND term IN ({placeholders(some)})",
                (*some, *(next(iter(removed[doc])) for doc in some)),
            )
        ]
        gone = {doc: removed.pop(doc) for doc in recent}
        self._database.executemany(
            "DELETE FROM search_recent WHERE term = ? AND doc = ?",
            [(key, doc) for doc, keys in gone.items() for key in keys],
        )
        self.recent -= len(gone)
        return set().union(*gone.values())

    def _take_recent(self) -> list[tuple[int, int, int]]:
        """Key, document and code of what the small table had."""
        rows = self._database.execute("SELECT term, doc, code FROM search_recent ORDER BY doc")
        taken = rows.fetchall()
        self._database.execute("DELETE FROM search_recent")
        self.recent = 0
        return taken

    def _write_rows(self, block: int, keys: "Collection[int]", changes: "_Changes") -> list[int]:
        """The keys whose rows were deleted."""
        known = {
            key: (docs, codes)
            for key, docs, codes in self._database.execute(
                "SELECT term, docs, codes FROM search_postings"
                f" WHERE block = ? AND term IN ({placeholders(list(keys))})",
                (block, *keys),
            )
        }
        written, emptied = [], []
        for key in keys:
            docs, codes = known.get(key, (b"", b""))
            if key in changes.added:
                added = changes.added[key]
                docs += array("H", [posting >> 8 for posting in added]).tobytes()
                codes += bytes([posting & 255 for posting in added])
            if key in changes.gone:
                docs, codes = _drop_documents(docs, codes, changes.gone[key])
            if docs:
                written.append((key, block, docs, codes))
            else:
                emptied.append(key)
        self._database.executemany(
            "INSERT INTO search_postings VALUES (?, ?, ?, ?) ON CONFLICT (term, block)"
            " DO UPDATE SET docs = excluded.docs, codes = excluded.codes",
            written,
        )
        if emptied:
            self._database.executemany(
                "DELETE FROM search_postings WHERE term = ? AND block = ?",
                [(key, block) for key in emptied],
            )
        return emptied

    def _without_postings(self, keys: "Iterable[int]") -> list[int]:
        left = set(keys)
        for table in ("search_postings", "search_recent"):
            for some in chunks(sorted(left)):
                left.difference_update(
                    key
                    for (key,) in self._database.execute(
                        f"SELECT DISTINCT term FROM {table} WHERE term IN ({placeholders(some)})",
                        some,
                    )
                )
        return sorted(left)


def _drop_documents(docs: bytes, codes: bytes, gone: "Collection[int]") -> tuple[bytes, bytes]:
    """A row without some of its documents."""
    kept = [
        (doc, code) for doc, code in zip(array("H", docs), codes, strict=True) if doc not in gone
    ]
    return array("H", [doc for doc, _ in kept]).tobytes(), bytes([code for _, code in kept])


class _Changes:
    """What is to be changed in the rows of one block, by key."""

    def __init__(self) -> None:
        self.added: defaultdict[int, list[int]] = defaultdict(list)  # document << 8 | code
        self.gone: dict[int, set[int]] = {}  # documents

    def add(self, doc: int, codes: "Mapping[int, int]") -> None:
        """Documents must ascend."""
        added, offset = self.added, doc % BLOCK << 8
        for key, code in codes.items():
            added[key].append(offset | code)
