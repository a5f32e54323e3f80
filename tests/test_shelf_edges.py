"""Where two things meet: gathering and other writers, hidden keys, limits, projects, odd input."""

from pathlib import Path

import pytest

from nuggets import NuggetShelf
from nuggets.errors import Conflict, InvalidInput, NotFound, StoreError
from nuggets.stores.in_memory import InMemoryStore


# --- gathered changes (auto_save=False, batch) meet what others wrote
def test_a_key_gathered_here_and_written_there_is_one_fact(tmp_path: Path) -> None:
    gathering = NuggetShelf(tmp_path, auto_save=False)
    gathering.remember("n", "k", "mine")
    NuggetShelf(tmp_path).remember("n", "K", "theirs")
    gathering.save_all()
    assert [f.content for f in NuggetShelf(tmp_path).facts("n")] == ["mine"]


def test_gathering_does_not_overwrite_a_nuggets_settings(tmp_path: Path) -> None:
    gathering = NuggetShelf(tmp_path, auto_save=False)
    gathering.remember("n", "k", "v")
    NuggetShelf(tmp_path).create("n", max_facts=7)
    gathering.save_all()
    assert NuggetShelf(tmp_path).status("n").max_facts == 7


def test_a_gathered_edit_keeps_what_someone_else_changed_meanwhile(tmp_path: Path) -> None:
    shelf = NuggetShelf(tmp_path)
    note = shelf.create_note("n", "t", "one")
    gathering = NuggetShelf(tmp_path, auto_save=False)
    gathering.edit_note(note.id, tags=["mine"])
    shelf.edit_note(note.id, content="two")
    gathering.save_all()

    after = NuggetShelf(tmp_path).get_note(note.id)
    assert (after.content, "mine" in after.tags) == ("two", True)


def test_a_gathered_edit_leaves_no_note_without_a_nugget(tmp_path: Path) -> None:
    shelf = NuggetShelf(tmp_path)
    note = shelf.create_note("n", "t", "one")
    gathering = NuggetShelf(tmp_path, auto_save=False)
    gathering.edit_note(note.id, tags=["mine"])
    shelf.remove("n")

    with pytest.raises(NotFound):
        gathering.save_all()
    assert NuggetShelf(tmp_path).list_notes() == []


class Failing(InMemoryStore):
    fails = False

    def write(self, changes, expected):  # type: ignore[no-untyped-def]
        if self.fails:
            raise StoreError("disk full")
        return super().write(changes, expected)


def test_after_a_batch_that_could_not_be_written_changes_are_written_again() -> None:
    store = Failing()
    shelf = NuggetShelf(store=store, project="")
    store.fails = True
    with pytest.raises(StoreError), shelf.batch():
        shelf.remember("n", "a", "1")
    store.fails = False
    shelf.remember("n", "b", "2")
    assert [f.title for f in NuggetShelf(store=store, project="").facts("n")] == ["b"]


def test_a_recall_inside_a_batch_counts(shelf: NuggetShelf) -> None:
    with shelf.batch():
        shelf.remember("n", "a", "1")
        shelf.recall("a", session="s1")
    assert shelf.facts("n")[0].hits == 1


# --- keys
def test_renaming_onto_a_hidden_facts_key_is_refused(shelf: NuggetShelf) -> None:
    shelf.delete_note(shelf.remember("n", "a", "1").id)
    b = shelf.remember("n", "b", "2")
    with pytest.raises(Conflict):
        shelf.edit_note(b.id, title="A")


def test_renaming_a_hidden_fact_onto_a_key_is_refused(shelf: NuggetShelf) -> None:
    shelf.remember("n", "a", "1")
    b = shelf.remember("n", "b", "2")
    shelf.delete_note(b.id)
    with pytest.raises(Conflict):
        shelf.edit_note(b.id, title="A")


# --- max_facts
@pytest.mark.parametrize("how", ["restore", "edit", "remember"])
def test_a_fact_that_comes_back_evicts_too(shelf: NuggetShelf, how: str) -> None:
    nugget = shelf.create("n", max_facts=2)
    a = nugget.remember("a", "1")
    nugget.remember("b", "2")
    shelf.delete_note(a.id)
    nugget.remember("c", "3")
    {
        "restore": lambda: shelf.restore_note(a.id),
        "edit": lambda: shelf.edit_note(a.id, hidden=False),
        "remember": lambda: nugget.remember("a", "9"),
    }[how]()
    assert len(nugget.facts()) == 2


# --- hits
def test_more_than_64_sessions_are_counted_once_each(tmp_path: Path) -> None:
    shelf = NuggetShelf(tmp_path)
    shelf.remember("n", "k", "v")
    for number in range(70):
        shelf.recall("k", session=f"s{number}")
    assert shelf.facts("n")[0].hits == 70


# --- projects
def test_recall_prefers_this_projects_fact(shelf: NuggetShelf) -> None:
    shelf.remember("a", "build", "theirs", project="/else/.git")
    shelf.remember("b", "build", "ours")
    assert shelf.recall("build").answer == "ours"


