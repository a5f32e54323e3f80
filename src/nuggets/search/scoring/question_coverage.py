"""How much of a question a note states in its own words."""

from typing import TYPE_CHECKING

from nuggets.language.stemming import is_stop
from nuggets.language.word_lists import conversation_words
from nuggets.search.query.term_expansion import rarity

if TYPE_CHECKING:
    from nuggets.search.query.query import Query
    from nuggets.search.scoring.ranking import Signal

ROUNDING = 1e-9


def stated_share(query: "Query", signal: "Signal", notes: int) -> float:
    """The share of the question, by rarity, that the note itself has: nothing of a question of
    conversation ("happens", "stop"), stop words and numbers only.

    A word that no note has counts as if a single one of the notes had it: a question of two words
    is half stated by the only note that has one of them.
    """
    idle, rarest = conversation_words(), rarity(1, notes)
    topical = [
        place
        for place, slot in enumerate(query.slots)
        if slot.word not in idle and not is_stop(slot.word)
    ]
    if all(query.slots[place].word.isdigit() for place in topical):
        return 0.0
    weights = {place: min(query.slots[place].mass, rarest) for place in topical}
    stated = sum(weights[place] for place in signal.certain if place in weights)
    return stated / sum(weights.values()) + ROUNDING
