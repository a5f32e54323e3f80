"""Which key a question means: exact, substring or fuzzy, in this order. Knows no value.

A memory that answers whatever it is asked is worse than none. So a part of a key counts when it
is whole words, or long enough to be no accident; and a key that merely looks alike counts only
when, word by word, it can be a misspelling: letters in common by chance are no match.
"""

from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import NamedTuple

from nuggets.facts.words import Form, dense, significant, trimmed
from nuggets.records import MatchKind
from nuggets.text import edits_between

WORD_START = 4  # letters that name a longer word by its beginning: auth(entication)
WORD_INSIDE = 5  # letters that name a word by its middle or end: (end)point
LONG_WORD = 8  # letters: two slips in it are plausible
SHORT_WORD = 4  # letters: below, a changed word is another word, unless all the rest is equal
TURNING = frozenset(  # beginnings with which a word says another thing: (un)trusted, (re)production
    ("de", "dis", "ex", "im", "in", "ir", "mis", "non", "out", "over", "re", "un", "under")
)
IMPLAUSIBLE = 1000  # edits
RIVALS = 3  # told besides the best
LETTERS_PER_EDIT = 6  # of a whole question: several slips need so much that is right


class Match(NamedTuple):
    """A key that the question may mean."""

    kind: MatchKind
    ratio: float
    whole: bool  # in whole words
    place: int  # of the fact
    rivals: tuple[int, ...] = ()  # places of others that fit about as well

    @property
    def strictness(self) -> tuple[int, bool]:
        return ("fuzzy", "substring", "exact").index(self.kind), self.whole


def telling_part(query: Form) -> str:
    """What of a question a key could hold; "" if that is too little to tell."""
    part = trimmed(query.spaced)
    return part if len(part) > 1 or dense(part) else ""


def substring(query: Form, keys: Mapping[int, Form]) -> Match | None:
    """Of the keys in the question, or around it, the one closest in length."""
    asked, part = query.spaced, telling_part(query)
    if not part:
        return None
    found: list[tuple[bool, int, int, int]] = []
    for place, key in keys.items():
        text = key.spaced
        if key.scoped and text not in asked and part not in text:
            text = key.unscoped
        if part in text or text in asked:
            whole = _part_of_key(part, text) if part in text else _part_of_question(text, asked)
            if whole is not None:
                shared = min(len(part), len(text))
                found.append((not whole, abs(len(text) - len(part)), place, shared))
    if not found:
        return None
    (inside, _, place, shared), *others = nsmallest(1 + RIVALS, found)
    rivals = tuple(other for _, _, other, _ in others) if not inside else ()
    ratio = 2 * shared / (len(keys[place].spaced) + len(asked))
    return Match("substring", ratio, not inside, place, rivals)


def _part_of_key(part: str, key: str) -> bool | None:
    """True: in whole words; False: as letters of a word; None: by accident."""
    whole = f" {part} " in f" {key} "
    return whole if whole or _telling(part, key) else None


def _part_of_question(key: str, asked: str) -> bool | None:
    """The same for a key within a question, which must be about nothing else.

    Several words together are no accident. A single one is what a question is about only if the
    others say nothing: whoever asks for the "db port" does not mean the "port".
    """
    whole = f" {key} " in f" {asked} "
    said, words = significant(key.split(" ")), significant(asked.split(" "))
    if not said or not (whole or _telling(key, asked)):
        return None
    alone = len(words) == 1 and (whole or 2 * len(key) >= len(words[0]))
    return whole if alone or len(said) > 1 else None


def _telling(inner: str, outer: str) -> bool:
    """Letters inside a word: its beginning, or so much of it that they stand for it."""
    if dense(inner.replace(" ", "")):
        return len(inner) > 1
    at = f" {outer}".find(f" {inner}")
    if at >= 0:
        return len(inner) >= WORD_START
    at = outer.find(inner)
    start = outer.rfind(" ", 0, at) + 1
    if outer[start:at] in TURNING:
        return False
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
        if ratio >= threshold:
            match = Match("fuzzy", ratio, True, place)
            best = match if best is None else max(best, match, key=_nearest)
    return best


def _nearest(match: Match) -> tuple[float, int]:
    """Of equal ratios the older fact, in whatever order they are looked at."""
    return match.ratio, -match.place


def sizes(query: Form, threshold: float) -> tuple[float, float]:
    """Letters of the shortest and the longest key: a ratio is at most 2·min/(sum of lengths)."""
    size = len(query.text)
    longest = (2 - threshold) * size / threshold if threshold > 0 else float("inf")
    return threshold * size / (2 - threshold), longest


def _similar(query: Form, keys: Mapping[int, Form], threshold: float) -> Iterable[int]:
    """What a look at digits, lengths and letters does not rule out.

    Other digits mean another thing, never a slip of the finger.
    """
    shortest, longest = sizes(query, threshold)
    mine, numbers = query.letters, query.digits
    odd = max(1, _edits_allowed(significant(query.spaced.split(" "))))  # each edit brings in one
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
    """One edit anywhere, blanks put in or left out besides; but another letter that is a word of
    its own names another thing: "server a", "server b"."""
    if edits_between(key.replace(" ", ""), query.replace(" ", ""), 1) > 1:
        return False
    pairs = zip(query.split(" "), key.split(" "), strict=False)
    return not any(ours != theirs and len(ours) == len(theirs) == 1 for ours, theirs in pairs)


def _pairs_up(query: str, key: str) -> bool:
    """Every significant word has its own counterpart on the other side, in any order."""
    ours, theirs = significant(query.split(" ")), significant(key.split(" "))
    if not ours or len(ours) != len(theirs):
        return False
    edits = _edits_allowed(ours)
    for word in ours:
        cost, other = min((_cost(word, other), other) for other in theirs)
        edits -= cost
        if edits < 0:
            return False
        theirs.remove(other)
    return True


def _edits_allowed(words: list[str]) -> int:
    return sum(map(len, words)) // LETTERS_PER_EDIT


def _cost(ours: str, theirs: str) -> int:
    if ours == theirs:
        return 0
    short, long = (ours, theirs) if len(ours) < len(theirs) else (theirs, ours)
    if len(short) < SHORT_WORD:
        return IMPLAUSIBLE
    if long.startswith(short) or edits_between(short, long, 1) <= 1:
        return 1
    # Hardly anybody mistypes the first letter and another one: "encryption", "decryption".
    twice = len(short) >= LONG_WORD and short[0] == long[0] and edits_between(short, long, 2) <= 2
    return 2 if twice else IMPLAUSIBLE
