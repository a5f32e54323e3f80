"""An index that is asked again and again: what it keeps, and what it must not keep."""

from random import Random

import pytest

from nuggets.search.index import (
    index_writer,
    inverted_index,
    segment_merging,
    segment_reader,
    snapshot,
)
from nuggets.search.index.snapshot import IN_SIGHT, Snapshot
from nuggets.search.query.query import QueryReader
from nuggets.search.scoring.array_ranking import ArrayRanking
from nuggets.search.scoring.ranking import Ranking
from nuggets.search.search_index import SearchIndex
from object_counts import count_held
from searchable import Shelf, index_of, linked, note

WORDS = [first + second for first in "bdfgklmnprstv" for second in ("and", "ores", "ill", "unting")]
QUERIES = [" ".join(pair) for pair in zip(WORDS[::6], WORDS[1::6], strict=False)]
QUESTIONS = (
    *QUERIES[:6],
    "when was band in May 2025",
    "bnad fill",
    "what did Anna Smith say about dill?",
    "band band dores bill bunting dand dores dill",
)


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_writer, "RECENT", 8)
    monkeypatch.setattr(segment_merging, "SMALLEST", 8)


def shelf_of(count: int, first: int = 0) -> Shelf:
    rng = Random(first)
    notes = [
        note(
            first + n,
            "Anna Smith" if n % 20 == 0 else " ".join(rng.choices(WORDS, k=2)),
            " ".join(
                [*rng.choices(WORDS, k=rng.randint(2, 30)), *["on 5 May 2025?"] * (n % 9 == 0)]
            ),
            f"t{n // 7}",
            *[f"u{n % 5}"] * (n % 3 == 0),
            created_at=f"2025-0{1 + n % 9}-01T09:00:00.000Z",
        )
        for n in range(count)
    ]
    for n in range(0, count - 3, 2):
        notes[n], notes[n + 1] = linked(notes[n], notes[n + 1])
        notes[n], notes[n + 3] = linked(notes[n], notes[n + 3])
    return index_of(*notes)


def answers(index: SearchIndex) -> list[list[tuple[str, float]]]:
    return [[(one.note.id, one.relevance) for one in index.search(q, 10)] for q in QUERIES]


def another(shelf: Shelf) -> SearchIndex:
    """As another process would have it."""
    return SearchIndex(shelf.database, shelf.fetch)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_ranking_is_the_same_with_and_without_numpy(question: str) -> None:
    snapshot = Snapshot(shelf_of(300).database, IN_SIGHT)
    query = QueryReader(snapshot).understand(question)
    for eligible in (None, {0: set(range(0, 300, 3))}):
        plain = Ranking(query, snapshot).signals(eligible, 40)
        fast = ArrayRanking(query, snapshot).signals(eligible, 40)

        assert {one.document: one[1:] for one in fast} == {
            one.document: pytest.approx(one[1:], abs=1e-12) for one in plain
        }
        assert len(plain) > 10


def test_a_living_index_follows_what_others_write() -> None:
    shelf = shelf_of(120)
    living, rng = another(shelf), Random(3)
    for turn in range(36):
        chosen = rng.choice(sorted(shelf.notes))
        if turn % 4 == 0:
            shelf.drop(chosen)
        elif turn % 4 == 1:
            shelf.put(shelf.notes[chosen]._replace(links=(), stability="temporary"))
        else:
            shelf.put(note(1000 + turn, "New", " ".join(rng.choices(WORDS, k=9)), f"t{turn % 9}"))

        assert answers(living) == answers(shelf.index) == answers(another(shelf))


def test_a_living_index_forgets_segments_that_were_written_anew() -> None:
    shelf = shelf_of(120)
    living = another(shelf)
    answers(living)
    gone = sorted(shelf.notes)[::2]
    shelf.drop(*gone)
    shelf.index.forget_traces(gone)

    assert answers(living) == answers(another(shelf))

    shelf.index.rebuild((0, one) for one in reversed(list(shelf.notes.values())))

    assert answers(living) == answers(another(shelf))


def test_a_question_that_was_asked_reads_no_postings_again_after_a_write() -> None:
    shelf = shelf_of(120)
    shelf.put(note(900, "Apart", "nothing in common"))
    answers(shelf.index)
    statements: list[str] = []
    shelf.put(note(901, "Apart", "nothing in common either"))
    shelf.database.set_trace_callback(statements.append)
    again = answers(shelf.index)
    shelf.database.set_trace_callback(None)

    assert [one for one in statements if "docs, gone, groups" in one] == []
    assert [one for one in statements if "FROM search_documents" in one] == []
    assert again == answers(another(shelf))


def test_what_a_living_index_keeps_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_reader, "MOST_BYTES", 0)
    monkeypatch.setattr(segment_reader, "MOST_COUNTS", 3)
    shelf = shelf_of(120)

    assert answers(shelf.index) == answers(shelf.index) == answers(another(shelf))


def test_a_living_index_does_not_grow_with_words_that_no_note_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(segment_reader, "MOST_ABSENT", 20, raising=False)
    shelf = shelf_of(120)

    def held_after(first: int) -> int:
        for number in range(first, first + 60):
            shelf.put(note(900, "Apart", f"nothing in common {number % 10}"))
            shelf.search(f"band unknown{number} {number}")
        return count_held(shelf.index)

    early = held_after(1000)

    assert held_after(2000) < early + 60


def test_an_index_that_is_only_asked_does_not_grow_with_new_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (segment_reader, inverted_index):
        monkeypatch.setattr(module, "MOST_COUNTS", 100)
    monkeypatch.setattr(segment_reader, "MOST_ABSENT", 20, raising=False)
    monkeypatch.setattr(snapshot, "QUERIES_KEPT", 5)
    index = shelf_of(120).index

    def held_after(first: int) -> int:
        for number in range(first, first + 120):
            index.search(f"band unknown{number} {number}")
        index.search("band")
        return count_held(index)

    early = held_after(1000)

    assert held_after(2000) < early + 300


def test_counts_of_groups_are_the_same_with_and_without_numpy() -> None:
    shelf = shelf_of(60)
    # The numbers of later groups do not fit into two bytes.
    shelf.database.execute("INSERT INTO search_groups VALUES (70000, 'far', 0, 0, 0, 0)")
    rng = Random(1)
    shelf.put(*(note(500 + n, "", " ".join(rng.choices(WORDS, k=9)), f"v{n}") for n in range(19)))
    index = Snapshot(shelf.database, IN_SIGHT).index
    for word in WORDS:
        numbers, counts = index.group_count_arrays(word)

        assert dict(zip(numbers.tolist(), counts.tolist(), strict=True)) == index.group_counts(word)
    assert max(index.group_count_arrays("band")[0]) > 70000
