"""Meaning as a further signal: it orders notes, and alone never gives a result.

How near the question an encoder finds a note counts the more, the less the words of the question
say. Notes without these words may be among the results, if there are results by words, or if words
and meaning agree on a note.
"""

from typing import TYPE_CHECKING, Protocol

from nuggets.search.answer_degree import is_near
from nuggets.search.documents import LINKS_KEPT
from nuggets.search.note_analyzer import title_key, title_label
from nuggets.search.ranking import LENDERS
from nuggets.search.weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nuggets.search.documents import IndexReader
    from nuggets.search.postings import PostingsReader
    from nuggets.search.ranking import Eligible, Ranking, Signal

    Meaning = Callable[[str], "Similarity | None"]  # from a question; None: there are no vectors


class Similarity(Protocol):
    """How near each note is to one question."""

    def get(self, note: str, default: float, /) -> float:
        """The cosine of a note."""

    def nearest(self, count: int) -> "list[str]":
        """The notes with the highest cosines."""


def add_meaning(
    signals: "Sequence[Signal]",
    similarity: Similarity,
    ranking: "Ranking",
    reader: "IndexReader",
    eligible: "Eligible | None",
) -> "list[Signal]":
    """The signals with what meaning adds, and those of the nearest eligible notes."""
    scored = {signal.document.doc for signal in signals}
    nearest = similarity.nearest(LENDERS)
    reader.documents.load_notes(nearest)
    documents = filter(None, map(reader.documents.of_note, nearest))
    near = [
        row
        for row in documents
        if row.doc not in scored and (eligible is None or row.doc in eligible)
    ]
    best = max((signal.evidence + signal.document.boost for signal in signals), default=0.0)
    weight = WEIGHTS.meaning * max(0.0, 1.0 - best)
    fused = list(signals)
    for signal in signals:
        cosine = _cosine(similarity, signal)
        if is_near(signal) or cosine >= WEIGHTS.least_cosine:
            signal.meaning = weight * max(0.0, cosine)
    for signal in ranking.signals_of(near):
        cosine = _cosine(similarity, signal)
        if cosine >= WEIGHTS.least_cosine:
            signal.meaning = weight * cosine
            fused.append(signal)
    return fused


def words_and_meaning_agree(signals: "Sequence[Signal]", similarity: Similarity) -> bool:
    """Whether a note has some of the question's words and is plainly near in meaning."""
    return any(
        is_near(signal) and similarity.get(signal.document.note, 0.0) >= WEIGHTS.agreed_cosine
        for signal in signals
    )


def _cosine(similarity: Similarity, signal: "Signal") -> float:
    """Of the note, or its mean with the nearest linked note if that is higher."""
    own = similarity.get(signal.document.note, 0.0)
    linked = [similarity.get(note, 0.0) for note in signal.document.links[-LINKS_KEPT:]]
    return max(own, (own + max(linked, default=0.0)) / 2)


def topic_of(text: str, postings: "PostingsReader") -> str:
    """The question without titles that several notes share, such as the name of a person: they say
    whose notes are meant, which titles answer better than the encoder."""
    words = text.split()
    labels = [title_label(title_key(word)) for word in words]
    postings.read_term_counts(labels)
    kept = [word for word, label in zip(words, labels, strict=True) if postings.count(label) <= 1]
    return " ".join(kept) or text
