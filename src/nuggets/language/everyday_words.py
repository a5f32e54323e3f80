"""How common a word is in everyday language, whatever a shelf holds.

In a shelf of thirty notes every word is rare, so rarity there does not tell a name from "window".
The words themselves would be many; two Bloom filters hold them in 40,000 bytes, and take one other
word in seventy for one of theirs. `python -m benchmarks.everyday_words` makes them.
"""

import os
from collections.abc import Iterable, Iterator
from functools import cache

from nuggets.language.languages import stems
from nuggets.language.text import is_unspaced, plain

COMMONEST_BYTES, EVERYDAY_BYTES = 4_000, 36_000
PLACES = 6  # bits of each word: the best number for 9 bits of a filter per word
_PATH = os.path.join(os.path.dirname(__file__), "data", "everyday_words.bin")


def is_commonest(word: str) -> bool:
    """Is it one of the some 400 commonest words of a language? No text is about these."""
    return _has(_filters()[0], _form(word))


def is_everyday(word: str) -> bool:
    """Is it one of the some 4,000 commonest words of a language, in any form?"""
    return _has(_filters()[1], _stem(word))


def make_filters(commonest: Iterable[str], everyday: Iterable[str]) -> bytes:
    """Both filters."""
    return b"".join(
        (
            _make_filter(COMMONEST_BYTES, map(_form, commonest)),
            _make_filter(EVERYDAY_BYTES, map(_stem, everyday)),
        )
    )


def _form(word: str) -> str:
    return plain(word)


def _stem(word: str) -> str:
    return word if is_unspaced(word) else stems((plain(word),))[0]


def _make_filter(size: int, forms: Iterable[str]) -> bytes:
    bits = bytearray(size)
    for form in forms:
        for place in _places(form, size):
            bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


def _has(bits: bytes, form: str) -> bool:
    return all(bits[place >> 3] >> (place & 7) & 1 for place in _places(form, len(bits)))


def _places(form: str, size: int) -> Iterator[int]:
    try:
        from _blake2 import blake2b  # `hashlib` has the same one, and loads OpenSSL as well
    except ImportError:
        from hashlib import blake2b
    digest = blake2b(form.encode(errors="replace"), digest_size=4 * PLACES).digest()
    for start in range(0, len(digest), 4):
        yield int.from_bytes(digest[start : start + 4], "little") % (8 * size)


@cache
def _filters() -> tuple[bytes, bytes]:
    """The loader also reads a zipped package."""
    data: bytes = __loader__.get_data(_PATH)  # type: ignore[name-defined]
    return data[:COMMONEST_BYTES], data[COMMONEST_BYTES:]
