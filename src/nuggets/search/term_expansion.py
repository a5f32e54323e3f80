"""Terms of the index that answer a word: its forms, relatives, corrections and parts. And the words
as notes write them, with their terms, that may be meant by a misspelt one.

A word stays as long as some note has its term: other forms of a word do no harm, and counting every
form would double what a write costs.
"""

from itertools import chain, islice
from typing import TYPE_CHECKING

from nuggets.domain.state import chunks, placeholders
from nuggets.language.languages import is_stop, stems
from nuggets.language.text import LONGEST_WORD, edits_between
from nuggets.language.word_lists import abbreviations
from nuggets.named_tuple import NamedTuple
from nuggets.search.note_analyzer import META
from nuggets.search.weights import WEIGHTS, rarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nuggets.search.documents import IndexReader
    from nuggets.search.query import QueryWord

# Kinds of alternatives that are the word itself in another form, not a guess at it.
CERTAIN_KINDS = frozenset(("", "related", "joined", "date"))

SHORTEST_HASH = 7  # digits of a commit: so many git shows
SHORTEST_PART = 3  # letters of each part of a compound: two are an ending ("ed", "er")
HEXADECIMAL = frozenset("0123456789abcdef")
SHORTEST = 4  # letters; one edit of a shorter word gives too many others, two from twice as many
ANY_LETTER_FROM = 6  # letters; shorter words must begin alike: "bread" is not "read"
# Words of a question that are looked for inside others: for each, all words of the notes are read
# (1 ms for the 38,000 words of 50,000 notes), and a longer question says enough without.
MOST_LOOKED_INSIDE = 4
CANDIDATES = 3  # words that one word may stand for: ours, all are searched for together
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
LAST_LETTER = "\U0010ffff"  # after every letter
_LETTERS = 31  # bits for letters: a prime, so other scripts spread as well


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


class KnownWord(NamedTuple):
    """A word as notes write it."""

    word: str
    term: str
    letters: int


class TermExpansion:
    """Finds the terms of the index that answer words."""

    def __init__(self, reader: "IndexReader") -> None:
        self._database = reader.database
        self._postings = reader.postings
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
        looks_inside = len(words) <= MOST_LOOKED_INSIDE
        for (word, term, _), alternatives in zip(words, forms, strict=True):
            in_metadata = self._postings.count(META + term)
            yield self._expansions(word, term, alternatives, in_metadata, looks_inside)

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
        self,
        word: str,
        term: str,
        alternatives: dict[str, Alternative],
        metadata_count: int,
        looks_inside: bool,
    ) -> tuple[Expansion, ...]:
        """`alternatives`: the word itself, if notes have it; `metadata_count`: notes whose metadata
        have it; `looks_inside`: whether it may be a part of longer words."""
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
            for known in self._containing(word) if looks_inside and not alternatives else ():
                alternatives[known] = Alternative(known, WEIGHTS.guessed, "within", known)
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
            commits = self._terms_beginning(word)
            if commits:
                yield from (Alternative(name, WEIGHTS.guessed, "hash", name) for name in commits)
                return
        for name, corrected, _ in self._corrections(word):
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

    def _corrections(self, word: str) -> list[KnownWord]:
        """The likeliest words of notes that a misspelt one may stand for: with fewest edits, the
        same first letter, in most notes."""
        edits = 0 if word.isdigit() else min(len(word) // SHORTEST, 2)
        if not edits:
            return []
        lengths = range(len(word) - edits, len(word) + edits + 1)
        alike = [*self._beginning(word[0], lengths), *self._exactly(first_letter_edits(word))]
        near = within_edits(word, edits, alike)
        self._postings.read_term_counts(known.term for _, known in near)
        ranked = sorted(
            (distance, known.word[0] != word[0], -uses, known)
            for distance, known in near
            if (uses := self._postings.count(known.term))
        )
        return [known for distance, *_, known in ranked[:CANDIDATES] if distance == ranked[0][0]]

    def _terms_beginning(self, start: str) -> list[str]:
        """The terms of words that begin so, the most frequent ones."""
        return self._most_frequent(self._beginning(start, range(len(start), LONGEST_WORD + 1)))

    def _containing(self, part: str) -> list[str]:
        """The terms of words that it is a part of, the most frequent ones: a text that has it word
        for word, as documented. All words are looked through, so only for one that nothing else
        answers."""
        if len(part) < SHORTEST or not part.isalnum():
            return []
        rows = self._database.execute(
            "SELECT word, term, letters FROM search_words WHERE length > ? AND word LIKE ?",
            (len(part), f"%{part}%"),
        )
        return self._most_frequent([KnownWord(*row) for row in rows])

    def _most_frequent(self, words: "Sequence[KnownWord]") -> list[str]:
        """Terms of the words, of a few at most."""
        self._postings.read_term_counts(known.term for known in words)
        # Some may be words of archived notes only, which are not read.
        counts = {known.term: self._postings.count(known.term) for known in words}
        terms = [term for term, count in counts.items() if count]
        return sorted(terms, key=lambda term: (-counts[term], term))[:CANDIDATES]

    def _beginning(self, start: str, lengths: "Iterable[int]") -> list[KnownWord]:
        listed = ",".join(map(str, lengths))
        rows = self._database.execute(
            "SELECT word, term, letters FROM search_words"
            f" WHERE length IN ({listed}) AND word >= ? AND word < ?",
            (start, start + LAST_LETTER),
        )
        return [KnownWord(*row) for row in rows]

    def _exactly(self, words: "Iterable[str]") -> list[KnownWord]:
        wanted = sorted(words)
        lengths = ",".join(map(str, sorted({len(word) for word in wanted})))
        return [
            KnownWord(*row)
            for some in chunks(wanted)
            for row in self._database.execute(
                "SELECT word, term, letters FROM search_words"
                f" WHERE length IN ({lengths}) AND word IN ({placeholders(some)})",
                some,
            )
        ]


# --- slips of typing ------------------------------------------------------------------------------


def letters(word: str) -> int:
    """The set of the word's letters as bits: one edit changes at most two of them."""
    bits = 0
    for letter in set(word):
        bits |= 1 << ord(letter) % _LETTERS
    return bits


def first_letter_edits(word: str) -> set[str]:
    """All words that one edit of the first letter can give.

    The first letter is rarely mistyped, and hardly ever together with another one.
    """
    if len(word) < ANY_LETTER_FROM:
        return set()
    initials = {*ALPHABET, *word}
    edited = {start + word[1:] for start in initials} | {start + word for start in initials}
    edited |= {word[1:], word[1] + word[0] + word[2:]}
    return {edit for edit in edited if edit[0] != word[0]}


def within_edits(
    word: str, edits: int, vocabulary: "Iterable[KnownWord]"
) -> list[tuple[int, KnownWord]]:
    """The known words that are at most so many edits away, with how many they are."""
    word_letters = letters(word)
    near = []
    for candidate in vocabulary:
        limit = edits if candidate.word[0] == word[0] else 1
        if (candidate.letters ^ word_letters).bit_count() <= 2 * limit:
            distance = edits_between(word, candidate.word, limit)
            if distance <= limit:
                near.append((distance, candidate))
    return near
