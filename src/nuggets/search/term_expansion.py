"""Terms of the index that answer a word: its forms, relatives, corrections and parts."""

from itertools import chain, islice
from typing import TYPE_CHECKING

from nuggets.language.languages import is_stop, stems
from nuggets.language.text import LONGEST_WORD
from nuggets.language.word_lists import abbreviations
from nuggets.named_tuple import NamedTuple
from nuggets.search.note_analyzer import META
from nuggets.search.vocabulary import SHORTEST
from nuggets.search.weights import WEIGHTS, rarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nuggets.search.documents import IndexReader
    from nuggets.search.query import QueryWord

# Kinds of alternatives that are the word itself in another form, not a guess at it.
CERTAIN_KINDS = frozenset(("", "related", "joined", "date"))

SHORTEST_HASH = 7  # digits that people write of a commit
SHORTEST_PART = 3  # letters of each part of a compound
HEXADECIMAL = frozenset("0123456789abcdef")


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


class TermExpansion:
    """Finds the terms of the index that answer words."""

    def __init__(self, reader: "IndexReader") -> None:
        self._postings = reader.postings
        self._vocabulary = reader.vocabulary
        self._notes = reader.stats.notes
        self._languages = reader.stats.languages  # that notes are written in, besides English

    def read_counts(
        self,
        words: "Sequence[QueryWord]",
        pairs: "Iterable[tuple[str, str]]",
        labels: "Iterable[str]",
    ) -> None:
        """Count what will be asked for, compounds of pairs and labels too, in one statement."""
        written = [word.word for word in words]
        metadata = [META + word.term for word in words]
        joined = [first + second for first, second in pairs]
        inflected = self._inflections([*written, *joined])
        self._postings.read_term_counts(chain(metadata, labels, *inflected))

    def expand(self, words: "Sequence[QueryWord]") -> "Iterator[tuple[Expansion, ...]]":
        """The expansions of each word: several if no note has the word, but its two parts."""
        forms = self._forms([word.word for word in words])
        for (word, term, _), alternatives in zip(words, forms, strict=True):
            yield self._expansions(word, term, alternatives, self._postings.count(META + term))

    def _inflections(self, words: list[str]) -> list[list[str]]:
        """The stems of words in English, and in each of the other languages of the notes."""
        return [stems(words), *(stems(words, language) for language in self._languages)]

    def _forms(self, words: list[str]) -> list[dict[str, Alternative]]:
        """By word, those of its stems that notes have."""
        alternatives: list[dict[str, Alternative]] = [{} for _ in words]
        inflections = self._inflections(words)
        self._postings.read_term_counts(chain(*inflections))
        for inflected in inflections:
            for place, term in enumerate(inflected):
                if self._postings.count(term):
                    alternatives[place].setdefault(term, Alternative(term, 1.0, "", term))
        return alternatives

    def joined_words(self, pairs: "Sequence[tuple[str, str]]") -> dict[str, list[Alternative]]:
        """By word, the compounds of a pair of words that some note has."""
        joined = [first + second for first, second in pairs]
        alternatives: dict[str, list[Alternative]] = {}
        for pair, name, forms in zip(pairs, joined, self._forms(joined), strict=True):
            for term in forms:
                for word in pair:
                    alternative = Alternative(term, 1.0, "joined", name)
                    alternatives.setdefault(word, []).append(alternative)
        return alternatives

    def rarity(self, terms: "Iterable[str]") -> float:
        """Rarity of the most frequent term."""
        return rarity(max(map(self._postings.count, terms), default=0), self._notes)

    def _expansions(
        self, word: str, term: str, alternatives: dict[str, Alternative], metadata_count: int
    ) -> tuple[Expansion, ...]:
        """`alternatives`: the word itself, if notes have it; `metadata_count`: notes whose metadata
        have it."""
        is_known = self._postings.count(term) > 0
        for relative in self._abbreviation_alternatives(word):
            alternatives.setdefault(relative.term, relative)
        if not alternatives and not metadata_count:
            for guess in self._guesses(word):
                alternatives.setdefault(guess.term, guess)
            parts = () if alternatives else self._compound_parts(word)
            if parts:
                return parts
            # People rarely mistype the first letter: "linter" belongs to "lint", not to "winter".
            if all(guess.name[0] != word[0] for guess in alternatives.values()):
                alternatives.update(self._root(term))
        if metadata_count and not alternatives:
            rare = rarity(metadata_count, self._notes)
        else:
            rare = self.rarity((term,) if is_known else alternatives)
        if metadata_count:
            meta = META + term
            weight = WEIGHTS.metadata * min(1.0, rarity(metadata_count, self._notes) / rare)
            alternatives[meta] = Alternative(meta, weight, "meta", word)
        return (Expansion(tuple(alternatives.values()), rare),)

    def _abbreviation_alternatives(self, word: str) -> "Iterator[Alternative]":
        """The long form of an abbreviation, or the other way round."""
        for expanded in stems(abbreviations()[word]) if word in abbreviations() else ():
            if self._postings.count(expanded):
                yield Alternative(expanded, WEIGHTS.guessed, "related", expanded)

    def _guesses(self, word: str) -> "Iterator[Alternative]":
        """Commits whose hash begins so, or else what a misspelt word may stand for."""
        if len(word) >= SHORTEST_HASH and HEXADECIMAL.issuperset(word):
            commits = self._vocabulary.beginning(word, range(len(word), LONGEST_WORD + 1))
            if commits:
                yield from (Alternative(name, WEIGHTS.guessed, "hash", name) for name in commits)
                return
        for name, corrected, _ in self._vocabulary.suggest_corrections(word):
            yield Alternative(corrected, WEIGHTS.guessed, "corrected", name)

    def _root(self, term: str) -> dict[str, Alternative]:
        """The longest beginning of a term, at least half of it, that is a term itself."""
        shortest = max(SHORTEST, (len(term) + 1) // 2)
        roots = [term[:length] for length in range(len(term) - 1, shortest - 1, -1)]
        self._postings.read_term_counts(roots)
        known = filter(self._postings.count, roots)
        return {root: Alternative(root, WEIGHTS.guessed, "root", root) for root in islice(known, 1)}

    def _compound_parts(self, word: str) -> tuple[Expansion, ...]:
        """The two known words that a compound is made of, of similar length: "pre", "commit"."""
        if not word.isalpha():
            return ()
        cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
        even = sorted(cuts, key=lambda cut: abs(2 * cut - len(word)))
        halves = [half for cut in even for half in (word[:cut], word[cut:])]
        forms = self._forms(halves)
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
