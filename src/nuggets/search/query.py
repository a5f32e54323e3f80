"""A question, understood: which terms it asks for, which titles and which days it names."""

from math import log
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.dates import ASKS_WHEN, Period, is_date_word, periods
from nuggets.search.english import abbreviations
from nuggets.search.reading import title_key
from nuggets.search.terms import is_stop, query_words, stems
from nuggets.search.vocabulary import LABEL, Vocabulary
from nuggets.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

# A query may be a whole page; its rarest words say what it is about, and time is bounded.
MOST_SLOTS = 64
# As if so many more notes without the word stood beside: in a small shelf a word that every
# note has still means something, and an unknown word does not outweigh it tenfold.
BACKGROUND_NOTES = 50
RELATED = 0.7  # an abbreviation and its long form
PREFIX = 0.5  # "auth" and "authentic": probably the same root
PREFIX_OF_UNKNOWN = 0.7  # nobody uses the word itself, so the relation is all there is
CORRECTED = 0.8
META = 0.6  # the word names a scope, type or subject
SHORTEST_ROOT = 4  # letters
ROOT_SHARE = 0.5  # of the longer word's letters
MOST_RELATIVES = 6
LONGEST_TITLE = 6  # words of a title recognised inside a question
DATE_WORD=0.1
ASKING_WORD=0.6
POWER=1.0
ASKING_WORDS=frozenset("kind kinds type types sort many much long often way ways thing things something name names mention mentioned mentions say says said tell told describe described discuss discussed according new like likes use uses used get give gave".split())
WHOLE_IDENTIFIER = 0.5  # its parts carry the rest


class Alternative(NamedTuple):
    """One term that answers a query word."""

    term: int
    weight: float
    how: str  # "" the word itself; else "related", "prefix", "corrected", "meta"
    name: str


class Slot(NamedTuple):
    """One word of the query with all that may answer it."""

    word: str
    alternatives: tuple[Alternative, ...]
    rarity: float  # idf
    mass: float  # what the word weighs in the query


class Query(NamedTuple):
    text: str
    slots: tuple[Slot, ...]
    mass: float
    titles: tuple[tuple[int, float], ...]  # label of a named title, share of the query's mass
    asks_when: bool
    periods: tuple[Period, ...]


def rarity(count: int, notes: int) -> float:
    """Inverse document frequency, never negative."""
    total = notes + BACKGROUND_NOTES
    return log(1 + (total - count + 0.5) / (count + 0.5))**POWER


def understand(text: str, vocabulary: Vocabulary, notes: int, years: range) -> Query:
    """Read the question in the light of what the notes say."""
    asked = _asked(text)
    when = periods(text, years)
    if when:
        asked = [(w, t, s * DATE_WORD if is_date_word(w) else s) for w, t, s in asked]
    asked = [(w, t, s * ASKING_WORD if w in ASKING_WORDS else s) for w, t, s in asked]
    slots = [_slot(word, term, share, vocabulary, notes) for word, term, share in asked]
    slots = [slot for slot in slots if slot.mass > 0]
    if len(slots) > MOST_SLOTS:
        rarest = sorted(slots, key=lambda slot: (not slot.alternatives, -slot.mass, slot.word))
        slots = rarest[:MOST_SLOTS]
    mass = sum(slot.mass for slot in slots)
    titles = tuple(_titles(text, vocabulary, notes, mass))
    return Query(
        text,
        tuple(slots),
        mass,
        titles,
        ASKS_WHEN.search(text) is not None,
        tuple(when),
    )


def _asked(text: str) -> list[tuple[str, str, float]]:
    """Distinct words with their terms and shares; stop words only if there is nothing else."""
    found: dict[str, float] = {}
    for token in dict.fromkeys(tokens(text)):
        words, whole = query_words(token)
        for word in words:
            found[word] = 1.0
        if whole:
            found.setdefault(whole, WHOLE_IDENTIFIER)
    chosen = {word: share for word, share in found.items() if not is_stop(word)} or found
    terms: dict[str, tuple[str, float]] = {}
    for word, term in zip(chosen, stems(chosen), strict=True):
        terms.setdefault(term, (word, chosen[word]))
    return [(word, term, share) for term, (word, share) in terms.items()]


def _slot(word: str, term: str, share: float, vocabulary: Vocabulary, notes: int) -> Slot:
    itself = vocabulary.in_use(term)
    if share == WHOLE_IDENTIFIER and itself is None:
        return Slot(word, (), 0.0, 0.0)  # an identifier nobody wrote like that: its parts count
    found: dict[int, Alternative] = {}
    if itself is not None:
        found[itself] = Alternative(itself, 1.0, "", term)
    for relative in _relatives(word, term, vocabulary, itself is None):
        found.setdefault(relative.term, relative)
    if not found and share != WHOLE_IDENTIFIER:
        for name, number in vocabulary.corrected(word):
            found.setdefault(number, Alternative(number, CORRECTED, "corrected", name))
    counted = max((vocabulary.count(number) for number in found), default=0)
    rare = rarity(vocabulary.count(itself) if itself is not None else counted, notes)
    meta = vocabulary.in_use(LABEL + "meta=" + word)
    if meta is not None:
        weight = META * min(1.0, rarity(vocabulary.count(meta), notes) / rare)
        found[meta] = Alternative(meta, weight, "meta", word)
    return Slot(word, tuple(found.values()), rare, rare * share)


def _relatives(
    word: str, term: str, vocabulary: Vocabulary, unknown: bool
) -> "Iterator[Alternative]":
    """Terms of the same root, nearest first."""
    for long in stems(_abbreviations().get(word, ())):
        number = vocabulary.in_use(long)
        if number is not None:
            yield Alternative(number, RELATED, "related", long)
    if len(term) < SHORTEST_ROOT or not term.isalpha():
        return
    weight = PREFIX_OF_UNKNOWN if unknown else PREFIX
    left = MOST_RELATIVES
    for length in range(len(term) - 1, max(SHORTEST_ROOT, int(len(term) * ROOT_SHARE + 0.5)) - 1, -1):
        number = vocabulary.in_use(term[:length])
        if number is not None:
            yield Alternative(number, weight, "prefix", term[:length])
    for name in vocabulary.beginning(term):
        if name != term and len(name) * ROOT_SHARE <= len(term) and left:
            left -= 1
            yield Alternative(vocabulary.terms[name], weight, "prefix", name)


_table: dict[str, tuple[str, ...]] = {}


def _abbreviations() -> dict[str, tuple[str, ...]]:
    if not _table:
        _table.update(abbreviations())
    return _table


def _titles(
    text: str, vocabulary: Vocabulary, notes: int, mass: float
) -> "Iterator[tuple[int, float]]":
    """Titles that stand in the question as they are, with the share of it they make up."""
    words = title_key(text).split()[: MOST_SLOTS * 4]
    seen = set()
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_TITLE, len(words)) + 1):
            label = vocabulary.in_use(LABEL + "title=" + " ".join(words[start:end]))
            if label is None or label in seen or all(map(is_stop, words[start:end])):
                continue
            seen.add(label)
            named = sum(
                rarity(vocabulary.count(vocabulary.terms.get(term, -1)), notes)
                for word, term in zip(words[start:end], stems(words[start:end]), strict=True)
                if not is_stop(word) and term in vocabulary.terms
            )
            yield label, min(1.0, named / mass) if mass else 0.0
