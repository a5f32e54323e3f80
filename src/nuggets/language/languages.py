"""Which language a text is written in, and the stems of its words, which search matches.

Knows no note.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from nuggets.language.text import (
    plain,
)
from nuggets.language.word_lists import ENGLISH, irregular_forms, stop_words

# Of the languages in Latin letters those that the stemmer knows. A text's commonest words decide;
# English is the default and needs no evidence.
# The search index stores a language by its place here: add new ones at the end.
LANGUAGES = (
    *("german", "french", "spanish", "italian", "portuguese"),
    *("dutch", "swedish", "danish", "norwegian", "finnish"),
)
LEAST_EVIDENCE = 2  # words, and more than the English ones: one may be a name
# Everyday English words that are stop words of another language too are evidence for neither.
ALSO_ENGLISH = {
    *("bin", "c", "ci", "comment", "con", "d", "den", "die", "era", "hat", "j", "l", "m", "man"),
    *("men", "mine", "n", "per", "plus", "s", "sin", "son", "t", "war"),
}


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
    return likeliest if outweighs_english(counts[likeliest], english) else ENGLISH


def outweighs_english(words: int, english: int) -> bool:
    """Whether so many words of another language decide, beside so many English ones."""
    return words >= LEAST_EVIDENCE and words > english


@cache
def evidence() -> dict[str, int]:
    """The languages that a word is evidence for: bit n for the nth of `LANGUAGES`."""
    by_word: dict[str, int] = {}
    ambiguous = stop_words() | ALSO_ENGLISH
    for bit, language in enumerate(LANGUAGES):
        for word in stop_words(language) - ambiguous:
            by_word[word] = by_word.get(word, 0) | 1 << bit
    return by_word


# --- stems ------------------------------------------------------------------------------------


# Scripts that determine the language, for the stemmer.
_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)


@cache
def _stemmer(language: str) -> Callable[[list[str]], list[str]]:
    import Stemmer

    # Without its cache, which would cost time: an index stems each word once.
    stemmer: Any = Stemmer.Stemmer(language, 0)
    stems: Callable[[list[str]], list[str]] = stemmer.stemWords
    return stems


def _language(word: str, latin: str) -> str:
    first = word[0]
    if first >= _SCRIPTS[0][0]:
        for low, high, language in _SCRIPTS:
            if low <= first <= high:
                return language
    return latin


def is_stop(word: str) -> bool:
    return word in stop_words()


def stems(words: Iterable[str], language: str = ENGLISH) -> list[str]:
    """One term for each word: inflected forms of a word share it, accents do not matter.

    The language is that of words in Latin letters; other scripts determine theirs.
    """
    listed = list(words)
    if language == ENGLISH and all(map(str.isascii, listed)):
        return _english(listed)
    terms = [""] * len(listed)
    by_language: dict[str, list[int]] = {}
    for i, word in enumerate(listed):
        by_language.setdefault(_language(word, language), []).append(i)
    for word_language, places in by_language.items():
        chosen = [listed[i] for i in places]
        if word_language == ENGLISH:
            stemmed = _english(map(plain, chosen))
        else:
            stemmed = [plain(stem) for stem in _stemmer(word_language)(chosen)]
        for i, term in zip(places, stemmed, strict=True):
            terms[i] = term or listed[i]
    return terms


def _english(words: Iterable[str]) -> list[str]:
    irregular = irregular_forms()
    return _stemmer(ENGLISH)([irregular.get(word, word) for word in words])
