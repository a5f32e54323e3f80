"""Numbers about all notes that scores are measured by: counts, mean lengths, years, languages."""

from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.dates import YEARS_BACK
from nuggets.search.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nuggets.sql import Database

# Frequency saturates early and length is smoothed: memories are short, and among short texts
# one word more or less must not turn the ranking.
SATURATION = 0.9
LENGTH_SHARE = 0.75
LENGTH_SMOOTHING = 40  # words
LONGEST = 6  # times the mean; a rare word inside a very long note still counts
LARGEST_GROUP = 0.25  # of all notes; a group that holds nearly everything says nothing

# Names of statistics.
NOTES, LENGTH, LINKED, YEAR, LANGUAGE = "notes", "length", "linked", "year=", "language="
GROUPS, SHARED_GROUPS, SHARED_LENGTH = "groups", "shared groups", "shared length"
REVISION, NEXT_DOC = "revision", "next doc"
WHOLE = -1  # the space of statistics that belong to none


class CorpusStats(NamedTuple):
    """Of the notes that a question is put to."""

    notes: int
    mean: float  # significant words of a note
    linked: bool  # whether any note has links
    years: range  # in which notes were written
    languages: tuple[str, ...]  # besides English
    all_groups: int
    groups: int  # of more than one note, and not of nearly all
    group_mean: float  # significant words of a group
    largest_group: float  # notes


def norm(length: float, mean: float) -> float:
    """How much of a word makes half an answer in a note: the longer, the more."""
    return _norm(length + LENGTH_SMOOTHING, mean + LENGTH_SMOOTHING)


def group_norm(length: float, mean: float) -> float:
    return _norm(length, mean)


def _norm(length: float, mean: float) -> float:
    longer = min(length / max(mean, 1), LONGEST)
    return SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * longer)


def read_statistics(database: "Database", space: int) -> dict[str, int]:
    """By name, those of one space."""
    return dict(
        database.execute("SELECT name, value FROM search_statistics WHERE space = ?", (space,))
    )


def add_statistics(database: "Database", changes: "Mapping[tuple[int, str], int]") -> None:
    """Add to what is known; what becomes zero is forgotten."""
    rows = [(space, name, value) for (space, name), value in changes.items() if value]
    database.executemany(
        "INSERT INTO search_statistics VALUES (?, ?, ?)"
        " ON CONFLICT (space, name) DO UPDATE SET value = search_statistics.value + excluded.value",
        rows,
    )
    if any(value < 0 for *_, value in rows):
        database.execute("DELETE FROM search_statistics WHERE value = 0")


def read_stats(database: "Database", spaces: "Sequence[int]") -> CorpusStats:
    """The numbers about the notes of these spaces together."""
    sums: dict[str, int] = {}
    for space in spaces:
        for name, value in read_statistics(database, space).items():
            sums[name] = sums.get(name, 0) + value
    notes = sums.get(NOTES, 0)
    largest = max(2, LARGEST_GROUP * notes)
    groups, length = _shared_groups(database, spaces, sums, largest)
    return CorpusStats(
        notes,
        sums.get(LENGTH, 0) / max(notes, 1),
        sums.get(LINKED, 0) > 0,
        _years(int(name.removeprefix(YEAR)) for name in sums if name.startswith(YEAR)),
        tuple(
            language
            for number, language in enumerate(LANGUAGES, 1)
            if sums.get(f"{LANGUAGE}{number}")
        ),
        sums.get(GROUPS, 0),
        groups,
        length / max(groups, 1),
        largest,
    )


def _shared_groups(
    database: "Database", spaces: "Sequence[int]", sums: "Mapping[str, int]", largest: float
) -> tuple[int, int]:
    """How many groups tell a topic, and their lengths together."""
    if tuple(spaces) == (0,):
        count, length = sums.get(SHARED_GROUPS, 0), sums.get(SHARED_LENGTH, 0)
        for (words,) in database.execute(
            "SELECT length FROM search_groups WHERE size > ?", (largest,)
        ):
            count, length = count - 1, length - words
        return count, length
    count, length = database.execute(
        "SELECT count(*), sum(length + archived_length) FROM search_groups"
        " WHERE size + archived_size > 1 AND size + archived_size <= ?",
        (largest,),
    ).fetchone()
    return count, length or 0


def _years(found: "Iterable[int]") -> range:
    """From the first to the last, the recent ones if there are many."""
    years = sorted(found)
    if not years:
        return range(0)
    return range(max(years[0], years[-1] - YEARS_BACK), years[-1] + 1)
