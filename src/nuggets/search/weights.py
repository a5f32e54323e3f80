"""The weights of search: what each signal, and each part of a signal, counts.

Those of the relevance were fitted by benchmarks/ranking.py and those of the probability by
benchmarks/unknown.py, on families of corpora; benchmarks/README.md says what each brings, and what
the others were measured with.
"""

from math import log, sqrt
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote


class Weights(NamedTuple):
    """All of them."""

    # The combined score, as documented.
    vector: float = 0.42
    text: float = 0.48
    temperature: float = 0.35  # of the softmax

    # How much a note states a word.
    position: float = 40  # a word of the content counts 1 / (1 + words before it / position)
    title: float = 4  # a word of the title, each time
    length_share: float = 0.4  # of this is divided by the length of the note beside the mean
    saturation: float = 0.5  # stated so much, a word gives half of what it can give

    # What linked notes lend.
    earlier: float = 0.8  # words of a linked note that was written earlier
    later: float = 0.3  # … later
    second: float = 0.5  # factor for words of a note that is linked to that one
    asked: float = 2  # factor for words of a note that asks: its neighbour answers
    damp: float = 40  # words of a note that halve what it borrows: a long note speaks for itself

    # Parts of the text signal, beside the question's words (1.0).
    named: float = 0.2  # the question names the note's title
    group: float = 0.2  # notes with the same tag have the words
    date: float = 0.2  # the question names the note's day
    date_reach: float = 7  # days after it on which notes still speak of it
    when: float = 0.1  # asked when, and the note says when
    asks: float = -0.1  # a short note that asks rarely answers
    phrase: float = 0.4  # the note has the question word for word

    # How much of its rarity a word of the question weighs.
    background_notes: float = 50  # added to the number of notes when rarity is computed: in a small
    # shelf a word that every note has still counts, and an unknown one does not outweigh it tenfold
    guessed: float = 0.8  # a term that is not the word itself: a correction, an abbreviation or its
    # long form, "lint" for "linter" which no note has
    metadata: float = 0.6  # the word names a nugget, scope, type or subject
    identifier_part: float = 0.5  # part of an identifier that some note has as a whole
    hint: float = 0.1  # a word of a date, which is compared as a date; two letters of a script
    # without blanks that no note has together: mostly the end of a word and the next one's begin

    # What is known at all: see answer_degree.py.
    threshold: float = 0.27  # a note needs this evidence to be a result, or all of the words
    constant: float = -4.5
    words: float = 17  # of the share of the question that a note states, or names as its title
    stated: float = 2  # of each word that one note itself has
    most_stated: int = 4  # … up to so many
    notes: float = -0.8  # of the logarithm of their number: among many, some fit by chance
    least_little: float = 0.03  # probability
    least_found: float = 0.5

    # A clear answer, by benchmarks/answers.py: with a share of 0.6 one in ten questions for a
    # sibling ("status page owner" where only "status page url" is known) would be answered, with
    # 0.75 one in thirty.
    stated_share: float = 0.75  # share of the question that the note must state in its own words
    lead: float = 0.1  # relevance ahead of every other result which states as much: with 0.05 four
    # of a hundred clear answers more are wrong

    # Meaning, on half of the questions of LoCoMo and of a code search.
    meaning: float = 0.8  # of a cosine of 1, where no note has any word of the question
    least_cosine: float = 0.35  # of a note that is a result by its meaning alone
    agreed_cosine: float = 0.55  # with some of the question's words, it makes up for the others


WEIGHTS = Weights()

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


def rarity(count: int, notes: int) -> float:
    """Inverse document frequency, never negative."""
    total = notes + WEIGHTS.background_notes
    return log(1 + (total - count + 0.5) / (count + 0.5))
