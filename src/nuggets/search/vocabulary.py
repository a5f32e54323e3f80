"""Words as notes write them, with their terms, and what a misspelt word may mean. Knows no note.

A word stays as long as some note has its term: other forms of a word do no harm, and counting every
form would double what a write costs.
"""

from typing import TYPE_CHECKING

from nuggets.domain.state import chunks, placeholders
from nuggets.language.dates import MONTHS
from nuggets.language.languages import is_stop
from nuggets.language.text import edits_between
from nuggets.named_tuple import NamedTuple
from nuggets.search.postings import term_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nuggets.domain.state import Database
    from nuggets.search.postings import PostingsReader

# --- slips of typing: words that no note has, question words, months ------------------------------


SHORTEST = 4  # letters; one edit of a shorter word gives too many others, two from twice as many
ANY_LETTER_FROM = 6  # letters; shorter words must begin alike: "bread" is not "read"
CANDIDATES = 3  # words that one word may stand for, searched for together
_LETTERS = 31  # bits for letters: a prime, so other scripts spread as well
ALPHABET = "abcdefghijklmnopqrstuvwxyz"

# Shorter ones resemble too many other words: "who", "two"; "jan", "van".
QUESTION_WORDS = ("what", "when", "where", "which", "whose")
MONTH_NAMES = tuple(name for name in MONTHS if len(name) > 3)
MOST_WORDS = 64  # of a question, which may be a whole page: time is bounded


class KnownWord(NamedTuple):
    """A word as notes write it."""

    word: str
    term: str
    letters: int


def letters(word: str) -> int:
    """The set of the word's letters as bits: one edit changes at most two of them."""
    bits = 0
    for letter in set(word):
        bits |= 1 << ord(letter) % _LETTERS
    return bits


def most_edits(word: str) -> int:
    """How many edits away a correction may be; 0 if the word is not corrected."""
    return 0 if word.isdigit() else min(len(word) // SHORTEST, 2)


def first_letter_edits(word: str) -> set[str]:
    """All words that one edit of the first letter can give.

    The first letter is rarely mistyped, and hardly ever together with another one.
    """
    if len(word) < ANY_LETTER_FROM:
        return set()
    initials = {*ALPHABET, *word}
    edited = {start + word[1:] for start in initials} | {start + word for start in initials}
    edited |= {word[1:], word[1] + word[0] + word[2:]}
    return {edit for edit in edited if edit[0] != word[0]}


def within_edits(
    word: str, edits: int, vocabulary: "Iterable[KnownWord]"
) -> list[tuple[int, KnownWord]]:
    """The known words that are at most so many edits away, with how many they are."""
    word_letters = letters(word)
    near = []
    for candidate in vocabulary:
        limit = edits if candidate.word[0] == word[0] else 1
        if (candidate.letters ^ word_letters).bit_count() <= 2 * limit:
            distance = edits_between(word, candidate.word, limit)
            if distance <= limit:
                near.append((distance, candidate))
    return near


def likeliest(
    word: str, near: "Iterable[tuple[int, KnownWord]]", count: "Callable[[KnownWord], int]"
) -> list[KnownWord]:
    """The likeliest of known words that are near: fewest edits, same first letter, most frequent.
    `count`: how many notes have it."""
    ranked = [
        (distance, known.word[0] != word[0], -uses, known)
        for distance, known in near
        if (uses := count(known))
    ]
    ranked.sort()
    return [known for distance, *_, known in ranked[:CANDIDATES] if distance == ranked[0][0]]


def respell_question(text: str, is_known: "Callable[[str], bool]") -> str:
    """The question, slips corrected in the word that it begins with ("Wehn did") and in months
    beside a number ("16 Agust"), unless `is_known` says that notes have the word."""
    words = text.split(" ", MOST_WORDS)
    for place, word in enumerate(words[:MOST_WORDS]):
        beside = words[max(place - 1, 0) : place + 2]
        if place == 0 and _is_question(text, words):
            meant = _closest_word(word, QUESTION_WORDS)
        elif any(other[:1].isdigit() for other in beside):
            meant = _closest_word(word, MONTH_NAMES)
        else:
            continue
        if meant and not is_known(word.rstrip(",").lower()):
            words[place] = meant
    return " ".join(words)


def _is_question(text: str, words: list[str]) -> bool:
    """Whether the first word may be a question word: "wheat allergy" is no question."""
    return len(words) > 1 and ("?" in text or is_stop(words[1].lower()))


def _closest_word(word: str, known: "Iterable[str]") -> str:
    """The one of the known words that is an edit away and begins alike; "" if there is none."""
    word = word.rstrip(",").lower()
    if not word or word in known:
        return ""
    near = (other for other in known if other[0] == word[0] and edits_between(word, other, 1) == 1)
    return next(near, "")


# --- the words of the notes -----------------------------------------------------------------------


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
        """The terms of words that begin so, the most frequent ones."""
        words = self._beginning(start, lengths)
        self._postings.read_counts(term_key(known.term) for known in words)
        # Some may be words of archived notes only, which are not read.
        terms = dict.fromkeys(known.term for known in words if self._count(known))
        return sorted(terms, key=lambda term: (-self._postings.count(term), term))[:CANDIDATES]

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
