"""How much a shelf knows about a question: the answer is found, little is found, or nothing."""

from typing import TYPE_CHECKING

from nuggets.search.query.term_expansion import rarity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nuggets.search.query.query import Query
    from nuggets.search.scoring.ranking import Signal

# Evidence is compared without the boost, which says how far to trust a note and not what it is
# about. A note that has nothing to do with the question has 0.21, half the weight of the vector.
THRESHOLD = 0.27  # a note needs this evidence to be a result

NOTHING, LITTLE, FOUND = 0, 1, 2  # how much is known
BEST = 5  # notes, the best, whose words are compared with the question
# The more notes there are, the more of them fit by chance. So the score needed, times the share of
# the question that any note knows, grows with the rarity of a word that no note has.
ENOUGH_SCORE, LESS = 0.02, 0.05
ENOUGH_RARE = 1.6  # stated words, each by its rarity beside that of a word which one note has
HALF = 0.5  # of the question that a note must state to be more than little


def degree(best: "Sequence[Signal]", query: "Query", notes: int) -> int:
    """How much is known about the question, given the best notes, the best of all first."""
    if not best:
        return NOTHING
    known = sum(slot.rarity for slot in query.slots if slot.alternatives)
    total = sum(slot.rarity for slot in query.slots) or 1.0
    score = best[0].sum * known / total
    if score < ENOUGH_SCORE * rarity(0, notes) - LESS and not any(
        states_enough(signal, query, notes) for signal in best
    ):
        return NOTHING
    stated = max(_stated(signal, query) for signal in best[:BEST])
    return FOUND if stated >= HALF * total else LITTLE


def states_enough(signal: "Signal", query: "Query", notes: int) -> bool:
    """Whether a note is a result whatever else is asked: it has all words of the question, or its
    title of several words is named, or it has several rare words."""
    return (
        bool(signal.own and signal.is_complete)
        or signal.names_phrase
        or _stated(signal, query) >= ENOUGH_RARE * rarity(1, notes)
    )


def _stated(signal: "Signal", query: "Query") -> float:
    return sum(query.slots[place].rarity for place in signal.own)
