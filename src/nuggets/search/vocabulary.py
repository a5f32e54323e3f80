"""Words as notes write them and labels, with how often they are used. Knows no note."""

from typing import TYPE_CHECKING

from nuggets.search.spelling import (
    KnownWord,
    corrections,
    letters,
    most_edits,
    respelled_at_the_start,
)
from nuggets.sql import chunks, placeholders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nuggets.search.recent import Change
    from nuggets.sql import Database


def add_words(database: "Database", changes: "Mapping[tuple[int, int], Mapping[str, int]]") -> None:
    """Add to the counts, by space and language; what nobody uses any more is deleted."""
    rows = [
        (space, word[0], len(word), word, language, letters(word), count)
        for (space, language), words in changes.items()
        for word, count in words.items()
        if count
    ]
    rows.sort()
    database.executemany(
        "INSERT INTO search_words VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (space, initial, length, word, language)"
        " DO UPDATE SET count = search_words.count + excluded.count",
        rows,
    )
    database.executemany(
        "DELETE FROM search_words WHERE space = ? AND initial = ? AND length = ? AND word = ?"
        " AND language = ? AND count <= 0",
        [row[:5] for row in rows if row[6] < 0],
    )


def add_labels(database: "Database", changes: "Mapping[tuple[int, str], int]") -> None:
    """Add to how many notes have each label; what nobody has any more is deleted."""
    rows = [(*key, count) for key, count in sorted(changes.items()) if count]
    database.executemany(
        "INSERT INTO search_labels VALUES (?, ?, ?)"
        " ON CONFLICT (space, label) DO UPDATE SET notes = search_labels.notes + excluded.notes",
        rows,
    )
    database.executemany(
        "DELETE FROM search_labels WHERE space = ? AND label = ? AND notes <= 0",
        [row[:2] for row in rows if row[2] < 0],
    )


class Vocabulary:
    """The words and labels of the notes in some spaces."""

    def __init__(
        self,
        database: "Database",
        spaces: "Sequence[int]",
        recent: "Mapping[tuple[int, bool], Change]",
    ) -> None:
        self._database = database
        self._spaces = tuple(spaces)
        self._changes: dict[tuple[str, int], int] = {}  # of words, by notes that wait
        for (_, removed), (_, space, analysis, _) in recent.items():
            if space in spaces:
                for word, count in analysis.words.items():
                    key = (word, analysis.language)
                    change = -count if removed else count
                    self._changes[key] = self._changes.get(key, 0) + change

    def label_counts(self, labels: "Sequence[str]") -> dict[str, int]:
        """How many notes have each; labels that nobody has are left out."""
        counts: dict[str, int] = {}
        for space in self._spaces:
            for some in chunks(labels):
                for label, count in self._database.execute(
                    f"SELECT label, notes FROM search_labels WHERE space = ?"
                    f" AND label IN ({placeholders(some)})",
                    (space, *some),
                ):
                    counts[label] = counts.get(label, 0) + count
        return counts

    def languages_of(self, words: "Iterable[str]") -> list[tuple[str, int]]:
        """Those of the words that notes have, each with the language that it is a word of."""
        return [(one.word, one.language) for one in self._exactly(words) if one.uses > 0]

    def corrected(self, word: str) -> list[KnownWord]:
        """What an unknown word may have been meant to be."""
        edits = most_edits(word)
        if not edits:
            return []
        alike = self._alike(word[0], len(word) - edits, len(word) + edits)
        return corrections(word, [*alike, *self._exactly(respelled_at_the_start(word))])

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
        rows = [
            row
            for space in self._spaces
            for row in self._database.execute(
                "SELECT word, language, letters, count FROM search_words WHERE space = ?"
                " AND initial = ? AND length BETWEEN ? AND ?",
                (space, initial, shortest, longest),
            )
        ]
        waiting = [
            key
            for key in self._changes
            if key[0][0] == initial and shortest <= len(key[0]) <= longest
        ]
        return self._with_changes(rows, waiting)

    def _exactly(self, words: "Iterable[str]") -> "Iterable[KnownWord]":
        words = set(words)
        rows = [
            row
            for space in self._spaces
            for word in words
            for row in self._database.execute(
                "SELECT word, language, letters, count FROM search_words WHERE space = ?"
                " AND initial = ? AND length = ? AND word = ?",
                (space, word[0], len(word), word),
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
