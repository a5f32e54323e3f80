"""A question split into words, neighbouring words and dates. Knows no note."""

from itertools import pairwise

from nuggets.language.dates import WrittenDate, written_dates
from nuggets.language.languages import detect_language
from nuggets.language.stemming import query_words, stems
from nuggets.language.text import plain, tokens
from nuggets.language.word_lists import ENGLISH, stop_words
from nuggets.named_tuple import NamedTuple

SHORTEST_JOINED = 2  # letters of each of two words that may be one compound
MOST_NEIGHBOURS, MOST_DATES = 64, 16  # a question may be a whole page, and time is bounded


class QueryWord(NamedTuple):
    """One word of a question."""

    word: str
    term: str
    within: str  # the identifier that it is, or is a part of; "" if none

    @property
    def is_whole(self) -> bool:
        return self.word == self.within


class TokenizedQuery(NamedTuple):
    """What a question is made of."""

    words: list[QueryWord]
    neighbours: list[tuple[str, str]]  # pairs that a note may write as one word: "web hooks"
    dates: list[WrittenDate]


def tokenize_query(text: str) -> TokenizedQuery:
    """Distinct words, in order; stop words only if there is nothing else."""
    text_tokens = tokens(text)
    words: dict[str, str] = {}
    for token in dict.fromkeys(text_tokens):
        parts, whole = query_words(token)
        for part in parts:
            if not whole or part not in words:
                words[part] = whole
        if whole:
            words.setdefault(whole, whole)
    significant = _significant(list(words))
    by_term: dict[str, QueryWord] = {}
    for word, term in zip(significant, stems(significant), strict=True):
        by_term.setdefault(term, QueryWord(word, term, words[word]))
    # A date may be written with lone signs: 5月.
    dates = written_dates(text, words if text.isascii() else (*words, *text))
    return TokenizedQuery(
        list(by_term.values()),
        _neighbours(text_tokens),
        dates[:MOST_DATES],
    )


def _significant(words: list[str]) -> list[str]:
    """Without stop words of English and of the question's language, unless all are stop words."""
    ignored = stop_words(ENGLISH)
    significant = [word for word in words if word not in ignored]
    language = detect_language(words)
    if language != ENGLISH:
        ignored = frozenset(map(plain, stop_words(language)))
        significant = [word for word in significant if plain(word) not in ignored]
    return significant or words


def _neighbours(text_tokens: list[str]) -> list[tuple[str, str]]:
    words = [token.lower() if token.isalpha() else "" for token in text_tokens[:MOST_NEIGHBOURS]]
    return [
        (first, second)
        for first, second in pairwise(words)
        if len(first) >= SHORTEST_JOINED and len(second) >= SHORTEST_JOINED
    ]
