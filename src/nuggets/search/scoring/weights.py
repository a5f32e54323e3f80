"""The weights of the relevance: what each signal, and each part of a signal, counts."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote

# Weights of the combined score, as documented.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.42, 0.48

# Parts of the text signal, relative to the question's words in a note and its neighbours (1.0).
GROUP = 0.6  # the note's group (a sitting, a topic) as a whole
SUBJECT = 0.3  # the question names the note's title
WHEN = 0.12  # asked when, and the note says when
DATED = 0.35  # the question names the note's day
PHRASE = 0.2  # the note has the question word for word
ASKING = -0.08  # a note that asks rarely answers
INFORMATIVE = 0.06  # a note with at least
ENOUGH_WORDS = 15  # significant words; in proportion for fewer
TEXT_SCALE = 1.5  # divides the sum, so that it is rarely above 1
DATE_REACH = 7  # days after a date on which notes still speak of it

# The vector holds the note itself and, each under its own role key, its newest neighbours.
NEAR_ROLES = 4
NEAR_IN_NOTE = 0.8
NEAR_IN_QUERY = 0.5

# Factors for the words of a linked note, and of a note two links away.
NEIGHBOUR, SECOND_NEIGHBOUR = 0.25, 0.12
ANSWERED = 2.0  # factor for the words of a note that asks: its neighbour answers


def boost(note: "MemoryNote") -> float:
    """The documented boost of trusted memories: at most 0.13."""
    return (
        0.05 * (note.stability == "durable")
        + 0.03 * (note.scope in ("user", "self"))
        + 0.05 * min(max(note.confidence, 0.0), 1.0)
    )
