"""Which language a text is written in, the stems of its words, and how common these are.

Knows no note.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from nuggets.language.text import digest, is_unspaced, plain
from nuggets.language.word_lists import ENGLISH, everyday_filters, irregular_forms, stop_words

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


# --- how common a word is in everyday language, whatever a shelf holds ----------------------------

# In a shelf of thirty notes every word is rare, so rarity there does not tell a name from "window".
# The words themselves would be many; Bloom filters hold those of eight languages, and the Chinese
# ones of two letters, in 56,000 bytes, and take one other word in seventy for one of theirs.
# `python -m benchmarks.everyday_words` makes them.

SPOKEN = ("german", "french", "spanish", "italian", "portuguese", "dutch", "russian")
CHINESE = "chinese"
ANY_LANGUAGE = (ENGLISH, *SPOKEN)
# bytes of the commonest words of each language, and of the everyday ones: 9 bits for each word
SIZE = (900, 5_000)
SIZES = {**dict.fromkeys(ANY_LANGUAGE, SIZE), CHINESE: (8, 9_000)}
PLACES = 6  # bits of each word: the best number for 9 bits of a filter per word
LEAST_STOP_WORDS = 2  # that show a text to be English


def everyday_languages(words: Iterable[str]) -> tuple[str, ...]:
    """The languages whose everyday words a text may have: its own and English, whose technical
    words all use; any, if it does not show its own. "Solange" is a name in French only."""
    said = list(words)
    language = detect_language(said)
    if language in SPOKEN:
        return (ENGLISH, language)
    is_english = len(stop_words().intersection(said)) >= LEAST_STOP_WORDS
    return (ENGLISH,) if is_english else ANY_LANGUAGE


def is_commonest(word: str, languages: Iterable[str] = ANY_LANGUAGE) -> bool:
    """Is it one of the some 400 commonest words of a language? No text is about these."""
    filters, places = _filters(), filter_places(plain(word), SIZE[0])
    return any(_has(filters[language][0], places) for language in languages)


def is_everyday(word: str, languages: Iterable[str] = ANY_LANGUAGE) -> bool:
    """Is it one of the some 4,000 commonest words of a language, in any form?"""
    filters = _filters()
    if is_unspaced(word):
        return _has(filters[CHINESE][1], filter_places(word, SIZES[CHINESE][1]))
    places = filter_places(everyday_form(word), SIZE[1])
    return any(_has(filters[language][1], places) for language in languages)


def everyday_form(word: str) -> str:
    """The form in which an everyday word is kept; the commonest are kept as they are spelled."""
    return word if is_unspaced(word) else stems((plain(word),))[0]


def _has(bits: bytes, places: Iterable[int]) -> bool:
    return all(bits[place >> 3] >> (place & 7) & 1 for place in places)


def filter_places(form: str, size: int) -> list[int]:
    """The bits of a word in a filter of so many bytes."""
    hashed = digest(form, 4 * PLACES)
    starts = range(0, len(hashed), 4)
    return [int.from_bytes(hashed[i : i + 4], "little") % (8 * size) for i in starts]


@cache
def _filters() -> dict[str, tuple[bytes, bytes]]:
    """By language."""
    data, filters, start = everyday_filters(), {}, 0
    for language, (commonest, everyday) in SIZES.items():
        middle, end = start + commonest, start + commonest + everyday
        filters[language] = data[start:middle], data[middle:end]
        start = end
    return filters
