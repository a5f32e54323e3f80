"""Splits keys and questions into words that can be compared. Knows no index and no vector."""

import unicodedata
from functools import cache
from itertools import pairwise

from nuggets.domain.records import SCOPES
from nuggets.language.text import fold_case
from nuggets.language.word_lists import request_words, stop_words
from nuggets.named_tuple import NamedTuple

LETTER_BITS = 63
FIRST_IDEOGRAPH = "\u2e80"  # from here on scripts have words of one or two characters, unseparated


class Form(NamedTuple):
    """A key or a question in a form that can be compared."""

    text: str  # folded
    spaced: str  # its words, separated by one blank
    letters: int  # the set of its characters, as bits
    digits: str  # in order
    scoped: bool  # begins with a scope: "user: editor"

    @property
    def without_scope(self) -> str:
        return self.spaced.partition(" ")[2] if self.scoped else self.spaced


def form(text: str) -> Form:
    """Words end at anything but letters and digits, and between the parts of camelCase."""
    plain = fold_case(text)
    parts = plain.split()
    if not all(map(str.isalnum, parts)) or (plain != text and _is_camel_case(text)):
        parts = _split_words(text)
    spaced = " ".join(parts)
    scope, colon, rest = plain.partition(":")
    return Form(
        plain,
        spaced,
        letters(spaced),
        digits(spaced),
        bool(colon and scope in SCOPES and rest.strip()),
    )


def _is_camel_case(text: str) -> bool:
    return any(a.islower() and b.isupper() for a, b in pairwise(text))


def _split_words(text: str) -> list[str]:
    characters = []
    before = " "
    for character in unicodedata.normalize("NFC", text):
        if not (character.isalnum() or unicodedata.category(character)[0] == "M"):
            character = " "
        elif character.isupper() and before.islower():
            characters.append(" ")
        characters.append(character)
        before = character
    return fold_case("".join(characters)).split()


@cache
def _insignificant() -> frozenset[str]:
    """Stop words and words that only ask: "please tell me"."""
    return stop_words() | request_words()


def significant(words: list[str]) -> list[str]:
    """The words that carry meaning."""
    insignificant = _insignificant()
    return [word for word in words if word not in insignificant]


def strip_insignificant(spaced: str) -> str:
    """The text without insignificant words at its ends; "" if all are insignificant."""
    words = spaced.split(" ")
    while words and words[-1] in _insignificant():
        words.pop()
    while words and words[0] in _insignificant():
        words.pop(0)
    return " ".join(words)


def is_dense(text: str) -> bool:
    """Whether the text is in a script where two characters can be a word."""
    return text != "" and all(character >= FIRST_IDEOGRAPH for character in text)


def letters(text: str) -> int:
    """The set of the text's characters as bits of a signed integer; characters may share a bit."""
    bits = 0
    for character in set(text):
        bits |= 1 << ord(character) % LETTER_BITS
    return bits


def digits(text: str) -> str:
    """All digits, in order."""
    return "".join(filter(str.isdigit, text))
