"""History and undo: exact, and never at the cost of a later change."""

import json
import threading
from datetime import datetime
from pathlib import Path

import pytest

from nuggets import NuggetShelf
from nuggets.errors import Conflict, InvalidInput, NotFound
from nuggets.maintenance.undo import is_upkeep
from nuggets.operations.permissions import Client


def contents(shelf: NuggetShelf) -> dict[str, tuple[object, ...]]:
    return {
        note.id: note._replace(last_accessed_at="")
        for note in shelf.list_notes(include_hidden=True)
    }


def test_every_write_is_in_the_history(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    shelf.create_note("project", "Auth", "Uses JWT.")
    shelf.forget("project", "port")

    assert [c.changes.action for c in shelf.history()] == ["forget", "create_note", "remember"]


def test_a_recall_is_no_entry(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    shelf.recall("port", session="s1")

    assert [c.changes.action for c in shelf.history()] == ["remember"]


def test_the_history_of_one_note_has_only_its_changes(shelf: NuggetShelf) -> None:
    note = shelf.create_note("project", "Auth", "Uses JWT.")
    shelf.create_note("project", "Other", "Something else.")
    shelf.edit_note(note.id, "Uses sessions.")

    assert [c.changes.action for c in shelf.history("Auth")] == ["edit_note", "create_note"]


def test_a_number_is_no_name_of_a_note(shelf: NuggetShelf) -> None:
    with pytest.raises(InvalidInput, match="the name of a memory"):
        shelf.history(3)  # type: ignore[arg-type]


def test_a_note_that_is_gone_still_has_a_history(shelf: NuggetShelf) -> None:
    note = shelf.create_note("project", "Auth", "Uses JWT.")
    shelf.delete_note(note.id, hard=True)

    assert [c.changes.action for c in shelf.history(note.id)] == ["delete_note", "create_note"]


def test_undo_takes_the_last_change_back(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    before = contents(shelf)
    shelf.remember("project", "port", "8080")
    shelf.undo()

    assert contents(shelf) == before
    assert shelf.recall("port").answer == "80"


def test_a_forgotten_fact_comes_back_to_its_place(directory: Path) -> None:
    moments = iter(f"2026-01-31T09:00:0{second}.000Z" for second in range(9))
    with NuggetShelf(directory, clock=lambda: next(moments)) as shelf:
        for key in "abc":
            shelf.remember("project", key, "value")
        shelf.forget("project", "b")
        shelf.undo()
        listed = [fact.title for fact in shelf.facts("project")]
    file = json.loads((directory / "project.nugget.json").read_text())

    assert listed == ["a", "b", "c"]
    assert [fact["key"] for fact in file["facts"]] == ["a", "b", "c"]


def test_a_dry_run_says_what_undo_would_take_back_and_changes_nothing(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    shelf.remember("project", "port", "8080")
    revision = shelf.revision

    planned = shelf.undo(dry_run=True)
    with pytest.raises(Conflict):
        shelf.undo(revision - 1, dry_run=True)

    assert shelf.revision == revision == planned.revision
    assert shelf.undo() == planned


def test_undo_again_goes_further_back(shelf: NuggetShelf) -> None:
    shelf.remember("project", "a", "1")
    shelf.remember("project", "b", "2")
    shelf.undo()
    shelf.undo()

    assert shelf.list_notes() == []


def test_undoing_an_undo_does_it_again(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    shelf.undo()
    undo = shelf.history()[0]
    shelf.undo(undo.revision)

    assert shelf.recall("port").answer == "80"


def test_undo_brings_a_removed_nugget_back_whole(shelf: NuggetShelf) -> None:
    a = shelf.create_note("one", "A", "first")
    b = shelf.create_note("two", "B", "second")
    shelf.add_link(a.id, b.id, "belong together")
    shelf.remember("one", "port", "80")
    before = contents(shelf)
    shelf.remove("one")
    shelf.undo()

    assert contents(shelf) == before
    assert shelf.recall("port").answer == "80"


def test_what_someone_changed_since_is_not_undone(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    first = shelf.history()[0].revision
    shelf.remember("project", "port", "8080")

    second = shelf.history()[0].revision
    shelf.recall("port", session="s1")

    with pytest.raises(Conflict, match=f"Undo revision {second} first"):
        shelf.undo(first)
    assert shelf.recall("port").answer == "8080"


def test_a_nugget_that_others_use_now_stays(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    first = shelf.history()[0].revision
    shelf.remember("project", "host", "localhost")
    shelf.undo(first)

    assert [fact.title for fact in shelf.facts("project")] == ["host"]


def test_a_nugget_that_others_use_is_nothing_to_take_back(shelf: NuggetShelf) -> None:
    shelf.get_or_create("project")
    made = shelf.history()[0].revision
    shelf.remember("project", "host", "localhost")

    with pytest.raises(Conflict, match="others use"):
        shelf.undo(made)


def test_recalls_since_then_stay_counted(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    shelf.remember("project", "port", "8080")
    shelf.recall("port", session="s1")
    shelf.undo()

    assert shelf.facts("project")[0].hits == 1
    assert shelf.facts("project")[0].content == "80"


def test_no_undo_makes_two_facts_by_one_key(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "8080")
    shelf.forget("project", "port")
    forgotten = shelf.history()[0].revision
    shelf.remember("project", "Port", "9090")

    with pytest.raises(Conflict, match="another fact by the key 'Port'"):
        shelf.undo(forgotten)
    assert [fact.content for fact in shelf.facts("project")] == ["9090"]
    shelf.undo()
    shelf.undo(forgotten)
    assert [fact.content for fact in shelf.facts("project")] == ["8080"]


def test_a_nugget_that_was_made_anew_keeps_its_settings(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "8080")
    shelf.remove("project")
    removed = shelf.history()[0].revision
    shelf.get_or_create("project", max_facts=3)

    with pytest.raises(Conflict, match="made anew"):
        shelf.undo(removed)
    assert shelf.status("project").max_facts == 3


def test_after_a_purge_undo_takes_back_nothing_else(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "8080")
    shelf.remember("project", "host", "localhost")
    shelf.purge_fact("project", "host")

    with pytest.raises(NotFound, match="cannot be undone"):
        shelf.undo()
    shelf.undo(shelf.history()[-1].revision)
    assert shelf.list() == ()


def test_what_a_hook_only_saw_is_nothing_to_take_back(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "8080")
    shelf.remember("project", "port", "9090")
    hook = shelf.for_client(Client("hook"))
    with hook.batch():  # one comes, one goes, in a nugget of their own
        hook.remember("files", "file: a.py", "was read", source="tool_observation")
        hook.create_note("files", "task of a session", "Mend it.", source="system")
    with hook.batch():
        hook.remember("files", "file: b.py", "was read", source="tool_observation")
        hook.forget("files", "file: a.py")

    assert shelf.undo().changes.action == "remember"
    assert shelf.recall("port").answer == "8080"
    assert shelf.recall("file: b.py").found


def test_what_a_person_did_about_it_is(shelf: NuggetShelf) -> None:
    shelf.for_client(Client("hook")).remember("files", "a.py", "read", source="tool_observation")
    shelf.forget("files", "a.py")
    shelf.undo()

    assert shelf.recall("a.py").found


def test_undo_takes_back_the_callers_own_last_change(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    shelf.for_client(Client("mcp")).remember("project", "host", "localhost")

    assert shelf.undo().changes.put[0].title == "port"
    assert [fact.title for fact in shelf.facts("project")] == ["host"]


def test_undo_takes_back_what_was_done_in_this_project(directory: Path) -> None:
    here, elsewhere = (NuggetShelf(directory, project=f"/{name}/.git") for name in "ab")
    here.create_note("n", "Here", "Text.", project="/a/.git")
    elsewhere.create_note("n", "Elsewhere", "Text.", project="/b/.git")

    assert here.undo().changes.put[0].title == "Here"
    assert [note.title for note in elsewhere.list_notes()] == ["Elsewhere"]


def test_a_change_of_several_projects_was_done_in_each(directory: Path) -> None:
    here, elsewhere = (NuggetShelf(directory, project=f"/{name}/.git") for name in "ab")
    with elsewhere.batch():
        elsewhere.create_note("n", "Here", "Text.", project="/a/.git")
        elsewhere.create_note("n", "Elsewhere", "Text.", project="/b/.git")

    assert len(here.undo().changes.put) == 2


def test_with_no_change_of_ones_own_undo_points_to_the_history(shelf: NuggetShelf) -> None:
    agent = shelf.for_client(Client("mcp"))
    agent.remember("project", "port", "80")
    agent.remember("project", "host", "localhost")

    with pytest.raises(NotFound, match=r"nothing to undo from python .*see the history"):
        shelf.undo()
    assert len(shelf.facts("project")) == 2


def test_the_changes_in_effect_are_neither_undone_nor_undos(shelf: NuggetShelf) -> None:
    for key in ("port", "host", "user"):
        shelf.remember("project", key, "value")
    shelf.recall("port", session="s1")
    shelf.undo(2)

    assert [commit.revision for commit in shelf.changes_in_effect()] == [3, 1]
    assert [commit.revision for commit in shelf.changes_in_effect(since=1)] == [3]


def test_a_thread_knows_the_revision_of_its_own_last_write(shelf: NuggetShelf) -> None:
    assert shelf.own_revision == 0
    shelf.remember("project", "port", "80")
    mine = shelf.history()[0].revision
    assert shelf.own_revision == mine

    shelf.remember("project", "port", "80")  # as it is already
    other = threading.Thread(target=shelf.remember, args=("project", "host", "localhost"))
    other.start()
    other.join()

    assert shelf.history()[0].revision > mine
    assert shelf.own_revision == mine


def test_nothing_to_undo_is_said(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound, match="nothing to undo"):
        shelf.undo()


def test_a_revision_that_is_not_there_is_said(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound, match="no revision 99"):
        shelf.undo(99)


def test_a_batch_is_one_entry_and_one_undo(shelf: NuggetShelf) -> None:
    with shelf.batch():
        for number in range(5):
            shelf.remember("project", f"key {number}", f"value {number}")
    entries = shelf.history()
    shelf.undo()

    assert len(entries) == 1
    assert shelf.list_notes() == []


def test_many_recalls_do_not_hide_what_was_done(shelf: NuggetShelf) -> None:
    shelf.remember("project", "port", "80")
    for number in range(200):
        shelf.recall("port", session=f"s{number}")

    assert shelf.revision == 201
    assert [c.changes.action for c in shelf.history(limit=2)] == ["remember"]


@pytest.mark.parametrize("limit", [0, -1, True, "ten"])
def test_a_limit_that_makes_no_sense_is_refused(shelf: NuggetShelf, limit: int) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        shelf.history(limit=limit)


def test_an_undo_that_was_gathered_counts_as_one() -> None:
    with NuggetShelf("memory:", auto_save=False) as shelf:
        for value in ("80", "8080"):
            shelf.remember("project", "port", value)
            shelf.save_all()
        shelf.undo()
        shelf.save_all()
        shelf.undo()

        assert shelf.list_notes() == []


def test_the_advice_leads_there_one_step_at_a_time(shelf: NuggetShelf) -> None:
    shelf.create_note("w", "X", "one fish")
    for content in ("two fish", "red fish", "blue fish"):
        shelf.edit_note("X", content)
    with pytest.raises(Conflict, match="Undo revision 4 first"):
        shelf.undo(2)
    shelf.undo(4)
    with pytest.raises(Conflict, match="Undo revision 3 first"):
        shelf.undo(2)
    shelf.undo(3)
    shelf.undo(2)

    assert shelf.get_note("X").content == "one fish"


def test_an_undo_of_something_earlier_can_stand_in_the_way(shelf: NuggetShelf) -> None:
    shelf.create_note("w", "X", "one fish")
    shelf.edit_note("X", "two fish")
    shelf.undo(2)
    with pytest.raises(Conflict, match="Undo revision 3 first"):
        shelf.undo(2)


def test_a_link_that_came_later_is_carried_along(shelf: NuggetShelf) -> None:
    a, b, c = (shelf.create_note("w", title, f"About {title}.") for title in "abc")
    shelf.merge_notes(a.id, b.id)
    merged = shelf.history()[0].revision
    shelf.add_link(a.id, c.id, "see also")
    shelf.undo(merged)
    notes = {note.title: note for note in shelf.list_notes()}

    assert [link.to for link in notes["a"].links] == [c.id]
    assert [link.to for link in notes["c"].links] == [a.id]
    assert notes["b"].links == ()
    assert notes["a"].content == "About a."
    assert not shelf.checkup()


def test_a_link_that_is_tied_again_is_not_there_twice(shelf: NuggetShelf) -> None:
    a, b = (shelf.create_note("w", title, f"About {title}.") for title in "ab")
    shelf.add_link(a.id, b.id, "why")
    shelf.remove_link(a.id, b.id)
    cut = shelf.history()[0].revision
    shelf.add_link(a.id, b.id, "Why")
    shelf.undo(cut)

    assert len(shelf.get_note(a.id).links) == len(shelf.get_note(b.id).links) == 1


def test_a_new_note_that_is_linked_to_by_now_is_not_undone(shelf: NuggetShelf) -> None:
    a = shelf.create_note("w", "a", "About a.")
    b = shelf.create_note("w", "b", "About b.")
    made = shelf.history()[0].revision
    shelf.add_link(a.id, b.id)
    with pytest.raises(Conflict, match="changed after it"):
        shelf.undo(made)


def test_what_another_note_went_into_is_not_taken_from_it(shelf: NuggetShelf) -> None:
    target = shelf.create_note("k", "T", "alpha line")
    shelf.edit_note(target.id, "alpha line\nbeta line")
    source = shelf.create_note("k", "S", "beta line")
    shelf.merge_notes(target.id, source.id)  # which only links them: it is said already
    with pytest.raises(Conflict, match="Undo revision 4 first"):
        shelf.undo(2)


def test_summaries_say_who_did_what_without_the_notes(shelf: NuggetShelf) -> None:
    note = shelf.create_note("project", "Port", "80")
    shelf.recall("port", session="s1")
    shelf.get_note(note.id, session="s2")
    shelf.edit_note(note.id, content="8080")
    shelf.remove("project")

    commits, summaries = shelf.commits(), shelf.commit_summaries()

    assert [
        (one.revision, one.at, one.changes.action, one.changes.client, one.changes.touches)
        for one in commits
    ] == [(one.revision, one.at, one.action, one.client, one.touches) for one in summaries]
    assert [one.notes for one in summaries] == [
        len(one.changes.put) + len(one.changes.drop) for one in commits
    ]
    assert [one.changes_nuggets for one in summaries] == [
        bool(one.changes.put_nuggets or one.changes.drop_nuggets) for one in commits
    ]
    assert shelf.commit_summaries(commits[0].revision) == summaries[1:]


def test_only_what_undo_would_take_back_is_undoable(shelf: NuggetShelf) -> None:
    note = shelf.create_note("project", "Port", "80")
    shelf.edit_note(note.id, content="8080")
    first, second = (commit.revision for commit in shelf.commits())

    assert shelf.undoable([first, second, 99]) == {second}
    with pytest.raises(Conflict):
        shelf.undo(first)
    shelf.undo(second)
    assert shelf.undoable([first, second]) == {first}
    assert shelf.commit(first).changes.put[0].id == note.id


def test_a_bare_undo_takes_no_upkeep(directory: Path) -> None:
    with NuggetShelf(directory, client="cli") as shelf:
        for title in ("Boiler", "The boiler"):
            shelf.create_note("home", title, "Serviced every October by Tamsin from Northside.")
        shelf.remember("project", "port", "4310")
        assert shelf.run_daily(datetime(2026, 11, 17, 12)) is not None
        daily = shelf.commits()[-1]
        shelf.create_note("home", "Cat", "Biscuit; eats only renal diet food.")
        shelf.undo()

        assert is_upkeep(daily)
        with pytest.raises(Conflict, match="revision 3 "):  # not the clean-up, which came later
            shelf.undo(dry_run=True)


def test_an_edit_of_the_memory_file_is_the_persons_own_change(directory: Path) -> None:
    with NuggetShelf(directory, client="cli") as shelf:
        shelf.remember("project", "port", "4310")
        shelf.for_client(Client("memory file")).remember("project", "port", "4400")

        shelf.undo()

        assert shelf.recall("port").answer == "4310"
