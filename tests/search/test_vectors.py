import random
from math import sqrt

import pytest

from nuggets.domain.records import MemoryNote
from nuggets.search.documents import IndexReader, read_statistics
from nuggets.search.query import QueryReader
from searchable import index_of, linked, note
from vector_oracle import DIMENSIONS, note_vector, query_vector, vector_score

WORDS = "apple river stone cloud engine paper window garden silver music table forest"
NOISE = 1 / sqrt(2 * DIMENSIONS)  # of a cosine between unrelated vectors
ROUGHNESS = 0.005  # of a vector signal, from weights that are kept in steps of 14 %


def small_graph() -> list[MemoryNote]:
    rng = random.Random(7)
    words = WORDS.split()
    notes = [
        note(i, rng.choice(words), " ".join(rng.choices(words, k=8)), rng.choice(words))
        for i in range(12)
    ]
    for i in range(11):
        notes[i], notes[i + 1] = linked(notes[i], notes[i + 1])
    notes[0], notes[6] = linked(notes[0], notes[6])
    for i, dated in ((2, "on 5 May"), (5, "on May 5th, 2025"), (9, "in May")):
        notes[i] = notes[i]._replace(content=f"{notes[i].content} {dated}")
    return notes


def asked_terms(notes: list[MemoryNote], query: str) -> dict[str, float]:
    """Terms and weights of the question, read in the light of the same notes."""
    database = index_of(*notes).database
    reader = QueryReader(IndexReader(database, read_statistics(database, False), False))
    weights: dict[str, float] = {}
    for slot in reader.understand(query).slots:
        names = [(a.term, a.weight) for a in slot.alternatives]
        for term, weight in names or [(slot.term, 1.0)]:
            weights[term] = weights.get(term, 0.0) + weight * slot.mass
    return weights


@pytest.mark.parametrize(
    "query",
    [
        "stone garden",
        "musik and a river",
        "window unknownword",
        "windowgarden",
        "river on 2025-05-05",
        "which cloud in May and much talk around whatever nobody knows",
    ],
)
def test_the_index_computes_what_regenerated_vectors_give(query: str) -> None:
    notes = small_graph()
    index = index_of(*notes)
    asked = query_vector(asked_terms(notes, query))

    explained = [(one, index.explain(query, one.id)) for one in notes]

    assert any(explanation.found for _, explanation in explained)
    for one, explanation in explained:
        truth = vector_score(asked, note_vector(one))
        assert explanation.vector == pytest.approx(truth, abs=3 * NOISE / 2 + ROUGHNESS)


def test_vectors_rank_clearly_different_notes_like_the_index() -> None:
    notes = [
        note(1, "Garden", "garden stone river"),
        note(2, "Stone", "paper music table garden forest cloud engine"),
        note(3, "Music", "music table window silver apple"),
    ]
    index = index_of(*notes)
    asked = query_vector(asked_terms(notes, "garden river"))

    by_vector = sorted(notes, key=lambda one: -vector_score(asked, note_vector(one)))
    results = index.search("garden river", limit=3)
    ranked = sorted(results, key=lambda one: -one.vector_score)

    assert [one.note for one in ranked] == by_vector[: len(ranked)]


def test_a_note_is_similar_to_itself_and_not_to_others() -> None:
    first, second = note(1, "Stone", "river cloud"), note(2, "Paper", "window music")

    assert vector_score(note_vector(first), note_vector(first)) == pytest.approx(1)
    assert vector_score(note_vector(first), note_vector(second)) == pytest.approx(
        0.5, abs=2 * NOISE
    )


def test_the_field_of_a_word_matters() -> None:
    titled, said = note(1, "river", ""), note(2, "", "river")

    assert vector_score(note_vector(titled), note_vector(said)) == pytest.approx(0.5, abs=2 * NOISE)
