"""Which known word an unknown one was probably meant to be. Knows words, not notes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SHORTEST = 4  # letters; in shorter words one edit leads anywhere
TWO_EDITS_FROM = 8  # letters; long words survive two edits and stay recognisable
CANDIDATES = 3  # corrections tried together; the ranking sees which one makes sense
_LETTERS = 61  # bits for letters: a prime, so other scripts spread as well


class _Bits(dict[str, int]):
    """One bit for each letter."""

    def __missing__(self, letter: str) -> int:
        bit = self[letter] = 1 << ord(letter) % _LETTERS
        return bit


_bits = _Bits()


def signature(word: str) -> int:
    """The set of a word's letters as bits: one edit changes at most two of them."""
    bits = 0
    for letter in word:
        bits |= _bits[letter]
    return bits


def distance(a: str, b: str, limit: int) -> int:
    """Edits between two words, swapped neighbours counting once; above `limit`: limit + 1.

    Limits are 1 or 2, so trying every edit at the first difference beats filling a table.
    """
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    same = 0
    for letter, other in zip(a, b, strict=False):
        if letter != other:
            break
        same += 1
    a, b = a[same:], b[same:]
    if not a or not b or not limit:
        return min(max(len(a), len(b)), limit + 1)
    fewest = min(
        distance(a[1:], b[1:], limit - 1),
        distance(a[1:], b, limit - 1),
        distance(a, b[1:], limit - 1),
    )
    if a[:2] == b[1::-1]:
        fewest = min(fewest, distance(a[2:], b[2:], limit - 1))
    return 1 + fewest


def corrections(
    word: str,
    names: "Sequence[str]",
    firsts: "NDArray[Any]",
    lengths: "NDArray[Any]",
    signatures: "NDArray[Any]",
    counts: "NDArray[Any]",
) -> list[int]:
    """Places of the likeliest known words: fewest edits, same first letter, most frequent."""
    import numpy as np

    if len(word) < SHORTEST or word.isdigit():
        return []
    edits = 2 if len(word) >= TWO_EDITS_FROM else 1
    near = np.flatnonzero(np.abs(lengths - len(word)) <= edits)
    unlike = np.bitwise_count(signatures[near] ^ np.uint64(signature(word)))
    # Hardly anybody mistypes the first letter and another one as well.
    allowed = np.where(firsts[near] == ord(word[0]), edits, 1)
    chosen = (unlike <= 2 * allowed) & (counts[near] > 0)
    ranked = []
    for place, limit in zip(near[chosen].tolist(), allowed[chosen].tolist(), strict=True):
        name = names[place]
        apart = distance(word, name, limit)
        if apart <= limit:
            ranked.append((apart, name[0] != word[0], -int(counts[place]), name, place))
    ranked.sort()
    return [place for apart, *_, place in ranked[:CANDIDATES] if apart == ranked[0][0]]
