"""Which known word an unknown one was probably meant to be. Knows words, not notes."""

from typing import TYPE_CHECKING, NamedTuple

from nuggets.text import edits_between

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 4  # letters; in shorter words one edit leads anywhere
ANY_LETTER_FROM = 6  # letters; of shorter words the first one must be right: "bread", "read"
TWO_EDITS_FROM = 8  # letters; long words survive two edits and stay recognisable
CANDIDATES = 3  # corrections tried together; the ranking sees which one makes sense
_LETTERS = 61  # bits for letters: a prime, so other scripts spread as well
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class KnownWord(NamedTuple):
    """A word as notes write it."""

    word: str
    language: int
    letters: int
    uses: int


def letters(word: str) -> int:
    """The set of the word's letters as bits: one edit changes at most two of them."""
    bits = 0
    for letter in word:
        bits |= 1 << ord(letter) % _LETTERS
    return bits


def most_edits(word: str) -> int:
    """How many edits away a correction may be; 0 if the word is not corrected."""
    if len(word) < SHORTEST or word.isdigit():
        return 0
    return 2 if len(word) >= TWO_EDITS_FROM else 1


def respelled_at_the_start(word: str) -> set[str]:
    """What one edit of the first letter makes of the word.

    Hardly anybody mistypes the first letter, and nobody that and another one as well.
    """
    if len(word) < ANY_LETTER_FROM:
        return set()
    initials = {*ALPHABET, *word}
    made = {start + word[1:] for start in initials} | {start + word for start in initials}
    made |= {word[1:], word[1] + word[0] + word[2:]}
    return {one for one in made if one[0] != word[0]}


def corrections(word: str, known: "Iterable[KnownWord]") -> list[KnownWord]:
    """The likeliest of the known words: fewest edits, same first letter, most frequent."""
    edits, mine = most_edits(word), letters(word)
    ranked = []
    for one in known:
        limit = edits if one.word[0] == word[0] else 1
        if one.uses <= 0 or (one.letters ^ mine).bit_count() > 2 * limit:
            continue
        apart = edits_between(word, one.word, limit)
        if apart <= limit:
            ranked.append((apart, one.word[0] != word[0], -one.uses, one.word, one))
    ranked.sort()
    return [one for apart, *_, one in ranked[:CANDIDATES] if apart == ranked[0][0]]
