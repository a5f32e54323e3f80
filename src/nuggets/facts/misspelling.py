"""Whether a question can be a misspelling of a key, word by word. Knows no index and no value.

Letters in common by chance are no match. Each significant word of the question must be a plausible
misspelling of its own word of the key. A nugget's `fuzzy_threshold` says how much may differ: a
share of 1 - threshold of the letters of a word, and half of that share of the whole key.
"""

from nuggets.facts.key_tokenizer import Form, significant
from nuggets.language.text import edits_between
from nuggets.language.typing_slips import SLIP, slip_cost

WORD_START = 4  # letters that can stand for a longer word: auth(entication)
MOST_EDITS = 2  # in one word


def misspelling_cost(query: Form, key: Form, threshold: float) -> int | None:
    """What it costs to misspell the key as the question; None if that is implausible.

    Keys whose digits differ never match: another number means another thing.
    """
    if key.digits != query.digits:
        return None
    texts = {key.spaced, key.without_scope}
    costs = [_cost_of_text(query.spaced, text, threshold) for text in texts]
    return min((cost for cost in costs if cost is not None), default=None)


def _cost_of_text(query: str, key: str, threshold: float) -> int | None:
    if _is_one_edit(query, key):
        return slip_cost(key.replace(" ", ""), query.replace(" ", ""))
    return _cost_of_pairs(query, key, threshold)


def _is_one_edit(query: str, key: str) -> bool:
    """One edit anywhere, besides blanks. A word of one letter is never misspelt: "server a"."""
    if edits_between(key.replace(" ", ""), query.replace(" ", ""), 1) > 1:
        return False
    pairs = zip(query.split(" "), key.split(" "), strict=False)
    return not any(typed != meant and len(typed) == len(meant) == 1 for typed, meant in pairs)


def _cost_of_pairs(query: str, key: str, threshold: float) -> int | None:
    """Pairs every significant word with one of the other side, in any order."""
    typed_words, meant_words = significant(query.split()), significant(key.split())
    if not typed_words or len(typed_words) != len(meant_words):
        return None
    most = (1 - threshold) / 2 * sum(map(len, meant_words))
    total = 0
    for typed in typed_words:
        costs = [(_cost_of_word(typed, meant, threshold), meant) for meant in meant_words]
        plausible = [(cost, meant) for cost, meant in costs if cost is not None]
        if not plausible:
            return None
        cost, nearest = min(plausible)
        total += cost
        if total > most:
            return None
        meant_words.remove(nearest)
    return total


def _cost_of_word(typed: str, meant: str, threshold: float) -> int | None:
    if typed == meant:
        return 0
    short, long = sorted((typed, meant), key=len)
    if len(short) >= WORD_START and long.startswith(short):
        return SLIP
    edits = edits_between(short, long, MOST_EDITS)
    # The first letter is hardly ever mistyped together with another: "encryption", "decryption".
    if edits > 1 and not (edits <= MOST_EDITS and begin_alike(typed, meant)):
        return None
    cost = slip_cost(meant, typed)
    return cost if cost <= (1 - threshold) * len(meant) else None


def begin_alike(typed: str, meant: str) -> bool:
    """Whether the first letters are equal, or the first two are swapped."""
    return typed[:1] == meant[:1] or typed[:2] == meant[1::-1]
