from pathlib import Path

import pytest

from agent_doors import repository
from command_line import Nuggets, run_in_terminal


@pytest.fixture
def moved(tmp_path: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that has memories and lies somewhere else now; we are in it."""
    old = repository(tmp_path / "webshop")
    monkeypatch.chdir(old)
    nuggets("remember", "locations", "auth handler", "src/auth.py")
    nuggets("note", "add", "locations", "Deploys", "By hand.")
    new = old.rename(tmp_path / "shop")
    monkeypatch.chdir(new)
    return new


def test_a_project_that_is_gone_is_shown_with_what_to_do(moved: Path, nuggets: Nuggets) -> None:
    head, row, hint = nuggets("project", "list").lines

    assert head.split() == ["PROJECT", "FACTS", "NOTES", "STATE", "WHERE"]
    assert row.split() == ["webshop", "1", "1", "gone", str(moved.with_name("webshop"))]
    assert "nuggets project move" in hint
    [one] = nuggets("project", "list", "--json").json
    assert (one["fact_count"], one["note_count"], one["there"]) == (1, 1, False)


def test_its_memories_are_taken_along(moved: Path, nuggets: Nuggets) -> None:
    assert "another project" in nuggets("recall", "auth handler").out
    shown = nuggets("project", "move", "webshop", "--dry-run")
    done = nuggets("project", "move", "webshop")

    assert shown.lines[0].startswith("Would move 1 fact and 1 note from ")
    assert done.lines == [f"Moved 1 fact and 1 note from {moved.with_name('webshop')} to {moved}."]
    assert "another project" not in nuggets("recall", "auth handler").out
    assert "gone" not in nuggets("project", "list").out
    assert "project move from cli" in nuggets("history").out
    assert "~ Deploys: project webshop → shop" in nuggets("history").out
    nuggets("undo")
    assert "another project" in nuggets("recall", "auth handler").out


def test_what_stays_is_named(moved: Path, nuggets: Nuggets) -> None:
    nuggets("remember", "locations", "auth handler", "app/auth.py")
    done = nuggets("project", "move", str(moved.with_name("webshop")), ".")
    [left] = nuggets("project", "move", "webshop", "--json").json["left"]

    assert done.lines[-1] == "  locations: auth handler"
    assert left in nuggets("note", "show", left).out


def test_an_archived_fact_that_keeps_another_from_moving_is_spoken_of(
    moved: Path, nuggets: Nuggets
) -> None:
    mine = nuggets("remember", "locations", "auth handler", "app/auth.py", "--json").json["id"]
    nuggets("note", "archive", mine)
    said = nuggets("project", "move", "webshop").lines[1]
    nuggets("forget", "locations", "auth handler")
    nuggets("project", "move", "webshop")

    assert "perhaps archived" in said
    assert "nuggets forget" in said
    assert "src/auth.py" in nuggets("recall", "auth handler").out
    assert "another project" not in nuggets("recall", "auth handler").out


def test_one_that_was_moved_is_found_by_the_name_that_its_new_place_has_too(
    tmp_path: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("gone", "other", "new"):
        monkeypatch.chdir(repository(tmp_path / place / "my notes"))
        nuggets("remember", "locations", f"{place} key", "src/auth.py")
    (tmp_path / "gone").rename(tmp_path / "deleted")
    done = nuggets("project", "move", "my notes")
    said = nuggets("history", "--limit", "1").out
    monkeypatch.chdir(tmp_path / "new")
    named = nuggets("project", "move", "my notes", "my notes", "--json")

    gone, new = tmp_path / "gone" / "my notes", tmp_path / "new" / "my notes"
    assert done.lines == [f"Moved 1 fact and 0 notes from {gone} to {new}."]
    assert f"project {gone} → {new}" in said
    assert named.json["from"] == f"{tmp_path}/other/my notes/.git"


def test_of_two_that_are_gone_neither_is_guessed(
    moved: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_PROJECT", "/gone/webshop/.git")
    nuggets("remember", "locations", "port", "80")
    monkeypatch.delenv("NUGGETS_PROJECT")
    done = nuggets("project", "move", "webshop", "--json")

    assert (done.code, done.json["error"]["code"]) == (1, "ambiguous")


def test_a_path_is_copied_so_it_is_whole_on_a_small_screen(
    tmp_path: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ("long" * 20) / "webshop"
    place.parent.mkdir()
    monkeypatch.chdir(repository(place))
    nuggets("remember", "locations", "auth handler", "src/auth.py")

    assert str(place) in run_in_terminal("project", "list")[1].decode()


def test_no_projects_are_said_to_be_none(nuggets: Nuggets) -> None:
    assert nuggets("project", "list").lines == ["No memory belongs to a project yet."]
    assert nuggets("project", "move", "webshop").code == 1


def test_list_show_and_json_say_that_a_memory_is_the_projects(
    moved: Path, nuggets: Nuggets
) -> None:
    nuggets("project", "move", "webshop")
    nuggets("remember", "prefs", "editor", "vim")
    listed = nuggets("note", "list", "--scope", "project", "--json").json

    assert {note["title"] for note in listed} == {"auth handler", "Deploys"}
    assert {note["project"] for note in listed} == {str(moved / ".git")}
    assert f"belongs to project shop: {moved}" in nuggets("note", "show", "Deploys").out
    assert "belongs to" not in nuggets("note", "show", "editor").out
    head, *rows = nuggets("note", "list").lines
    assert head.split() == ["ID", "KIND", "SCOPE", "HITS", "TITLE"]
    assert sorted(row.split()[2] for row in rows) == ["project", "project", "user"]
