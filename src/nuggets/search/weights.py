"""The weights of the relevance: what each signal, and each part of a signal, counts."""

from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote

# Weights of the combined score, as documented.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.42, 0.48

# How much a note states a word.
POSITION = 40  # a word of the content counts 1 / (1 + words before it / POSITION)
TITLE = 4  # a word of the title, each time
LENGTH_SHARE = 0.4  # of this is divided by the length of the note beside the mean
SATURATION = 0.5  # stated so much, a word gives half of what it can give

# What linked notes lend.
EARLIER, LATER = 0.8, 0.3  # words of a linked note, by when it was written
SECOND = 0.5  # factor for words of a note that is linked to that one
ASKED = 2  # factor for words of a note that asks: its neighbour answers
DAMP = 40  # words of a note that halve what it borrows: a long note speaks for itself

# Parts of the text signal, beside the question's words (1.0).
NAMED = 0.2  # the question names the note's title
GROUP = 0.2  # notes with the same tag have the words
DATE = 0.2  # the question names the note's day
DATE_REACH = 7  # days after it on which notes still speak of it
WHEN = 0.1  # asked when, and the note says when
ASKS = -0.1  # a short note that asks rarely answers
PHRASE = 0.4  # the note has the question word for word

# How the vector of a question is spread over title, content and tag: most words are asked of the
# content. The squares add up to 1, so the vector keeps its length.
QUERY_FIELDS = (0.5, 0.8, sqrt(1 - 0.5**2 - 0.8**2))


def boost(note: "MemoryNote") -> float:
    """The documented boost of trusted memories: at most 0.13."""
    return (
        0.05 * (note.stability == "durable")
        + 0.03 * (note.scope in ("user", "self"))
        + 0.05 * min(max(note.confidence, 0.0), 1.0)
    )
