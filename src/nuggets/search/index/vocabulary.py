"""Words as notes write them, with their terms. Knows no note.

A word stays as long as some note has its term: other forms of a word do no harm, and counting every
form would double what a write costs.
"""

from typing import TYPE_CHECKING

from nuggets.domain.sql_interface import chunks, placeholders
from nuggets.search.index.postings import term_key
from nuggets.search.typo_correction import (
    KnownWord,
    first_letter_edits,
    letters,
    likeliest,
    most_edits,
    within_edits,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nuggets.domain.sql_interface import Database
    from nuggets.search.index.postings import PostingsReader

LAST_LETTER = "\U0010ffff"  # after every letter


def add_words(database: "Database", words: "Iterable[tuple[str, str]]") -> None:
    """Add those of the words, with their terms, that are not known."""
    database.executemany(
        "INSERT INTO search_words VALUES (?, ?, ?, ?) ON CONFLICT (length, word, term) DO NOTHING",
        [(len(word), word, term, letters(word)) for word, term in sorted(words)],
    )


def remove_words(database: "Database", terms: "Iterable[str]") -> None:
    """Remove all words of these terms, which no note has any more."""
    database.executemany("DELETE FROM search_words WHERE term = ?", [(term,) for term in terms])


class Vocabulary:
    """The words of the notes whose postings are read."""

    def __init__(self, database: "Database", postings: "PostingsReader") -> None:
        self._database = database
        self._postings = postings

    def terms_of(self, words: "Iterable[str]") -> list[tuple[str, str]]:
        """Those of the words that notes have, each with its term."""
        return [(word, term) for word, term, _ in self._in_use(self._exactly(words))]

    def suggest_corrections(self, word: str) -> list[KnownWord]:
        """Known words that a misspelt word may stand for."""
        edits = most_edits(word)
        if not edits:
            return []
        lengths = range(len(word) - edits, len(word) + edits + 1)
        alike = [*self._beginning(word[0], lengths), *self._exactly(first_letter_edits(word))]
        near = within_edits(word, edits, alike)
        self._postings.read_counts(term_key(known.term) for _, known in near)
        return likeliest(word, near, self._count)

    def beginning(self, start: str, lengths: "Iterable[int]") -> list[str]:
        """The terms of words that begin so, the most frequent first."""
        used = self._in_use(self._beginning(start, lengths))
        terms = dict.fromkeys(known.term for known in used)
        return sorted(terms, key=lambda term: (-self._postings.count(term), term))

    def _in_use(self, words: "Sequence[KnownWord]") -> list[KnownWord]:
        """Those whose terms some of the notes have; archived ones may not be read."""
        self._postings.read_counts(term_key(known.term) for known in words)
        return [known for known in words if self._count(known)]

    def _count(self, known: KnownWord) -> int:
        return self._postings.count(known.term)

    def _beginning(self, start: str, lengths: "Iterable[int]") -> list[KnownWord]:
        listed = ",".join(map(str, lengths))
        rows = self._database.execute(
            "SELECT word, term, letters FROM search_words"
            f" WHERE length IN ({listed}) AND word >= ? AND word < ?",
            (start, start + LAST_LETTER),
        )
        return [KnownWord(*row) for row in rows]

    def _exactly(self, words: "Iterable[str]") -> list[KnownWord]:
        wanted = sorted(set(words))
        lengths = ",".join(map(str, sorted({len(word) for word in wanted})))
        return [
            KnownWord(*row)
            for some in chunks(wanted)
            for row in self._database.execute(
                "SELECT word, term, letters FROM search_words"
                f" WHERE length IN ({lengths}) AND word IN ({placeholders(some)})",
                some,
            )
        ]
