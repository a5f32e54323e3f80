"""Whether a question can be a misspelling of a key, word by word. Knows no index and no value.

Letters in common by chance are no match. Each significant word of the question must be a plausible
misspelling of its own word of the key. A nugget's `fuzzy_threshold` says how much may differ: a
share of 1 - threshold of the letters of a word, and half of that share of the whole key.
"""

from nuggets.facts.key_tokenizer import Form, significant
from nuggets.language.text import edits_between

WORD_START = 4  # letters that can stand for a longer word: auth(entication)
MOST_EDITS = 2  # in one word
SLIP = 1  # a letter left out, doubled or hit with its neighbour, two swapped, another vowel
OTHER_EDIT = 2  # any other letter: words that differ so are mostly different words

# Each letter with its neighbours on the keyboard; QWERTZ and AZERTY move only a few letters.
_KEYBOARD = """
qwa wqes ewrd retf tryg ytuh uyij iuok oipl pol aqsz sawdx dsefc fdrgv gfthb hgyjn jhuk kjil lkop
zasx xzsc cxdv vcfb bvgn nbhm mnjk
"""
_VOWELS = "aeiou"  # mixed up in spelling rather than in typing: "seperate"
_BESIDE = {group[0]: frozenset(group[1:]) for group in _KEYBOARD.split()}
_CONFUSED = _BESIDE | {vowel: _BESIDE[vowel] | frozenset(_VOWELS) for vowel in _VOWELS}


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


def slip_cost(meant: str, typed: str) -> int:
    """The cost of the cheapest edits that turn the word that was meant into the typed one."""
    before_last: list[int] = []
    last = [OTHER_EDIT * column for column in range(len(typed) + 1)]
    for row, letter in enumerate(meant, 1):
        following = meant[row : row + 1]
        costs = [row * SLIP]
        for column, sign in enumerate(typed, 1):
            cost = min(
                last[column] + SLIP,
                costs[-1] + _insertion_cost(sign, letter, following),
                last[column - 1] + _substitution_cost(letter, sign),
            )
            if column > 1 and before_last and (meant[row - 2], letter) == (sign, typed[column - 2]):
                cost = min(cost, before_last[column - 2] + SLIP)
            costs.append(cost)
        before_last, last = last, costs
    return last[-1]


def _insertion_cost(sign: str, letter: str, following: str) -> int:
    """Of a letter too many: doubled, or a key that was hit together with its neighbour."""
    hit_together = any(sign == key or sign in _BESIDE.get(key, ()) for key in (letter, following))
    return SLIP if hit_together else OTHER_EDIT


def _substitution_cost(letter: str, sign: str) -> int:
    if letter == sign:
        return 0
    return SLIP if sign in _CONFUSED.get(letter, ()) else OTHER_EDIT
