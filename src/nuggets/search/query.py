"""Interprets a question: which terms it asks for, which titles and days it names."""

from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING

from nuggets.language.dates import (
    DATE_LABEL,
    MONTHS,
    Period,
    WrittenDate,
    asks_when,
    periods,
    query_labels,
    written_dates,
)
from nuggets.language.languages import detect_language, is_stop, stems
from nuggets.language.text import edits_between, is_unspaced, pieces, plain, query_words, tokens
from nuggets.language.word_lists import ENGLISH, stop_words
from nuggets.named_tuple import NamedTuple
from nuggets.search.note_analyzer import LABEL, title_key, title_label
from nuggets.search.term_expansion import Alternative, TermExpansion
from nuggets.search.weights import WEIGHTS, rarity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from nuggets.search.documents import IndexReader

MOST_WORDS = 64  # of a question, which may be a whole page: time is bounded

# --- slips in the word that it begins with, and in months -----------------------------------------

# Shorter ones resemble too many other words: "who", "two"; "jan", "van".
QUESTION_WORDS = ("what", "when", "where", "which", "whose")
MONTH_NAMES = tuple(name for name in MONTHS if len(name) > 3)


def respell_question(text: str, is_known: "Callable[[str], bool]") -> str:
    """The question, slips corrected in the word that it begins with ("Wehn did") and in months
    beside a number ("16 Agust"), unless `is_known` says that notes have the word."""
    words = text.split(" ", MOST_WORDS)
    for place, word in enumerate(words[:MOST_WORDS]):
        beside = words[max(place - 1, 0) : place + 2]
        # "wheat allergy" is no question
        if place == 0 and len(words) > 1 and ("?" in text or is_stop(words[1].lower())):
            meant = _closest_word(word, QUESTION_WORDS)
        elif any(other[:1].isdigit() for other in beside):
            meant = _closest_word(word, MONTH_NAMES)
        else:
            continue
        if meant and not is_known(word.rstrip(",").lower()):
            words[place] = meant
    return " ".join(words)


def _closest_word(word: str, known: "Iterable[str]") -> str:
    """The one of the known words that is an edit away and begins alike; "" if there is none."""
    word = word.rstrip(",").lower()
    if not word or word in known:
        return ""
    near = (other for other in known if other[0] == word[0] and edits_between(word, other, 1) == 1)
    return next(near, "")


# --- split into words, neighbouring words and dates -----------------------------------------------


class QueryWord(NamedTuple):
    """One word of a question."""

    word: str
    term: str
    within: str  # the identifier that it is, or is a part of; "" if none

    @property
    def is_whole(self) -> bool:
        return self.word == self.within


class TokenizedQuery(NamedTuple):
    """What a question is made of."""

    words: list[QueryWord]
    neighbours: list[tuple[str, str]]  # pairs that a note may write as one word: "web hooks"
    dates: list[WrittenDate]


def tokenize_query(text: str) -> TokenizedQuery:
    """Distinct words, in order; stop words only if there is nothing else."""
    text_tokens = tokens(text)
    words: dict[str, str] = {}
    for token in dict.fromkeys(text_tokens):
        parts, whole = query_words(token)
        for part in parts:
            if not whole or part not in words:
                words[part] = whole
        if whole:
            words.setdefault(whole, whole)
    significant = _significant(list(words))
    by_term: dict[str, QueryWord] = {}
    for word, term in zip(significant, stems(significant), strict=True):
        by_term.setdefault(term, QueryWord(word, term, words[word]))
    # A date may be written with lone signs: 5月.
    dates = written_dates(text, words if text.isascii() else (*words, *text))
    return TokenizedQuery(
        list(by_term.values()),
        _neighbours(text_tokens),
        dates[:MOST_WORDS],
    )


def _significant(words: list[str]) -> list[str]:
    """Without stop words of English and of the question's language, unless all are stop words."""
    ignored = stop_words(ENGLISH)
    significant = [word for word in words if word not in ignored]
    language = detect_language(words)
    if language != ENGLISH:
        ignored = frozenset(map(plain, stop_words(language)))
        significant = [word for word in significant if plain(word) not in ignored]
    return significant or words


