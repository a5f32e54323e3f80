"""How plausible it is that someone who means one word types another. Knows no note."""

# Each letter with its neighbours on the keyboard; QWERTZ and AZERTY move only a few letters.
_KEYBOARD = """
qwa wqes ewrd retf tryg ytuh uyij iuok oipl pol aqsz sawdx dsefc fdrgv gfthb hgyjn jhuk kjil lkop
zasx xzsc cxdv vcfb bvgn nbhm mnjk
"""
_VOWELS = "aeiou"  # mixed up in spelling rather than in typing: "seperate"
_BESIDE = {group[0]: frozenset(group[1:]) for group in _KEYBOARD.split()}
_CONFUSED = _BESIDE | {vowel: _BESIDE[vowel] | frozenset(_VOWELS) for vowel in _VOWELS}

SLIP = 1  # a letter left out, doubled or hit with its neighbour, two swapped, another vowel
OTHER_EDIT = 2  # any other letter: words that differ so are mostly different words


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
