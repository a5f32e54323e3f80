"""The terms in use that answer a word: its forms, relatives, corrections and parts."""

from functools import cache
from itertools import islice
from math import log
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.english import abbreviations
from nuggets.search.languages import ENGLISH, LANGUAGES
from nuggets.search.note_analyzer import META
from nuggets.search.terms import is_stop, stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nuggets.search.snapshot import Snapshot
    from nuggets.search.tokenized_query import QueryWord

# As if so many more notes without the word stood beside: in a small shelf a word that every
# note has still means something, and an unknown word does not outweigh it tenfold.
BACKGROUND_NOTES = 50

# How much another term answers for the word that was asked.
RELATED = 0.7  # an abbreviation and its long form
ROOT = 0.3  # "auth" and "authentic": probably the same root
ROOT_OF_UNKNOWN = 0.7  # nobody uses the word itself, so the relation is all there is
CORRECTED = 0.8
METADATA = 0.6  # the word names a scope, type or subject

SHORTEST_ROOT = 4  # letters
SHORTEST_HASH = 7  # digits that people write of a commit
SHORTEST_PART = 3  # letters of a word that others write as two
HEXADECIMAL = frozenset("0123456789abcdef")
ROOT_SHARE = 0.5  # of the longer word's letters
FEW_NOTES, FEW_OF_ALL = 10, 0.01  # what many notes say themselves needs no relatives
MOST_RELATIVES = 2  # of a word that is known
MOST_RELATIVES_OF_UNKNOWN = 4


class Alternative(NamedTuple):
    """One term that answers a query word."""

    term: str
    weight: float
    how: str  # "" the word itself; else "related", "root", "corrected", "meta", "part", …
    name: str


class Expansion(NamedTuple):
    """The terms that answer a word, or one part of it, and how rare that is."""

    alternatives: tuple[Alternative, ...]
    rarity: float


def rarity(count: int, notes: int) -> float:
    """Inverse document frequency, never negative."""
    total = notes + BACKGROUND_NOTES
    return log(1 + (total - count + 0.5) / (count + 0.5))


