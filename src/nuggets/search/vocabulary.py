"""Numbers for tokens, words and terms, so that an index can be made of integers.

A token is what stands in a text ("createNotes"); it holds words ("createnotes", "create",
"notes"), and each word belongs to one term ("createnot", "creat", "note"). Numbers are only
added: what no note uses any more has a count of zero and is invisible, until `prune`.
"""

from bisect import bisect_left, insort
from itertools import compress, count, islice
from typing import TYPE_CHECKING, Any

from nuggets.search.columns import Column
from nuggets.search.dates import TIME_WORDS, date_words
from nuggets.search.languages import ENGLISH, evidence, stop_words
from nuggets.search.spelling import Spelling
from nuggets.search.terms import LONGEST_WORD, pieces, stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

LABEL = "\0"  # begins the name of a term that no text can contain: an exact tag, a scope, …
OF_LANGUAGE = "\0"  # between a language and its word: "rat" is another word in German
STOP, TIME, DATE = 1, 2, 4  # marks of a word
INSERTED_SINGLY = 200  # new terms; beyond that sorting anew is quicker


class TokenNumbers(dict[str, int]):
    """Hands out the next number for a token it has not seen, at the speed of a dict."""

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self)
        return number


def _newest(numbered: dict[str, int], known: int) -> list[str]:
    """What came since there were so many, in order."""
    return list(islice(reversed(numbered), len(numbered) - known))[::-1]


