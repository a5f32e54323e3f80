"""The words of a text that tell what it is about. Knows no note."""

from collections.abc import Mapping
from functools import cache, lru_cache

from nuggets.language.languages import detect_language
from nuggets.language.stemming import stems
from nuggets.language.text import fold_case, tokens, words
from nuggets.language.word_lists import generic_words, stop_words

SHORTEST_WORD = 2  # letters: db and ci are words


def significant_words(text: str) -> Mapping[str, str]:
    """Each stem with a word of the text that has it; stop words, idle words and numbers aside."""
    language = text_language(text)
    found: dict[str, str] = {}
    for token in tokens(text):
        found.update(_stems_with_words(token, language))
    return found


def text_language(text: str) -> str:
    return detect_language(tokens(fold_case(text)))


@lru_cache(maxsize=65536)  # every note of a nugget is read, and most words are in many notes
def _stems_with_words(token: str, language: str) -> tuple[tuple[str, str], ...]:
    telling = [
        word
        for word in words(token)
        if len(word) >= SHORTEST_WORD
        if not word[:-1].isdigit()  # 2026, 30s
        if word not in stop_words(language)
    ]
    pairs = zip(stems(telling), telling, strict=True)
    return tuple((stem, word) for stem, word in pairs if stem not in _idle_stems())


@cache
def _idle_stems() -> frozenset[str]:
    """Stems of the English words that say little in any text, whatever their form."""
    return frozenset(stems(generic_words() | stop_words()))
