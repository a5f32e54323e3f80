"""A question as it stands: its words, neighbours and dates. Knows no note."""

from itertools import pairwise
from typing import NamedTuple

from nuggets.search.dates import WrittenDate, written_dates
from nuggets.search.languages import ENGLISH, spoken, stop_words
from nuggets.search.terms import query_words, stems
from nuggets.text import plain, tokens

SHORTEST_JOINED = 2  # letters of each of two words that may be written as one
MOST_NEIGHBOURS, MOST_DATES = 64, 16  # a page may have more, and time is bounded


class QueryWord(NamedTuple):
    """One word of a question."""

    word: str
    term: str
    within: str  # the identifier that it is a part of, or the whole of; "" if it stands alone

    @property
    def is_whole(self) -> bool:
        return self.word == self.within


class TokenizedQuery(NamedTuple):
    """What a question says."""

    words: list[QueryWord]
    neighbours: list[tuple[str, str]]  # that others may write as one: "web hooks"
    dates: list[WrittenDate]


def tokenize_query(text: str) -> TokenizedQuery:
    """Distinct words, in order; stop words only if there is nothing else."""
    found = tokens(text)
    words: dict[str, str] = {}
    for token in dict.fromkeys(found):
        parts, whole = query_words(token)
        for part in parts:
            if not whole or part not in words:
                words[part] = whole
        if whole:
            words.setdefault(whole, whole)
    telling = _significant(list(words))
    asked: dict[str, QueryWord] = {}
    for word, term in zip(telling, stems(telling), strict=True):
        asked.setdefault(term, QueryWord(word, term, words[word]))
    # A date may be written with lone signs: 5月.
    dates = written_dates(text, words if text.isascii() else (*words, *text))
    return TokenizedQuery(list(asked.values()), _neighbours(found), dates[:MOST_DATES])


def _significant(words: list[str]) -> list[str]:
    """Without what says nothing in English or in the language of the question."""
    idle = stop_words(ENGLISH)
    telling = [word for word in words if word not in idle]
    language = spoken(words)
    if language != ENGLISH:
        idle = frozenset(map(plain, stop_words(language)))
        telling = [word for word in telling if plain(word) not in idle]
    return telling or words


def _neighbours(found: list[str]) -> list[tuple[str, str]]:
    words = [token.lower() if token.isalpha() else "" for token in found[:MOST_NEIGHBOURS]]
    return [
        (one, other)
        for one, other in pairwise(words)
        if len(one) >= SHORTEST_JOINED and len(other) >= SHORTEST_JOINED
    ]
