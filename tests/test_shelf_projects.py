"""A repository was moved, renamed or cloned anew, and its memories go with it."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent_doors import repository
from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf
from nuggets.domain.records import ProjectStatus
from nuggets.errors import Ambiguous, Conflict, InvalidInput, NotFound

NINE = datetime(2026, 1, 31, 9)
OLD, OTHER = "/gone/webshop/.git", "/gone/other/.git"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop")


@pytest.fixture
def shelf(here: Path) -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project=str(here / ".git")) as opened:
        opened.remember("locations", "auth handler", "src/auth.py", project=OLD)
        opened.create_note("locations", "Deploys", "By hand.", project=OLD)
        opened.remember("locations", "auth handler", "lib/auth.py", project=OTHER)
        opened.remember("prefs", "style", "tabs")
        yield opened


def test_projects_are_counted_without_what_is_everybodys(shelf: NuggetShelf) -> None:
    assert shelf.projects() == [ProjectStatus(OTHER, 1, 0), ProjectStatus(OLD, 1, 1)]


@pytest.mark.parametrize("name", ["webshop", "/gone/webshop", OLD])
def test_all_that_belongs_to_a_project_goes_to_this_one(
    shelf: NuggetShelf, here: Path, name: str
) -> None:
    done = shelf.move_project(name)

    assert (done.old, done.new, done.left) == (OLD, str(here / ".git"), ())
    assert shelf.recall("auth handler").answer == "src/auth.py"
    assert set(shelf.projects()) == {ProjectStatus(OTHER, 1, 0), ProjectStatus(done.new, 1, 1)}


def test_or_to_another_folder(shelf: NuggetShelf, tmp_path: Path) -> None:
    there = repository(tmp_path / "there")
    (there / "src").mkdir()

    assert shelf.move_project("webshop", str(there / "src")).new == str(there / ".git")


def test_what_was_archived_goes_too(shelf: NuggetShelf, here: Path) -> None:
    note = shelf.delete_note(shelf.get_note("Deploys").id)
    shelf.move_project("webshop")

    assert shelf.get_note(note.id).project == str(here / ".git")


def test_a_fact_that_the_other_project_knows_otherwise_stays(shelf: NuggetShelf) -> None:
    mine = shelf.remember("locations", "Auth Handler", "app/auth.py", scope="project")
    done = shelf.move_project("webshop")

    assert [note.content for note in done.left] == ["src/auth.py"]
    assert [note.title for note in done.moved] == ["Deploys"]
    assert shelf.recall("auth handler").note_id == mine.id
    assert ProjectStatus(OLD, 1, 0) in shelf.projects()


def test_it_is_one_step_that_can_be_shown_before_and_undone_after(shelf: NuggetShelf) -> None:
    before = shelf.projects()
    assert len(shelf.move_project("webshop", dry_run=True).moved) == 2
    assert shelf.projects() == before

    shelf.move_project("webshop")
    shelf.undo()

    assert shelf.projects() == before


def test_a_project_that_nobody_knows_is_refused_with_those_that_are(shelf: NuggetShelf) -> None:
    with pytest.raises(NotFound, match=r"known are: /gone/other/\.git, /gone/webshop/\.git"):
        shelf.move_project("shop")


def test_a_name_that_two_have_needs_the_folder(shelf: NuggetShelf) -> None:
    shelf.remember("locations", "port", "80", project="/elsewhere/webshop/.git")

    with pytest.raises(Ambiguous, match="name its folder"):
        shelf.move_project("webshop")
    assert shelf.move_project("/elsewhere/webshop").moved


def test_it_goes_to_a_repository_and_to_another_one(shelf: NuggetShelf, tmp_path: Path) -> None:
    shelf.move_project("webshop")

    with pytest.raises(NotFound, match="there is no folder"):
        shelf.move_project("other", str(tmp_path / "missing"))
    with pytest.raises(NotFound, match="there is no project here"):
        shelf.move_project("other", "/")
    with pytest.raises(InvalidInput, match="already"):
        shelf.move_project("shop")
    with NuggetShelf("memory:", project="") as nowhere:
        nowhere.remember("locations", "port", "80", project=OLD)
        with pytest.raises(NotFound, match="there is no project here"):
            nowhere.move_project("webshop")


@pytest.fixture
def edited(shelf: NuggetShelf) -> Path:
    """The old place's memory file: of three lines one was changed and one taken out by hand."""
    memory = host_directory("/gone/webshop") / "memory" / "MEMORY.md"
    for key, value in (("port", "8080"), ("host", "there"), ("queue", "redis")):
        fact = shelf.remember("locations", key, value, project=OLD)
        for session in ENOUGH_SESSIONS:
            shelf.get_note(fact.id, session=session)
    shelf.run_daily(NINE)
    text = memory.read_text().replace("- **port**: 8080", "- **port**: 8080, mostly")
    memory.write_text(text.replace("- **host**: there\n", ""))
    return memory


def host_directory(root: str) -> Path:
    directory = Path.home() / ".claude/projects" / re.sub("[^A-Za-z0-9]", "-", root)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


@pytest.mark.parametrize("promoted", [True, False])
def test_a_memory_file_that_moves_along_stays_as_it_was_edited(
    shelf: NuggetShelf, here: Path, edited: Path, promoted: bool
) -> None:
    if promoted:
        shelf.run_daily(NINE + timedelta(days=1))
    text = edited.read_text()
    there = host_directory(str(here))
    there.rmdir()
    edited.parent.parent.rename(there)
    shelf.move_project("webshop")

    assert shelf.promote() == 0
    assert (there / "memory" / "MEMORY.md").read_text() == text


