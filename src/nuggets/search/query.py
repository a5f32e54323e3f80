"""A question, understood: which terms it asks for, which titles and which days it names."""

from math import hypot
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.dates import (
    DATE_LABEL,
    Period,
    WrittenDate,
    asked_labels,
    asks_when,
    periods,
)
from nuggets.search.english import ASKING_WORDS
from nuggets.search.note_analyzer import LABEL, title_key, to_storable
from nuggets.search.term_expansion import Alternative, TermExpansion, rarity
from nuggets.search.terms import is_stop, pieces, stems
from nuggets.search.tokenized_query import QueryWord, tokenize_query
from nuggets.text import is_unspaced, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nuggets.search.snapshot import Snapshot

# A query may be a whole page; its rarest words say what it is about, and time is bounded.
MOST_SLOTS = 64

# How much of its rarity a word weighs in the question.
IDENTIFIER_PART = 0.5  # of one that some note has as a whole
ASKING_WORD = 0.6  # "kind", "many": belongs to the asking more than to what is asked
DATE_WORD = 0.1  # the day itself is compared, not how it was written
STRADDLING = 0.2  # two letters that nobody has together: most often the seam of two words
# Talk around a question is not what is asked: the words that nobody knows weigh together at most
# so many times what the known ones weigh, or as much as one of them if the known ones say little.
UNKNOWN_TO_KNOWN = 1.5

LONGEST_TITLE = 6  # words of a title recognised inside a question
SHARED_TITLE = 3  # notes with one title: a person, a place, a matter


class Slot(NamedTuple):
    """One word of the query with all that may answer it."""

    word: str
    term: str  # "" for a date
    alternatives: tuple[Alternative, ...]
    mass: float  # what the word weighs
    rarity: float  # the same before talk was toned down


class NamedTitle(NamedTuple):
    """A title that stands in the question."""

    label: str
    strength: float  # in [0, 1]


class Query(NamedTuple):
    """The question in the terms of the index."""

    slots: tuple[Slot, ...]
    mass: float
    length: float  # of its vector
    titles: tuple[NamedTitle, ...]
    asks_when: bool
    periods: tuple[Period, ...]


