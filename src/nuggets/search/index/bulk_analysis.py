"""Many notes taken apart at once with NumPy: what `note_analyzer` finds note by note, in a fifth of
the time, because a process takes each token apart once and counts it as a number.

A note that may be in another language than English is left to `note_analyzer`.
"""

from array import array
from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from nuggets.language.languages import LEAST_EVIDENCE
from nuggets.language.text import tokens
from nuggets.language.word_lists import ENGLISH
from nuggets.named_tuple import NamedTuple
from nuggets.search.index.note_analyzer import (
    FOREIGN,
    NAMES_DATE,
    SAYS_WHEN,
    STOP,
    Analysis,
    analyze,
    date_terms,
    groups_of,
    labels_of,
    lexicon_of,
    meta_terms,
    texts_of,
    vector_length,
)
from nuggets.search.index.postings import (
    CONTENT,
    FIELDS,
    IN_TAG,
    MOST_IN_CONTENT,
    MOST_IN_TITLE,
    TAG,
    TITLE,
    UNWEIGHTED,
    field_code,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nuggets.domain.records import MemoryNote

    Numbers = NDArray[np.int64]
    Marks = NDArray[np.bool_]

_STOPPED = len(FIELDS)  # stands where a field does, of a stop word in any field
_KINDS = 4  # fields, and stop words
MOST_TOKENS = 100_000  # that are numbered, numbers among them
MOST_CHARACTERS = 2_000_000  # of all tokens: one alone may have a million
_NO_WORD = -1  # numbers are neither corrected nor corrections


class NoteColumns(NamedTuple):
    """What search stores of many notes; postings lie note by note."""

    analyses: list[Analysis]  # without terms and words, which follow
    terms: list[str]  # by number
    numbers: "Numbers"  # the term of each posting
    codes: "NDArray[Any]"  # its field code
    sizes: "Numbers"  # how many postings each note has
    words: dict[int, Counter[str]]  # by language


class _Postings(NamedTuple):
    """Columns of postings: places of notes, numbers of terms, field codes."""

    notes: "Numbers"
    numbers: "Numbers"
    codes: "Numbers"


def analyze_together(notes: "Sequence[MemoryNote]") -> NoteColumns:
    """The same as `analyze` of each note."""
    table = token_table()
    table.forget_if_many()
    occurrences = _Occurrences(notes, table)
    left = occurrences.maybe_foreign()
    kept = occurrences.exclude(left)
    exceptions = {place: analyze(notes[place]) for place in np.flatnonzero(left).tolist()}
    words = {0: kept.count_words(table.words)}
    for analysis in exceptions.values():
        words.setdefault(analysis.language, Counter()).update(analysis.words)
    postings, lengths = kept.postings(len(notes), len(table.terms))
    labels = _label_postings(notes, occurrences.date_words, exceptions, table.terms)
    united = _unite((postings, labels))
    terms, numbers = _used_terms(united.numbers, table.terms)
    sizes = np.bincount(united.notes, minlength=len(notes))
    codes = united.codes.astype(np.uint8)
    says_when = occurrences.says_when().tolist()
    analyses, end = [], 0
    all_codes = codes.tobytes()
    for place, (note, size) in enumerate(zip(notes, sizes.tolist(), strict=True)):
        start, end = end, end + size
        analysis = exceptions.get(place) or Analysis(
            {},
            labels_of(note),
            {},
            groups_of(note),
            lengths[place],
            vector_length(all_codes[start:end]),
            says_when[place],
            0,
        )
        analyses.append(analysis)
    return NoteColumns(analyses, terms, numbers, codes, sizes, words)


class _Numbering(defaultdict[str, int]):
    """Numbers texts in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.default_factory = self.__len__

    def count_texts(self, numbers: "Numbers") -> "tuple[list[str], Numbers]":
        """The texts whose numbers occur, in their order, and how often each does."""
        counts = np.bincount(numbers, minlength=len(self))
        occurring = np.flatnonzero(counts)
        texts = list(self)
        return [texts[number] for number in occurring.tolist()], counts[occurring]


class _TokenTable:
    """The pieces of all tokens that this process has met, by number."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.tokens, self.words, self.terms = _Numbering(), _Numbering(), _Numbering()
        self._counts = array("q")  # by token: how many pieces it has
        self._terms, self._words, self._marks = array("q"), array("q"), array("q")  # by piece
        self.names_of_dates: dict[int, str] = {}  # by piece
        self._characters = 0  # of all tokens

    def forget_if_many(self) -> None:
        """Bound the memory of a long-lived process."""
        if len(self.tokens) > MOST_TOKENS or self._characters > MOST_CHARACTERS:
            self.clear()

    def columns(self) -> "tuple[Numbers, Numbers, Numbers, Numbers]":
        """By token, how many pieces it has; by piece, its term, word and marks."""
        self._learn(list(islice(self.tokens, len(self._counts), None)))
        counts, terms, words, marks = (
            np.array(column, np.int64)
            for column in (self._counts, self._terms, self._words, self._marks)
        )
        return counts, terms, words, marks

    def _learn(self, tokens: "list[str]") -> None:
        lexicon = lexicon_of(ENGLISH)
        lexicon.forget_if_many()
        learned = lexicon.learn([token for token in tokens if token not in lexicon.plain_terms])
        for token in tokens:
            pieces = learned.get(token)
            if pieces is None:
                pieces = [(token, lexicon.plain_terms[token], 0)]
            self._characters += len(token)
            self._counts.append(len(pieces))
            for word, term, marks in pieces:
                if marks & NAMES_DATE:
                    self.names_of_dates[len(self._terms)] = word
                self._terms.append(self.terms[term])
                self._words.append(_NO_WORD if word.isdigit() else self.words[word])
                self._marks.append(marks)


token_table = cache(_TokenTable)


class _Pieces(NamedTuple):
    """Columns of pieces of tokens as they stand in notes."""

    places: "Numbers"  # of notes
    kinds: "Numbers"  # fields, or `_STOPPED`
    terms: "Numbers"
    words: "Numbers"

    def count_words(self, names: _Numbering) -> Counter[str]:
        """How often each word is used."""
        words, counts = names.count_texts(self.words[self.words != _NO_WORD])
        return Counter(dict(zip(words, counts.tolist(), strict=True)))

    def postings(self, notes: int, terms: int) -> tuple[_Postings, list[int]]:
        """A posting for each term of each note, and how many significant words each note has."""
        keys = (self.places * terms + self.terms) * _KINDS + self.kinds
        unique_keys, counts = np.unique(keys, return_counts=True)
        kinds, pairs = unique_keys % _KINDS, unique_keys // _KINDS
        starts = np.flatnonzero(np.diff(pairs, prepend=-1))

        def times(kind: int) -> "Numbers":
            if not len(starts):
                return np.zeros(0, np.int64)
            in_field = np.where(kinds == kind, counts, 0)
            sums: Numbers = np.add.reduceat(in_field, starts)
            return sums

        title, content, tags = times(TITLE), times(CONTENT), times(TAG)
        codes = _field_codes()[
            np.minimum(title, MOST_IN_TITLE), np.minimum(content, MOST_IN_CONTENT)
        ]
        codes[(title + content == 0) & (tags > 0)] = IN_TAG
        places = pairs[starts] // terms if terms else pairs
        lengths = np.bincount(places, title + content, notes).astype(np.int64)
        return _Postings(places, pairs[starts] % max(terms, 1), codes), lengths.tolist()


class _Occurrences:
    """Every token of some notes by number, and the pieces that it has."""

    def __init__(self, notes: "Sequence[MemoryNote]", table: _TokenTable) -> None:
        self._notes = len(notes)
        stream, sizes, number_of = array("I"), array("I"), table.tokens.__getitem__
        for note in notes:
            for text in texts_of(note):
                found = tokens(text)
                stream.extend(map(number_of, found))
                sizes.append(len(found))
        self.date_words: dict[int, set[str]] = {}  # by place of the note
        self._pieces = self._expand(
            np.frombuffer(stream, np.uint32), np.frombuffer(sizes, np.uint32), table
        )

    def _expand(self, stream: "NDArray[Any]", sizes: "NDArray[Any]", table: _TokenTable) -> _Pieces:
        """The pieces of the tokens. Few tokens have more than one."""
        per_token, terms, words, marks = table.columns()
        firsts, repeats = np.cumsum(per_token) - per_token, per_token[stream]
        positions = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        pieces = np.repeat(firsts[stream], repeats) + positions
        fields = np.repeat(np.repeat(np.arange(len(sizes)), sizes), repeats)
        places = fields // len(FIELDS)
        self._marks = marks[pieces]
        for place, piece in zip(*self._select(NAMES_DATE, places, pieces), strict=True):
            self.date_words.setdefault(place, set()).add(table.names_of_dates[piece])
        kinds = np.where(self._marks & STOP, _STOPPED, fields % len(FIELDS))
        return _Pieces(places, kinds, terms[pieces], words[pieces])

    def _select(self, marks: int, *columns: "Numbers") -> list[list[int]]:
        """What the columns have where a word has any of these marks."""
        having = self._marks & marks > 0
        return [column[having].tolist() for column in columns]

    def _count(self, marks: int) -> "Numbers":
        """How many words of each note have any of these marks."""
        places = self._pieces.places[self._marks & marks > 0]
        return np.bincount(places, minlength=self._notes)

    def says_when(self) -> "Marks":
        return self._count(SAYS_WHEN) > 0

    def maybe_foreign(self) -> "Marks":
        """Which notes may be in another language: `note_analyzer` decides."""
        evidence = self._count(FOREIGN)
        found: Marks = (evidence >= LEAST_EVIDENCE) & (evidence > self._count(STOP))
        return found

    def exclude(self, left: "Marks") -> _Pieces:
        """The pieces of all notes but these."""
        kept = ~left[self._pieces.places]
        return _Pieces(*(column[kept] for column in self._pieces))


def _field_codes() -> "Numbers":
    return np.array(
        [
            [field_code(title, content) for content in range(MOST_IN_CONTENT + 1)]
            for title in range(MOST_IN_TITLE + 1)
        ]
    )


def _label_postings(
    notes: "Sequence[MemoryNote]",
    date_words: dict[int, set[str]],
    exceptions: dict[int, Analysis],
    names: _Numbering,
) -> _Postings:
    """The postings of dates and metadata, and all those of exceptions."""
    in_text = field_code(0, 1)
    rows: list[tuple[int, int, int]] = []
    for place, note in enumerate(notes):
        if place in exceptions:
            terms = exceptions[place].terms
            rows += [(place, names[term], code) for term, code in terms.items()]
            continue
        for term in date_terms(note, date_words.get(place, ())):
            rows.append((place, names[term], in_text))
        for term in meta_terms(note.scope, note.type, note.subject):
            rows.append((place, names[term], UNWEIGHTED))
    return _Postings(*np.array(rows, np.int64).reshape(-1, 3).T)


def _unite(parts: "Sequence[_Postings]") -> _Postings:
    """All postings, note by note."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return _Postings(*(column[order] for column in columns))


def _used_terms(numbers: "Numbers", names: _Numbering) -> "tuple[list[str], Numbers]":
    """The terms that postings have, and their new numbers."""
    terms, _ = names.count_texts(numbers)
    used = np.bincount(numbers, minlength=len(names)) > 0
    return terms, (np.cumsum(used) - 1)[numbers]
