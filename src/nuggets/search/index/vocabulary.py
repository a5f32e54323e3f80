"""Words as notes write them, with how often they are used. Knows no note."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from nuggets.domain.sql_interface import chunks, placeholders
from nuggets.search.index.segments import LAST_LETTER
from nuggets.search.typo_correction import (
    KnownWord,
    corrections,
    first_letter_edits,
    letters,
    most_edits,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.recent_changes import Change


def add_words(database: "Database", changes: "Mapping[tuple[int, int], Mapping[str, int]]") -> None:
    """Add to the counts, by space and language; words that no note uses are deleted."""
    rows = [
        (space, len(word), word, language, letters(word), count)
        for (space, language), words in changes.items()
        for word in sorted(sorted(words), key=len)  # about as they are stored
        if (count := words[word])
    ]
    database.executemany(
        "INSERT INTO search_words VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (space, length, word, language)"
        " DO UPDATE SET count = search_words.count + excluded.count",
        rows,
    )
    database.executemany(
        "DELETE FROM search_words WHERE space = ? AND length = ? AND word = ? AND language = ?"
        " AND count <= 0",
        [row[:4] for row in rows if row[5] < 0],
    )


class Vocabulary:
    """The words of the notes in some spaces."""

    def __init__(
        self,
        database: "Database",
        spaces: "Sequence[int]",
        recent: "Mapping[tuple[int, bool], Change]",
    ) -> None:
        self._database = database
        self._spaces = tuple(spaces)
        self._listed_spaces = ",".join(map(str, spaces))
        self._recent = recent

    @cached_property
    def _changes(self) -> dict[tuple[str, int], int]:
        """How much more often each word is used, by notes that wait."""
        changes: dict[tuple[str, int], int] = {}
        for (_, removed), (_, space, analysis, _) in self._recent.items():
            if space in self._spaces:
                sign = -1 if removed else 1
                for word, count in analysis.words.items():
                    key = (word, analysis.language)
                    changes[key] = changes.get(key, 0) + sign * count
        return changes

    def languages_of(self, words: "Iterable[str]") -> list[tuple[str, int]]:
        """Those of the words that notes have, each with its language."""
        words = set(words)
        known_words = self._with_changes(
            self._rows_of_different_lengths(words),
            [key for key in self._changes if key[0] in words],
        )
        return [(known.word, known.language) for known in known_words if known.uses > 0]

    def _rows_of_different_lengths(self, words: "Iterable[str]") -> "Iterator[Any]":
        """With `IN`, SQLite would look for each word among the words of each length, which takes a
        question of a few words four times as long."""
        row = (
            "SELECT space, word, language, letters, count FROM search_words"
            f" WHERE space IN ({self._listed_spaces}) AND length = ? AND word = ?"
        )
        for some in chunks(words):
            rows = self._database.execute(
                " UNION ALL ".join([row] * len(some)),
                [value for word in some for value in (len(word), word)],
            )
            yield from (columns for _, *columns in set(rows))  # a word may be repeated in `some`

    def suggest_corrections(self, word: str, edits: int | None = None) -> list[KnownWord]:
        """Known words that a misspelt word may stand for, at most so many edits away."""
        edits = most_edits(word) if edits is None else edits
        if not edits:
            return []
        alike = self._alike(word[0], len(word) - edits, len(word) + edits)
        return corrections(word, edits, [*alike, *self._exactly(first_letter_edits(word))])

    def all_counts(self) -> "Iterator[tuple[tuple[str, int], int]]":
        """How often each word is used, by word and language."""
        rows = [
            row
            for space in self._spaces
            for row in self._database.execute(
                "SELECT word, language, letters, count FROM search_words WHERE space = ?", (space,)
            )
        ]
        for word, language, _, count in self._with_changes(rows, list(self._changes)):
            yield (word, language), count

    def _alike(self, initial: str, shortest: int, longest: int) -> "Iterable[KnownWord]":
        lengths = ",".join(map(str, range(shortest, longest + 1)))
        rows = self._database.execute(
            "SELECT word, language, letters, count FROM search_words"
            f" WHERE space IN ({self._listed_spaces}) AND length IN ({lengths})"
            " AND word >= ? AND word < ?",
            (initial, initial + LAST_LETTER),
        )
        waiting = [
            key
            for key in self._changes
            if key[0][0] == initial and shortest <= len(key[0]) <= longest
        ]
        return self._with_changes(rows, waiting)

    def _exactly(self, words: "Iterable[str]") -> "Iterable[KnownWord]":
        words = set(words)
        if not words:
            return []
        lengths = ",".join(map(str, sorted({len(word) for word in words})))
        rows = [
            row
            for some in chunks(words)
            for row in self._database.execute(
                "SELECT word, language, letters, count FROM search_words"
                f" WHERE space IN ({self._listed_spaces}) AND length IN ({lengths})"
                f" AND word IN ({placeholders(some)})",
                some,
            )
        ]
        return self._with_changes(rows, [key for key in self._changes if key[0] in words])

    def _with_changes(
        self,
        rows: "Iterable[tuple[str, int, int, int]]",
        waiting: "Iterable[tuple[str, int]]",
    ) -> "Iterable[KnownWord]":
        if not waiting and len(self._spaces) == 1:
            return [KnownWord(*row) for row in rows]
        counts: dict[tuple[str, int], int] = {key: self._changes[key] for key in waiting}
        for word, language, _, count in rows:
            counts[word, language] = counts.get((word, language), 0) + count
        return [
            KnownWord(word, language, letters(word), count)
            for (word, language), count in counts.items()
        ]