class TermExpansion:
    """Finds out what answers words, in the light of what the notes say."""

    def __init__(self, snapshot: "Snapshot") -> None:
        self._index = snapshot.index
        self._vocabulary = snapshot.vocabulary
        self._notes = snapshot.stats.notes
        self._languages = snapshot.stats.languages  # that notes are written in, besides English

    def expand(self, words: "Sequence[QueryWord]") -> "Iterator[tuple[Expansion, ...]]":
        """Of each word; several expansions if nobody knows it but its parts."""
        forms = self._forms([one.word for one in words], [one.term for one in words])
        named = self._vocabulary.label_counts([META + one.word for one in words])
        for (word, term, _), found in zip(words, forms, strict=True):
            yield self._expansions(word, term, found, named.get(META + word, 0))

    def _forms(self, words: list[str], terms: list[str]) -> list[dict[str, Alternative]]:
        """Of each word what is the word itself, as English or another language inflects it."""
        found: list[dict[str, Alternative]] = [{} for _ in words]
        inflections = [terms, *(stems(words, language) for language in self._languages)]
        self._index.read_counts(term for inflected in inflections for term in inflected)
        for inflected in inflections:
            for place, term in enumerate(inflected):
                if self._index.count(term):
                    found[place].setdefault(term, Alternative(term, 1.0, "", term))
        return found

    def joined_words(self, pairs: "Sequence[tuple[str, str]]") -> dict[str, list[Alternative]]:
        """By word, what answers it where some note writes both words of a pair as one.

        Nothing is stemmed before: hardly any neighbours are one word elsewhere.
        """
        together = {(one, other): one + other.removesuffix("s") for one, other in pairs}
        known = self._vocabulary.languages_of(
            form for singular in together.values() for form in (singular, singular + "s")
        )
        found: dict[str, list[Alternative]] = {}
        for (one, other), singular in together.items():
            for word, language in known:
                if word in (singular, singular + "s"):
                    answer = Alternative(_term(word, language), 1.0, "joined", one + other)
                    found.setdefault(one, []).append(answer)
                    found.setdefault(other, []).append(answer)
        return found

    def rarity(self, terms: "Iterable[str]") -> float:
        """Of the most frequent one."""
        return rarity(max(map(self._index.count, terms), default=0), self._notes)

    def _expansions(
        self, word: str, term: str, found: dict[str, Alternative], named: int
    ) -> tuple[Expansion, ...]:
        """`found`: the word itself, if notes have it; `named`: notes whose metadata say it."""
        known = self._index.count(term) > 0
        for relative in self._abbreviated(word):
            found.setdefault(relative.term, relative)
        if not found:
            for name, language, *_ in self._vocabulary.corrected(word):
                corrected = _term(name, language)
                found.setdefault(corrected, Alternative(corrected, CORRECTED, "corrected", name))
        # Hardly anybody mistypes the first letter: "linter" may be "winter", or be of "lint".
        unsure = not known and all(
            one.how == "corrected" and one.name[0] != word[0] for one in found.values()
        )
        if unsure or (known and self._is_rare(term)):
            for relative in self._of_one_root(term, not known):
                found.setdefault(relative.term, relative)
        rare = self.rarity((term,) if known else found)
        meta = META + word
        if named:
            weight = METADATA * min(1.0, rarity(named, self._notes) / rare)
            found[meta] = Alternative(meta, weight, "meta", word)
        guessed = not known and all(one.how == "root" for one in found.values())
        parts = self._parts(word) if guessed else ()
        return parts or (Expansion(tuple(found.values()), rare),)

    def _is_rare(self, term: str) -> bool:
        """Whether so few notes have it that a related word may be what they say instead."""
        return self._index.count(term) <= max(FEW_NOTES, FEW_OF_ALL * self._notes)

    def _abbreviated(self, word: str) -> "Iterator[Alternative]":
        """What the word abbreviates, or is abbreviated to."""
        for other in stems(_abbreviations()[word]) if word in _abbreviations() else ():
            if self._index.count(other):
                yield Alternative(other, RELATED, "related", other)

    def _of_one_root(self, term: str, unknown: bool) -> "Iterator[Alternative]":
        """Terms that begin alike: shorter ones first, then the most frequent."""
        most = MOST_RELATIVES_OF_UNKNOWN if unknown else MOST_RELATIVES
        if unknown and len(term) >= SHORTEST_HASH and HEXADECIMAL.issuperset(term):
            for name in islice(self._index.beginning(term), most):
                yield Alternative(name, ROOT_OF_UNKNOWN, "root", name)
            return
        if len(term) < SHORTEST_ROOT or not term.isalpha():
            return
        shortest = max(SHORTEST_ROOT, int(len(term) * ROOT_SHARE + 0.5))
        shorter = [term[:length] for length in range(len(term) - 1, shortest - 1, -1)]
        self._index.read_counts(shorter)
        chosen = [name for name in shorter if self._index.count(name)]
        if len(chosen) < most:
            longer = [
                name
                for name in self._index.beginning(term)
                if len(term) < len(name) <= len(term) / ROOT_SHARE
            ]
            longer.sort(key=lambda name: (-self._index.count(name), name))
            chosen += longer
        for name in chosen[:most]:
            yield Alternative(name, ROOT_OF_UNKNOWN if unknown else ROOT, "root", name)

    def _parts(self, word: str) -> tuple[Expansion, ...]:
        """Two words that it is made of, both known, cut as evenly as can be: "pre", "commit"."""
        if not word.isalpha():
            return ()
        cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
        even = sorted(cuts, key=lambda cut: abs(2 * cut - len(word)))
        halves = [half for cut in even for half in (word[:cut], word[cut:])]
        forms = self._forms(halves, stems(halves))
        for place in range(0, len(halves), 2):
            found = forms[place : place + 2]
            if all(found) and not any(map(is_stop, halves[place : place + 2])):
                return tuple(
                    Expansion(
                        tuple(one._replace(how="part") for one in half.values()), self.rarity(half)
                    )
                    for half in found
                )
        return ()


_abbreviations = cache(abbreviations)


def _term(word: str, language: int) -> str:
    """The term of a word of this language, counted from 1; 0 is English."""
    (term,) = stems((word,), LANGUAGES[language - 1] if language else ENGLISH)
    return term