def _neighbours(text_tokens: list[str]) -> list[tuple[str, str]]:
    words = [token.lower() if token.isalpha() else "" for token in text_tokens[:MOST_WORDS]]
    return [(first, second) for first, second in pairwise(words) if first and second]


# --- in the terms of the index --------------------------------------------------------------------


LONGEST_TITLE = 6  # words of a title recognised inside a question: a longer one is a sentence


class Slot(NamedTuple):
    """One word of the query with the terms that answer it."""

    word: str
    term: str  # "" for a date
    alternatives: tuple[Alternative, ...]
    mass: float  # what the word weighs: its rarity, of some words a part of it


class NamedTitle(NamedTuple):
    """A title that stands in the question."""

    label: str
    strength: float  # in [0, 1]


class Query(NamedTuple):
    """The question in the terms of the index."""

    slots: tuple[Slot, ...]
    mass: float  # of all words
    length: float  # of its vector
    titles: tuple[NamedTitle, ...]
    asks_when: bool
    periods: tuple[Period, ...]


class QueryReader:
    """Turns questions into terms of the index."""

    def __init__(self, reader: "IndexReader") -> None:
        self._stats = reader.stats
        self._postings = reader.postings
        self._expansion = TermExpansion(reader)

    def understand(self, text: str) -> Query:
        """Read the question."""
        text = respell_question(text, self._is_known)
        question = tokenize_query(text)
        words_of_titles = title_key(text).split()[: 4 * MOST_WORDS]
        names = _possible_titles(words_of_titles)
        slots = self._slots(question, names)
        slots = self._add_joined_words(slots, question.neighbours)
        slots = [*slots, *self._date_slots(question.dates)]
        mass, length = sum(slot.mass for slot in slots), _length(slots)
        titles = tuple(self._named_titles(words_of_titles, names, slots, mass))
        return Query(
            tuple(slots),
            mass,
            length,
            titles,
            asks_when(text),
            tuple(periods(question.dates, self._stats.years)),
        )

    def _is_known(self, word: str) -> bool:
        """Whether a note has this word."""
        return any(self._postings.count(term) for term in stems((word,)))

    def _rarest(self, words: list[QueryWord]) -> list[QueryWord]:
        """At most `MOST_WORDS`, which say what it is about: the rarest known ones, then unknown."""
        if len(words) <= MOST_WORDS:
            return words
        self._postings.read_term_counts(word.term for word in words)
        counts = [self._postings.count(word.term) for word in words]
        order = sorted(range(len(words)), key=lambda place: (not counts[place], counts[place]))
        return [words[place] for place in order[:MOST_WORDS]]

    def _slots(self, question: TokenizedQuery, labels: "Iterable[str]") -> list[Slot]:
        words = self._rarest(question.words)
        self._expansion.read_counts(words, question.neighbours, labels)
        identifiers = {
            word.word for word in words if word.is_whole and self._postings.count(word.term)
        }
        date_words = self._date_words(question.dates)
        slots = []
        for word, expansions in zip(words, self._expansion.expand(words), strict=True):
            for alternatives, rare in expansions:
                weight = rare * _weight_factor(word, alternatives, identifiers, date_words)
                if weight:
                    slots.append(Slot(word.word, word.term, alternatives, weight))
        return slots

    def _date_words(self, dates: list[WrittenDate]) -> set[str]:
        """Words of written dates. A bare number that some note has is taken for a number."""
        return {
            word
            for date in dates
            for token in tokens(date.text)
            for word in pieces(token)
            if date.month or not self._postings.count(word)
        }

    def _date_slots(self, dates: list[WrittenDate]) -> "Iterator[Slot]":
        """The days and months that the question names, if some note names them."""
        for date in dict.fromkeys(dates):
            alternatives = {
                LABEL + label: Alternative(
                    LABEL + label, weight, "date", label.removeprefix(DATE_LABEL)
                )
                for label, weight in query_labels(date).items()
                if self._postings.count(LABEL + label)
            }
            if alternatives:
                rare = self._expansion.rarity(alternatives)
                yield Slot(date.text, "", tuple(alternatives.values()), rare)

    def _add_joined_words(self, slots: list[Slot], neighbours: list[tuple[str, str]]) -> list[Slot]:
        """The slots, with compounds of two neighbouring words as further alternatives."""
        joined = self._expansion.joined_words(neighbours)
        if not joined:
            return slots
        return [
            slot._replace(alternatives=tuple({one.term: one for one in terms}.values()))
            for slot in slots
            for terms in [(*joined.get(slot.word, ()), *slot.alternatives)]
        ]

    def _named_titles(
        self,
        words: list[str],
        names: "Mapping[str, tuple[int, list[str]]]",
        slots: list[Slot],
        mass: float,
    ) -> "Iterator[NamedTitle]":
        """Titles of notes that occur in the question, word for word or with corrected typos.

        `names`: the possible titles among its words.
        """
        corrections = _corrections(slots)
        if corrections:
            corrected = [corrections.get(word, word) for word in words]
            names = {**_possible_titles(corrected), **names}
        self._postings.read_term_counts(names)
        for label, (start, title) in names.items():
            written = words[start : start + len(title)]
            title_count = self._postings.count(label)
            significant = [word for word in title if not is_stop(word)] if title_count else ()
            if significant:
                strength = self._title_strength(title_count, significant, mass)
                if title != written:
                    strength *= WEIGHTS.guessed
                yield NamedTitle(label, strength)

    def _title_strength(self, title_count: int, words: list[str], mass: float) -> float:
        """How surely the title is meant, times its part of the question.

        A title that several notes share, such as the name of a person or place, counts in full,
        whatever its part of the question. It
        counts less if most notes that have its words have another title.
        """
        counts = [count for count in map(self._postings.count, stems(words)) if count]
        certainty = min(1.0, 2 * title_count / min(counts)) if counts else 1.0
        if title_count > 1:
            return certainty
        title_rarity = sum(rarity(count, self._stats.notes) for count in counts)
        return certainty * min(1.0, title_rarity / mass) if mass else 0.0


