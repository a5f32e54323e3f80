"""Which of the languages in Latin letters a text is written in, judged by its commonest words.

Only languages that the stemmer knows. English is the default and needs no evidence.
"""

from collections.abc import Sequence
from functools import cache

from nuggets.language.word_lists import ENGLISH, stop_words

# The search index stores a language by its place here: add new ones at the end.
LANGUAGES = (
    *("german", "french", "spanish", "italian", "portuguese"),
    *("dutch", "swedish", "danish", "norwegian", "finnish"),
)
LEAST_EVIDENCE = 2  # words, and more than the English ones
# Everyday English words that are stop words of another language too are evidence for neither.
_ALSO_ENGLISH = frozenset(
    [
        "bin",
        "c",
        "ci",
        "comment",
        "con",
        "d",
        "den",
        "die",
        "era",
        "hat",
        "j",
        "l",
        "m",
        "man",
        "men",
        "mine",
        "n",
        "per",
        "plus",
        "s",
        "sin",
        "son",
        "t",
        "war",
    ]
)


def detect_language(words: Sequence[str]) -> str:
    """The language of a question: English, unless more of its words are stop words of another
    language, and at least one of them is not an everyday English word as well."""
    by_word, candidates = evidence(), 0
    for word in words:
        if word in by_word:
            candidates |= by_word[word]
    if not candidates:
        return ENGLISH
    counts = {
        language: len(stop_words(language).intersection(words))
        for bit, language in enumerate(LANGUAGES)
        if candidates >> bit & 1
    }
    likeliest = max(counts, key=lambda language: counts[language])
    english = len(stop_words().intersection(words))
    return likeliest if counts[likeliest] >= max(LEAST_EVIDENCE, english + 1) else ENGLISH


@cache
def evidence() -> dict[str, int]:
    """The languages that a word is evidence for: bit n for the nth of `LANGUAGES`."""
    by_word: dict[str, int] = {}
    ambiguous = stop_words() | _ALSO_ENGLISH
    for bit, language in enumerate(LANGUAGES):
        for word in stop_words(language) - ambiguous:
            by_word[word] = by_word.get(word, 0) | 1 << bit
    return by_word
