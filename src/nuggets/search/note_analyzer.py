"""A note taken apart: terms by field, words as written, labels, groups. Knows no database."""

from collections import Counter
from functools import cache, lru_cache
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from nuggets.search.dates import DATE_LABEL, TIME_WORDS, date_labels, date_words
from nuggets.search.languages import ENGLISH, LANGUAGES, LEAST_EVIDENCE, evidence, stop_words
from nuggets.search.postings import (
    CONTENT,
    IN_TAG,
    MOST_IN_CONTENT,
    TITLE,
    UNWEIGHTED,
    field_code,
    squares,
)
from nuggets.search.terms import LONGEST_WORD, pieces, stems
from nuggets.text import folded, normal_tag, plain, tokens, without_contraction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nuggets.records import MemoryNote

LABEL = "="  # begins a key that no text can contain: an exact tag, a scope, a date
DATE = f"{LABEL}{DATE_LABEL}"
META = f"{LABEL}meta="  # before a word of the scope, type or subject
BETWEEN = " \0 "  # separates the title from the content where both are one text
GROUPS_KEPT = 4  # own tags of a note that make it part of a group
STOP, SAYS_WHEN, NAMES_DATE, FOREIGN = 1, 2, 4, 8  # marks of a word
MOST_TOKENS = 100_000  # remembered by a process


class Analysis(NamedTuple):
    """What search keeps of a note."""

    terms: dict[str, int]  # the field code of each; dates are terms of the content
    labels: list[str]
    words: dict[str, int]  # as they are written, with how often
    groups: list[str]  # tags
    length: int  # significant words, tags not counted
    norm: float  # length of its own vector
    says_when: bool
    language: int  # counted from 1 in `LANGUAGES`; 0 is English


Piece = tuple[str, str, int]  # a word of a token, its term and its marks


_nugget_tag = lru_cache(maxsize=64)(normal_tag)


def own_tags(note: "MemoryNote") -> list[str]:
    """Without those that every note has by rule: they say nothing about its topic."""
    system = _nugget_tag(note.nugget_name)
    return [tag for tag in note.tags if tag != system and not tag.startswith(("scope:", "type:"))]


def title_key(title: str) -> str:
    """How a title is recognised inside a question."""
    if title.isascii() and "'" not in title:
        return " ".join(tokens(title.lower()))
    return " ".join(plain(word) for token in tokens(title) for word in without_contraction(token))


def analyze(note: "MemoryNote") -> Analysis:
    """Read the note in the language that it is written in."""
    tags = own_tags(note)
    texts = (note.title, note.content, " ".join(tags))
    counted = [Counter(tokens(text)) for text in texts]
    reading = _Reading(counted, ENGLISH)
    language = _language(reading) if reading.marks & FOREIGN else 0
    if language:
        reading = _Reading(counted, LANGUAGES[language - 1])
    terms = reading.terms()
    if reading.dated:
        said = f"{note.title}{BETWEEN}{note.content}"
        for label in sorted(date_labels(said, reading.dated)):
            terms[LABEL + to_storable(label)] = field_code(0, 1)
    for word in (note.scope, note.type, *note.subject.split(":")):
        terms[META + to_storable(word)] = UNWEIGHTED
    weights = squares()
    return Analysis(
        terms,
        _labels(note),
        reading.words,
        list(dict.fromkeys(tags))[:GROUPS_KEPT],
        reading.length(),
        sqrt(sum([weights[code] for code in terms.values()])),
        reading.marks & SAYS_WHEN > 0,
        language,
    )


