"""The tokens of a note, and which notes have a token. Knows no rule about notes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from nuggets.text import STOP_WORDS, folded, is_unspaced, pairs, split_scripts, tokens

SHORTEST_SIGNIFICANT = 3  # characters; pairs of letters of unspaced scripts are words already
COMPARED = 1000  # texts that one is compared with: among ten thousand from one template, the first
LONGEST_SIGNIFICANT = 40  # longer runs are hashes and encoded data

_SEPARATING = str.maketrans({chr(c): " " for c in range(128) if not chr(c).isalnum()} | {"'": ""})

Tokens = frozenset[str]


def all_tokens(text: str) -> Tokens:
    """Every token, stop words too: "deploy" and "do not deploy" are not the same."""
    if text.isascii():  # the same tokens in a tenth of the time, and every note is read
        return frozenset(text.lower().translate(_SEPARATING).split())
    return frozenset(
        piece
        for token in tokens(folded(text).replace("'", "").replace("’", "").replace("_", " "))
        for run in split_scripts(token)
        for piece in (pairs(run) if is_unspaced(run) else (run,))
    )


def significant(tokens: Tokens) -> Tokens:
    """Those that say what a text is about."""
    return frozenset(filter(_is_significant, tokens))


def _is_significant(token: str) -> bool:
    if SHORTEST_SIGNIFICANT <= len(token) <= LONGEST_SIGNIFICANT:
        return token not in STOP_WORDS
    return len(token) < SHORTEST_SIGNIFICANT and not token.isascii() and is_unspaced(token)


class Postings:
    """Which of some texts have a token; only for `wanted` tokens, the rest cannot be asked for.

    Texts keep the order in which they were given. One may be put again with more tokens.
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

    def having(self, token: str) -> list[str]:
        """In order; some may have been dropped since."""
        return self._places.get(token, [])

    def rarest_first(self, name: str) -> list[str]:
        """The wanted tokens of a text."""
        wanted = self.tokens[name] & self._wanted
        return sorted(wanted, key=lambda token: (len(self._places[token]), token))


def union(texts: Iterable[Tokens]) -> Tokens:
    return frozenset(chain.from_iterable(texts))


def near(postings: Postings, name: str, at_least: float) -> list[tuple[float, str]]:
    """The other texts whose Jaccard similarity to this one is high enough, the best first, equals
    in order.

    A text that has `at_least` of these tokens can miss only few of them, so it must have one of
    the few rarest: nothing else needs to be compared.
    """
    own = postings.tokens[name]
    may_miss = int(len(own) * (1 - at_least) + 1e-9)  # the 10 % of 10 that floats call 0.99
    candidates: dict[str, None] = {}
    for token in postings.rarest_first(name)[: may_miss + 1]:
        candidates.update(dict.fromkeys(postings.having(token)[:COMPARED]))
        if len(candidates) >= COMPARED:
            break
    candidates.pop(name, None)
    found = [
        (jaccard(own, postings.tokens[other]), other)
        for other in candidates
        if other in postings.tokens
    ]
    return sorted(
        (pair for pair in found if pair[0] >= at_least),
        key=lambda pair: (-pair[0], postings.rank[pair[1]]),
    )


def jaccard(a: Tokens, b: Tokens) -> float:
    """Size of what is common over size of all; 0 when there is nothing."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0
