"""Below which relevance a note is no result, and when a question has no result at all."""

from heapq import nlargest
from typing import TYPE_CHECKING

from nuggets.search.query.term_expansion import rarity
from nuggets.search.scoring.ranking import combine
from nuggets.search.scoring.stated_share import stated_shares, topical_slots
from nuggets.search.scoring.weights import TEXT_SCALE

if TYPE_CHECKING:
    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.query import Query
    from nuggets.search.scoring.ranking import Signal

# Evidence is compared without the boost, which says how far to trust a note and not what it is
# about. A note that has nothing to do with the question has 0.21, half the weight of the vector.
THRESHOLD = 0.25  # a note needs this evidence to be a result
# There are results only if some note has all words of the question, or
ANSWERS = 0.38  # this evidence when unknown words count in full, or
AMOUNT = 0.9  # this part of an unknown word's rarity, which takes at least two words, or
LEAST_STATED_SHARE = 0.5  # of the question in its own words, or a title that the question names.
STATED_BY = 5  # notes, the best, of which the last is asked
# A name that many notes have as their title lifts all of them, so more evidence is needed. Whoever
# asks about somebody that no note names asks about something else: all of that, and nothing less.
ANSWERS_ABOUT_NAMED = 0.41
ANSWERS_ABOUT_UNKNOWN = 0.44


def is_answered(signals: "list[Signal]", query: "Query", snapshot: "Snapshot") -> bool:
    """Whether the best of the notes is good enough for any of them to be shown."""
    near = [signal for signal in signals if signal.evidence > THRESHOLD]
    least = least_evidence(query)
    if any(signal.complete or evidence_in_full(signal, query) > least for signal in near):
        return True
    best = nlargest(STATED_BY, near, key=lambda signal: signal.evidence)
    docs = [signal.document.doc for signal in best]
    phrases = [title.label for title in query.titles if title.is_phrase]
    if any(snapshot.index.select_having(label, docs) for label in phrases):
        return True
    return not query.names_unknown and _has_enough_words(near, docs, query, snapshot)


def least_evidence(query: "Query") -> float:
    """The evidence that some note must have, if nothing else speaks for it."""
    if query.names_unknown:
        return ANSWERS_ABOUT_UNKNOWN
    is_about_named = any(title.is_shared and not title.is_phrase for title in query.titles)
    return ANSWERS_ABOUT_NAMED if is_about_named else ANSWERS


def _has_enough_words(
    near: "list[Signal]", docs: list[int], query: "Query", snapshot: "Snapshot"
) -> bool:
    enough = AMOUNT * rarity(0, snapshot.stats.notes)
    if any(signal.words * query.mass > enough for signal in near):
        return True
    slots = topical_slots(query) or query.slots
    return any(
        share >= LEAST_STATED_SHARE for share in stated_shares(slots, snapshot, docs).values()
    )


def evidence_in_full(signal: "Signal", query: "Query") -> float:
    """The evidence that a note would have if unknown words were not dampened."""
    missing = signal.words * (1 - query.known_share) / TEXT_SCALE
    vector = 0.5 + (signal.vector - 0.5) * query.known_length_share
    return float(combine(signal.text - missing, vector))