def two_projects(directory: Path) -> tuple[NuggetShelf, NuggetShelf]:
    here = NuggetShelf(directory, project="/here/.git")
    there = NuggetShelf(directory, project="/there/.git")
    here.remember("project", "test cmd", "pytest")
    there.remember("project", "test cmd", "npm test")
    return here, there


def test_two_projects_may_know_different_things_by_one_key(tmp_path: Path) -> None:
    here, there = two_projects(tmp_path)

    assert here.recall("test cmd").answer == "pytest"
    assert there.recall("test cmd").answer == "npm test"
    assert here.recall("tst cmd").answer == "pytest"
    assert NuggetShelf(tmp_path, project="/there/.git").recall("test cmd").answer == "npm test"


def test_a_new_value_for_a_key_leaves_other_projects_alone(tmp_path: Path) -> None:
    here, there = two_projects(tmp_path)
    here.remember("project", "Test Cmd", "tox")

    assert here.recall("test cmd").answer == "tox"
    assert there.recall("test cmd").answer == "npm test"
    assert len(here.facts("project")) == 2


def test_what_only_another_project_knows_is_still_an_answer(tmp_path: Path) -> None:
    NuggetShelf(tmp_path, project="/there/.git").remember("project", "deploy cmd", "make ship")

    result = NuggetShelf(tmp_path, project="/here/.git").recall("deploy cmd")

    assert result.answer == "make ship"


def test_forgetting_takes_this_projects_fact_first(tmp_path: Path) -> None:
    here, there = two_projects(tmp_path)
    here.forget("project", "test cmd")

    assert there.recall("test cmd").answer == "npm test"
    assert here.recall("test cmd").answer == "npm test"


def test_forgetting_what_only_another_project_knows_is_refused(tmp_path: Path) -> None:
    here, there = two_projects(tmp_path)
    here.forget("project", "test cmd")

    with pytest.raises(Conflict, match="/there"):
        here.forget("project", "test cmd")
    assert there.recall("test cmd").answer == "npm test"


def test_a_hand_edit_reaches_the_fact_of_its_project(tmp_path: Path) -> None:
    here, there = two_projects(tmp_path)
    here.close()
    there.close()
    path = tmp_path / "project.nugget.json"
    edited = path.read_text().replace("npm test", "npm run test").replace("pytest", "tox")
    path.write_text(edited)

    assert NuggetShelf(tmp_path, project="/here/.git").recall("test cmd").answer == "tox"
    assert NuggetShelf(tmp_path, project="/there/.git").recall("test cmd").answer == "npm run test"


def test_other_projects_cannot_crowd_this_one_out_of_a_search(tmp_path: Path) -> None:
    there = NuggetShelf(tmp_path, project="/there/.git")
    with there.batch():
        for number in range(60):
            there.create_note("project", f"Test command {number}", "The test command is make test.")
    here = NuggetShelf(tmp_path, project="/here/.git")
    here.create_note("project", "How to test", "Run tox; that is our test command here.")
    found = here.search_notes("test command", limit=3)

    assert found[0].note.title == "How to test"
    assert [here.is_foreign(result.note) for result in found] == [False, True, True]
    assert all(0 < result.score < 1 for result in found)


# --- bad input
@pytest.mark.parametrize("operation", ["get", "has", "create", "get_or_create", "remove", "status"])
@pytest.mark.parametrize("name", [None, 5, b"x"])
def test_a_name_that_is_no_text_is_refused(shelf: NuggetShelf, operation: str, name: str) -> None:
    with pytest.raises(InvalidInput):
        getattr(shelf, operation)(name)


@pytest.mark.parametrize("key", [None, 5])
def test_a_key_that_is_no_text_is_refused(shelf: NuggetShelf, key: str) -> None:
    with pytest.raises(InvalidInput):
        shelf.remember("n", key, "v")
    shelf.remember("n", "k", "v")
    with pytest.raises(InvalidInput):
        shelf.forget("n", key)


@pytest.mark.parametrize("limit", ["5", 1.5, None])
def test_a_limit_that_is_no_whole_number_is_refused(shelf: NuggetShelf, limit: int) -> None:
    shelf.create_note("n", "a", "b")
    with pytest.raises(InvalidInput):
        shelf.search_notes("a", limit=limit)


def test_a_query_with_half_a_character_is_refused(shelf: NuggetShelf) -> None:
    shelf.create_note("n", "alpha", "b")
    with pytest.raises(InvalidInput):
        shelf.search_notes("\udcff alpha")


@pytest.mark.parametrize("session", [5, "\udcff", "a\0b"])
def test_a_session_that_cannot_be_kept_is_refused(tmp_path: Path, session: str) -> None:
    shelf = NuggetShelf(tmp_path)
    shelf.remember("n", "k", "v")
    with pytest.raises(InvalidInput):
        shelf.recall("k", session=session)


def test_a_nugget_name_of_invisible_marks_is_refused(shelf: NuggetShelf) -> None:
    with pytest.raises(InvalidInput):
        shelf.create("n\U000e0100")
