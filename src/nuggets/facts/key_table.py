"""The tables of all keys: find candidates for a question, and locate facts. Knows no value.

Words lead to keys, and spellings to the words that a question may have misspelt. So a question
reads few rows, however many facts there are.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from struct import pack, unpack

from nuggets.domain.records import MemoryNote
from nuggets.domain.state import Database, chunks, placeholders
from nuggets.domain.visibility import visible_projects
from nuggets.facts.key_words import (
    JOINED_LETTERS,
    akin_forms,
    forms,
    joined_spellings,
    spellings,
    split_words,
)
from nuggets.language.text import digest, fold_case
from nuggets.named_tuple import NamedTuple

PostingsRow = tuple[str, str, str, int]  # word, nugget, project, stretch of places
Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, note before, note after

# Places counted together, whose postings are one row too: about as many stretches in a nugget of
# 60,000 facts, and a write copies at most 2 KB for each word.
STRETCH = 256
HASH_BYTES = 12  # of a value: two of a page are never taken for one by chance
PLACE_BITS = 48  # of a posting; the others are the length of its key
MOST_LETTERS = 0xFFFF  # of a key that are counted: longer ones rank alike
MOST_CANDIDATES = 6  # keys compared with a question, those with most of its words: 10 tell no more

COUNT = (
    "INSERT INTO fact_counts VALUES (?, ?, ?) ON CONFLICT (nugget, stretch)"
    " DO UPDATE SET facts = fact_counts.facts + excluded.facts"
)
COUNTED = f"SELECT nugget, place / {STRETCH}, COUNT(*) FROM fact_keys GROUP BY 1, 2"
RANK = (
    "SELECT COALESCE((SELECT SUM(facts) FROM fact_counts WHERE nugget = ? AND stretch < ?), 0)"
    " + (SELECT COUNT(*) FROM fact_keys WHERE nugget = ? AND place >= ? AND place < ?)"
)
PAGE = (
    "SELECT value FROM fact_keys WHERE nugget = ? AND place >= COALESCE((SELECT MIN(place) FROM"
    " (SELECT place FROM fact_keys WHERE nugget = ? AND place < ? ORDER BY place DESC LIMIT ?)"
    " AS before), ?) ORDER BY place LIMIT ?"
)
PUT_POSTINGS = (
    "INSERT INTO fact_words VALUES (?, ?, ?, ?, ?) ON CONFLICT (word, nugget, project, stretch)"
    " DO UPDATE SET postings = excluded.postings"
)
DROP_POSTINGS = (
    "DELETE FROM fact_words WHERE word = ? AND nugget = ? AND project = ? AND stretch = ?"
)
SELECT = "SELECT nugget, place, note, project, key, words, value FROM fact_keys"
ADD_SPELLING = "INSERT INTO fact_spellings VALUES (?, ?) ON CONFLICT (spelling, word) DO NOTHING"
DROP_SPELLING = (
    "DELETE FROM fact_spellings WHERE spelling = ? AND word = ?"
    " AND NOT EXISTS (SELECT 1 FROM fact_words WHERE word = ?)"
)


class Candidate(NamedTuple):
    """A fact whose key a question may mean."""

    nugget: str  # folded
    place: int
    note: str  # its id
    project: str
    key: str  # folded
    words: str
    value: str  # its hash

    @property
    def posting(self) -> int:
        """Its place after the length of its key. So postings sort by length."""
        return min(len(self.key), MOST_LETTERS) << PLACE_BITS | self.place

    @property
    def joined_words(self) -> set[str]:
        """All words written together, and those that a capital letter parts: "github"."""
        return {self.words.replace(" ", ""), *split_words(self.key)} if self.words else set()


class Entries(NamedTuple):
    """What leads to facts."""

    postings: dict[PostingsRow, list[int]]  # for each of their words, and those written together
    spellings: set[tuple[str, str]]  # with the word that each is one of


class PagePlace(NamedTuple):
    """Where a fact lies, and what lies there."""

    page: int
    position: int  # of the fact
    values: tuple[str, ...]  # hashes of the contents of its facts, in order


class KeyTable:
    """The tables `fact_keys`, `fact_words`, `fact_spellings` and `fact_counts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- writing ----------------------------------------------------------------------------

    def update(self, replaced: Iterable[Replaced]) -> None:
        """Apply changes of notes."""
        net: dict[int, tuple[MemoryNote | None, MemoryNote | None]] = {}
        for place, before, after in replaced:
            net[place] = (net[place][0] if place in net else before), after
        removed, added = [], []
        for place, (before, after) in net.items():
            old, new = _recallable(before), _recallable(after)
            if old and new and _identity(old) == _identity(new):
                continue
            if old:
                removed.append(_row(place, old))
            if new:
                added.append(_row(place, new))
        if removed:
            self._remove(removed)
        if added:
            self._add(added)

    def _add(self, facts: Sequence[Candidate]) -> None:
        self._database.executemany("INSERT INTO fact_keys VALUES (?, ?, ?, ?, ?, ?, ?)", facts)
        added = entries_of(facts)
        known = self._stored_postings(added.postings)
        self._put_postings(
            {row: known.get(row, b"") + _pack(new) for row, new in added.postings.items()}
        )
        self._database.executemany(ADD_SPELLING, sorted(added.spellings))
        self._count(facts, 1)

    def _remove(self, facts: Sequence[Candidate]) -> None:
        self._database.executemany(
            "DELETE FROM fact_keys WHERE nugget = ? AND place = ?",
            ((fact.nugget, fact.place) for fact in facts),
        )
        removed = entries_of(facts)
        self._put_postings(
            {
                row: _pack(set(_unpack(known)).difference(removed.postings[row]))
                for row, known in self._stored_postings(removed.postings).items()
            }
        )
        rows = ((spelling, word, word) for spelling, word in removed.spellings)
        self._database.executemany(DROP_SPELLING, rows)
        self._count(facts, -1)

    def _put_postings(self, changed: Mapping[PostingsRow, bytes]) -> None:
        kept = [(*row, postings) for row, postings in changed.items() if postings]
        dropped = [row for row, postings in changed.items() if not postings]
        self._database.executemany(PUT_POSTINGS, kept)
        if dropped:
            self._database.executemany(DROP_POSTINGS, dropped)

    def _stored_postings(self, rows: Iterable[PostingsRow]) -> dict[PostingsRow, bytes]:
        """What these rows hold, in one statement for each place where words lie."""
        words: dict[tuple[str, str, int], list[str]] = {}
        for word, nugget, project, stretch in rows:
            words.setdefault((nugget, project, stretch), []).append(word)
        return {
            (word, *at): postings
            for at, found in words.items()
            for chunk in chunks(found)
            for word, postings in self._database.execute(
                f"SELECT word, postings FROM fact_words WHERE word IN ({placeholders(chunk)})"
                " AND nugget = ? AND project = ? AND stretch = ?",
                (*chunk, *at),
            )
        }

    def rebuild(self, notes: Iterable[tuple[int, MemoryNote]]) -> None:
        for table in ("fact_keys", "fact_words", "fact_spellings", "fact_counts"):
            self._database.execute(f"DELETE FROM {table}")
        self._add([_row(place, fact) for place, note in notes if (fact := _recallable(note))])

    def forget(self, note_ids: Iterable[str]) -> None:
        for ids in chunks(note_ids):
            rows = self._database.execute(f"{SELECT} WHERE note IN ({placeholders(ids)})", ids)
            self._remove([Candidate(*row) for row in rows.fetchall()])

    def _count(self, facts: Iterable[Candidate], change: int) -> None:
        changes: dict[tuple[str, int], int] = {}
        for fact in facts:
            stretch = fact.nugget, fact.place // STRETCH
            changes[stretch] = changes.get(stretch, 0) + change
        self._database.executemany(COUNT, [(*at, facts) for at, facts in changes.items()])

    def check(self) -> list[str]:
        """Describes what differs from the table of keys."""
        stored = set(
            self._database.execute(
                "SELECT nugget, stretch, facts FROM fact_counts WHERE facts <> 0"
            )
        )
        wrong = {nugget for nugget, *_ in stored ^ set(self._database.execute(COUNTED))}
        faults = [f"nugget {nugget}: its facts are miscounted" for nugget in sorted(wrong)]
        expected = entries_of(Candidate(*row) for row in self._database.execute(SELECT))
        words = {
            tuple(row): sorted(_unpack(postings))
            for *row, postings in self._database.execute(
                "SELECT word, nugget, project, stretch, postings FROM fact_words"
            )
        }
        if words != {row: sorted(postings) for row, postings in expected.postings.items()}:
            faults.append("the index of words is not that of the keys")
        spelt = set(self._database.execute("SELECT spelling, word FROM fact_spellings"))
        if spelt != expected.spellings:
            faults.append("the index of spellings is not that of the keys")
        return faults

    # --- reading ----------------------------------------------------------------------------

    def equal(self, key: str, nugget: str | None) -> list[Candidate]:
        """Facts with exactly this folded key, oldest first."""
        # Compared here, because in SQL the planner may then scan all keys of the nugget.
        rows = self._database.execute(f"{SELECT} WHERE key = ? ORDER BY place", (key,))
        facts = (Candidate(*row) for row in rows)
        return [fact for fact in facts if nugget is None or fact.nugget == nugget]

    def every(self, nugget: str | None) -> Iterator[Candidate]:
        """All facts, oldest first."""
        where, values = ("", ()) if nugget is None else (" WHERE nugget = ?", (nugget,))
        rows = self._database.execute(f"{SELECT}{where} ORDER BY place", values)
        return (Candidate(*row) for row in rows)

    def similar_words(self, words: Sequence[str]) -> set[tuple[str, str]]:
        """Each of the words, and all of them written together, with words of keys that are forms of
        it; if no key has one of the words, also with those that share a spelling with it."""
        joined = "".join(words)
        asked = {word: akin_forms(word) for word in words}
        asked[joined] = forms(joined) | forms(joined, JOINED_LETTERS)
        pairs = self._spelt(asked)
        misspelt = {
            word: spellings(word) | joined_spellings(word)
            for word in words
            if (word, word) not in pairs
        }
        if misspelt:
            misspelt.setdefault(joined, joined_spellings(joined))
            pairs |= self._spelt(misspelt)
        return pairs

    def forms_of(self, words: Iterable[str]) -> set[tuple[str, str]]:
        """Each of the words with the words of keys that may be forms of it."""
        return self._spelt({word: forms(word) for word in words})

    def beginning_with(self, words: Iterable[str]) -> set[tuple[str, str]]:
        """Each of the words with longer words of keys that begin with it."""
        pairs: set[tuple[str, str]] = set()
        for word in words:
            rows = self._database.execute(
                "SELECT DISTINCT word FROM fact_words WHERE word > ? AND word < ?",
                (word, f"{word}{chr(0x10FFFF)}"),
            )
            pairs.update((word, known) for (known,) in rows)
        return pairs

    def _spelt(self, spellings: Mapping[str, Iterable[str]]) -> set[tuple[str, str]]:
        """Each word with those words of keys that have one of its spellings."""
        asked: dict[str, list[str]] = {}
        for word, found in spellings.items():
            for form in found:
                asked.setdefault(form, []).append(word)
        pairs: set[tuple[str, str]] = set()
        for chunk in chunks(asked):
            rows = self._database.execute(
                f"SELECT spelling, word FROM fact_spellings WHERE spelling IN"
                f" ({placeholders(chunk)})",
                chunk,
            )
            pairs.update((word, known) for form, known in rows for word in asked[form])
        return pairs

    def with_words(
        self, words: Sequence[str], nugget: str | None, project: str, *, foreign: bool
    ) -> list[Candidate]:
        """The facts with most of the words, of equals the shortest keys: those that the project
        sees, or the foreign ones."""
        if not words:
            return []
        where, values = ("", ()) if nugget is None else ("nugget = ? AND", (nugget,))
        rows = self._database.execute(
            f"SELECT nugget, postings FROM fact_words WHERE word IN ({placeholders(words)})"
            f" AND {where} project {'NOT IN' if foreign else 'IN'} (?, ?)",
            (*words, *values, *visible_projects(project)),
        ).fetchall()
        frequent = _most_frequent(postings for _, postings in rows)
        places = [posting & (1 << PLACE_BITS) - 1 for posting in frequent]
        return [
            Candidate(*row)
            for some in chunks({nugget for nugget, _ in rows})
            for row in self._database.execute(
                f"{SELECT} WHERE nugget IN ({placeholders(some)})"
                f" AND place IN ({placeholders(places)})",
                (*some, *places),
            )
        ]

    def locate(self, nugget: str, place: int, size: int) -> "PagePlace":
        """The page of a fact. Pages hold `size` facts in order of their places."""
        page, position = divmod(self._rank(nugget, place), size)
        rows = self._database.execute(PAGE, (nugget, nugget, place, position, place, size))
        return PagePlace(page, position, tuple(chain.from_iterable(rows)))

    def with_value(self, nugget: str, value: str) -> str:
        """The id of a fact with this hash of a value."""
        sql = "SELECT note FROM fact_keys WHERE nugget = ? AND value = ? ORDER BY place LIMIT 1"
        ((note,),) = self._database.execute(sql, (nugget, value)).fetchall()
        return str(note)

    def _rank(self, nugget: str, place: int) -> int:
        """How many facts of the nugget are older."""
        stretch = place // STRETCH
        ((rank,),) = self._database.execute(
            RANK, (nugget, stretch, nugget, stretch * STRETCH, place)
        ).fetchall()
        return int(rank)


def entries_of(facts: Iterable[Candidate]) -> Entries:
    postings: dict[PostingsRow, list[int]] = {}
    words, joined = set[str](), set[str]()
    for fact in facts:
        own, together = set(fact.words.split()), fact.joined_words
        at, posting = (fact.nugget, fact.project, fact.place // STRETCH), fact.posting
        for word in own | together:
            postings.setdefault((word, *at), []).append(posting)
        words |= own
        joined |= together
    spelt = {(spelling, word) for word in words for spelling in spellings(word)}
    for word in joined - words:
        spelt.update((spelling, word) for spelling in joined_spellings(word))
    return Entries(postings, spelt)


def _pack(postings: Collection[int]) -> bytes:
    return pack(f"<{len(postings)}Q", *postings)


def _unpack(postings: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(postings) // 8}Q", postings)


def _most_frequent(rows: Iterable[bytes]) -> list[int]:
    """The postings that most of the rows have, of equals the lowest. Sets count them: the sums that
    a database makes take four times as long."""
    in_more_than: list[set[int]] = []  # this number of rows
    for postings in rows:
        again = set(_unpack(postings))
        for known in in_more_than:
            both = known & again
            known |= again
            again = both
        if again:
            in_more_than.append(again)
    found: list[int] = []
    while in_more_than and len(found) < MOST_CANDIDATES:
        found += nsmallest(MOST_CANDIDATES - len(found), in_more_than.pop().difference(found))
    return found


def _recallable(note: MemoryNote | None) -> MemoryNote | None:
    return note if note is not None and note.kind == "fact" and not note.hidden else None


def _identity(fact: MemoryNote) -> tuple[str, ...]:
    return fact.id, fact.nugget_name, fact.title, fact.project, fact.content


def _row(place: int, fact: MemoryNote) -> Candidate:
    return Candidate(
        fold_case(fact.nugget_name),
        place,
        fact.id,
        fact.project,
        fold_case(fact.title),
        " ".join(split_words(fact.title)),
        digest(fact.content, HASH_BYTES).hex(),
    )
