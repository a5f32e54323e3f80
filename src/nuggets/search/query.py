"""A question, understood: which terms it asks for, which titles and which days it names."""

from functools import cache
from itertools import islice
from math import hypot, log
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.dates import ASKS_WHEN, Period, is_date_word, periods
from nuggets.search.english import ASKING_WORDS, abbreviations
from nuggets.search.reading import title_key
from nuggets.search.terms import is_stop, query_words, stems
from nuggets.search.vocabulary import LABEL, Vocabulary
from nuggets.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nuggets.search.landscape import Landscape

# A query may be a whole page; its rarest words say what it is about, and time is bounded.
MOST_SLOTS = 64
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
HEXADECIMAL = frozenset("0123456789abcdef")
ROOT_SHARE = 0.5  # of the longer word's letters
FEW_NOTES, FEW_OF_ALL = 10, 0.01  # what many notes say themselves needs no relatives
MOST_RELATIVES = 2  # of a word that is known
MOST_RELATIVES_OF_UNKNOWN = 4

# How much of its rarity a word weighs in the question.
WHOLE_IDENTIFIER = 0.5  # its parts carry the rest
ASKING_WORD = 0.6  # "kind", "many": belongs to the asking more than to what is asked
DATE_WORD = 0.1  # the day itself is compared, not how it was written

LONGEST_TITLE = 6  # words of a title recognised inside a question
SHARED_TITLE = 3  # notes with one title: a person, a place, a matter


class Asked(NamedTuple):
    """One word of a question."""

    word: str
    term: str
    whole: bool  # an identifier that is asked in parts too


class Alternative(NamedTuple):
    """One term that answers a query word."""

    term: int
    weight: float
    how: str  # "" the word itself; else "related", "root", "corrected", "meta"
    name: str


class Slot(NamedTuple):
    """One word of the query with all that may answer it."""

    word: str
    term: str
    alternatives: tuple[Alternative, ...]
    mass: float  # what the word weighs


class NamedTitle(NamedTuple):
    """A title that stands in the question."""

    label: int
    strength: float  # in [0, 1]


class Query(NamedTuple):
    """The question in the terms of the index."""

    slots: tuple[Slot, ...]
    mass: float
    length: float  # of its vector
    titles: tuple[NamedTitle, ...]
    asks_when: bool
    periods: tuple[Period, ...]


def rarity(count: int, notes: int) -> float:
    """Inverse document frequency, never negative."""
    total = notes + BACKGROUND_NOTES
    return log(1 + (total - count + 0.5) / (count + 0.5))


