"""Finds texts that share nearly all their words. Knows no rule about notes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

TEXTS_COMPARED = 1000  # texts that one text is compared with at most


class SimilarTexts:
    """An inverted index of texts by the words of those that are asked for."""

    def __init__(self, texts: Mapping[str, frozenset[str]], asking: Iterable[str]) -> None:
        self._texts = dict(texts)
        self._order = {name: place for place, name in enumerate(texts)}
        wanted = set(chain.from_iterable(texts[name] for name in asking))
        self._names_with: defaultdict[str, list[str]] = defaultdict(list)
        for name, words in texts.items():
            for word in words & wanted:
                self._names_with[word].append(name)

    def drop(self, name: str) -> None:
        """It is no longer found."""
        del self._texts[name]

    def similar_to(self, name: str, at_least: float) -> list[str]:
        """The other texts with a Jaccard similarity of `at_least`, the most similar first.

        Such a text misses only few of the words, so it has one of the rarest: only texts with one
        of these are compared (prefix filtering).
        """
        if name not in self._texts:
            return []
        own = self._texts[name]
        # the tolerance keeps 10 % of 10 from becoming 0.99
        may_miss = int(len(own) * (1 - at_least) + 1e-9)
        rarest = sorted(own, key=lambda word: (len(self._names_with[word]), word))
        candidates: dict[str, None] = {}
        for word in rarest[: may_miss + 1]:
            candidates.update(dict.fromkeys(self._names_with[word][:TEXTS_COMPARED]))
            if len(candidates) >= TEXTS_COMPARED:
                break
        candidates.pop(name, None)
        scored = (
            (-jaccard(own, self._texts[other]), self._order[other], other)
            for other in candidates
            if other in self._texts
        )
        return [other for score, _, other in sorted(scored) if -score >= at_least]


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """The size of the intersection over the size of the union; 0 if both are empty."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0
