"""The tokens of notes and an inverted index of them. Knows no rule about notes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from nuggets.language import word_lists
from nuggets.language.languages import LANGUAGES, LEAST_EVIDENCE, evidence
from nuggets.language.text import fold_case, is_unspaced, pairs, split_scripts, tokens

SHORTEST_SIGNIFICANT = 3  # characters; in unspaced scripts, pairs of letters are tokens
TEXTS_COMPARED = 1000  # texts that one text is compared with at most

_SEPARATING = str.maketrans({chr(c): " " for c in range(128) if not chr(c).isalnum()} | {"'": ""})

Tokens = frozenset[str]


def token_list(text: str) -> list[str]:
    """Every token in order, stop words too."""
    if text.isascii():  # the same tokens in a tenth of the time; every note is tokenised
        return text.lower().translate(_SEPARATING).split()
    return [
        piece
        for token in tokens(fold_case(text).replace("'", "").replace("’", "").replace("_", " "))
        for run in split_scripts(token)
        for piece in (pairs(run) if is_unspaced(run) else (run,))
    ]


def all_tokens(text: str) -> Tokens:
    return frozenset(token_list(text))


def significant(tokens: Tokens) -> Tokens:
    """The tokens without stop words and short ones."""
    return frozenset(filter(_is_significant, tokens))


def _is_significant(token: str) -> bool:
    if len(token) >= SHORTEST_SIGNIFICANT:
        return token not in word_lists.stop_words()
    return not token.isascii() and is_unspaced(token)


def function_words(text: Tokens) -> Tokens:
    """The function words of the text's language; empty for English, which `stop_words` covers."""
    language_evidence = evidence()
    votes = [language_evidence[token] for token in text if token in language_evidence]
    if len(votes) < LEAST_EVIDENCE:
        return frozenset()
    count = [sum(languages >> bit & 1 for languages in votes) for bit in range(len(LANGUAGES))]
    most = max(count)
    if most < LEAST_EVIDENCE or most <= len(text & word_lists.stop_words()):
        return frozenset()
    likely = [
        word_lists.stop_words(name) for name, n in zip(LANGUAGES, count, strict=True) if n == most
    ]
    return max(
        likely, key=lambda languages: len(text & languages)
    )  # related languages share their most common words


class Postings:
    """An inverted index of texts for the `wanted` tokens only.

    Texts keep the order of insertion. A text may be put again with more tokens.
    """

    def __init__(self, texts: Mapping[str, Tokens], wanted: Tokens) -> None:
        self.tokens: dict[str, Tokens] = {}
        self._wanted = wanted
        self._places: defaultdict[str, list[str]] = defaultdict(list)
        self.rank = {name: position for position, name in enumerate(texts)}
        for name in texts:
            self.put(name, texts[name])

    def put(self, name: str, tokens: Tokens) -> None:
        known = self.tokens.get(name, frozenset())
        self.tokens[name] = tokens
        places = self._places
        for token in (tokens & self._wanted) - known:
            places[token].append(name)

    def drop(self, name: str) -> None:
        self.tokens.pop(name, None)

    def texts_with(self, token: str) -> list[str]:
        """Names in order of insertion; some may have been dropped since."""
        return self._places.get(token, [])

    def rarest_first(self, name: str) -> list[str]:
        """The wanted tokens of a text, by ascending number of texts that have them."""
        wanted = self.tokens[name] & self._wanted
        return sorted(wanted, key=lambda token: (len(self._places[token]), token))


def union(texts: Iterable[Tokens]) -> Tokens:
    return frozenset(chain.from_iterable(texts))


def find_similar(postings: Postings, name: str, at_least: float) -> list[tuple[float, str]]:
    """The other texts with a Jaccard similarity of `at_least`, the most similar first.

    Such a text misses only few of the tokens, so it has one of the rarest: only texts with one of
    these are compared (prefix filtering).
    """
    own = postings.tokens[name]
    may_miss = int(
        len(own) * (1 - at_least) + 1e-9
    )  # the tolerance keeps 10 % of 10 from becoming 0.99
    candidates: dict[str, None] = {}
    for token in postings.rarest_first(name)[: may_miss + 1]:
        candidates.update(dict.fromkeys(postings.texts_with(token)[:TEXTS_COMPARED]))
        if len(candidates) >= TEXTS_COMPARED:
            break
    candidates.pop(name, None)
    scored = [
        (jaccard(own, postings.tokens[other]), other)
        for other in candidates
        if other in postings.tokens
    ]
    return sorted(
        (pair for pair in scored if pair[0] >= at_least),
        key=lambda pair: (-pair[0], postings.rank[pair[1]]),
    )


def jaccard(a: Tokens, b: Tokens) -> float:
    """The size of the intersection over the size of the union; 0 if both are empty."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0
