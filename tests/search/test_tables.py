"""What is written to the tables: segments, merges, several writers, and what a purge leaves."""

import sqlite3
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggets.domain.records import MemoryNote, NoteFilterOptions
from nuggets.search.index import index_writer, segment_builder, segment_merging
from nuggets.search.index.postings import Shares
from nuggets.search.index.schema import NAMES, TABLES
from nuggets.search.index.segment_reader import Postings
from nuggets.search.scoring.posting_sums import NumpyAccumulator, PlainAccumulator
from nuggets.search.search_index import SearchIndex
from searchable import Shelf, index_of, linked, note

WORDS = [first + second for first in "bdfgklmnprstv" for second in ("and", "ores", "ill", "unting")]


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few notes are enough to see segments come, be merged and go."""
    monkeypatch.setattr(index_writer, "RECENT", 8)
    monkeypatch.setattr(segment_merging, "SMALLEST", 8)


def many_notes(count: int, seed: int = 5) -> list[MemoryNote]:
    rng = Random(seed)
    notes = [
        note(n, " ".join(rng.choices(WORDS, k=2)), " ".join(rng.choices(WORDS, k=9)), f"t{n // 7}")
        for n in range(count)
    ]
    for n in range(count - 1):
        notes[n], notes[n + 1] = linked(notes[n], notes[n + 1])
    return notes


def answers(shelf: Shelf) -> list[list[tuple[str, float]]]:
    queries = (" ".join(pair) for pair in zip(WORDS[::5], WORDS[1::5], strict=False))
    return [[(r.note.id, r.relevance) for r in shelf.search(query, 10)] for query in queries]


def segments(shelf: Shelf) -> list[tuple[int, int]]:
    return shelf.database.execute("SELECT notes, target FROM search_segments").fetchall()


def test_notes_written_one_by_one_answer_like_notes_written_at_once_whatever_is_merged() -> None:
    shelf, states = index_of(), set()
    notes = many_notes(300)
    for count, one in enumerate(notes, 1):
        shelf.put(one)
        states.add(any(target for _, target in segments(shelf)))
        if count % 20 == 0:
            assert shelf.check_against(notes[:count]) == []
            assert answers(shelf) == answers(index_of(*notes[:count]))

    assert states == {False, True}  # some of this was seen in the middle of a merge
    assert len(segments(shelf)) < 300 // 16


def test_edits_and_drops_leave_with_what_they_took_away() -> None:
    rng, notes = Random(1), many_notes(200)
    shelf = index_of(*notes)
    for turn in range(150):
        chosen = rng.choice(sorted(shelf.notes))
        if turn % 3:
            edited = note(turn, "", "")._replace(id=chosen, content=" ".join(rng.choices(WORDS)))
            shelf.put(edited)
        else:
            shelf.drop(chosen)

    assert shelf.index.check() == []
    assert answers(shelf) == answers(index_of(*shelf.notes.values()))


@pytest.mark.parametrize("before", [0, 40])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_purge_leaves_no_trace_in_any_table(before: int, hidden: bool) -> None:
    shelf = index_of(*many_notes(before))
    secret = note(900, "Xyzzyplugh", "the xyzzyplugh was hunting", "xyzzyplugh", hidden=hidden)
    shelf.put(secret)
    shelf.put(*many_notes(60, seed=9))
    shelf.put(secret._replace(content="the xyzzyplughs left"))
    shelf.drop(secret.id)

    shelf.index.forget_traces([secret.id])

    for table in NAMES:
        for row in shelf.database.execute(f"SELECT * FROM {table}"):
            assert "xyzzyplugh" not in repr(row).lower()
            assert secret.id not in row
    assert not shelf.database.execute("SELECT 1 FROM search_postings WHERE gone <> x''").fetchall()
    assert shelf.index.check() == []


def test_words_that_nobody_uses_any_more_are_deleted_at_once() -> None:
    shelf = index_of(*(note(n, "Plain", f"word{n} and more") for n in range(20)))

    shelf.drop(*list(shelf.notes))
    shelf.put(*(note(n, "Other", "nothing") for n in range(100, 120)))

    words = {word for (word,) in shelf.database.execute("SELECT word FROM search_words")}
    assert words == {"other", "nothing"}


def test_numbers_are_found_but_are_no_words_that_a_typo_may_mean() -> None:
    shelf = index_of(*(note(n, f"Plain {n}", f"invoice {70000 + n} paid") for n in range(100)))

    words = {word for (word,) in shelf.database.execute("SELECT word FROM search_words")}
    assert words == {"plain", "invoice", "paid"}
    assert shelf.search("70042")[0].note.title == "Plain 42"
    assert shelf.index.check() == []


def test_several_writers_take_turns(tmp_path: Path) -> None:
    notes: dict[str, MemoryNote] = {}
    databases = [sqlite3.connect(tmp_path / "n.db", isolation_level=None) for _ in range(2)]
    for statement in TABLES:
        databases[0].execute(statement)
    indexes = [
        SearchIndex(one, lambda ids: {note_id: notes[note_id] for note_id in ids}, notes.values)
        for one in databases
    ]

    for number, one in enumerate(many_notes(90)):
        database, index = databases[number % 2], indexes[number % 2]
        database.execute("BEGIN IMMEDIATE")
        index.update([(0, None, one)])
        database.execute("COMMIT")
        notes[one.id] = one
        assert indexes[0].search(one.content) == indexes[1].search(one.content)

    assert indexes[0].check() == []
    for database in databases:
        database.close()


def test_what_is_rolled_back_was_never_indexed() -> None:
    shelf = index_of(*many_notes(30))
    before = answers(shelf)
    shelf.database.execute("BEGIN")
    shelf.index.update([(0, None, note(500, "Xyzzy", "xyzzy"))])
    shelf.database.execute("ROLLBACK")

    assert answers(shelf) == before
    assert shelf.search("xyzzy") == []


def test_a_rebuilt_index_is_the_same() -> None:
    shelf = index_of(*many_notes(50), note(60, "Old", "token", hidden=True))
    before = answers(shelf)

    shelf.index.rebuild(enumerate(shelf.notes.values()))

    assert answers(shelf) == before
    assert shelf.index.check() == []


def test_a_check_names_what_is_wrong() -> None:
    shelf = index_of(*many_notes(30))
    first, *others = shelf.notes.values()

    assert "is not indexed" in shelf.check_against([*others, first, note(99, "New", "new")])[0]
    assert any("no such note" in told for told in shelf.check_against(others))
    assert shelf.check_against([*others, first._replace(content="other words")])

    shelf.database.execute("UPDATE search_words SET count = count + 1 WHERE word = 'band'")
    shelf.database.execute("DELETE FROM search_postings WHERE term = 'dill'")
    told = " ".join(shelf.index.check())

    assert "'band'" in told
    assert "'dill'" in told


def test_looking_at_a_note_writes_nothing() -> None:
    shelf = index_of(*many_notes(5))
    seen = next(iter(shelf.notes.values()))
    before = shelf.database.total_changes

    shelf.put(seen._replace(hits=3, last_accessed_at="2026-02-01T00:00:00.000Z"))

    assert shelf.database.total_changes == before


def test_filters_and_projects_are_looked_up_in_segments_too() -> None:
    shelf = index_of(*many_notes(60))
    shelf.put(*(note(200 + n, "Mine", "band", "mine", project="p") for n in range(3)))
    shelf.put(*(note(300 + n, "Theirs", "band", project="q") for n in range(40)))

    tagged = shelf.search("band", 10, NoteFilterOptions(tag="mine"))
    own_first = shelf.search("band", 10, project="p")

    assert [one.note.title for one in tagged] == ["Mine"] * 3
    assert {"p", ""}.issuperset(one.note.project for one in own_first[:3])


PIECES = st.lists(
    st.tuples(st.integers(0, 2), st.sets(st.integers(0, 300), min_size=1), st.floats(0.1, 1)),
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(PIECES, st.integers(1, 40), st.randoms(use_true_random=False))
def test_sums_are_the_same_with_and_without_numpy(
    pieces: list[tuple[int, set[int], float]], most: int, rng: Random
) -> None:
    plain, fast = PlainAccumulator(), NumpyAccumulator()
    for place, (block, docs, weight) in enumerate(pieces):
        listed = tuple(sorted(docs))
        marks = tuple(rng.randrange(1 << 16) for _ in listed)
        piece, shares = Postings(block, listed, marks), Shares(weight, weight / 2, 50.0)
        for sums in (plain, fast):
            (sums.add_to_scored if place == 3 else sums.add)(piece, shares)
    eligible = {0: set(range(0, 300, 2)), 1: set(range(100))}

    assert plain.best(most, None) == fast.best(most, None)
    assert plain.best(most, eligible) == fast.best(most, eligible)
    for sums in (plain, fast):
        sums.keep_above(0.3)
    assert plain.best(most, None) == fast.best(most, None)


@pytest.mark.parametrize("groups_before", [0, 65_530])  # group numbers beyond 16 bits as well
def test_a_segment_has_the_same_rows_whether_numpy_groups_its_postings_or_not(
    groups_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [
        one._replace(tags=(f"a{n % 3}", f"b{n // 5}", *one.tags), scope="user" if n % 2 else "self")
        for n, one in enumerate(many_notes(120))
    ]
    rows = []
    for limit in (0, 10**9):
        monkeypatch.setattr(segment_builder, "WORTH_NUMPY", limit)
        shelf = index_of()
        shelf.database.execute(
            "INSERT INTO search_groups VALUES (?, 'others', 1, 1, 0, 0)", (groups_before,)
        )
        shelf.put(*notes)
        shelf.put(*(one._replace(content=f"{one.content} the hunting hunting") for one in notes))
        rows.append(shelf.database.execute("SELECT * FROM search_postings").fetchall())
        assert shelf.check_against(shelf.notes.values()) == []

    assert rows[0] == rows[1]
