"""Analyzes a note: terms by field, words as written, labels, groups. Knows no database."""

from collections import Counter
from functools import cache, lru_cache
from itertools import chain
from math import fsum, sqrt
from typing import TYPE_CHECKING
from zlib import adler32, crc32

from nuggets.domain.tags import without_system_tags
from nuggets.language.dates import DATE_LABEL, TIME_WORDS, date_labels, date_words
from nuggets.language.languages import LANGUAGES, LEAST_EVIDENCE, evidence
from nuggets.language.stemming import LONGEST_WORD, pieces, stems
from nuggets.language.text import fold_case, plain, tokens, without_contraction
from nuggets.language.word_lists import ENGLISH, stop_words
from nuggets.named_tuple import NamedTuple
from nuggets.search.index.postings import (
    CONTENT,
    IN_TAG,
    MOST_IN_CONTENT,
    TITLE,
    UNWEIGHTED,
    field_code,
    squares,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nuggets.domain.records import MemoryNote

LABEL = "="  # begins a key that no text can contain: an exact tag, a scope, a date
DATE = f"{LABEL}{DATE_LABEL}"
META = f"{LABEL}meta="  # before a word of the scope, type or subject
FIELD_SEPARATOR = " \0 "  # separates the title from the content where both are one text
GROUPS_KEPT = 4  # own tags of a note that make it part of a group
STOP, SAYS_WHEN, NAMES_DATE, FOREIGN = 1, 2, 4, 8  # marks of a word
MOST_TOKENS = 50_000  # remembered by a process: more than the words of most shelves
_ONCE = field_code(0, 1)  # of a term that stands in the content, once


class Analysis(NamedTuple):
    """What search stores of a note."""

    terms: dict[str, int]  # the field code of each
    labels: list[str]
    words: dict[str, int]  # as they are written, with how often; no numbers
    groups: list[str]  # tags
    length: int  # significant words, tags not counted
    norm: float  # length of its own vector
    says_when: bool
    language: int  # counted from 1 in `LANGUAGES`; 0 is English


Piece = tuple[str, str, int]  # a word of a token, its term and its marks


def own_tags(note: "MemoryNote") -> list[str]:
    """The tags without those that every note has, which say nothing about its topic."""
    return without_system_tags(note.tags, note.nugget_name)


def texts_of(note: "MemoryNote") -> tuple[str, str, str]:
    """The texts of the fields, in the order of `postings.FIELDS`."""
    return note.title, note.content, " ".join(own_tags(note))


def groups_of(note: "MemoryNote") -> list[str]:
    """The tags by which it belongs to groups."""
    return list(dict.fromkeys(own_tags(note)))[:GROUPS_KEPT]


def date_terms(note: "MemoryNote", words: "Collection[str]") -> list[str]:
    """The terms of the dates that a note names; `words`: those of its words that dates have."""
    if not words:
        return []
    labels = date_labels(f"{note.title}{FIELD_SEPARATOR}{note.content}", words)
    return [LABEL + to_storable(label) for label in sorted(labels)]


@lru_cache(maxsize=256)
def meta_terms(scope: str, note_type: str, subject: str) -> tuple[str, ...]:
    """The terms of what a note says about itself; they are no part of its vector."""
    words = (scope, note_type, *subject.split(":"))
    return tuple(dict.fromkeys(META + to_storable(word) for word in words))


def vector_length(codes: bytes) -> float:
    """The length of the vector of terms with these field codes, in whatever order."""
    once = codes.count(_ONCE)  # most terms, and each adds just 1
    others = codes.translate(None, bytes((_ONCE, UNWEIGHTED)))
    return sqrt(fsum((once, *map(squares().__getitem__, others))))


def title_key(title: str) -> str:
    """How a title is recognised inside a question."""
    if title.isascii() and "'" not in title:
        return " ".join(tokens(title.lower()))
    return " ".join(plain(word) for token in tokens(title) for word in without_contraction(token))


def title_label(key: str) -> str:
    """The label of a title, given as `title_key`: a checksum, because titles are long."""
    name = key.encode("utf-8", "replace")
    return f"{LABEL}title={crc32(name) << 16 | adler32(name) & 0xFFFF:x}"


def analyze(note: "MemoryNote") -> Analysis:
    """Read the note in the language that it is written in."""
    fields = [tokens(text) for text in texts_of(note)]
    reading = _Reading(fields, ENGLISH)
    language = _language(reading) if reading.marks & FOREIGN else 0
    if language:
        reading = _Reading(fields, LANGUAGES[language - 1])
    terms = reading.terms()
    for term in date_terms(note, reading.dated):
        terms[term] = field_code(0, 1)
    for term in meta_terms(note.scope, note.type, note.subject):
        terms[term] = UNWEIGHTED
    return Analysis(
        terms,
        labels_of(note),
        reading.words,
        groups_of(note),
        reading.length(),
        vector_length(bytes(terms.values())),
        reading.marks & SAYS_WHEN > 0,
        language,
    )


class _Reading:
    """The words of a note, read as words of one language."""

    def __init__(self, fields: "Sequence[list[str]]", language: str) -> None:
        """`fields`: the tokens of each."""
        lexicon = lexicon_of(language)
        lexicon.forget_if_many()
        self.words: dict[str, int] = {}  # how often each stands
        self.stopped: dict[str, int] = {}  # how often stop words stand, by term
        self.dated: set[str] = set()
        self.marks = 0
        self.fields = [
            self._count_terms(Counter(tokens), lexicon) if tokens else {} for tokens in fields
        ]

    def _count_terms(self, tokens: Counter[str], lexicon: "Lexicon") -> dict[str, int]:
        """How often each term stands in a field; plain words are counted without a loop."""
        other_tokens: dict[str, int] = {}
        pieces: dict[str, list[Piece]] = {}
        if not tokens.keys() <= lexicon.plain_terms.keys():
            missing = [token for token in tokens if token not in lexicon.plain_terms]
            pieces = lexicon.learn(missing)
            other_tokens = {token: tokens.pop(token) for token in pieces}
        term_of = lexicon.plain_terms.__getitem__
        terms = dict(zip(map(term_of, tokens), tokens.values(), strict=True))
        if len(terms) < len(tokens):  # several words of one term
            terms = dict(Counter(map(term_of, tokens.elements())))
        self.words = _add_counts(self.words, tokens)
        for token, count in other_tokens.items():
            for word, term, marks in pieces[token]:
                if not word.isdigit():  # numbers are neither corrected nor corrections
                    self.words[word] = self.words.get(word, 0) + count
                if not marks or not self._is_stopped(word, term, marks, count):
                    terms[term] = terms.get(term, 0) + count
        return terms

    def _is_stopped(self, word: str, term: str, marks: int, count: int) -> bool:
        """Record the marks of a word; whether it is a stop word."""
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
        codes = dict(content)
        if max(codes.values(), default=0) > MOST_IN_CONTENT:
            codes = {term: field_code(0, count) for term, count in codes.items()}
        for term, count in title.items():
            codes[term] = codes.get(term, 0) | field_code(count, 0)
        for term in tags:
            codes.setdefault(term, IN_TAG)
        for term in self.stopped:
            codes.setdefault(term, UNWEIGHTED)
        return codes


class Lexicon:
    """The tokens that this process has analyzed, as words of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._marks = _marks_of_words(language)
        self.plain_terms: dict[str, str] = {}  # of plain words: no marks, no numbers
        self._other_tokens: dict[str, list[Piece]] = {}

    def forget_if_many(self) -> None:
        """Bound the memory of a long-lived process."""
        if len(self.plain_terms) + len(self._other_tokens) > MOST_TOKENS:
            self.plain_terms.clear()
            self._other_tokens.clear()

    def learn(self, tokens: "Iterable[str]") -> dict[str, list[Piece]]:
        """Learn those of the tokens that are unknown; the pieces of all that are no plain words.

        Numbers and very long tokens are not remembered: hardly any of them comes again.
        """
        pieces: dict[str, list[Piece]] = {}
        unknown = []
        for token in tokens:
            known = self._other_tokens.get(token)
            if known is not None:
                pieces[token] = known
            elif token.isdigit() and token.isascii():
                number = token[:LONGEST_WORD]
                pieces[token] = [(number, number, self._marks.get(number, 0))]
            else:
                unknown.append(token)
        if unknown:
            self._learn_unknown(unknown, pieces)
        return pieces

    def _learn_unknown(self, unknown: list[str], pieces: dict[str, list[Piece]]) -> None:
        """Add the pieces of these tokens, of those that are no plain words."""
        for token, parts in self._pieces(unknown).items():
            has_digits = not token.isalpha() and any(map(str.isdigit, token))
            if has_digits or len(token) > LONGEST_WORD:
                pieces[token] = parts
                continue
            word, term, marks = parts[0] if len(parts) == 1 else ("", "", 0)
            if word == token and not marks:
                self.plain_terms[token] = term
            else:
                pieces[token] = self._other_tokens[token] = parts

    def _pieces(self, unknown: "Iterable[str]") -> dict[str, list[Piece]]:
        """The pieces of each token, with all words stemmed at once."""
        parted = {token: _words(token) for token in unknown}
        words = list(dict.fromkeys(chain.from_iterable(parted.values())))
        marks = self._marks
        pieces_by_word = {
            word: (to_storable(word), to_storable(term), marks.get(word, 0))
            for word, term in zip(words, stems(words, self._language), strict=True)
        }
        return {token: [pieces_by_word[word] for word in parts] for token, parts in parted.items()}


lexicon_of = cache(Lexicon)


def _add_counts(a: "Mapping[str, int]", b: "Mapping[str, int]") -> dict[str, int]:
    """The sums; few words are in both, and only these are added up in a loop."""
    sums = {**a, **b}
    for word in a.keys() & b.keys():
        sums[word] = a[word] + b[word]
    return sums


def _marks_of_words(language: str) -> dict[str, int]:
    """The marks of words in a language, for those that have any."""
    marked: tuple[tuple[int, Iterable[str]], ...] = (
        (STOP, stop_words(language)),
        (SAYS_WHEN, TIME_WORDS),
        (NAMES_DATE, date_words()),
        (FOREIGN, evidence() if language == ENGLISH else ()),
    )
    marks: dict[str, int] = {}
    for mark, words in marked:
        for word in words:
            marks[word] = marks.get(word, 0) | mark
    return marks


def _words(token: str) -> list[str]:
    # Most tokens are plain words or numbers: no need to look for parts.
    if token.isascii() and (
        token.isdigit() or (token.isalpha() and (token.islower() or token.istitle()))
    ):
        return [token.lower()[:LONGEST_WORD]]
    return pieces(token)


def to_storable(text: str) -> str:
    """The text as a database can store it: without halves of surrogate pairs."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _language(reading: _Reading) -> int:
    """Another language than English if the note has more of its common words than English ones."""
    languages_by_word, counts = evidence(), [0] * len(LANGUAGES)
    for word in languages_by_word.keys() & reading.words.keys():
        for place in range(len(LANGUAGES)):
            if languages_by_word[word] >> place & 1:
                counts[place] += reading.words[word]
    most = max(counts)
    if most < LEAST_EVIDENCE or most <= sum(reading.stopped.values()):
        return 0
    return counts.index(most) + 1


def labels_of(note: "MemoryNote") -> list[str]:
    """The labels by which filters and questions name notes exactly."""
    shared = _shared_labels(
        note.tags, note.subject, note.scope, note.type, note.nugget_name, note.kind, note.project
    )
    return [title_label(title_key(note.title)), *shared]


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
    """Labels without the title: many notes have the same."""
    named = [
        "subject=" + subject,
        "scope=" + scope,
        "type=" + kind_of_memory,
        "nugget=" + fold_case(nugget_name),
        "kind=" + kind,
        "project=" + project,
        *("tag=" + tag for tag in tags),
    ]
    return tuple(LABEL + to_storable(name) for name in dict.fromkeys(named))
