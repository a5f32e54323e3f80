"""Terms of the index that answer a word: its forms, relatives, corrections and parts."""

from itertools import islice
from math import log
from typing import TYPE_CHECKING

from nuggets.language.languages import LANGUAGES
from nuggets.language.stemming import is_stop, stems
from nuggets.language.word_lists import ENGLISH, abbreviations
from nuggets.named_tuple import NamedTuple
from nuggets.search.index.note_analyzer import META

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.tokenized_query import QueryWord

# Added to the number of notes when rarity is computed. So in a small shelf a word that every note
# has still counts, and an unknown word does not outweigh it tenfold.
BACKGROUND_NOTES = 50

# Weights of terms that are not the word itself.
RELATED = 0.7  # an abbreviation and its long form
ROOT = 0.3  # of a known word: "auth" and "authentic" probably have the same root
ROOT_OF_UNKNOWN = 0.7  # no note has the word itself
CORRECTED = 0.8
METADATA = 0.6  # the word names a scope, type or subject

# Kinds of alternatives that are the word itself in another form, not a guess at it.
CERTAIN_KINDS = frozenset(("", "related", "joined", "date"))

SHORTEST_ROOT = 4  # letters
SHORTEST_HASH = 7  # digits that people write of a commit
SHORTEST_PART = 3  # letters of each part of a compound
HEXADECIMAL = frozenset("0123456789abcdef")
ROOT_SHARE = 0.5  # of the longer word's letters
FEW_NOTES, FEW_OF_ALL = 10, 0.01  # a word that more notes have needs no relatives
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
    """Finds the terms of the index that answer words."""

    def __init__(self, snapshot: "Snapshot") -> None:
        self._index = snapshot.index
        self._vocabulary = snapshot.vocabulary
        self._notes = snapshot.stats.notes
        self._languages = snapshot.stats.languages  # that notes are written in, besides English

    def expand(
        self, words: "Sequence[QueryWord]", labels: "Iterable[str]" = ()
    ) -> "Iterator[tuple[Expansion, ...]]":
        """The expansions of each word: several if no note has the word, but its two parts.

        Everything is counted at once, `labels` too, which will be asked for later.
        """
        terms = [word.term for word in words]
        self._index.read_counts(terms)
        rare = [term for term in terms if self._index.count(term) and self._is_rare(term)]
        metadata = [META + word.word for word in words]
        roots = [root for term in rare for root in _roots(term)]
        forms = self._forms([word.word for word in words], terms, [*metadata, *roots, *labels])
        self._index.read_beginnings(
            term
            for term in rare
            if _has_root(term) and len(self._known_roots(term)) < MOST_RELATIVES
        )
        for (word, term, _), alternatives in zip(words, forms, strict=True):
            yield self._expansions(word, term, alternatives, self._index.count(META + word))

    def _forms(
        self, words: list[str], terms: list[str], others: "Sequence[str]" = ()
    ) -> list[dict[str, Alternative]]:
        """By word, its stems in English and in the other languages of the notes. `others`: what
        is counted with them."""
        alternatives: list[dict[str, Alternative]] = [{} for _ in words]
        inflections = [terms, *(stems(words, language) for language in self._languages)]
        self._index.read_counts([*others, *(term for forms in inflections for term in forms)])
        for inflected in inflections:
            for place, term in enumerate(inflected):
                if self._index.count(term):
                    alternatives[place].setdefault(term, Alternative(term, 1.0, "", term))
        return alternatives

    def joined_words(self, pairs: "Sequence[tuple[str, str]]") -> dict[str, list[Alternative]]:
        """By word, the compounds of a pair of words that some note has.

        Pairs are looked up unstemmed, because hardly any of them is a compound.
        """
        compounds = {(first, second): first + second.removesuffix("s") for first, second in pairs}
        vocabulary_words = self._vocabulary.languages_of(
            form for singular in compounds.values() for form in (singular, singular + "s")
        )
        alternatives: dict[str, list[Alternative]] = {}
        for (first, second), singular in compounds.items():
            for word, language in vocabulary_words:
                if word in (singular, singular + "s"):
                    term = _stem_word(word, language)
                    alternative = Alternative(term, 1.0, "joined", first + second)
                    alternatives.setdefault(first, []).append(alternative)
                    alternatives.setdefault(second, []).append(alternative)
        return alternatives

    def rarity(self, terms: "Iterable[str]") -> float:
        """Rarity of the most frequent term."""
        return rarity(max(map(self._index.count, terms), default=0), self._notes)

    def _expansions(
        self, word: str, term: str, alternatives: dict[str, Alternative], metadata_count: int
    ) -> tuple[Expansion, ...]:
        """`alternatives`: the word itself, if notes have it; `metadata_count`: notes whose metadata
        have it."""
        is_known = self._index.count(term) > 0
        for relative in self._abbreviation_alternatives(word):
            alternatives.setdefault(relative.term, relative)
        if not alternatives:
            for name, language, *_ in self._vocabulary.suggest_corrections(word):
                corrected = _stem_word(name, language)
                alternatives.setdefault(
                    corrected, Alternative(corrected, CORRECTED, "corrected", name)
                )
        # People rarely mistype the first letter: "linter" belongs to "lint", not to "winter".
        is_unsure = not is_known and all(
            alternative.how == "corrected" and alternative.name[0] != word[0]
            for alternative in alternatives.values()
        )
        if is_unsure or (is_known and self._is_rare(term)):
            for relative in self._root_alternatives(term, not is_known):
                alternatives.setdefault(relative.term, relative)
        rare = self.rarity((term,) if is_known else alternatives)
        meta = META + word
        if metadata_count:
            weight = METADATA * min(1.0, rarity(metadata_count, self._notes) / rare)
            alternatives[meta] = Alternative(meta, weight, "meta", word)
        is_guess = not is_known and all(
            alternative.how == "root" for alternative in alternatives.values()
        )
        parts = self._compound_parts(word) if is_guess else ()
        return parts or (Expansion(tuple(alternatives.values()), rare),)

    def _is_rare(self, term: str) -> bool:
        """Whether so few notes have the term that related words are worth looking for."""
        return self._index.count(term) <= max(FEW_NOTES, FEW_OF_ALL * self._notes)

    def _abbreviation_alternatives(self, word: str) -> "Iterator[Alternative]":
        """The long form of an abbreviation, or the other way round."""
        for expanded in stems(abbreviations()[word]) if word in abbreviations() else ():
            if self._index.count(expanded):
                yield Alternative(expanded, RELATED, "related", expanded)

    def _root_alternatives(self, term: str, is_unknown: bool) -> "Iterator[Alternative]":
        """Terms with the same beginning: shorter ones first, then the most frequent longer ones."""
        most = MOST_RELATIVES_OF_UNKNOWN if is_unknown else MOST_RELATIVES
        if is_unknown and len(term) >= SHORTEST_HASH and HEXADECIMAL.issuperset(term):
            for name in islice(self._index.beginning(term), most):
                yield Alternative(name, ROOT_OF_UNKNOWN, "root", name)
            return
        if not _has_root(term):
            return
        chosen = self._known_roots(term)
        if len(chosen) < most:
            longer = [
                name
                for name in self._index.beginning(term)
                if len(term) < len(name) <= len(term) / ROOT_SHARE
            ]
            longer.sort(key=lambda name: (-self._index.count(name), name))
            chosen += longer
        for name in chosen[:most]:
            yield Alternative(name, ROOT_OF_UNKNOWN if is_unknown else ROOT, "root", name)

    def _known_roots(self, term: str) -> list[str]:
        """The beginnings of a term that are terms themselves, the longest first."""
        roots = _roots(term)
        self._index.read_counts(roots)
        return [root for root in roots if self._index.count(root)]

    def _compound_parts(self, word: str) -> tuple[Expansion, ...]:
        """The two known words that a compound is made of, of similar length: "pre", "commit"."""
        if not word.isalpha():
            return ()
        cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
        even = sorted(cuts, key=lambda cut: abs(2 * cut - len(word)))
        halves = [half for cut in even for half in (word[:cut], word[cut:])]
        forms = self._forms(halves, stems(halves))
        for place in range(0, len(halves), 2):
            pair = forms[place : place + 2]
            if all(pair) and not any(map(is_stop, halves[place : place + 2])):
                return tuple(
                    Expansion(
                        tuple(alternative._replace(how="part") for alternative in half.values()),
                        self.rarity(half),
                    )
                    for half in pair
                )
        return ()


def _has_root(term: str) -> bool:
    return len(term) >= SHORTEST_ROOT and term.isalpha()


def _roots(term: str) -> list[str]:
    """The beginnings of a term that may have the same root, the longest first."""
    if not _has_root(term):
        return []
    shortest = max(SHORTEST_ROOT, int(len(term) * ROOT_SHARE + 0.5))
    return [term[:length] for length in range(len(term) - 1, shortest - 1, -1)]


def _stem_word(word: str, language: int) -> str:
    """The term of a word; `language` counts from 1, 0 is English."""
    (term,) = stems((word,), LANGUAGES[language - 1] if language else ENGLISH)
    return term