class Reader:
    """Understands questions in the light of what the notes say; valid until they change."""

    def __init__(self, vocabulary: Vocabulary, landscape: "Landscape") -> None:
        self._vocabulary = vocabulary
        self._notes = landscape.notes
        self._years = landscape.years
        self._languages = landscape.languages
        self._answers: dict[str, tuple[tuple[Alternative, ...], float]] = {}  # by word

    def understand(self, text: str) -> Query:
        """Read the question."""
        named = tuple(periods(text, self._years))
        asked = self._telling(_asked(text))
        self._answer_all([(word, term) for word, term, _ in asked if word not in self._answers])
        slots = [self._slot(*one, bool(named)) for one in asked]
        slots = [slot for slot in slots if slot.mass > 0]
        mass = sum(slot.mass for slot in slots)
        return Query(
            tuple(slots),
            mass,
            _length(slots),
            tuple(self._titles(text, mass)),
            ASKS_WHEN.search(text) is not None,
            named,
        )

    def _telling(self, asked: list[Asked]) -> list[Asked]:
        """The words that matter most: the rarest that are known, then those that nobody knows."""
        if len(asked) <= MOST_SLOTS:
            return asked
        numbers = (self._vocabulary.in_use(one.term) for one in asked)
        counts = [0 if number is None else self._vocabulary.count(number) for number in numbers]
        order = sorted(range(len(asked)), key=lambda place: (not counts[place], counts[place]))
        return [asked[place] for place in order[:MOST_SLOTS]]

    def _slot(self, word: str, term: str, whole: bool, dated: bool) -> Slot:
        if whole and self._vocabulary.in_use(term) is None:
            return Slot(word, term, (), 0.0)  # nobody wrote it like that: its parts count
        alternatives, rare = self._answers[word]
        if whole:
            rare *= WHOLE_IDENTIFIER
        elif dated and is_date_word(word):
            rare *= DATE_WORD
        elif word in ASKING_WORDS:
            rare *= ASKING_WORD
        return Slot(word, term, alternatives, rare)

    def _answer_all(self, asked: list[tuple[str, str]]) -> None:
        """Find out what answers these words, given with their terms."""
        words = [word for word, _ in asked]
        # As the languages inflect them that some notes are written in.
        elsewhere = [stems(words, language) for language in self._languages] if words else []
        for place, (word, term) in enumerate(asked):
            inflected = [terms[place] for terms in elsewhere]
            self._answers[word] = self._answer(word, term, inflected)

    def _answer(
        self, word: str, term: str, inflected: list[str]
    ) -> tuple[tuple[Alternative, ...], float]:
        """The terms that answer a word, and its rarity."""
        vocabulary = self._vocabulary
        found: dict[int, Alternative] = {}
        for same in (term, *inflected):
            number = vocabulary.in_use(same)
            if number is not None:
                found.setdefault(number, Alternative(number, 1.0, "", same))
        itself = vocabulary.in_use(term)
        for relative in self._abbreviated(word):
            found.setdefault(relative.term, relative)
        if not found:
            for name, number in vocabulary.corrected(word):
                found.setdefault(number, Alternative(number, CORRECTED, "corrected", name))
        if not found or self._is_rare(itself):
            for relative in self._of_one_root(term, itself is None):
                found.setdefault(relative.term, relative)
        counted = found if itself is None else (itself,)
        rare = rarity(max(map(vocabulary.count, counted), default=0), self._notes)
        meta = vocabulary.in_use(f"{LABEL}meta={word}")
        if meta is not None:
            weight = META * min(1.0, rarity(vocabulary.count(meta), self._notes) / rare)
            found[meta] = Alternative(meta, weight, "meta", word)
        return tuple(found.values()), rare

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

    def _titles(self, text: str, mass: float) -> "Iterator[NamedTitle]":
        """Titles that stand in the question as they are."""
        words = title_key(text).split()[: 4 * MOST_SLOTS]
        for start in range(len(words)):
            name = f"{LABEL}title="
            for end, word in enumerate(words[start : start + LONGEST_TITLE], start + 1):
                name += word
                label = self._vocabulary.in_use(name)
                name += " "
                if label is None:
                    continue
                named = [word for word in words[start:end] if not is_stop(word)]
                if named:
                    yield NamedTitle(label, self._strength(label, named, mass))

    def _strength(self, label: int, words: list[str], mass: float) -> float:
        """How surely the title is meant, and how much of the question it is.

        A name that many notes bear stands for all of them, however little it says of each; but
        not if the word is a common one that happens to be a title here and there.
        """
        vocabulary = self._vocabulary
        terms = [vocabulary.in_use(term) for term in stems(words)]
        counts = [vocabulary.count(term) for term in terms if term is not None]
        titled = vocabulary.count(label)
        meant = min(1.0, 2 * titled / min(counts)) if counts else 1.0
        if titled >= SHARED_TITLE:
            return meant
        named = sum(rarity(count, self._notes) for count in counts)
        return meant * min(1.0, named / mass) if mass else 0.0


def _length(slots: list[Slot]) -> float:
    """Of the query's vector: its terms and those that stand for them, unknown ones included."""
    weights: dict[int | str, float] = {}
    for _, itself, alternatives, mass in slots:
        known = [one[:2] for one in alternatives if one.how != "meta"]
        for term, weight in known or ((itself, 1.0),):
            weights[term] = weights.get(term, 0.0) + weight * mass
    return hypot(*weights.values()) or 1.0


def _asked(text: str) -> list[Asked]:
    """Distinct words; stop words only if there is nothing else."""
    found: dict[str, bool] = {}
    for token in dict.fromkeys(tokens(text)):
        words, whole = query_words(token)
        found |= dict.fromkeys(words, False)
        if whole:
            found.setdefault(whole, True)
    chosen = [word for word in found if not is_stop(word)] or list(found)
    terms: dict[str, str] = {}
    for word, term in zip(chosen, stems(chosen), strict=True):
        terms.setdefault(term, word)
    return [Asked(word, term, found[word]) for term, word in terms.items()]


_abbreviations = cache(abbreviations)
