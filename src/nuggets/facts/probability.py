"""How probable it is that a recalled answer is what was meant. Knows no text and no vector.

Fitted on the keys of benchmarks/data/keys.txt; `python -m benchmarks.calibration` measures it on
keys kept aside.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.facts.key_matching import Match

EXACT = 0.99  # the key itself, and nothing else has it
SIMILAR = 0.97  # a part of one key only, or a misspelling of one


def probability(match: "Match", matches: "Sequence[Match]", confidence: float) -> float:
    """That this match is meant and its value decoded rightly.

    Facts that fit in the same way are equally probable, whichever is closest in length.
    `matches` has the best match of each nugget; `confidence` is that of the decoded value.
    """
    equals = [other for other in matches if other.strictness == match.strictness]
    count = sum(1 + len(other.rivals) for other in equals)
    return (EXACT if match.kind == "exact" else SIMILAR) / count * confidence