def _possible_titles(words: list[str]) -> dict[str, tuple[int, list[str]]]:
    """By label, each title that may stand in these words: where it begins, and its words."""
    return {
        title_label(" ".join(words[start:end])): (start, words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + LONGEST_TITLE, len(words)) + 1)
    }


def _weight_factor(
    word: QueryWord,
    alternatives: tuple[Alternative, ...],
    identifiers: set[str],
    date_words: set[str],
) -> float:
    """How much of its rarity a word weighs; `identifiers`: those that some note has as a whole."""
    if word.is_whole:
        return float(word.word in identifiers)  # if no note has it, only its parts count
    if word.within in identifiers:
        is_known = any(alternative.how in ("", "related") for alternative in alternatives)
        return WEIGHTS.identifier_part if is_known else 0.0
    if word.word in date_words:
        return WEIGHTS.hint
    return WEIGHTS.hint if not alternatives and is_unspaced(word.word) else 1.0


def _corrections(slots: list[Slot]) -> dict[str, str]:
    """By word that is taken for a typo, the most probable correction."""
    return {
        slot.word: slot.alternatives[0].name
        for slot in slots
        if slot.alternatives and slot.alternatives[0].how == "corrected"
    }


def _length(slots: list[Slot]) -> float:
    """Length of the query's vector: of all alternatives, and of unknown words themselves."""
    weights: dict[str, float] = {}
    for _, own_term, alternatives, mass in slots:
        terms = [alternative[:2] for alternative in alternatives if alternative.how != "meta"]
        for term, weight in terms or ((own_term, 1.0),):
            weights[term] = weights.get(term, 0.0) + weight * mass
    return hypot(*weights.values()) or 1.0
