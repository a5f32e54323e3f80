"""Statistics over all notes that scoring needs: counts, mean lengths, years, languages."""

from typing import TYPE_CHECKING, Any

from nuggets.language.dates import YEARS_BACK
from nuggets.language.languages import LANGUAGES
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from nuggets.domain.sql_interface import Database

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
REVISION, NEXT_DOC, REWRITTEN = "revision", "next doc", "rewritten"
WHOLE = -1  # the space of statistics that belong to none


class CorpusStats(NamedTuple):
    """Statistics of the notes that a question searches."""

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
    """The frequency at which a word gives half of its score in a note; it grows with length."""
    return _norm(length + LENGTH_SMOOTHING, mean + LENGTH_SMOOTHING)


def norms(lengths: "NDArray[Any]", mean: float) -> "NDArray[Any]":
    """The same for several notes."""
    return _norms(lengths + LENGTH_SMOOTHING, mean + LENGTH_SMOOTHING)


def group_norm(length: float, mean: float) -> float:
    return _norm(length, mean)


def group_norms(lengths: "NDArray[Any]", mean: float) -> "NDArray[Any]":
    """The same for several groups."""
    return _norms(lengths, mean)


def _norm(length: float, mean: float) -> float:
    scaled: float = _scale(min(length / max(mean, 1), LONGEST))
    return scaled


def _norms(lengths: "NDArray[Any]", mean: float) -> "NDArray[Any]":
    import numpy as np

    scaled: NDArray[Any] = _scale(np.minimum(lengths / max(mean, 1), LONGEST))
    return scaled


def _scale(longer: Any) -> Any:
    """`longer`: how many times as long as the mean."""
    return SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * longer)


def read_statistics(database: "Database", space: int) -> dict[str, int]:
    """The statistics of one space by name."""
    return dict(
        database.execute("SELECT name, value FROM search_statistics WHERE space = ?", (space,))
    )


def add_statistics(database: "Database", changes: "Mapping[tuple[int, str], int]") -> None:
    """Add to the statistics; those that become zero are deleted."""
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
    """How many groups have several notes but not nearly all, and the sum of their lengths."""
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


def _years(years_of_notes: "Iterable[int]") -> range:
    """The years from the first to the last note; the most recent ones if there are many."""
    years = sorted(years_of_notes)
    if not years:
        return range(0)
    return range(max(years[0], years[-1] - YEARS_BACK), years[-1] + 1)