class QueryReader:
    """Understands questions in the light of what the notes say."""

    def __init__(self, snapshot: "Snapshot") -> None:
        self._snapshot = snapshot
        self._index = snapshot.index
        self._expansion = TermExpansion(snapshot)

    def understand(self, text: str) -> Query:
        """Read the question."""
        question = tokenize_query(text)
        slots = self._slots(self._rarest(question.words), question.dates)
        slots = self._add_joined_words(slots, question.neighbours)
        slots = _dampen_unknown_words([*slots, *self._date_slots(question.dates)])
        mass = sum(slot.mass for slot in slots)
        return Query(
            tuple(slots),
            mass,
            _length(slots),
            tuple(self._titles(text, mass)),
            asks_when(text),
            tuple(periods(question.dates, self._snapshot.stats.years)),
        )

    def _rarest(self, words: list[QueryWord]) -> list[QueryWord]:
        """The words that matter most: the rarest that are known, then those that nobody knows."""
        if len(words) <= MOST_SLOTS:
            return words
        self._index.read_counts(one.term for one in words)
        counts = [self._index.count(one.term) for one in words]
        order = sorted(range(len(words)), key=lambda place: (not counts[place], counts[place]))
        return [words[place] for place in order[:MOST_SLOTS]]

    def _slots(self, words: list[QueryWord], dates: list[WrittenDate]) -> list[Slot]:
        self._index.read_counts(one.term for one in words)
        whole = {one.word for one in words if one.is_whole and self._index.count(one.term)}
        dated = self._date_words(dates)
        slots = []
        for one, expansions in zip(words, self._expansion.expand(words), strict=True):
            for alternatives, rare in expansions:
                weight = rare * _share(one, alternatives, whole, dated)
                if weight:
                    slots.append(Slot(one.word, one.term, alternatives, weight, weight))
        return slots

    def _date_words(self, dates: list[WrittenDate]) -> set[str]:
        """Words of written dates; a bare number that some note has may be no year."""
        return {
            word
            for one in dates
            for token in tokens(one.text)
            for word in pieces(token)
            if one.month or not self._index.count(word)
        }

    def _date_slots(self, dates: list[WrittenDate]) -> "Iterator[Slot]":
        """The days and months themselves, where notes name them."""
        for date in dict.fromkeys(dates):
            found = {
                LABEL + label: Alternative(
                    LABEL + label, weight, "date", label.removeprefix(DATE_LABEL)
                )
                for label, weight in asked_labels(date).items()
                if self._index.count(LABEL + label)
            }
            if found:
                rare = self._expansion.rarity(found)
                yield Slot(date.text, "", tuple(found.values()), rare, rare)

    def _add_joined_words(self, slots: list[Slot], neighbours: list[tuple[str, str]]) -> list[Slot]:
        """The slots, answered too by notes that write two words of the question as one."""
        joined = self._expansion.joined_words(neighbours)
        if not joined:
            return slots
        return [
            slot._replace(
                alternatives=_merge_alternatives(joined.get(slot.word, []), slot.alternatives)
            )
            for slot in slots
        ]

    def _titles(self, text: str, mass: float) -> "Iterator[NamedTitle]":
        """Titles that stand in the question as they are."""
        words = to_storable(title_key(text)).split()[: 4 * MOST_SLOTS]
        names = {
            f"{LABEL}title={' '.join(words[start:end])}": words[start:end]
            for start in range(len(words))
            for end in range(start + 1, min(start + LONGEST_TITLE, len(words)) + 1)
        }
        for label, titled in self._snapshot.vocabulary.label_counts(list(names)).items():
            named = [word for word in names[label] if not is_stop(word)]
            if named:
                yield NamedTitle(label, self._strength(titled, named, mass))

    def _strength(self, titled: int, words: list[str], mass: float) -> float:
        """How surely the title is meant, and how much of the question it is.

        A name that many notes bear stands for all of them, however little it says of each; but
        not if the word is a common one that happens to be a title here and there.
        """
        counts = [count for count in map(self._index.count, stems(words)) if count]
        meant = min(1.0, 2 * titled / min(counts)) if counts else 1.0
        if titled >= SHARED_TITLE:
            return meant
        named = sum(rarity(count, self._snapshot.stats.notes) for count in counts)
        return meant * min(1.0, named / mass) if mass else 0.0


def _share(
    asked: QueryWord, alternatives: tuple[Alternative, ...], whole: set[str], dated: set[str]
) -> float:
    """How much of its rarity a word weighs; `whole`: the identifiers that notes have."""
    if asked.is_whole:
        return float(asked.word in whole)  # if nobody wrote it like that, its parts count
    if asked.within in whole:
        known = any(one.how in ("", "related") for one in alternatives)
        return IDENTIFIER_PART if known else 0.0
    if asked.word in dated:
        return DATE_WORD
    if asked.word in ASKING_WORDS:
        return ASKING_WORD
    return STRADDLING if not alternatives and is_unspaced(asked.word) else 1.0


def _merge_alternatives(
    more: list[Alternative], alternatives: tuple[Alternative, ...]
) -> tuple[Alternative, ...]:
    """Each term once."""
    return tuple({one.term: one for one in (*more, *alternatives)}.values())


def _dampen_unknown_words(slots: list[Slot]) -> list[Slot]:
    """The words with those that nobody knows toned down, if they drown the others."""
    unknown = [slot.mass for slot in slots if not slot.alternatives]
    if len(unknown) in (0, len(slots)):
        return slots
    known = sum(slot.mass for slot in slots if slot.alternatives)
    less = max(UNKNOWN_TO_KNOWN * known, *unknown) / sum(unknown)
    if less >= 1:
        return slots
    return [slot if slot.alternatives else slot._replace(mass=slot.mass * less) for slot in slots]


def _length(slots: list[Slot]) -> float:
    """Of the query's vector: its terms and those that stand for them, unknown ones included."""
    weights: dict[str, float] = {}
    for _, itself, alternatives, mass, _ in slots:
        known = [one[:2] for one in alternatives if one.how != "meta"]
        for term, weight in known or ((itself, 1.0),):
            weights[term] = weights.get(term, 0.0) + weight * mass
    return hypot(*weights.values()) or 1.0
