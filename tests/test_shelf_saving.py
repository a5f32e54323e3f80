"""When things are written: at once, in a batch, or when told; and what other shelves see."""

from pathlib import Path

import pytest

from in_memory import InMemoryStore
from nuggets import NuggetShelf
from nuggets.errors import Conflict, SettingsError


def revision(store: InMemoryStore) -> int:
    return store.revision


def test_by_default_every_change_is_there_for_others_at_once(directory: Path) -> None:
    NuggetShelf(directory).remember("n", "k", "v")

    assert NuggetShelf(directory).recall("k").answer == "v"


def test_one_shelf_follows_what_another_writes(directory: Path) -> None:
    one, other = NuggetShelf(directory), NuggetShelf(directory)
    one.remember("n", "k", "old")
    other.recall("k")

    one.remember("n", "k", "new")
    one.create_note("n", "t", "c")

    assert other.recall("k").answer == "new"
    assert other.get_note("t").content == "c"


def test_a_batch_is_one_write() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, project="")

    with shelf.batch():
        shelf.remember("n", "a", "1")
        note = shelf.create_note("m", "t", "c")
        shelf.remember("n", "a", "2")
        shelf.edit_note(note.id, content="d")

    assert revision(store) == 1
    assert shelf.recall("a").answer == "2"
    assert NuggetShelf(store=store, project="").get_note("t").content == "d"


def test_an_error_inside_a_batch_writes_nothing() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, project="")
    shelf.remember("n", "a", "1")

    with pytest.raises(ZeroDivisionError), shelf.batch():
        shelf.remember("n", "a", "2")
        shelf.create("other")
        _ = 1 / 0

    assert revision(store) == 1
    assert shelf.recall("a").answer == "1"
    assert not shelf.has("other")


def test_after_a_failed_batch_changes_are_written_again() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, project="")
    with pytest.raises(ZeroDivisionError), shelf.batch():
        _ = 1 / 0

    shelf.remember("n", "a", "1")

    assert NuggetShelf(store=store, project="").recall("a").answer == "1"


def test_a_batch_in_a_batch_belongs_to_it() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, project="")

    with shelf.batch():
        with shelf.batch():
            shelf.remember("n", "a", "1")
        assert revision(store) == 0
        shelf.remember("n", "b", "2")

    assert revision(store) == 1


def test_a_batch_that_changes_nothing_writes_nothing() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, project="")

    with shelf.batch():
        pass

    assert revision(store) == 0


def test_a_batch_sees_its_own_changes(shelf: NuggetShelf) -> None:
    with shelf.batch():
        shelf.remember("n", "a", "1")
        note = shelf.create_note("n", "Auth", "JWT tokens")

        assert shelf.recall("a").answer == "1"
        assert shelf.size == 1
        assert [found.note.id for found in shelf.search_notes("jwt")] == [note.id]
        with pytest.raises(Conflict):
            shelf.create("n")


def test_what_a_batch_makes_and_takes_away_is_gone_after_it(shelf: NuggetShelf) -> None:
    with shelf.batch():
        shelf.remember("n", "a", "1")
        shelf.remember("n", "b", "2")
        shelf.forget("n", "a")
        shelf.remember("m", "c", "3")
        shelf.remove("m")

    assert [fact.title for fact in shelf.facts("n")] == ["b"]
    assert not shelf.has("m")


def test_without_auto_save_nothing_is_written_before_save_all() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, auto_save=False, project="")

    shelf.remember("n", "a", "1")
    shelf.create_note("n", "t", "c")
    before = revision(store)
    shelf.save_all()

    assert before == 0
    assert revision(store) == 1
    assert len(NuggetShelf(store=store, project="").list_notes()) == 2


def test_without_auto_save_the_shelf_itself_sees_everything() -> None:
    shelf = NuggetShelf("memory:", auto_save=False, project="")

    shelf.remember("n", "a", "1")

    assert shelf.recall("a").answer == "1"
    assert [fact.title for fact in shelf.facts("n")] == ["a"]


def test_without_auto_save_gathering_goes_on_after_a_save() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, auto_save=False, project="")
    shelf.remember("n", "a", "1")
    shelf.save_all()

    shelf.remember("n", "b", "2")
    between = revision(store)
    shelf.save_all()

    assert (between, revision(store)) == (1, 2)


def test_saving_twice_writes_once() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, auto_save=False, project="")
    shelf.remember("n", "a", "1")

    shelf.save_all()
    shelf.save_all()

    assert revision(store) == 1


def test_what_was_gathered_comes_on_top_of_what_others_wrote(directory: Path) -> None:
    gathering = NuggetShelf(directory, auto_save=False)
    gathering.remember("n", "a", "1")
    NuggetShelf(directory).remember("n", "b", "2")

    both = {fact.title for fact in gathering.facts("n")}
    gathering.save_all()

    assert both == {"a", "b"}
    assert {fact.title for fact in NuggetShelf(directory).facts("n")} == {"a", "b"}


def test_closing_saves_what_was_gathered(directory: Path) -> None:
    with NuggetShelf(directory, auto_save=False) as shelf:
        shelf.remember("n", "a", "1")

    assert NuggetShelf(directory).recall("a").answer == "1"


def test_a_closed_shelf_can_be_used_again(directory: Path) -> None:
    shelf = NuggetShelf(directory)
    shelf.remember("n", "a", "1")
    shelf.close()

    shelf.remember("n", "b", "2")

    assert shelf.recall("b").answer == "2"


def test_a_shelf_in_memory_leaves_no_file(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(directory)

    with NuggetShelf.open("memory:") as shelf:
        shelf.remember("n", "k", "v")

        assert shelf.recall("k").answer == "v"
    assert list(directory.iterdir()) == []


def test_two_shelves_in_memory_share_nothing() -> None:
    NuggetShelf.open("memory:").remember("n", "k", "v")

    assert NuggetShelf.open("memory:").size == 0


def test_a_shelf_opens_by_file_url(directory: Path) -> None:
    NuggetShelf.open(f"file://{directory}").remember("n", "k", "v")

    assert NuggetShelf(directory).recall("k").answer == "v"


def test_an_unknown_kind_of_store_is_a_clear_error() -> None:
    with pytest.raises(SettingsError, match="carrier-pigeon"):
        NuggetShelf.open("carrier-pigeon://coop")


def test_reading_an_empty_place_makes_nothing_there(directory: Path) -> None:
    shelf = NuggetShelf(directory / "new")

    found = shelf.recall("anything", session="s1")
    shelf.close()

    assert not found.found
    assert not (directory / "new").exists()


def test_a_change_that_changes_nothing_is_not_written() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, project="")
    note = shelf.create_note("n", "t", "c")

    shelf.edit_note(note.id, content="c")
    shelf.forget("n", "nothing")
    shelf.get_or_create("n")

    assert revision(store) == 1


def test_every_write_says_what_it_was_and_who_did_it() -> None:
    store = InMemoryStore()
    shelf = NuggetShelf(store=store, project="", client="test")
    shelf.remember("n", "k", "v")

    shelf.remember("n", "k", "w")

    [commit] = store.history.commits(since=1)
    written = commit.changes
    assert (written.action, written.client) == ("remember", "test")
