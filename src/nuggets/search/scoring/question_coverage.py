"""Which share of a question a note states in the same words."""

from typing import TYPE_CHECKING

from nuggets.language.word_lists import conversation_words
from nuggets.search.index.inverted_index import offsets_by_block
from nuggets.search.query.term_expansion import CERTAIN_KINDS, rarity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.query import Query, Slot

ROUNDING = 1e-9


def topical_slots(query: "Query") -> "list[Slot]":
    """The words of the question without those of conversation ("happens", "stop")."""
    idle = conversation_words()
    return [slot for slot in query.slots if slot.word not in idle]


def stated_shares(
    slots: "Sequence[Slot]", snapshot: "Snapshot", docs: "Sequence[int]"
) -> dict[int, float]:
    """By document, the share of these words of the question, by rarity, that the note itself has.

    A word that no note has counts as if a single note had it: a question of two words is half
    stated by the only note that has one of them.
    """
    rarest, offsets = rarity(1, snapshot.stats.notes), offsets_by_block(docs)
    total, stated = 0.0, dict.fromkeys(docs, 0.0)
    for slot in slots:
        weight = min(slot.rarity, rarest)
        total += weight
        having: set[int] = set()
        for alternative in slot.alternatives:
            if alternative.how in CERTAIN_KINDS:
                having.update(snapshot.index.marks_at(alternative.term, offsets))
        for doc in having:
            stated[doc] += weight
    return {doc: amount / total + ROUNDING for doc, amount in stated.items()} if total else {}
