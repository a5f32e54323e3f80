"""Vectors of notes and questions, built in full: what the vector signal of search must agree with.

A note's vector is the superposition of its terms, each bound with the role key of its field (a
date, however it is written, is one more term of the content). A question is spread over the same
role keys. The index computes the same cosine from postings and never builds a vector.
"""

from math import log1p
from typing import TYPE_CHECKING, Any

from nuggets.facts.fhrr import bind, phasors, role, seed_from_text, similarity
from nuggets.language.dates import date_labels
from nuggets.language.languages import is_stop, stems
from nuggets.language.text import pieces, tokens
from nuggets.search.note_analyzer import FIELD_SEPARATOR, LABEL, own_tags
from nuggets.search.postings import FIELDS
from nuggets.search.weights import QUERY_FIELDS, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from nuggets.domain.records import MemoryNote

DIMENSIONS = 16384
TITLE, CONTENT, TAG = range(len(FIELDS))


def field_terms(text: str, slope: float = 0.0) -> dict[str, float]:
    """The significant terms of a field: frequent ones weigh a little more, and with a slope later
    ones less."""
    totals: dict[str, float] = {}
    for place, token in enumerate(tokens(text)):
        words = [word for word in pieces(token) if not is_stop(word)]
        for term in stems(words):
            totals[term] = totals.get(term, 0.0) + 1 / (1 + slope * place)
    return {term: log1p(total) for term, total in totals.items()}


def recipe(note: "MemoryNote") -> list[tuple[int, str, float]]:
    """Role, term and weight of all terms of the note itself."""
    fields = [
        field_terms(note.title),
        field_terms(note.content, 1 / WEIGHTS.position),
        dict.fromkeys(field_terms(" ".join(own_tags(note))), 1.0),
    ]
    text = f"{note.title}{FIELD_SEPARATOR}{note.content}"
    words = [word for token in tokens(text) for word in pieces(token)]
    fields[CONTENT] |= {LABEL + label: log1p(1) for label in date_labels(text, words)}
    present = fields[TITLE].keys() | fields[CONTENT].keys()
    fields[TAG] = {term: weight for term, weight in fields[TAG].items() if term not in present}
    return [
        (place, term, weight)
        for place, terms in enumerate(fields)
        for term, weight in terms.items()
    ]


def note_vector(note: "MemoryNote", dims: int = DIMENSIONS) -> "NDArray[Any]":
    """Of length 1; a note without words is the zero vector."""
    return _unit(_bundle(recipe(note), dims))


def query_vector(terms: "Mapping[str, float]", dims: int = DIMENSIONS) -> "NDArray[Any]":
    """A question's terms under every field."""
    return _bundle(
        (
            (place, term, weight * share)
            for place, share in enumerate(QUERY_FIELDS)
            for term, weight in terms.items()
        ),
        dims,
    )


def vector_score(query: "NDArray[Any]", note: "NDArray[Any]") -> float:
    """The documented signal: (1 + cosine) / 2."""
    return (1 + similarity(query, note)) / 2


def _bundle(parts: "Iterable[tuple[int, str, float]]", dims: int) -> "NDArray[Any]":
    import numpy as np

    total: NDArray[Any] = np.zeros(dims, np.complex64)
    for place, term, weight in parts:
        key = phasors(seed_from_text(term), 1, dims)[0]
        total += np.float32(weight) * bind(role(place, dims), key)
    return total


def _unit(vector: "NDArray[Any]") -> "NDArray[Any]":
    import numpy as np

    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
