"""Which key a question means: exact, substring or fuzzy, in this order. Knows no value.

A memory that answers whatever it is asked is worse than none. So a part of a key counts when it
is whole words, or long enough to be no accident; and a key that merely looks alike counts only
when, word by word, it can be a misspelling: letters in common by chance are no match.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nuggets.facts.words import Form, dense, significant, within
from nuggets.records import MatchKind

WORD_START = 4  # letters that name a longer word by its beginning: auth(entication)
WORD_INSIDE = 5  # letters that name a word by its middle or end: (end)point
LONG_WORD = 8  # letters: two slips in it are plausible
SHORT_WORD = 4  # letters: below, a changed word is another word, unless all the rest is equal
LETTERS_PER_EDIT = 6  # of a whole question: several slips need so much that is right
ODD_LETTERS = 2  # of one side that the other may lack, at least: each edit brings in one


class Match(NamedTuple):
    """A key that the question may mean; the greater match is the better one."""

    kind: MatchKind
    ratio: float
    whole: bool  # in whole words
    place: int  # of the fact

    @property
    def strictness(self) -> tuple[int, bool]:
        return ("fuzzy", "substring", "exact").index(self.kind), self.whole


def substring(query: Form, keys: Mapping[int, Form]) -> Match | None:
    """Of the keys in the question, or around it, the one closest in length."""
    asked = query.spaced
    if len(asked) < 2 and not dense(asked):
        return None
    best: tuple[bool, int, int] | None = None
    for place, key in keys.items():
        text = key.spaced
        if asked in text or text in asked:
            whole = _contained(asked, text)
            if whole is not None:
                rank = (not whole, abs(len(text) - len(asked)), place)
                best = rank if best is None else min(best, rank)
    if best is None:
        return None
    inside, _, place = best
    ours, theirs = len(asked), len(keys[place].spaced)
    return Match("substring", 2 * min(ours, theirs) / (ours + theirs), not inside, place)


def _contained(query: str, key: str) -> bool | None:
    """True: in whole words; False: as letters of a word; None: by accident."""
    inner, outer = (query, key) if len(query) <= len(key) else (key, query)
    core = significant(inner.split(" "))
    if not core:
        return None
    whole = f" {inner} " in f" {outer} "
    if not whole and not _telling(inner, outer):
        return None
    if inner is key and len(core) < 2:
        # One word of a longer question: it must be what the question is mostly about.
        asked = significant(outer.split(" "))
        if len(asked) > 2 or (not whole and 2 * len(inner) < len("".join(asked))):
            return None
    return whole


def _telling(inner: str, outer: str) -> bool:
    """Letters inside a word: its beginning, or so much of it that they stand for it."""
    if dense(inner.replace(" ", "")):
        return len(inner) > 1
    at = f" {outer}".find(f" {inner}")
    if at >= 0:
        return len(inner) >= WORD_START
    at = outer.find(inner)
    start = outer.rfind(" ", 0, at) + 1
    end = outer.find(" ", at + len(inner))
    spanned = (end if end >= 0 else len(outer)) - start
    return len(inner) >= WORD_INSIDE and 2 * len(inner) >= spanned


def fuzzy(query: Form, keys: Mapping[int, Form], threshold: float) -> Match | None:
    """The plausible key with the best Ratcliff–Obershelp ratio, if that reaches the threshold."""
    best: Match | None = None
    for place in _similar(query, keys, threshold):
        if not plausible(query, keys[place]):
            continue
        from difflib import SequenceMatcher

        ratio = SequenceMatcher(None, keys[place].text, query.text, autojunk=False).ratio()
        if ratio >= threshold and (best is None or ratio > best.ratio):
            best = Match("fuzzy", ratio, True, place)
    return best


def _similar(query: Form, keys: Mapping[int, Form], threshold: float) -> Iterable[int]:
    """What a look at digits, lengths and letters does not rule out.

    Other digits mean another thing, never a slip of the finger.
    """
    size, mine, numbers = len(query.text), query.letters, query.digits
    odd = max(ODD_LETTERS, size // LETTERS_PER_EDIT)
    shortest = threshold * size / (2 - threshold)  # a ratio is at most 2·min/(sum of lengths)
    longest = (2 - threshold) * size / threshold if threshold > 0 else float("inf")
    return [
        place
        for place, key in keys.items()
        if key.digits == numbers
        and shortest <= len(key.text) <= longest
        and ((mine & ~key.letters).bit_count() <= odd or (key.letters & ~mine).bit_count() <= odd)
    ]


def plausible(query: Form, key: Form) -> bool:
    """Whether someone who means the key could have written the question."""
    asked = query.spaced
    variants = {key.spaced, key.unscoped}
    return any(_slip(asked, text) or _pairs_up(asked, text) for text in variants)


def _slip(query: str, key: str) -> bool:
    """One edit anywhere, blanks put in or left out besides."""
    return within(key.replace(" ", ""), query.replace(" ", ""), 1)


def _pairs_up(query: str, key: str) -> bool:
    """Every significant word has its own counterpart on the other side, in any order."""
    ours, theirs = significant(query.split(" ")), significant(key.split(" "))
    if not ours or len(ours) != len(theirs):
        return False
    edits = 0
    for word in ours:
        cost, other = min((_cost(word, other), other) for other in theirs)
        edits += cost
        theirs.remove(other)
    return edits <= sum(map(len, ours)) // LETTERS_PER_EDIT


IMPLAUSIBLE = 1000


def _cost(ours: str, theirs: str) -> int:
    if ours == theirs:
        return 0
    short, long = sorted((ours, theirs), key=len)
    if len(short) < SHORT_WORD:
        return IMPLAUSIBLE
    if within(short, long, 1) or long.startswith(short):
        return 1
    return 2 if len(short) >= LONG_WORD and within(short, long, 2) else IMPLAUSIBLE
