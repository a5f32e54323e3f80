"""Analyzes a note: terms by field, words as written, labels, groups. Knows no database."""

from functools import cache, lru_cache
from itertools import chain, filterfalse, repeat
from math import fsum, sqrt
from typing import TYPE_CHECKING

from nuggets.domain.names_and_tags import without_system_tags
from nuggets.language.dates import TIME_WORDS, date_labels, date_words
from nuggets.language.languages import LANGUAGES, evidence, outweighs_english, stems
from nuggets.language.text import (
    fold_case,
    pieces,
    plain,
    tokens,
    without_contraction,
)
from nuggets.language.word_lists import ENGLISH, stop_words
from nuggets.named_tuple import NamedTuple
from nuggets.search.postings import (
    IN_TAG,
    MOST_KEYS,
    UNWEIGHTED,
    encode,
    level_of,
    square,
    term_key,
)
from nuggets.search.weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from nuggets.domain.records import MemoryNote

LABEL = "="  # begins a key that no text can contain: an exact tag, a scope, a date
META = f"{LABEL}meta="  # before the stem of a word of the nugget's name, the scope, type or subject
FIELD_SEPARATOR = " \0 "  # separates the title from the content where both are one text
STOP, SAYS_WHEN, NAMES_DATE, FOREIGN, NUMBER = 1, 2, 4, 8, 16  # marks of a word


class Analysis(NamedTuple):
    """What search stores of a note."""

    codes: dict[int, int]  # by the key of each term and label
    tokens: set[str]  # all that it is made of
    length: int  # significant words, tags not counted
    norm: float  # length of its own vector
    says_when: bool
    language: int  # counted from 1 in `LANGUAGES`; 0 is English
    dates: list[str]  # terms of the dates that it names


Piece = tuple[str, str, int]  # a word of a token, its term and its marks


def own_tags(note: "MemoryNote") -> list[str]:
    """The tags without those that every note has, which say nothing about its topic."""
    return without_system_tags(note.tags, note.nugget_name)


def title_key(title: str) -> str:
    """How a title is recognised inside a question."""
    if title.isascii() and "'" not in title:
        return " ".join(tokens(title.lower()))
    return " ".join(plain(word) for token in tokens(title) for word in without_contraction(token))


def title_label(key: str) -> str:
    """The label of a title, given as `title_key`."""
    return f"{LABEL}title={key}"


def tag_label(tag: str) -> str:
    return f"{LABEL}tag={tag}"


def analyze(note: "MemoryNote") -> Analysis:
    """Read the note in the language that it is written in."""
    fields = [tokens(text) for text in (note.title, note.content, " ".join(own_tags(note)))]
    reading = _Reading(fields, ENGLISH)
    language = _language(reading, fields) if reading.marks & FOREIGN else 0
    if language:
        reading = _Reading(fields, LANGUAGES[language - 1])
    text = f"{note.title}{FIELD_SEPARATOR}{note.content}" if reading.dated else ""
    dates = [LABEL + label for label in date_labels(text, reading.dated)]
    codes = reading.codes()
    codes.update(dict.fromkeys(map(term_key, dates), encode(0, 1.0)))
    codes.update(dict.fromkeys(map(term_key, labels_of(note)), UNWEIGHTED))
    return Analysis(
        codes,
        reading.tokens,
        reading.length,
        sqrt(fsum(map(square, codes.values()))),
        reading.marks & SAYS_WHEN > 0,
        language,
        dates,
    )


def names_of(note: "MemoryNote", analysis: Analysis) -> set[str]:
    """The terms and labels of the note."""
    lexicon = lexicon_of(LANGUAGES[analysis.language - 1] if analysis.language else ENGLISH)
    terms = (term for token in analysis.tokens for _, term, _ in lexicon[token])
    return {*terms, *analysis.dates, *labels_of(note)}


class _Reading:
    """The words of a note, read as words of one language; terms are named by their keys."""

    def __init__(self, fields: "Sequence[list[str]]", language: str) -> None:
        """`fields`: the tokens of title, content and tags."""
        self._lexicon = lexicon_of(language)
        self.tokens = set().union(*fields)
        self._lexicon.learn(self.tokens)
        self.stopped: dict[int, int] = {}  # how often stop words stand
        self.dated: set[str] = set()
        self.marks = 0
        self.length = 0
        title, content, tags = fields
        self._title = self._weigh(title, repeat(1))
        self._content = self._weigh(content, position_weights(len(content)))
        length = self.length
        self._tags = self._weigh(tags, repeat(1))
        self.length = length

    def _weigh(self, field: list[str], weights: "Iterable[float]") -> dict[int, float]:
        """By term, the sum of the weights of its places."""
        key_of, stopped, length = self._lexicon.keys_of_plain.get, self.stopped, 0
        sums: dict[int, float] = {}
        for token, weight in zip(field, weights):  # noqa: B905  there may be more weights
            key = key_of(token)
            if key is None:
                length += self._weigh_pieces(token, weight, sums)
            elif key >= 0:
                length += 1
                sums[key] = sums.get(key, 0) + weight
            else:
                stopped[~key] = stopped.get(~key, 0) + 1
        self.length += length
        return sums

    def _weigh_pieces(self, token: str, weight: float, sums: dict[int, float]) -> int:
        """Add a token that has marks or several words; how many of them are significant."""
        length = 0
        for word, term, marks in self._lexicon[token]:
            self.marks |= marks
            if marks & NAMES_DATE:
                self.dated.add(word)
            key = term_key(term)
            if marks & STOP:
                self.stopped[key] = self.stopped.get(key, 0) + 1
            else:
                length += 1
                sums[key] = sums.get(key, 0) + weight
        return length

    def codes(self) -> dict[int, int]:
        """The code of each term. A tag that repeats a word of the text adds nothing."""
        codes, content = dict.fromkeys(self.stopped, UNWEIGHTED), self._content
        codes.update(dict.fromkeys(self._tags, IN_TAG))
        codes.update(zip(content, map(level_of, content.values()), strict=True))
        for key, times in self._title.items():
            codes[key] = encode(int(times), content.get(key, 0.0))
        return codes


