"""From words to terms: what stands in a text, reduced to what can be matched. Knows no note."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from nuggets.search.english import irregular_forms
from nuggets.search.languages import ENGLISH, stop_words
from nuggets.text import (
    is_unspaced,
    pairs,
    parts,
    plain,
    split_scripts,
    without_contraction,
)

# Where a script tells the language closely enough for a stemmer.
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

    # Its cache would slow it down: an index asks for each word once.
    stemmer: Any = Stemmer.Stemmer(language, 0)
    stems: Callable[[list[str]], list[str]] = stemmer.stemWords
    return stems


_irregular = cache(irregular_forms)


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
    found: list[str] = []
    for bare in without_contraction(token):
        for run in split_scripts(bare):
            if is_unspaced(run):
                found += pairs(run) if len(run) == 1 else [*pairs(run), *run]
                continue
            cut = parts(run[:LONGEST_WORD])
            if len(cut) > 1:
                found.append("".join(cut).casefold())
                cut = [part for part in cut if len(part) > 1]
            found += [part.casefold() for part in cut]
    return found


def is_stop(word: str) -> bool:
    return word in stop_words(ENGLISH)


def stems(words: Iterable[str], language: str = ENGLISH) -> list[str]:
    """One term for each word: inflected forms of a word share it, accents do not matter.

    The language is that of words in Latin letters; other scripts speak for themselves.
    """
    listed = list(words)
    if language == ENGLISH and all(map(str.isascii, listed)):
        return _english(listed)
    terms = [""] * len(listed)
    by_language: dict[str, list[int]] = {}
    for i, word in enumerate(listed):
        by_language.setdefault(_language(word, language), []).append(i)
    for one, places in by_language.items():
        chosen = [listed[i] for i in places]
        made = _english(map(plain, chosen)) if one == ENGLISH else map(plain, _stemmer(one)(chosen))
        for i, term in zip(places, made, strict=True):
            terms[i] = term or listed[i]
    return terms


def _english(words: Iterable[str]) -> list[str]:
    irregular = _irregular()
    return _stemmer(ENGLISH)([irregular.get(word, word) for word in words])


def query_words(token: str) -> tuple[list[str], str]:
    """The words that a token asks for, and the whole identifier if they are its parts."""
    found = pieces(token)
    if any(map(is_unspaced, found)):
        return [word for word in found if len(word) > 1] or found, ""
    return (found[1:], found[0]) if len(found) > 1 and "'" not in token else (found, "")
