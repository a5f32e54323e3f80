"""What is written to the tables: blocks, several writers, and what a purge leaves."""

import sqlite3
from pathlib import Path
from random import Random

import pytest

from nuggets.domain.records import MemoryNote, NoteFilterOptions
from nuggets.search import TABLES, index_writer, postings, ranking, search_index
from nuggets.search.postings import decode, encode, term_key
from nuggets.search.search_index import SearchIndex
from searchable import Shelf, index_of, linked, note

WORDS = [first + second for first in "bdfgklmnprstv" for second in ("and", "ores", "ill", "unting")]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few notes are enough to fill several."""
    for module in (postings, index_writer, search_index, ranking):
        monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(index_writer, "MOST_RECENT", 6)


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


def test_notes_written_one_by_one_answer_like_notes_written_at_once() -> None:
    shelf = index_of()
    notes = many_notes(100)
    for count, one in enumerate(notes, 1):
        shelf.put(one)
        if count % 20 == 0:
            assert shelf.check_against(notes[:count]) == []
            assert answers(shelf) == answers(index_of(*notes[:count]))


def test_the_newest_notes_wait_and_are_moved_into_blocks_together() -> None:
    shelf, notes = index_of(*many_notes(20)), many_notes(40)
    tables = ("postings", "recent")

    def rows(table: str) -> set[tuple[object, ...]]:
        return set(shelf.database.execute(f"SELECT * FROM search_{table}"))

    in_blocks = rows(tables[0])
    for one in notes[20:26]:
        shelf.put(one)
    waiting = {doc for _, doc, _ in rows(tables[1])}

    assert rows(tables[0]) == in_blocks
    assert len(waiting) == 6

    shelf.drop(notes[21].id)
    shelf.put(*notes[26:28])

    assert rows(tables[1]) == set()
    assert shelf.index.check() == []


def test_a_code_keeps_fields_and_weights_to_a_twelfth() -> None:
    for title, content in ((0, 1.0), (2, 0.37), (9, 0.0), (1, 5.5), (0, 0.02)):
        times, weight, in_tag = decode(encode(title, content))

        assert times == min(title, 3)
        assert weight == pytest.approx(content, rel=1 / 12)
        assert not in_tag


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

    for table in ("documents", "postings", "recent", "words", "statistics"):
        for row in shelf.database.execute(f"SELECT * FROM search_{table}"):
            assert "xyzzyplugh" not in repr(row).lower()
            assert secret.id not in row
    kept = {
        key
        for table in ("search_postings", "search_recent")
        for (key,) in shelf.database.execute(f"SELECT term FROM {table}")
    }
    assert not kept & {term_key("xyzzyplugh"), term_key("=tag=xyzzyplugh")}
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

    shelf.database.execute("DELETE FROM search_words WHERE word = 'band'")
    shelf.database.execute("DELETE FROM search_postings WHERE term = ?", (term_key("dill"),))
    told = " ".join(shelf.index.check())

    assert "'band'" in told
    assert "'dill'" in told


def test_looking_at_a_note_writes_nothing() -> None:
    shelf = index_of(*many_notes(5))
    seen = next(iter(shelf.notes.values()))
    before = shelf.database.total_changes

    shelf.put(seen._replace(hits=3, last_accessed_at="2026-02-01T00:00:00.000Z"))

    assert shelf.database.total_changes == before


def test_filters_and_projects_are_looked_up_in_all_blocks() -> None:
    shelf = index_of(*many_notes(60))
    shelf.put(*(note(200 + n, "Mine", "band", "mine", project="p") for n in range(3)))
    shelf.put(*(note(300 + n, "Theirs", "band", project="q") for n in range(40)))

    tagged = shelf.search("band", 10, NoteFilterOptions(tag="mine"))
    own_first = shelf.search("band", 10, project="p")

    assert [one.note.title for one in tagged] == ["Mine"] * 3
    assert {"p", ""}.issuperset(one.note.project for one in own_first[:3])


def test_a_word_that_comes_back_is_a_correction_again() -> None:
    shelf, orchid = index_of(note(1, "Garden", "The orchids stay inside.")), "note-n-00000001"

    shelf.drop(orchid)
    assert not shelf.database.execute(
        "SELECT 1 FROM search_words WHERE word = 'orchids'"
    ).fetchone()
    shelf.put(note(1, "Garden", "The orchids stay inside."))
    assert [one.note.id for one in shelf.search("orchjids")] == [orchid]


def test_words_of_a_write_that_was_undone_are_written_by_the_next_one() -> None:
    shelf, orchids = index_of(note(1, "Kitchen", "New tiles.")), "The orchids stay inside."
    shelf.database.execute("BEGIN")
    shelf.index.update([(0, None, note(2, "Garden", orchids))])
    shelf.database.execute("ROLLBACK")

    shelf.put(note(3, "Window", orchids))
    assert [one.note.title for one in shelf.search("orchjids")] == ["Window"]


def test_of_many_notes_that_have_some_words_the_old_one_that_has_all_is_found() -> None:
    shelf = index_of(note(1, "First", "amber basil cedar dill"))
    pairs = ("amber basil", "basil cedar", "cedar dill", "dill amber")
    shelf.put(*(note(n, f"Entry {n}", f"{pairs[n % 4]} fennel {n}") for n in range(2, 600)))

    assert shelf.search("amber basil cedar dill", 1)[0].note.title == "First"