class Vocabulary:
    """Tokens, words and terms by number; how often a word stands, how many notes have a term."""

    def __init__(self) -> None:
        self.tokens = TokenNumbers()
        self.words: dict[str, int] = {}
        self.terms: dict[str, int] = {}
        self._names: list[str] = []  # of words
        self.spans = Column("i4")  # token n holds token_words[spans[n]:spans[n + 1]]
        self.spans.extend([0])
        self.token_words = Column("i4")
        self.word_terms = Column("i4")
        self.word_marks = Column("u1")
        self.word_languages = Column("u2")  # those that an English-looking word speaks for
        self.word_counts = Column("i4")
        self.term_counts = Column("i4")
        self._spelling = Spelling()
        self._sorted: list[str] = []  # terms of words, for those that begin alike
        self._unsorted: list[str] = []  # those that came since

    def take_up(
        self, names: "Mapping[str, list[str]]", columns: "Mapping[str, NDArray[Any]]"
    ) -> None:
        """Be the vocabulary that these were part of, with no term counted yet."""
        self.tokens = TokenNumbers(zip(names["tokens"], count()))
        self._name(names["words"], names["terms"])
        for name, values in columns.items():
            getattr(self, name).fill(values)
        self.term_counts.grow(len(self.terms))

    def prune(self) -> "NDArray[Any]":
        """Forget what no note uses any more; returns the new number of each term, -1 if gone."""
        import numpy as np

        terms = self.term_counts.all > 0
        words = (self.word_counts.all > 0) & terms[self.word_terms.all]
        sizes = np.diff(self.spans.all)
        holders = np.repeat(np.arange(len(sizes)), sizes)
        unused = np.bincount(holders, ~words[self.token_words.all], minlength=len(sizes))
        tokens = unused == 0
        moved = np.where(terms, np.cumsum(terms) - 1, -1).astype(np.int32)
        self.token_words.fill((np.cumsum(words) - 1)[self.token_words.all[tokens[holders]]])
        self.spans.fill(np.append(0, np.cumsum(sizes[tokens])))
        self.word_terms.fill(moved[self.word_terms.all[words]])
        for column in (self.word_marks, self.word_languages, self.word_counts):
            column.keep(words)
        self.term_counts.keep(terms)
        self.tokens = TokenNumbers(zip(compress(self.tokens, tokens), count()))
        self._name(list(compress(self.words, words)), list(compress(self.terms, terms)))
        return moved

    def _name(self, words: list[str], terms: list[str]) -> None:
        """Begin again with these, numbered in order."""
        self.words = dict(zip(words, count()))
        self.terms = dict(zip(terms, count()))
        self._names = [word.rpartition(OF_LANGUAGE)[2] or word for word in words]
        self._spelling = Spelling()
        self._sorted = []
        self._unsorted = [term for term in terms if not term.startswith(LABEL)]

    def numbers(self, tokens: list[str], language: str = ENGLISH) -> "NDArray[Any]":
        """The tokens by number, new ones included."""
        import numpy as np

        prefix = "" if language == ENGLISH else language + OF_LANGUAGE
        named = [prefix + token for token in tokens] if prefix else tokens
        known = len(self.tokens)
        numbered = np.fromiter(map(self.tokens.__getitem__, named), np.int32, len(named))
        fresh = _newest(self.tokens, known)
        if fresh:
            self._learn([token[len(prefix) :] for token in fresh], language, prefix)
        return numbered

    def _learn(self, tokens: list[str], language: str, prefix: str) -> None:
        import numpy as np

        words = self.words
        known = len(words)
        held: list[int] = []
        ends: list[int] = []
        for token in tokens:
            # Most tokens are plain words: no need to look for parts.
            if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
                word = prefix + token.lower()[:LONGEST_WORD]
                held.append(words.setdefault(word, len(words)))
            else:
                held += [words.setdefault(prefix + word, len(words)) for word in pieces(token)]
            ends.append(len(held))
        self.spans.extend(len(self.token_words) + np.array(ends, np.int32))
        self.token_words.extend(held)
        unknown = [word[len(prefix) :] for word in _newest(words, known)]
        self._names += unknown
        self.word_terms.extend(self._terms_of(unknown, language))
        self._mark(unknown, language, prefix)
        self.word_counts.grow(len(words))

    def _mark(self, unknown: list[str], language: str, prefix: str) -> None:
        """Only few words are marked, so it is those that are looked for."""
        self.word_marks.grow(len(self.words))
        self.word_languages.grow(len(self.words))
        for mark, marked in (
            (STOP, stop_words(language)),
            (TIME, TIME_WORDS),
            (DATE, date_words()),
        ):
            for word in marked.intersection(unknown):
                self.word_marks.all[self.words[prefix + word]] |= mark
        if language == ENGLISH:
            for word in evidence().keys() & set(unknown):
                self.word_languages.all[self.words[word]] = evidence()[word]

    def _terms_of(self, words: list[str], language: str) -> list[int]:
        known = len(self.terms)
        numbers = self._numbers(stems(words, language))
        self._unsorted += _newest(self.terms, known)
        return numbers

    def word(self, number: int) -> str:
        """The word of this number, in whatever language."""
        return self._names[number]

    def labels(self, names: list[str]) -> list[int]:
        """The numbers of labels, new ones included."""
        return self._numbers([LABEL + name for name in names])

    def _numbers(self, names: list[str]) -> list[int]:
        terms = self.terms
        numbers = [terms.setdefault(name, len(terms)) for name in names]
        self.term_counts.grow(len(terms))
        return numbers

    def words_of(self, tokens: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """The words of many tokens, and for each the place of its token."""
        import numpy as np

        spans = self.spans.all
        starts = spans[tokens]
        sizes = spans[tokens + 1] - starts
        places = np.repeat(np.arange(len(tokens), dtype=np.int32), sizes)
        shifts = starts - (np.cumsum(sizes) - sizes)
        return self.token_words.all[np.arange(len(places)) + shifts[places]], places

    def in_use(self, term: str) -> int | None:
        """The number of a term that some note has."""
        number = self.terms.get(term)
        return number if number is not None and self.count(number) else None

    def terms_of(self, words: "Iterable[str]") -> set[int]:
        """The numbers of terms in use that these words belong to, as far as they are known."""
        numbers = [self.words[word] for word in words if word in self.words]
        return {term for term in self.word_terms.all[numbers].tolist() if self.count(term)}

    def count(self, term: int) -> int:
        """How many notes have it."""
        return int(self.term_counts.all[term]) if term < len(self.term_counts) else 0

    def corrected(self, word: str) -> list[tuple[str, int]]:
        """What an unknown word may have been meant to be, with the terms."""
        # A kept index still counts the words of notes that are gone, if not their terms.
        used = self.word_counts.all * (self.term_counts.all.take(self.word_terms.all) > 0)
        places = self._spelling.corrections(word, self._names, used)
        return [(self._names[place], int(self.word_terms.all[place])) for place in places]

    def beginning(self, start: str) -> "Iterator[str]":
        """Terms in use that begin so, in alphabetical order."""
        self._sort()
        for place in range(bisect_left(self._sorted, start), len(self._sorted)):
            name = self._sorted[place]
            if not name.startswith(start):
                return
            if self.in_use(name) is not None:
                yield name

    def _sort(self) -> None:
        if len(self._unsorted) > INSERTED_SINGLY:
            self._sorted = sorted(self._sorted + self._unsorted)
        else:
            for name in self._unsorted:
                insort(self._sorted, name)
        self._unsorted.clear()
