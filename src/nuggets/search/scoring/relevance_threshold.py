"""Below which relevance a note is no result, and when a question has no result at all."""

from heapq import nlargest
from typing import TYPE_CHECKING

from nuggets.search.query.term_expansion import rarity
from nuggets.search.scoring.question_coverage import stated_shares, topical_slots
from nuggets.search.scoring.ranking import combine
from nuggets.search.scoring.weights import TEXT_SCALE

if TYPE_CHECKING:
    from nuggets.search.index.snapshot import Snapshot
    from nuggets.search.query.query import Query
    from nuggets.search.scoring.ranking import Signal

# Evidence is compared without the boost, which says how far to trust a note and not what it is
# about. A note that has nothing to do with the question has 0.21, half the weight of the vector.
THRESHOLD = 0.25  # a note needs this evidence to be a result
# There are results only if some note has all words of the question, or a title of several words
# that the question names, or rare words that are together nearly as rare as one that no note has,
# which takes at least two of them, or enough evidence when unknown words count in full.
ENOUGH_RARE = 0.9
# The more notes there are, the more of them fit by chance. So the evidence needed grows with the
# rarity of a word that no note has, which is the logarithm of their number.
GROWTH = 0.0175
LEAST = 0.29  # with what is added for the share of the question that the note states, and for
STATED = RARE = 0.08  # how rare its words are together, as a part of an unknown word's rarity
# A name that several notes have as their title lifts all of them, and whoever names somebody or
# something that no note names asks about something else: evidence alone counts.
LEAST_ABOUT_NAMED = 0.27
LEAST_ABOUT_UNKNOWN = 0.32
BEST = 5  # notes whose titles and words are compared with the question


def is_answered(signals: "list[Signal]", query: "Query", snapshot: "Snapshot") -> bool:
    """Whether the best of the notes is good enough for any of them to be shown."""
    near = [signal for signal in signals if signal.evidence > THRESHOLD]
    least = least_evidence(query, snapshot)
    if any(signal.complete or evidence_in_full(signal, query) > least for signal in near):
        return True
    best = nlargest(BEST, near, key=lambda signal: signal.evidence)
    docs = [signal.document.doc for signal in best]
    phrases = [title.label for title in query.titles if title.is_phrase]
    if any(snapshot.index.select_having(label, docs) for label in phrases):
        return True
    if query.names_unknown:
        return False
    rare = query.mass / rarity(0, snapshot.stats.notes)
    if any(signal.words * rare > ENOUGH_RARE for signal in near):
        return True
    if _names_shared_title(query):
        return False
    stated = stated_shares(topical_slots(query) or query.slots, snapshot, docs)
    return any(
        evidence_in_full(signal, query)
        + STATED * stated.get(signal.document.doc, 0.0)
        + RARE * signal.words * rare
        > least
        for signal in best
    )


def least_evidence(query: "Query", snapshot: "Snapshot") -> float:
    """The evidence that some note must have, if nothing else speaks for it."""
    if query.names_unknown:
        least = LEAST_ABOUT_UNKNOWN
    else:
        least = LEAST_ABOUT_NAMED if _names_shared_title(query) else LEAST
    return least + GROWTH * rarity(0, snapshot.stats.notes)


def _names_shared_title(query: "Query") -> bool:
    return any(title.is_shared and not title.is_phrase for title in query.titles)


def evidence_in_full(signal: "Signal", query: "Query") -> float:
    """The evidence that a note would have if unknown words were not dampened."""
    missing = signal.words * (1 - query.known_share) / TEXT_SCALE
    vector = 0.5 + (signal.vector - 0.5) * query.known_length_share
    return float(combine(signal.text - missing, vector))
