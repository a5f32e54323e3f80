"""The keys of all facts as rows: which could be meant, and where a fact lies. Knows no value.

A question looks through thousands of keys in a cold process. So the database rules out what it
can, and only what is left becomes objects; the judging is done in `keys`.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.records import MemoryNote
from nuggets.text import folded

if TYPE_CHECKING:
    from nuggets.facts.words import Form
    from nuggets.sql import Database

Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, note before, note after

STRETCH = 1024  # places counted together
WORDLESS = -1  # significant words of a key that has no word to compare at all

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
        """Bring in what changed; a value is not in the table, so another one changes nothing."""
        net: dict[int, tuple[MemoryNote | None, MemoryNote | None]] = {}
        for place, before, after in replaced:
            net[place] = (net[place][0] if place in net else before), after
        gone, come = [], []
        for place, (before, after) in net.items():
            old, new = _recallable(before), _recallable(after)
            if old and new and _identity(old) == _identity(new):
                continue
            if old:
                gone.append((folded(old.nugget_name), place))
            if new:
                come.append(_row(place, new))
        if gone:
            self._database.executemany(DELETE, gone)
            self._count(gone, -1)
        if come:
            self._database.executemany(INSERT, come)
            self._count(come, 1)

    def rebuild(self, notes: Iterable[tuple[int, MemoryNote]]) -> None:
        self._database.execute("DELETE FROM fact_keys")
        facts = ((place, fact) for place, note in notes if (fact := _recallable(note)))
        self._database.executemany(INSERT, (_row(place, fact) for place, fact in facts))
        self._count_anew()

    def forget(self, note_ids: Iterable[str]) -> None:
        self._database.executemany("DELETE FROM fact_keys WHERE note = ?", ((i,) for i in note_ids))
        self._count_anew()

    def _count(self, rows: Iterable[Sequence[Any]], change: int) -> None:
        changes: dict[tuple[str, int], int] = {}
        for nugget, place, *_ in rows:
            stretch = nugget, place // STRETCH
            changes[stretch] = changes.get(stretch, 0) + change
        self._database.executemany(COUNT, [(*at, facts) for at, facts in changes.items()])

    def _count_anew(self) -> None:
        self._database.execute("DELETE FROM fact_counts")
        self._database.execute(f"INSERT INTO fact_counts {COUNTED}")

    def check(self) -> list[str]:
        """Where the counts have lost touch with the keys."""
        kept = set(self._database.execute("SELECT * FROM fact_counts WHERE facts <> 0"))
        found = set(self._database.execute(COUNTED))
        return [
            f"nugget {name}: its facts are miscounted" for name in {n for n, *_ in kept ^ found}
        ]

    def equal(self, key: str, nugget: str | None) -> list[Candidate]:
        """Facts of exactly this folded key, oldest first."""
        # The nugget is compared here: in SQL it may lead the planner to walk through all its keys.
        rows = self._database.execute(f"{SELECT}key = ? ORDER BY place", (key,))
        found = (Candidate(*row) for row in rows)
        return [fact for fact in found if nugget is None or fact.nugget == nugget]

    def overlapping(self, part: str, asked: str, nugget: str | None) -> list[Candidate]:
        """Facts whose key holds this part, or is held by what is asked."""
        where, values = _within(nugget)
        rows = self._database.execute(SELECT_FORMS + PART + where, (part, asked, asked, *values))
        return [_candidate(row) for row in rows]

    def alike(self, query: "Form", threshold: float, nugget: str | None) -> list[Candidate]:
        """Facts whose key may be meant by a misspelt question."""
        from nuggets.facts.misspelling import condition

        where, values = _within(nugget)
        like = condition(query, threshold)
        rows = self._database.execute(SELECT_FORMS + like.sql + where, (*like.values, *values))
        return [_candidate(row) for row in rows]

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
    from nuggets.facts.words import form, significant

    key = form(fact.title)
    return (
        folded(fact.nugget_name),
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
    from nuggets.facts.words import Form

    nugget, place, note, project, key, words, letters, digits, scoped = row
    form = Form(key, words[1:-1], letters, digits, bool(scoped))
    return Candidate(nugget, place, note, project, form)


def _within(nugget: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if nugget is None else (" AND nugget = ?", (nugget,))
