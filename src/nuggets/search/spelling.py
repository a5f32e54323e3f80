"""Which known word an unknown one was probably meant to be. Knows words, not notes."""

from typing import TYPE_CHECKING, Any

from nuggets.search.columns import Column
from nuggets.text import edits_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SHORTEST = 4  # letters; in shorter words one edit leads anywhere
ANY_LETTER_FROM = 6  # letters; of shorter words the first one must be right: "bread", "read"
TWO_EDITS_FROM = 8  # letters; long words survive two edits and stay recognisable
CANDIDATES = 3  # corrections tried together; the ranking sees which one makes sense
_LETTERS = 61  # bits for letters: a prime, so other scripts spread as well


def signatures(words: "Sequence[str]") -> "NDArray[Any]":
    """The set of each word's letters as bits: one edit changes at most two of them."""
    import numpy as np

    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    bits = np.left_shift(np.uint64(1), (letters % _LETTERS).astype(np.uint64))
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    first: NDArray[Any] = np.bitwise_or.reduceat(bits, np.cumsum(lengths) - lengths)
    return first


class Spelling:
    """Letters of the known words, taken in when a word is first looked for."""

    def __init__(self) -> None:
        self._firsts = Column("u4")
        self._lengths = Column("i2")
        self._signatures = Column("u8")

    def _follow(self, names: "Sequence[str]") -> None:
        fresh = names[len(self._lengths) :]
        if fresh:
            self._firsts.extend([ord(word[0]) for word in fresh])
            self._lengths.extend([len(word) for word in fresh])
            self._signatures.extend(signatures(fresh))

    def corrections(self, word: str, names: "Sequence[str]", counts: "NDArray[Any]") -> list[int]:
        """Places of the likeliest known words: fewest edits, same first letter, most frequent."""
        import numpy as np

        if len(word) < SHORTEST or word.isdigit():
            return []
        self._follow(names)
        edits = 2 if len(word) >= TWO_EDITS_FROM else 1
        near = np.flatnonzero(np.abs(self._lengths.all - len(word)) <= edits)
        unlike = np.bitwise_count(self._signatures.all[near] ^ signatures([word])[0])
        # Hardly anybody mistypes the first letter and another one as well.
        same_first = self._firsts.all[near] == ord(word[0])
        allowed = np.where(same_first, edits, int(len(word) >= ANY_LETTER_FROM))
        chosen = (unlike <= 2 * allowed) & (allowed > 0) & (counts[near] > 0)
        ranked = []
        for place, limit in zip(near[chosen].tolist(), allowed[chosen].tolist(), strict=True):
            name = names[place]
            apart = edits_between(word, name, limit)
            if apart <= limit:
                ranked.append((apart, name[0] != word[0], -int(counts[place]), name, place))
        ranked.sort()
        return [place for apart, *_, place in ranked[:CANDIDATES] if apart == ranked[0][0]]
