"""An index that is asked again and again: what it keeps, and what it must not keep."""

from random import Random

import pytest

from nuggets.search import documents, note_analyzer, postings
from nuggets.search.search_index import SearchIndex
from object_counts import count_held
from searchable import Shelf, index_of, linked, note

WORDS = [first + second for first in "bdfgklmnprstv" for second in ("and", "ores", "ill", "unting")]
QUERIES = [" ".join(pair) for pair in zip(WORDS[::6], WORDS[1::6], strict=False)]


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


def test_a_living_index_forgets_what_was_written_anew() -> None:
    shelf = shelf_of(120)
    living = another(shelf)
    answers(living)
    gone = sorted(shelf.notes)[::2]
    shelf.drop(*gone)
    shelf.index.forget_traces(gone)

    assert answers(living) == answers(another(shelf))

    shelf.index.rebuild((0, one) for one in reversed(list(shelf.notes.values())))

    assert answers(living) == answers(another(shelf))


def test_a_question_that_was_asked_reads_nothing_again_until_something_changes() -> None:
    shelf = shelf_of(120)
    answers(shelf.index)
    statements: list[str] = []
    shelf.database.set_trace_callback(statements.append)
    again = answers(shelf.index)
    shelf.database.set_trace_callback(None)

    assert [one for one in statements if "FROM search_postings" in one] == []
    assert [one for one in statements if "FROM search_documents" in one] == []
    assert again == answers(another(shelf))


def test_what_a_living_index_keeps_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "KEPT_POSTINGS", 0)
    monkeypatch.setattr(documents, "MOST_KEYS", 0)
    shelf = shelf_of(120)

    assert answers(shelf.index) == answers(shelf.index) == answers(another(shelf))


def test_a_process_that_forgets_words_reads_notes_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    remembering = answers(shelf_of(120).index)
    monkeypatch.setattr(note_analyzer, "MOST_KEYS", 5)

    assert answers(shelf_of(120).index) == remembering


def test_an_index_that_is_only_asked_does_not_grow_with_new_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postings, "KEPT_POSTINGS", 1600)
    index = shelf_of(120).index

    def held_after(first: int) -> int:
        for number in range(first, first + 120):
            index.search(f"band unknown{number} {number}")
        index.search("band")
        return count_held(index)

    early = held_after(1000)

    assert held_after(2000) < early + 300
