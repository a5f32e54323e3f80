"""What a misspelt key has in common with a question, as a condition that SQL can test.

`keys.plausible` decides in Python, at some microseconds a key. Here nearly all others are ruled out
at a fraction of one, and none that it would accept. Knows no database.
"""

from typing import NamedTuple

from nuggets.facts.keys import LONG_WORD, SHORT_WORD, sizes
from nuggets.facts.words import Form, letters, significant

WORDS_TESTED = 8  # of a question: few keys have that many, and none is judged by them alone

DIGITS_AND_SIZE = "digits = ? AND size BETWEEN ? AND ?"
# One edit brings in at most one letter on either side; x & (x - 1) takes away the lowest bit.
ONE_EDIT = (
    "((? & ~letters) & ((? & ~letters) - 1)) = 0"
    " AND (scoped = 1 OR ((letters & ~?) & ((letters & ~?) - 1)) = 0)"
)
SAME_COUNT = "telling BETWEEN ? AND ? + scoped"  # with a scope, one word may be left out
HOLDS = "instr(words, ?) > 0"


class Condition(NamedTuple):
    """For a WHERE clause on `fact_keys`."""

    sql: str
    values: tuple[str | float, ...]


def condition(query: Form, threshold: float) -> Condition:
    """Holds for every key that `keys.fuzzy` may take for the question."""
    signs, blank = letters(query.spaced.replace(" ", "")), letters(" ")
    slip = Condition(ONE_EDIT, (signs, signs, signs | blank, signs | blank))
    said = significant(query.spaced.split(" "))
    pairs = [Condition(SAME_COUNT, (len(said), len(said)))] if said else []
    pairs += [_near(word) for word in said[:WORDS_TESTED]]
    either = _joined(" OR ", [slip, _joined(" AND ", pairs)] if pairs else [slip])
    limits = Condition(DIGITS_AND_SIZE, (query.digits, *sizes(query, threshold)))
    return _joined(" AND ", [limits, either])


def _near(word: str) -> Condition:
    """Holds for keys with a word that can be a slip, a beginning or a longer form of this one.

    One edit leaves the first or the second half as it is, unless it swaps the letters where the
    halves meet. Two edits are plausible in long words that begin alike.
    """
    half = len(word) // 2
    if len(word) < SHORT_WORD:
        parts = [f" {word} "]
    elif len(word) < LONG_WORD:
        swapped = f"{word[: half - 1]}{word[half]}{word[half - 1]}{word[half + 1 :]}"
        parts = [f" {word[:half]}", f"{word[half:]} ", f" {swapped} "]
    else:
        parts = [f" {word[0]}", f"{word[half:]} "]
    return _joined(" OR ", [Condition(HOLDS, (part,)) for part in parts])


def _joined(word: str, conditions: list[Condition]) -> Condition:
    sql = word.join(f"({one.sql})" for one in conditions)
    return Condition(sql, tuple(value for one in conditions for value in one.values))
