"""From words to the terms that search matches: identifiers split, words stemmed. Knows no note."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from nuggets.language.text import (
    is_unspaced,
    pairs,
    parts,
    plain,
    split_scripts,
    without_contraction,
)
from nuggets.language.word_lists import ENGLISH, irregular_forms, stop_words

# Scripts that determine the language, for the stemmer.
_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
LONGEST_WORD = 64  # letters; what is longer (a hash, base64) is compared by its beginning


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


def pieces(token: str) -> list[str]:
    """The words of one token: the whole of an identifier first, then its parts."""
    if token.isalpha() and token.isascii() and token.islower():
        return [token[:LONGEST_WORD]]  # a plain word, as most are
    words: list[str] = []
    for bare in without_contraction(token):
        for run in split_scripts(bare):
            if is_unspaced(run):
                words += pairs(run) if len(run) == 1 else [*pairs(run), *run]
                continue
            cut = parts(run[:LONGEST_WORD])
            if len(cut) > 1:
                words.append("".join(cut).casefold())
                cut = [part for part in cut if len(part) > 1]
            words += [part.casefold() for part in cut]
    return words


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


def query_words(token: str) -> tuple[list[str], str]:
    """The words that a token asks for, and the whole identifier if they are its parts."""
    words = pieces(token)
    if any(map(is_unspaced, words)):
        return [word for word in words if len(word) > 1] or words, ""
    return (words[1:], words[0]) if len(words) > 1 and "'" not in token else (words, "")
