"""Where two things meet: gathering and other writers, hidden keys, limits, projects, odd input."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from in_memory import InMemoryStore
from nuggets import NuggetShelf
from nuggets.domain.records import Changes
from nuggets.errors import Conflict, InvalidInput, NotFound, StoreError


# --- pending changes (auto_save=False, batch) meet what others wrote
def test_a_key_gathered_here_and_written_there_never_becomes_two_facts(tmp_path: Path) -> None:
    gathering = NuggetShelf(tmp_path, auto_save=False)
    mine = gathering.remember("n", "k", "mine")
    NuggetShelf(tmp_path).remember("n", "K", "theirs")

    with pytest.raises(Conflict, match="remember 'k'"):
        gathering.save_all()
    gathering.discard_unsaved(mine.id)
    gathering.remember("n", "k", "mine")
    gathering.save_all()
    assert [f.content for f in NuggetShelf(tmp_path).facts("n")] == ["mine"]


def test_gathering_does_not_overwrite_a_nuggets_settings(tmp_path: Path) -> None:
    gathering = NuggetShelf(tmp_path, auto_save=False)
    gathering.remember("n", "k", "v")
    NuggetShelf(tmp_path).create("n", max_facts=7)
    gathering.save_all()
    assert NuggetShelf(tmp_path).status("n").max_facts == 7


def test_a_gathered_edit_of_what_someone_else_changed_meanwhile_is_a_conflict(
    tmp_path: Path,
) -> None:
    shelf = NuggetShelf(tmp_path)
    note = shelf.create_note("n", "t", "one")
    gathering = NuggetShelf(tmp_path, auto_save=False)
    gathering.edit_note(note.id, tags=["mine"])
    shelf.edit_note(note.id, content="two")

    with pytest.raises(Conflict, match=note.id):
        gathering.save_all()
    assert NuggetShelf(tmp_path).get_note(note.id).content == "two"

    gathering.discard_unsaved(note.id)
    gathering.edit_note(note.id, tags=["mine"])
    gathering.save_all()
    after = NuggetShelf(tmp_path).get_note(note.id)
    assert (after.content, "mine" in after.tags) == ("two", True)


def test_a_gathered_edit_leaves_no_note_without_a_nugget(tmp_path: Path) -> None:
    shelf = NuggetShelf(tmp_path)
    note = shelf.create_note("n", "t", "one")
    gathering = NuggetShelf(tmp_path, auto_save=False)
    gathering.edit_note(note.id, tags=["mine"])
    shelf.remove("n")

    with pytest.raises(Conflict):
        gathering.save_all()
    assert NuggetShelf(tmp_path).list_notes() == []


def test_gathered_tags_are_those_that_were_given_then(tmp_path: Path) -> None:
    gathering = NuggetShelf(tmp_path, auto_save=False)
    known = NuggetShelf(tmp_path).create_note("n", "known", "c", ["old"])
    mine = ["changed", "later"]
    new = gathering.create_note("n", "new", "c", (tag for tag in ["alpha", "beta"]))
    other = gathering.create_note("n", "other", "c", mine)
    gathering.edit_note(known.id, tags=iter(["gamma"]))
    mine.clear()
    NuggetShelf(tmp_path).remember("x", "k", "v")
    gathering.save_all()

    after = NuggetShelf(tmp_path)
    assert after.get_note(new.id).tags == new.tags == ("alpha", "beta", *new.tags[2:])
    assert after.get_note(other.id).tags == other.tags == ("changed", "later", *other.tags[2:])
    assert after.get_note(known.id).tags[0] == "gamma"


class Failing(InMemoryStore):
    fails = False

    def write(self, changes: Changes) -> int:
        if self.fails:
            raise StoreError("disk full")
        return super().write(changes)


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
    ways: dict[str, Callable[[], object]] = {
        "restore": lambda: shelf.restore_note(a.id),
        "edit": lambda: shelf.edit_note(a.id, hidden=False),
        "remember": lambda: nugget.remember("a", "9"),
    }
    ways[how]()
    assert len(nugget.facts()) == 2


# --- hits
def test_more_than_64_sessions_are_counted_once_each(tmp_path: Path) -> None:
    shelf = NuggetShelf(tmp_path)
    shelf.remember("n", "k", "v")
    for number in range(70):
        shelf.recall("k", session=f"s{number}")
    shelf.remember("other", "k", "v")  # counts what another process kept from being written
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


Call = Callable[[NuggetShelf, Any], object]
TAKING_A_NUGGET: dict[str, Call] = {
    "get_note": lambda shelf, odd: shelf.get_note("Alpha", odd),
    "get_note by id": lambda shelf, odd: shelf.get_note("note-n-00000001", odd),
    "edit_note": lambda shelf, odd: shelf.edit_note("Alpha", content="x", nugget=odd),
    "delete_note": lambda shelf, odd: shelf.delete_note("Alpha", nugget=odd),
    "restore_note": lambda shelf, odd: shelf.restore_note("Alpha", odd),
    "add_link": lambda shelf, odd: shelf.add_link("Alpha", "Beta", nugget=odd),
    "remove_link": lambda shelf, odd: shelf.remove_link("Alpha", "Beta", nugget=odd),
    "merge_notes": lambda shelf, odd: shelf.merge_notes("Alpha", "Beta", nugget=odd),
    "purge": lambda shelf, odd: shelf.purge("Alpha", odd),
    "purge_fact": lambda shelf, odd: shelf.purge_fact(odd, "key"),
}


@pytest.mark.parametrize("operation", TAKING_A_NUGGET)
def test_a_nugget_in_place_of_its_name_is_refused(shelf: NuggetShelf, operation: str) -> None:
    shelf.create_note("n", "Alpha", "a")
    shelf.create_note("n", "Beta", "b")

    for odd in (shelf["n"], 5, b"n"):
        with pytest.raises(InvalidInput, match="a nugget's name must be a text"):
            TAKING_A_NUGGET[operation](shelf, odd)


@pytest.mark.parametrize("odd", ["n", "no", 0, 1])
def test_a_note_is_not_deleted_at_a_word(shelf: NuggetShelf, odd: object) -> None:
    shelf.create_note("n", "Alpha", "a")
    before = shelf.revision

    with pytest.raises(InvalidInput, match="hard must be true or false, not "):
        shelf.delete_note("Alpha", odd)  # type: ignore[arg-type]

    assert shelf.revision == before


OTHER_ODD_CALLS: dict[str, Call] = {
    "remove_link, reason": lambda shelf, _: shelf.remove_link("Alpha", "Beta", 5),  # type: ignore[arg-type]
    "undo a text": lambda shelf, _: shelf.undo("3"),  # type: ignore[arg-type]
    "undo True": lambda shelf, _: shelf.undo(True),
    "commits": lambda shelf, _: shelf.commits("x"),  # type: ignore[arg-type]
    "explain nothing": lambda shelf, _: shelf.explain(None, "Alpha"),  # type: ignore[arg-type]
    "explain no note": lambda shelf, _: shelf.explain("alpha", ["Alpha"]),  # type: ignore[arg-type]
    "limit None": lambda shelf, _: shelf.recall_or_search("zebra", limit=None),  # type: ignore[arg-type]
    "limit a text": lambda shelf, _: shelf.recall_or_search("zebra", limit="5"),  # type: ignore[arg-type]
    "limit 2.5": lambda shelf, _: shelf.recall_or_search("zebra", limit=2.5),  # type: ignore[arg-type]
    "limit 0": lambda shelf, _: shelf.recall_or_search("zebra", limit=0),
    "promote 5": lambda shelf, _: shelf.promote(5),  # type: ignore[arg-type]
    "promote bytes": lambda shelf, _: shelf.promote(b"M.md"),  # type: ignore[arg-type]
    "promote NUL": lambda shelf, _: shelf.promote("a\0b"),
    "run_daily": lambda shelf, _: shelf.run_daily("2026-01-01"),  # type: ignore[arg-type]
    "next_run": lambda shelf, _: shelf.next_run(None),  # type: ignore[arg-type]
    "move_project": lambda shelf, _: shelf.move_project(5),  # type: ignore[arg-type]
    "purge_fact": lambda shelf, _: shelf.purge_fact("n", None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", OTHER_ODD_CALLS)
def test_what_makes_no_sense_is_refused_as_that(shelf: NuggetShelf, call: str) -> None:
    shelf.create_note("n", "Alpha", "a")
    shelf.create_note("n", "Beta", "b")

    with pytest.raises(InvalidInput):
        OTHER_ODD_CALLS[call](shelf, None)


def test_whoever_promotes_without_a_file_is_told_how_to_name_one(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound, match=r"give its path .*set NUGGETS_MEMORY_FILE"):
        shelf.promote()


def test_a_file_may_be_named_by_a_path(shelf: NuggetShelf, tmp_path: Path) -> None:
    assert shelf.promote(tmp_path / "MEMORY.md") == 0
    assert shelf.memory_path(tmp_path / "MEMORY.md") == str(tmp_path / "MEMORY.md")
    assert NuggetShelf.open(tmp_path / "shelf").size == 0


class Topic(str, Enum):  # noqa: UP042
    """As many are made; the text of it is "Topic.WORK"."""

    WORK = "work"
    USER = "user"


def test_a_text_of_another_kind_is_kept_as_a_plain_one(shelf: NuggetShelf) -> None:
    odd: dict[str, Any] = {"scope": Topic.USER, "subject": Topic.WORK}
    fact = shelf.remember(Topic.WORK, Topic.USER, Topic.WORK, **odd)
    note = shelf.create_note(Topic.WORK, Topic.USER, Topic.WORK, [Topic.USER], **odd)

    assert (fact.id, note.id) == ("fact-work-00000001", "note-work-00000002")
    assert {type(value) for value in (*fact, *note, *note.tags) if isinstance(value, str)} == {str}
    assert type(shelf.status("work").name) is str


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
