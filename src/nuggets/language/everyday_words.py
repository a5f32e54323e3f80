"""How common a word is in everyday language, whatever a shelf holds.

In a shelf of thirty notes every word is rare, so rarity there does not tell a name from "window".
The words themselves would be many; Bloom filters hold those of eight languages, and the Chinese
ones of two letters, in 56,000 bytes, and take one other word in seventy for one of theirs.
`python -m benchmarks.everyday_words` makes them.
"""

from collections.abc import Iterable
from functools import cache

from nuggets.language.languages import detect_language, stems
from nuggets.language.text import is_unspaced, plain
from nuggets.language.word_lists import ENGLISH, everyday_filters, stop_words

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
    try:
        from _blake2 import blake2b  # `hashlib` has the same one, and loads OpenSSL as well
    except ImportError:
        from hashlib import blake2b
    digest = blake2b(form.encode(errors="replace"), digest_size=4 * PLACES).digest()
    starts = range(0, len(digest), 4)
    return [int.from_bytes(digest[i : i + 4], "little") % (8 * size) for i in starts]


@cache
def _filters() -> dict[str, tuple[bytes, bytes]]:
    """By language."""
    data, filters, start = everyday_filters(), {}, 0
    for language, (commonest, everyday) in SIZES.items():
        middle, end = start + commonest, start + commonest + everyday
        filters[language] = data[start:middle], data[middle:end]
        start = end
    return filters
