from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import example_count
from nuggets.domain.records import MemoryNote, NoteFilterOptions, NoteLink
from searchable import Shelf, index_of, linked, note

WORDS = "red green blue walk walked jump token server anna bob May 5 yesterday the of ?"
SOME_WORDS = st.lists(st.sampled_from(WORDS.split()), max_size=6).map(" ".join)
TIMES = st.sampled_from(["2025-05-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"])
IDS = st.integers(0, 7)
QUERIES = ("red walk", "tokne server", "anna may 5 2025", "when did bob jump", "of the", "blu")


@st.composite
def notes(draw: st.DrawFn) -> MemoryNote:
    number = draw(IDS)
    targets = draw(st.lists(IDS, max_size=3, unique=True))
    return note(
        number,
        draw(SOME_WORDS),
        draw(SOME_WORDS),
        *draw(st.lists(st.sampled_from(["s1", "s2"]), max_size=2, unique=True)),
        links=tuple(NoteLink(note(i, "", "").id, "next", "") for i in targets if i != number),
        hidden=draw(st.booleans()),
        created_at=draw(TIMES),
    )


CHANGES = st.tuples(
    st.lists(notes(), max_size=4, unique_by=lambda n: n.id),
    st.lists(IDS.map(lambda number: note(number, "", "").id), max_size=2, unique=True),
)


def answers(index: Shelf) -> list[list[tuple[str, float]]]:
    return [
        [(r.note.id, round(r.relevance, 7)) for r in index.search(query, 10, filters)]
        for query in QUERIES
        for filters in (NoteFilterOptions(), NoteFilterOptions(include_hidden=True, tag="s1"))
    ]


@settings(max_examples=example_count(60), deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_an_index_fed_bit_by_bit_answers_like_one_made_afresh(
    changes: list[tuple[list[MemoryNote], list[str]]], rng: Random
) -> None:
    index = index_of()
    for put, drop in changes:
        index.put(*put)
        index.drop(*drop)
    shuffled = list(index.notes.values())
    rng.shuffle(shuffled)

    assert index.check_against(shuffled) == []
    assert answers(index) == answers(index_of(*shuffled))


def test_many_edits_leave_no_trace() -> None:
    index = index_of(*(note(i, f"Title {i}", "one two three") for i in range(20)))
    for turn in range(30):
        index.put(*(note(i, f"Title {i}", f"turn{turn}") for i in range(20)))
        index.search("turn")

    assert index.search("three") == []
    assert len(index.search("turn29", limit=30)) == 20


def test_a_note_that_was_only_looked_at_ranks_as_before_and_is_shown_as_it_is_now() -> None:
    seen = note(1, "Cats", "Two cats live here")
    index = index_of(seen, note(2, "Dogs", "One dog barks"))
    before = index.search("cats")

    index.put(seen._replace(hits=3, last_accessed_at="2026-02-01T00:00:00.000Z"))
    after = index.search("cats")

    assert [one.relevance for one in after] == [one.relevance for one in before]
    assert after[0].note.hits == 3


def test_a_note_that_is_trusted_less_or_hidden_or_linked_ranks_anew() -> None:
    first, second = note(1, "Cats", "Two cats live here"), note(2, "Dogs", "One dog barks")
    index = index_of(first, second)
    before = index.search("cats")[0].relevance

    index.put(first._replace(confidence=0.1))
    trusted_less = index.search("cats")[0].relevance
    index.put(*linked(first, second))
    linked_ones = [one.note.title for one in index.search("cats")]
    index.put(first._replace(hidden=True))
    hidden = [one.note.title for one in index.search("cats")]

    assert trusted_less < before
    assert linked_ones == ["Cats", "Dogs"]
    assert "Cats" not in hidden
