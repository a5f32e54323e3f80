"""The table of all keys: selects candidates for a question and locates facts. Knows no value.

A cold process looks through thousands of keys for a question. So SQL rules out most of them, only
the remaining ones become objects, and `key_matching` decides among these.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nuggets.domain.records import MemoryNote
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.domain.sql_interface import Database
    from nuggets.facts.key_tokenizer import Form

Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, note before, note after

STRETCH = 1024  # places counted together
WORDLESS = -1  # the number of significant words of a key without any word

INSERT = "INSERT INTO fact_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
DELETE = "DELETE FROM fact_keys WHERE nugget = ? AND place = ?"
COUNT = (
    "INSERT INTO fact_counts VALUES (?, ?, ?) ON CONFLICT (nugget, stretch)"
    " DO UPDATE SET facts = fact_counts.facts + excluded.facts"
)
COUNTED = f"SELECT nugget, place / {STRETCH}, COUNT(*) FROM fact_keys GROUP BY 1, 2"
RANK = (
    "SELECT COALESCE((SELECT SUM(facts) FROM fact_counts WHERE nugget = ? AND stretch < ?), 0)"
    " + (SELECT COUNT(*) FROM fact_keys WHERE nugget = ? AND place >= ? AND place < ?)"
)
SELECT_IDS = "SELECT note FROM fact_keys WHERE nugget = ?"
SELECT = "SELECT nugget, place, note, project FROM fact_keys WHERE "
SELECT_FORMS = (
    "SELECT nugget, place, note, project, key, words, letters, digits, scoped"
    " FROM fact_keys WHERE telling >= 0 AND "
)
HAS_WORD = "SELECT 1 FROM fact_keys WHERE instr(words, ?) > 0 LIMIT 1"
PART = (
    "(instr(words, ?) > 0 OR instr(?, trim(words)) > 0 OR"
    " (scoped = 1 AND instr(?, substr(trim(words), instr(trim(words), ' ') + 1)) > 0))"
)


class Candidate(NamedTuple):
    """A fact whose key a question may mean."""

    nugget: str  # folded
    place: int
    note: str  # its id
    project: str
    form: "Form | None" = None  # an exact match needs none


class KeyTable:
    """The table `fact_keys`."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    def update(self, replaced: Iterable[Replaced]) -> None:
        """Apply changes of notes; the table holds no values, so a new value changes nothing."""
        net: dict[int, tuple[MemoryNote | None, MemoryNote | None]] = {}
        for place, before, after in replaced:
            net[place] = (net[place][0] if place in net else before), after
        removed, added = [], []
        for place, (before, after) in net.items():
            old, new = _recallable(before), _recallable(after)
            if old and new and _identity(old) == _identity(new):
                continue
            if old:
                removed.append((fold_case(old.nugget_name), place))
            if new:
                added.append(_row(place, new))
        if removed:
            self._database.executemany(DELETE, removed)
            self._count(removed, -1)
        if added:
            self._database.executemany(INSERT, added)
            self._count(added, 1)

    def rebuild(self, notes: Iterable[tuple[int, MemoryNote]]) -> None:
        self._database.execute("DELETE FROM fact_keys")
        facts = ((place, fact) for place, note in notes if (fact := _recallable(note)))
        self._database.executemany(INSERT, (_row(place, fact) for place, fact in facts))
        self._recount()

    def forget(self, note_ids: Iterable[str]) -> None:
        self._database.executemany("DELETE FROM fact_keys WHERE note = ?", ((i,) for i in note_ids))
        self._recount()

    def _count(self, rows: Iterable[Sequence[Any]], change: int) -> None:
        changes: dict[tuple[str, int], int] = {}
        for nugget, place, *_ in rows:
            stretch = nugget, place // STRETCH
            changes[stretch] = changes.get(stretch, 0) + change
        self._database.executemany(COUNT, [(*at, facts) for at, facts in changes.items()])

    def _recount(self) -> None:
        self._database.execute("DELETE FROM fact_counts")
        self._database.execute(f"INSERT INTO fact_counts {COUNTED}")

    def check(self) -> list[str]:
        """Describes the counts that differ from the table of keys."""
        stored = set(
            self._database.execute(
                "SELECT nugget, stretch, facts FROM fact_counts WHERE facts <> 0"
            )
        )
        counted = set(self._database.execute(COUNTED))
        wrong = {nugget for nugget, *_ in stored ^ counted}
        return [f"nugget {nugget}: its facts are miscounted" for nugget in wrong]

    def equal(self, key: str, nugget: str | None) -> list[Candidate]:
        """Facts with exactly this folded key, oldest first."""
        # Compared here, because in SQL the planner may then scan all keys of the nugget.
        rows = self._database.execute(f"{SELECT}key = ? ORDER BY place", (key,))
        facts = (Candidate(*row) for row in rows)
        return [fact for fact in facts if nugget is None or fact.nugget == nugget]

    def overlapping(self, part: str, question: str, nugget: str | None) -> list[Candidate]:
        """Facts whose key contains this part, or is contained in the question."""
        where, values = _nugget_condition(nugget)
        rows = self._database.execute(
            SELECT_FORMS + PART + where, (part, question, question, *values)
        )
        return [_candidate(row) for row in rows]

    def alike(self, query: "Form", threshold: float, nugget: str | None) -> list[Candidate]:
        """Facts whose key a misspelt question may mean."""
        from nuggets.facts.misspelling_sql import misspelling_condition

        where, values = _nugget_condition(nugget)
        like = misspelling_condition(query, threshold)
        rows = self._database.execute(SELECT_FORMS + like.sql + where, (*like.values, *values))
        return [_candidate(row) for row in rows]

    def has_word(self, word: str) -> bool:
        """Whether the key of any fact has this word."""
        return bool(self._database.execute(HAS_WORD, (f" {word} ",)).fetchall())

    def locate(self, nugget: str, place: int, size: int) -> tuple[int, int, list[str]]:
        """The page of a fact, its position there, and the ids of the page's facts in order.

        Pages hold `size` facts in order of their places.
        """
        page, position = divmod(self._rank(nugget, place), size)
        before = self._database.execute(
            f"{SELECT_IDS} AND place < ? ORDER BY place DESC LIMIT ?", (nugget, place, position)
        ).fetchall()
        onward = self._database.execute(
            f"{SELECT_IDS} AND place >= ? ORDER BY place LIMIT ?", (nugget, place, size - position)
        ).fetchall()
        return page, position, [note for (note,) in (*reversed(before), *onward)]

    def _rank(self, nugget: str, place: int) -> int:
        """How many facts of the nugget are older."""
        stretch = place // STRETCH
        ((rank,),) = self._database.execute(
            RANK, (nugget, stretch, nugget, stretch * STRETCH, place)
        ).fetchall()
        return int(rank)


def _recallable(note: MemoryNote | None) -> MemoryNote | None:
    return note if note is not None and note.kind == "fact" and not note.hidden else None


def _identity(fact: MemoryNote) -> tuple[str, str, str, str]:
    return fact.id, fact.nugget_name, fact.title, fact.project


def _row(place: int, fact: MemoryNote) -> tuple[str | int, ...]:
    from nuggets.facts.key_tokenizer import form, significant

    key = form(fact.title)
    return (
        fold_case(fact.nugget_name),
        place,
        fact.id,
        fact.project,
        key.text,
        f" {key.spaced} ",
        len(significant(key.spaced.split(" "))) if key.spaced else WORDLESS,
        int(key.scoped),
        key.letters,
        key.digits,
        len(key.text),
    )


def _candidate(row: Sequence[Any]) -> Candidate:
    from nuggets.facts.key_tokenizer import Form

    nugget, place, note, project, key, words, letters, digits, scoped = row
    form = Form(key, words[1:-1], letters, digits, bool(scoped))
    return Candidate(nugget, place, note, project, form)


def _nugget_condition(nugget: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if nugget is None else (" AND nugget = ?", (nugget,))
