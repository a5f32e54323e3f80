"""How probable it is that a recalled fact is the one that was meant."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.facts.key_matching import Match

# Fitted on the keys of benchmarks/data/keys.txt;
# `python -m benchmarks.calibration` measures them on keys kept aside.
EXACT = 0.99  # the key itself, and nothing else has it
SIMILAR = 0.97  # a part of one key only, or a misspelling of one


def probability(match: "Match", matches: "Sequence[Match]", confidence: float) -> float:
    """That this match is meant and its value decoded rightly.

    Facts that fit in the same way are equally probable, whichever is closest in length.
    `matches` has the best match of each nugget; `confidence` is that of the decoded value.
    """
    count = sum(1 + len(other.rivals) for other in matches if other.whole == match.whole)
    return (EXACT if match.kind == "exact" else SIMILAR) / count * confidence
