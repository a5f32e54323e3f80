"""Which known word an unknown one was probably meant to be. Knows words, not notes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SHORTEST = 4  # letters; in shorter words one edit leads anywhere
TWO_EDITS_FROM = 8  # letters; long words survive two edits and stay recognisable
CANDIDATES = 3  # corrections tried together; the ranking sees which one makes sense
_LETTERS = 61  # bits for letters: a prime, so other scripts spread as well


def signature(word: str) -> int:
    """The set of a word's letters as bits: one edit changes at most two of them."""
    bits = 0
    for letter in word:
        bits |= 1 << ord(letter) % _LETTERS
    return bits


def distance(a: str, b: str, limit: int) -> int:
    """Edits between two words, swapped neighbours counting once; above `limit`: limit + 1."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def corrections(
    word: str,
    names: "Sequence[str]",
    lengths: "NDArray[Any]",
    signatures: "NDArray[Any]",
    counts: "NDArray[Any]",
) -> list[int]:
    """Places of the likeliest known words: fewest edits, same first letter, most frequent."""
    import numpy as np

    if len(word) < SHORTEST or word.isdigit():
        return []
    edits = 2 if len(word) >= TWO_EDITS_FROM else 1
    unlike = np.bitwise_count(signatures ^ np.uint64(signature(word)))
    near = (unlike <= 2 * edits) & (counts > 0) & (lengths >= SHORTEST - 1)
    near &= np.abs(lengths.astype(np.int16) - len(word)) <= edits
    ranked = []
    for place in np.flatnonzero(near).tolist():
        name = names[place]
        apart = distance(word, name, edits)
        if apart <= edits:
            ranked.append((apart, name[0] != word[0], -int(counts[place]), name, place))
    ranked.sort()
    return [place for apart, *_, place in ranked[:CANDIDATES] if apart == ranked[0][0]]
