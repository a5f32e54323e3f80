"""Keys and questions word by word, and how near two words are. Knows no index and no vector."""

import unicodedata
from itertools import pairwise
from typing import NamedTuple

from nuggets.records import SCOPES
from nuggets.text import STOP_WORDS, folded

# Words that only say that something is asked; "the plan" is a key, "please tell me" is not.
ASKING = frozenset(("find", "get", "give", "know", "please", "show", "tell", "use", "used"))
SAYING_NOTHING = STOP_WORDS | ASKING

LETTER_BITS = 63
FIRST_IDEOGRAPH = "\u2e80"  # from here on scripts write words of one or two signs, unseparated


class Form(NamedTuple):
    """A key or a question, made comparable."""

    text: str  # folded
    spaced: str  # its words with one blank between
    letters: int  # which signs occur, as bits
    digits: str  # in order
    scoped: bool  # begins with a scope: "user: editor"

    @property
    def unscoped(self) -> str:
        return self.spaced.partition(" ")[2] if self.scoped else self.spaced


def form(text: str) -> Form:
    """Words end at anything but letters and digits, and where camelCase has its hump."""
    plain = folded(text)
    parts = plain.split()
    if not all(map(str.isalnum, parts)) or (plain != text and _humps(text)):
        parts = _parts(text)
    spaced = " ".join(parts)
    scope, colon, rest = plain.partition(":")
    return Form(
        plain,
        spaced,
        letters(spaced),
        digits(spaced),
        bool(colon and scope in SCOPES and rest.strip()),
    )


def _humps(text: str) -> bool:
    return any(a.islower() and b.isupper() for a, b in pairwise(text))


def _parts(text: str) -> list[str]:
    signs = []
    before = " "
    for sign in unicodedata.normalize("NFC", text):
        if not (sign.isalnum() or unicodedata.category(sign)[0] == "M"):  # M: vowel signs, accents
            sign = " "
        elif sign.isupper() and before.islower():
            signs.append(" ")
        signs.append(sign)
        before = sign
    return folded("".join(signs)).split()


def significant(words: list[str]) -> list[str]:
    """The words that carry meaning."""
    return [word for word in words if word not in SAYING_NOTHING]


def trimmed(spaced: str) -> str:
    """Without the words at either end that say nothing; "" if none says anything."""
    words = spaced.split(" ")
    while words and words[-1] in SAYING_NOTHING:
        words.pop()
    while words and words[0] in SAYING_NOTHING:
        words.pop(0)
    return " ".join(words)


def dense(text: str) -> bool:
    """Written in a script where two signs are already a word."""
    return text != "" and all(sign >= FIRST_IDEOGRAPH for sign in text)


def letters(text: str) -> int:
    """A set of the text's signs as bits that fit a signed integer; signs may share one."""
    bits = 0
    for sign in text:
        bits |= 1 << ord(sign) % LETTER_BITS
    return bits


def digits(text: str) -> str:
    """All digits, in order."""
    return "".join(filter(str.isdigit, text))