_position_weights: list[float] = []


def position_weights(count: int) -> list[float]:
    """What a word counts at each place of the content, for so many places at least."""
    known = len(_position_weights)
    if known < count:
        half = WEIGHTS.position
        _position_weights.extend(half / (half + place) for place in range(known, 2 * count))
    return _position_weights


class Lexicon(dict[str, tuple[Piece, ...]]):
    """The pieces of tokens that this process has analyzed, as words of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._marked: tuple[tuple[int, Container[str]], ...] = (
            (STOP, stop_words(language)),
            (SAYS_WHEN, TIME_WORDS),
            (NAMES_DATE, date_words()),
            (FOREIGN, evidence() if language == ENGLISH else ()),
        )
        # By token the key of its term, if it is one word; below 0 (`~key`) if that is a stop word.
        # Not for words with other marks.
        self.keys_of_plain: dict[str, int] = {}

    def learn(self, tokens: set[str]) -> None:
        """Take apart those of the tokens that are unknown; all of their words are stemmed at once.

        A process that has learned many forgets them first, so that its memory is bounded.
        """
        if len(self) > MOST_KEYS:
            self.clear()
            self.keys_of_plain.clear()
        marked = tokens.difference(self.keys_of_plain)  # if they are known; most are plain
        parted = {token: pieces(token) for token in filterfalse(self.__contains__, marked)}
        if not parted:
            return
        words = list({word: None for parts in parted.values() for word in parts})
        pieces_by_word = {
            word: (word, term, self._marks_of(word))
            for word, term in zip(words, stems(words, self._language), strict=True)
        }
        for token, parts in parted.items():
            self[token] = tuple([pieces_by_word[word] for word in parts])
            if len(parts) == 1:
                _, term, marks = self[token][0]
                if not marks & ~(STOP | NUMBER):
                    key = term_key(term)
                    self.keys_of_plain[token] = ~key if marks & STOP else key

    def _marks_of(self, word: str) -> int:
        marks = NUMBER if word.isdigit() else 0
        for mark, words in self._marked:
            if word in words:
                marks |= mark
        return marks


lexicon_of = cache(Lexicon)


def words_of(tokens: set[str], language: int) -> set[tuple[str, str]]:
    """The words that notes are made of, as they are written, with their terms. Numbers are left
    out: they are neither corrected nor corrections."""
    lexicon = lexicon_of(LANGUAGES[language - 1] if language else ENGLISH)
    lexicon.learn(tokens)
    pieces = chain.from_iterable(map(lexicon.__getitem__, tokens))
    return {(word, term) for word, term, marks in pieces if not marks & NUMBER}


def _language(reading: _Reading, fields: "Sequence[list[str]]") -> int:
    """Another language than English if the note has more of its common words than English ones."""
    languages_by_word, counts = evidence(), [0] * len(LANGUAGES)
    lexicon = lexicon_of(ENGLISH)
    for token in (token for field in fields for token in field):
        for word, _, marks in lexicon[token]:
            if marks & FOREIGN:
                for place in range(len(LANGUAGES)):
                    counts[place] += languages_by_word[word] >> place & 1
    most = max(counts)
    is_other = outweighs_english(most, sum(reading.stopped.values()))
    return counts.index(most) + 1 if is_other else 0


def labels_of(note: "MemoryNote") -> tuple[str, ...]:
    """The labels by which filters and questions name notes exactly, and the terms of what a note
    says about itself. Neither is part of its vector."""
    shared = _shared_labels(
        note.tags, note.subject, note.scope, note.type, note.nugget_name, note.kind, note.project
    )
    return (title_label(title_key(note.title)), *shared)


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
    """Those without the title: many notes have the same."""
    named = (
        "subject=" + subject,
        "scope=" + scope,
        "type=" + kind_of_memory,
        "nugget=" + fold_case(nugget_name),
        "kind=" + kind,
        "project=" + project,
        *("tag=" + tag for tag in tags),
    )
    labels = dict.fromkeys(LABEL + name for name in named)
    return (*labels, *_meta_terms(nugget_name, scope, kind_of_memory, subject))


@lru_cache(maxsize=256)
def _meta_terms(nugget: str, scope: str, note_type: str, subject: str) -> tuple[str, ...]:
    name = chain.from_iterable(map(pieces, tokens(nugget)))
    words = (*name, "scope", *tokens(scope), "type", *tokens(note_type), *tokens(subject))
    return tuple(dict.fromkeys(META + stem for stem in stems(words)))
