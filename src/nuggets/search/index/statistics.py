"""Numbers over all notes that scoring needs: counts, mean length, years, languages."""

from itertools import count as count_from
from typing import TYPE_CHECKING

from nuggets.language.dates import YEARS_BACK
from nuggets.language.languages import LANGUAGES
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nuggets.domain.sql_interface import Database

# Names of numbers about visible notes; `ARCHIVED` stands before those of archived ones.
NOTES, LENGTH, LINKED, YEAR, LANGUAGE = "notes", "length", "linked", "year=", "language="
ARCHIVED = "archived "
REVISION, NEXT, NEXT_ARCHIVED = "revision", "next doc", "next archived doc"

# The revision grows by a different step each time and in each process, so that a revision that was
# rolled back never equals one that another process wrote.
_STEPS = count_from(1 + (id(object()) >> 4) % 65_521)


class Statistics(NamedTuple):
    """Numbers of the notes that a question searches."""

    revision: int
    notes: int
    mean: float  # significant words of a note
    linked: bool  # whether any note has links
    years: range  # in which notes were written
    languages: tuple[str, ...]  # besides English


def read_numbers(database: "Database") -> dict[str, int]:
    return dict(database.execute("SELECT name, value FROM search_statistics"))


def add_numbers(database: "Database", changes: "Mapping[str, int]") -> None:
    """Add to the numbers, and tell other processes that the tables changed."""
    rows = [(name, value) for name, value in changes.items() if value]
    database.executemany(
        "INSERT INTO search_statistics VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = search_statistics.value + excluded.value",
        [*rows, (REVISION, next(_STEPS))],
    )
    if any(value < 0 for _, value in rows):
        database.execute("DELETE FROM search_statistics WHERE value = 0")


def read_statistics(database: "Database", with_archived: bool) -> Statistics:
    numbers = read_numbers(database)
    sums = {name: value for name, value in numbers.items() if not name.startswith(ARCHIVED)}
    if with_archived:
        for name, value in numbers.items():
            if name.startswith(ARCHIVED):
                name = name.removeprefix(ARCHIVED)
                sums[name] = sums.get(name, 0) + value
    notes = sums.get(NOTES, 0)
    return Statistics(
        numbers.get(REVISION, 0),
        notes,
        sums.get(LENGTH, 0) / max(notes, 1),
        sums.get(LINKED, 0) > 0,
        _years(int(name.removeprefix(YEAR)) for name in sums if name.startswith(YEAR)),
        tuple(
            language
            for number, language in enumerate(LANGUAGES, 1)
            if sums.get(f"{LANGUAGE}{number}")
        ),
    )


def _years(years_of_notes: "Iterable[int]") -> range:
    """The years from the first to the last note; the most recent ones if there are many."""
    years = sorted(years_of_notes)
    if not years:
        return range(0)
    return range(max(years[0], years[-1] - YEARS_BACK), years[-1] + 1)
