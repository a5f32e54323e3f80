"""What answers a word: its forms, relatives, corrections and parts among the terms in use."""

from functools import cache
from itertools import islice
from math import log
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.english import abbreviations
from nuggets.search.terms import is_stop, stems
from nuggets.search.vocabulary import LABEL, OF_LANGUAGE, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nuggets.search.asking import Asked

# As if so many more notes without the word stood beside: in a small shelf a word that every
# note has still means something, and an unknown word does not outweigh it tenfold.
BACKGROUND_NOTES = 50

# How much another term answers for the word that was asked.
RELATED = 0.7  # an abbreviation and its long form
ROOT = 0.3  # "auth" and "authentic": probably the same root
ROOT_OF_UNKNOWN = 0.7  # nobody uses the word itself, so the relation is all there is
CORRECTED = 0.8
META = 0.6  # the word names a scope, type or subject

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

    term: int
    weight: float
    how: str  # "" the word itself; else "related", "root", "corrected", "meta", "part", …
    name: str


class Answer(NamedTuple):
    """The terms that answer a word, or one part of it, and how rare that is."""

    alternatives: tuple[Alternative, ...]
    rarity: float


def rarity(count: int, notes: int) -> float:
    """Inverse document frequency, never negative."""
    total = notes + BACKGROUND_NOTES
    return log(1 + (total - count + 0.5) / (count + 0.5))


class Answers:
    """Finds out once what answers a word; valid until the notes change."""

    def __init__(self, vocabulary: Vocabulary, notes: int, languages: "Sequence[str]") -> None:
        self._vocabulary = vocabulary
        self._notes = notes
        self._languages = languages  # that notes are written in, besides English
        self._prefixes = ("", *(language + OF_LANGUAGE for language in languages))
        self._known: dict[str, tuple[Answer, ...]] = {}

    def to(self, asked: "Sequence[Asked]") -> list[tuple[Answer, ...]]:
        """Of each word; several if nobody knows it but its parts."""
        new = [one for one in asked if one.word not in self._known]
        if new:
            forms = self._forms([one.word for one in new], [one.term for one in new])
            for (word, term, _), found in zip(new, forms, strict=True):
                self._known[word] = self._answers(word, term, found)
        return [self._known[one.word] for one in asked]

    def _forms(self, words: list[str], terms: list[str]) -> list[dict[int, Alternative]]:
        """Of each word what is the word itself, as English or another language inflects it."""
        found: list[dict[int, Alternative]] = [{} for _ in words]
        for inflected in (terms, *(stems(words, language) for language in self._languages)):
            for place, term in enumerate(inflected):
                number = self._vocabulary.in_use(term)
                if number is not None:
                    found[place].setdefault(number, Alternative(number, 1.0, "", term))
        return found

    def joined(self, pairs: "Sequence[tuple[str, str]]") -> dict[str, list[Alternative]]:
        """By word, what answers it where some note writes both words of a pair as one.

        Nothing is stemmed: it is asked of all neighbours, and hardly any are one word elsewhere.
        """
        known = self._vocabulary.words
        found: dict[str, list[Alternative]] = {}
        for one, other in pairs:
            together = one + other.removesuffix("s")
            for prefix in self._prefixes:
                singular = prefix + together
                if singular in known or singular + "s" in known:
                    for term in self._vocabulary.terms_of((singular, singular + "s")):
                        answer = Alternative(term, 1.0, "joined", one + other)
                        found.setdefault(one, []).append(answer)
                        found.setdefault(other, []).append(answer)
        return found

    def rarity(self, terms: "Iterable[int]") -> float:
        """Of the most frequent one."""
        return rarity(max(map(self._vocabulary.count, terms), default=0), self._notes)

    def _answers(self, word: str, term: str, found: dict[int, Alternative]) -> tuple[Answer, ...]:
        """`found`: the word itself, if notes have it."""
        vocabulary = self._vocabulary
        itself = vocabulary.in_use(term)
        for relative in self._abbreviated(word):
            found.setdefault(relative.term, relative)
        if not found:
            for name, number in vocabulary.corrected(word):
                found.setdefault(number, Alternative(number, CORRECTED, "corrected", name))
        # Hardly anybody mistypes the first letter: "linter" may be "winter", or be of "lint".
        unsure = itself is None and all(
            one.how == "corrected" and one.name[0] != word[0] for one in found.values()
        )
        if unsure or self._is_rare(itself):
            for relative in self._of_one_root(term, itself is None):
                found.setdefault(relative.term, relative)
        rare = self.rarity(found if itself is None else (itself,))
        meta = vocabulary.in_use(f"{LABEL}meta={word}")
        if meta is not None:
            weight = META * min(1.0, self.rarity([meta]) / rare)
            found[meta] = Alternative(meta, weight, "meta", word)
        guessed = itself is None and all(one.how == "root" for one in found.values())
        parts = self._parts(word) if guessed else ()
        return parts or (Answer(tuple(found.values()), rare),)

    def _is_rare(self, term: int | None) -> bool:
        """Whether so few notes have it that a related word may be what they say instead."""
        if term is None:
            return False
        return self._vocabulary.count(term) <= max(FEW_NOTES, FEW_OF_ALL * self._notes)

    def _abbreviated(self, word: str) -> "Iterator[Alternative]":
        """What the word abbreviates, or is abbreviated to."""
        for other in stems(_abbreviations()[word]) if word in _abbreviations() else ():
            number = self._vocabulary.in_use(other)
            if number is not None:
                yield Alternative(number, RELATED, "related", other)

    def _of_one_root(self, term: str, unknown: bool) -> "Iterator[Alternative]":
        """Terms that begin alike: shorter ones first, then the most frequent."""
        vocabulary = self._vocabulary
        most = MOST_RELATIVES_OF_UNKNOWN if unknown else MOST_RELATIVES
        if unknown and len(term) >= SHORTEST_HASH and HEXADECIMAL.issuperset(term):
            for name in islice(vocabulary.beginning(term), most):
                yield Alternative(vocabulary.terms[name], ROOT_OF_UNKNOWN, "root", name)
            return
        if len(term) < SHORTEST_ROOT or not term.isalpha():
            return
        shortest = max(SHORTEST_ROOT, int(len(term) * ROOT_SHARE + 0.5))
        shorter = (term[:length] for length in range(len(term) - 1, shortest - 1, -1))
        chosen = [name for name in shorter if vocabulary.in_use(name) is not None]
        if len(chosen) < most:
            longer = [
                name
                for name in vocabulary.beginning(term)
                if len(term) < len(name) <= len(term) / ROOT_SHARE
            ]
            longer.sort(key=lambda name: (-vocabulary.count(vocabulary.terms[name]), name))
            chosen += longer
        for name in chosen[:most]:
            weight = ROOT_OF_UNKNOWN if unknown else ROOT
            yield Alternative(vocabulary.terms[name], weight, "root", name)

    def _parts(self, word: str) -> tuple[Answer, ...]:
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
                    Answer(
                        tuple(one._replace(how="part") for one in half.values()), self.rarity(half)
                    )
                    for half in found
                )
        return ()


_abbreviations = cache(abbreviations)