@pytest.mark.parametrize("promoted", [True, False])
@pytest.mark.parametrize("own", ["# The host's own\n", ""])
def test_where_it_does_not_what_people_changed_is_taken_over_first(
    shelf: NuggetShelf, here: Path, edited: Path, promoted: bool, own: str
) -> None:
    if promoted:
        shelf.run_daily(NINE + timedelta(days=1))
    there = host_directory(str(here)) / "memory" / "MEMORY.md"
    if own:
        there.parent.mkdir()
        there.write_text(own)
    shelf.move_project("webshop")
    shelf.promote()
    shelf.promote()

    assert there.read_text().startswith(own)
    assert there.read_text().count("- **port**: 8080, mostly\n") == 1
    assert there.read_text().count("port**") == there.read_text().count("queue**") == 1
    assert "host**" not in there.read_text()


def test_what_people_changed_goes_into_a_file_that_was_promoted_to_before(
    shelf: NuggetShelf, here: Path, edited: Path
) -> None:
    there = host_directory(str(here)) / "memory" / "MEMORY.md"
    fact = shelf.remember("locations", "region", "eu", scope="project")
    for session in ENOUGH_SESSIONS:
        shelf.get_note(fact.id, session=session)
    shelf.promote()
    shelf.move_project("webshop")
    shelf.promote()

    assert there.read_text().count("- **port**: 8080, mostly\n") == 1
    assert there.read_text().count("port**") == 1
    assert "- **queue**: redis\n" in there.read_text()
    assert "- **region**: eu\n" in there.read_text()


def test_a_memory_file_in_the_repository_itself_is_recognised_where_it_lies_now(
    tmp_path: Path,
) -> None:
    shop = repository(tmp_path / "shop")
    with NuggetShelf("memory:", project=str(shop / ".git")) as shelf:
        fact = shelf.remember("locations", "port", "8080", scope="project")
        for session in ENOUGH_SESSIONS:
            shelf.get_note(fact.id, session=session)
        shelf.promote(str(shop / "MEMORY.md"))
        annotated = (
            (shop / "MEMORY.md").read_text().replace("8080", "8080 <!-- asked the admin -->")
        )
        (shop / "MEMORY.md").write_text(annotated)
        there = shop.rename(tmp_path / "there")
        shelf.move_project(str(shop), str(there))
        planned = shelf.promote(str(there / "MEMORY.md"), dry_run=True)
        shelf.promote(str(there / "MEMORY.md"))

        assert planned == 0
        assert (there / "MEMORY.md").read_text() == annotated
        assert shelf.memory_file_problems() == {}


def test_a_memory_file_that_a_project_was_told_to_use_goes_along(
    shelf: NuggetShelf, tmp_path: Path
) -> None:
    memory = tmp_path / "MEMORY.md"
    fact = shelf.remember("locations", "port", "8080")
    for session in ENOUGH_SESSIONS:
        shelf.get_note(fact.id, session=session)
    shelf.edit_note(fact.id, scope="project")
    shelf.promote(str(memory))
    text = memory.read_text()
    there = repository(tmp_path / "there")
    shelf.move_project("shop", str(there))
    shelf.run_daily(NINE)

    assert "- **port**: 8080" in text
    assert memory.read_text() == text


def test_a_folder_that_is_not_there_is_no_part_of_the_repository_above(
    shelf: NuggetShelf, here: Path
) -> None:
    (here / "README").touch()
    for name in ("no/such/folder", "README"):
        with pytest.raises(NotFound, match="there is no folder"):
            shelf.move_project("webshop", str(here / name))


@pytest.mark.parametrize("own", ["# The host's own\n", ""])
def test_a_line_in_a_persons_form_archives_nothing(
    shelf: NuggetShelf, here: Path, edited: Path, own: str
) -> None:
    mine = "* **queue** redis\n"
    edited.write_text(edited.read_text().replace("- **queue**: redis\n", mine))
    shelf.run_daily(NINE + timedelta(days=1))
    there = host_directory(str(here)) / "memory" / "MEMORY.md"
    if own:
        there.parent.mkdir()
        there.write_text(own)
    titles = {note.title for note in shelf.list_notes()}
    shelf.move_project("webshop")
    shelf.promote()
    shelf.promote()

    assert {note.title for note in shelf.list_notes()} == titles
    assert there.read_text().count("**queue**") == 1


def test_no_fact_is_renamed_to_a_key_that_answers_here_already(shelf: NuggetShelf) -> None:
    here = shelf.remember("tools", "check cmd", "tox", scope="project")
    everywhere = shelf.remember("tools", "lint cmd", "ruff", scope="user")

    for fact, key in ((here, "Lint cmd"), (everywhere, "check cmd")):
        with pytest.raises(Conflict, match="already"):
            shelf.edit_note(fact.id, title=key)
    assert shelf.recall("lint cmd").answer == "ruff"


@pytest.mark.parametrize("change", ["edit_note", "delete_note", "purge"])
def test_a_title_alone_changes_no_note_of_another_project(shelf: NuggetShelf, change: str) -> None:
    note = shelf.get_note("Deploys", session=None)
    text = {"content": "overwritten"} if change == "edit_note" else {}

    with pytest.raises(NotFound, match=f"by its id: {note.id}"):
        getattr(shelf, change)("deploys", **text)
    assert shelf.get_note("deploys", session=None) == note
    assert getattr(shelf, change)(note.id, **text)
