"""What a misspelt key has in common with a question, as a condition that SQL can test.

`misspelling` decides in Python, at some microseconds a key. SQL rules out nearly all other keys at
a fraction of that, and none that `misspelling` would accept. Knows no database.
"""

from nuggets.facts.key_matching import key_lengths
from nuggets.facts.key_tokenizer import Form, letters, significant
from nuggets.facts.misspelling import MOST_EDITS, WORD_START
from nuggets.named_tuple import NamedTuple

WORDS_TESTED = 8  # of a question: few keys have more words

DIGITS_AND_SIZE = "digits = ? AND size BETWEEN ? AND ?"
# One edit adds at most one letter on either side; x & (x - 1) clears the lowest bit.
ONE_EDIT = (
    "((? & ~letters) & ((? & ~letters) - 1)) = 0"
    " AND (scoped = 1 OR ((letters & ~?) & ((letters & ~?) - 1)) = 0)"
)
SAME_COUNT = "telling BETWEEN ? AND ? + scoped"  # the question may leave out the scope
HOLDS = "instr(words, ?) > 0"


class Condition(NamedTuple):
    """A condition for a WHERE clause on `fact_keys`."""

    sql: str
    values: tuple[str | float, ...]


def misspelling_condition(query: Form, threshold: float) -> Condition:
    """Holds for every key that `key_matching.fuzzy` may accept for the question."""
    characters, blank = letters(query.spaced.replace(" ", "")), letters(" ")
    one_edit = Condition(ONE_EDIT, (characters, characters, characters | blank, characters | blank))
    words = significant(query.spaced.split())
    pairs = [Condition(SAME_COUNT, (len(words), len(words)))] if words else []
    pairs += [_word_condition(word, threshold) for word in words[:WORDS_TESTED]]
    either = _join(" OR ", [one_edit, _join(" AND ", pairs)] if pairs else [one_edit])
    limits = Condition(DIGITS_AND_SIZE, (query.digits, *key_lengths(query, threshold)))
    return _join(" AND ", [limits, either])


def _word_condition(word: str, threshold: float) -> Condition:
    """Holds for keys with a word that this one can be a misspelling, beginning or long form of.

    One edit leaves the first or the second half unchanged, unless it swaps the letters where the
    halves meet. After two edits, and in a long form, the words begin alike.
    """
    half = len(word) // 2
    longest = len(word) + MOST_EDITS
    if half < WORD_START and (1 - threshold) * longest < MOST_EDITS:
        swapped = f"{word[: half - 1]}{word[half]}{word[half - 1]}{word[half + 1 :]}"
        parts = [f" {word[:half]}", f"{word[half:]} ", f" {swapped} "]
    else:
        parts = [f" {word[0]}", f" {word[1::-1]}", f"{word[half:]} "]
    return _join(" OR ", [Condition(HOLDS, (part,)) for part in parts])


def _join(operator: str, conditions: list[Condition]) -> Condition:
    sql = operator.join(f"({condition.sql})" for condition in conditions)
    return Condition(sql, tuple(value for condition in conditions for value in condition.values))