class _Reading:
    """The words of a note, read as words of one language."""

    def __init__(self, counted: "list[Counter[str]]", language: str) -> None:
        known = _learn(counted, language)
        self.words: dict[str, int] = {}
        self.fields: tuple[dict[str, int], ...] = ({}, {}, {})
        self.stopped: dict[str, int] = {}  # how often stop words stand, by term
        self.dated: set[str] = set()
        self.marks = 0
        words = self.words
        for tokens_of_field, terms in zip(counted, self.fields, strict=True):
            for token, count in tokens_of_field.items():
                for word, term, marks in known[token]:
                    words[word] = words.get(word, 0) + count
                    if marks and self._is_stopped(word, term, marks, count):
                        continue
                    terms[term] = terms.get(term, 0) + count

    def _is_stopped(self, word: str, term: str, marks: int, count: int) -> bool:
        """Note what a marked word tells; whether it says nothing by itself."""
        self.marks |= marks
        if marks & NAMES_DATE:
            self.dated.add(word)
        if marks & STOP:
            self.stopped[term] = self.stopped.get(term, 0) + count
        return marks & STOP > 0

    def length(self) -> int:
        """Significant words, tags not counted."""
        return sum(self.fields[TITLE].values()) + sum(self.fields[CONTENT].values())

    def terms(self) -> dict[str, int]:
        """The field code of each term. A tag that repeats a word of the text adds nothing."""
        title, content, tags = self.fields
        codes = content.copy()
        if max(codes.values(), default=0) > MOST_IN_CONTENT:
            codes = {term: field_code(0, count) for term, count in codes.items()}
        for term, count in title.items():
            codes[term] = codes.get(term, 0) | field_code(count, 0)
        for term in tags:
            codes.setdefault(term, IN_TAG)
        for term in self.stopped:
            codes.setdefault(term, UNWEIGHTED)
        return codes


@cache
def _known(language: str) -> dict[str, tuple[Piece, ...]]:
    """Tokens that this process has met."""
    return {}


def _learn(counted: "list[Counter[str]]", language: str) -> "Mapping[str, tuple[Piece, ...]]":
    """The pieces of at least these tokens."""
    known = _known(language)
    unknown = [token for tokens in counted for token in tokens if token not in known]
    if unknown:
        if len(known) > MOST_TOKENS:
            known.clear()
            unknown = [token for tokens in counted for token in tokens]
        known.update(_pieces(dict.fromkeys(unknown), language))
    return known


def _pieces(unknown: "Iterable[str]", language: str) -> dict[str, tuple[Piece, ...]]:
    """The pieces of each token, with all words stemmed at once."""
    parted = {token: _words(token) for token in unknown}
    words = list(dict.fromkeys(word for found in parted.values() for word in found))
    stop, when, dates = stop_words(language), TIME_WORDS, date_words()
    foreign = evidence() if language == ENGLISH else {}
    made = {}
    for word, term in zip(words, stems(words, language), strict=True):
        marks = STOP * (word in stop) | SAYS_WHEN * (word in when)
        marks |= NAMES_DATE * (word in dates)
        made[word] = (to_storable(word), to_storable(term), marks | FOREIGN * (word in foreign))
    return {token: tuple(made[word] for word in found) for token, found in parted.items()}


def _words(token: str) -> list[str]:
    # Most tokens are plain words: no need to look for parts.
    if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
        return [token.lower()[:LONGEST_WORD]]
    return pieces(token)


def to_storable(text: str) -> str:
    """The text as a database can keep it: half of a surrogate pair is no letter."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _language(reading: _Reading) -> int:
    """Another language than English if the note has more of its common words than English ones."""
    known, counts = evidence(), [0] * len(LANGUAGES)
    for word in known.keys() & reading.words.keys():
        for place in range(len(LANGUAGES)):
            if known[word] >> place & 1:
                counts[place] += reading.words[word]
    most = max(counts)
    if most < LEAST_EVIDENCE or most <= sum(reading.stopped.values()):
        return 0
    return counts.index(most) + 1


def _labels(note: "MemoryNote") -> list[str]:
    """What filters and questions name exactly."""
    shared = _shared_labels(
        note.tags, note.subject, note.scope, note.type, note.nugget_name, note.kind, note.project
    )
    return [to_storable(f"{LABEL}title={title_key(note.title)}"), *shared]


@lru_cache(maxsize=1024)
def _shared_labels(
    tags: tuple[str, ...],
    subject: str,
    scope: str,
    kind_of_memory: str,
    nugget_name: str,
    kind: str,
    project: str,
) -> tuple[str, ...]:
    """What many notes have in common."""
    named = [
        "subject=" + subject,
        "scope=" + scope,
        "type=" + kind_of_memory,
        "nugget=" + folded(nugget_name),
        "kind=" + kind,
        "project=" + project,
        *("tag=" + tag for tag in tags),
    ]
    return tuple(LABEL + to_storable(name) for name in dict.fromkeys(named))
