"""Whose a memory is when someone writes at work: the project's, unless it is about a person."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf
from nuggets.operations.permissions import Client

HERE, THERE = "/home/me/here/.git", "/home/me/there/.git"


@pytest.fixture
def plain() -> Iterator[NuggetShelf]:
    with NuggetShelf("memory:", project=HERE) as opened:
        yield opened


@pytest.fixture
def at_work(plain: NuggetShelf) -> NuggetShelf:
    return plain.for_client(Client("agent", at_work=True))


@pytest.mark.parametrize(
    ("nugget", "name", "meta", "project"),
    [
        ("locations", "auth handler", {}, HERE),
        ("prefs", "style", {}, ""),
        ("User", "style", {}, ""),
        ("anything", "user: name", {}, ""),
        ("anything", "pref: tabs", {}, ""),
        ("anything", "name", {"scope": "user"}, ""),
        ("anything", "name", {"scope": "project"}, HERE),
        ("anything", "name", {"project": THERE}, THERE),
    ],
)
def test_what_is_learnt_at_work_belongs_to_the_project_unless_it_is_about_a_person(
    at_work: NuggetShelf, nugget: str, name: str, meta: dict[str, Any], project: str
) -> None:
    fact = at_work.remember(nugget, name, "value", **meta)
    note = at_work.create_note(nugget, name, "content", **meta)

    assert (fact.project, note.project) == (project, project)


def test_otherwise_its_words_decide(plain: NuggetShelf) -> None:
    assert plain.remember("locations", "auth handler", "here").project == ""
    assert plain.remember("project", "port", "80").project == HERE


def test_a_known_key_is_corrected_where_it_is_known(
    plain: NuggetShelf, at_work: NuggetShelf
) -> None:
    plain.remember("people", "release manager", "Ann", project="")
    plain.remember("people", "reviewer", "Ann", project=THERE)
    everywhere = at_work.remember("people", "Release Manager", "Bo")
    ours = at_work.remember("people", "reviewer", "Bo")

    assert (everywhere.project, ours.project) == ("", HERE)
    assert len(plain.facts("people")) == 3


def test_what_was_put_away_for_everybody_does_not_come_back_with_one_projects_value(
    at_work: NuggetShelf,
) -> None:
    everybodys = at_work.remember("locations", "auth handler", "old.py", scope="user")
    at_work.delete_note(everybodys.id)
    own = at_work.remember("locations", "auth handler", "src/auth.py")

    assert own.project == HERE
    assert at_work.get_note(everybodys.id).hidden


def test_two_doors_to_one_shelf_see_the_same_at_once_and_sign_for_themselves(
    plain: NuggetShelf, at_work: NuggetShelf
) -> None:
    plain.remember("project", "port", "80")
    at_work.remember("project", "port", "8080")
    at_work.recall("port", session="s1")
    plain.undo(2)

    [port] = at_work.facts("project")
    assert (port.content, port.hits) == ("80", 1)
    assert [step.changes.client for step in plain.history()] == ["python", "agent", "python"]


def test_a_memory_goes_where_its_new_scope_belongs(tmp_path: Path) -> None:
    shelf = NuggetShelf(tmp_path, project="/shop/.git", at_work=True)

    rule = shelf.remember("locations", "test cmd", "make test")
    taste = shelf.remember("locations", "test cmd", "make test", scope="user")
    again = shelf.remember("locations", "test cmd", "make check", scope="project")

    assert [note.project for note in (rule, taste, again)] == ["/shop/.git", "", "/shop/.git"]
    assert len({note.id for note in (rule, taste, again)}) == 1


def test_a_scope_of_the_same_kind_leaves_it_where_it_is(tmp_path: Path) -> None:
    blog = NuggetShelf(tmp_path, project="/blog/.git")
    note = blog.create_note("n", "t", "c", scope="project")
    shelf = NuggetShelf(tmp_path, project="/shop/.git")

    assert shelf.edit_note(note.id, scope="shared").project == "/blog/.git"


@pytest.mark.parametrize(
    ("nugget", "name", "tags", "scope", "project"),
    [
        ("locations", "auth handler", [], "project", HERE),
        ("decisions", "database host", [], "project", HERE),
        ("people", "what Dana wants in reviews", [], "project", HERE),
        ("locations", "key path", [], "shared", HERE),
        ("locations", "tmp: draft", [], "project", HERE),
        ("anything", "persona", [], "self", ""),
        ("prefs", "editor", [], "user", ""),
        ("anything", "pref: editor", [], "user", ""),
        ("anything", "editor", ["preferences"], "user", ""),
        ("anything", "editor", ["user"], "user", ""),
        ("anything", "user: name", [], "user", ""),
        ("project", "pref: editor", [], "project", HERE),
    ],
)
def test_at_work_scope_and_project_agree(
    at_work: NuggetShelf, nugget: str, name: str, tags: list[str], scope: str, project: str
) -> None:
    note = at_work.create_note(nugget, name, "content", tags)

    assert (note.scope, note.project) == (scope, project)
    assert f"scope:{scope}" in note.tags


def test_a_memory_that_is_given_a_project_is_that_projects(plain: NuggetShelf) -> None:
    assert plain.remember("locations", "auth handler", "here", project=THERE).scope == "project"
    assert plain.remember("locations", "port", "80", project="").scope == "user"


def test_outside_a_repository_a_memory_is_the_users_as_documented() -> None:
    with NuggetShelf("memory:", project="", at_work=True) as shelf:
        fact = shelf.remember("locations", "auth handler", "src/auth.py")

    assert (fact.scope, fact.subject, fact.type) == ("user", "user:primary", "fact")


def test_the_memory_file_lists_a_projects_memories_apart_from_the_users(
    at_work: NuggetShelf, tmp_path: Path
) -> None:
    at_work.remember("locations", "auth handler", "src/auth.py")
    at_work.create_note("people", "Dana on reviews", "Dana prefers small pull requests.")
    at_work.remember("prefs", "editor", "vim")
    at_work.remember("user", "name", "Robin")
    for session in ENOUGH_SESSIONS:
        for note in at_work.list_notes():
            at_work.get_note(note.id, session=session)
    at_work.reflect(limit=100)
    at_work.promote(tmp_path / "MEMORY.md")

    sections = (tmp_path / "MEMORY.md").read_text().split("\n## ")[1:]
    assert [section.splitlines()[0] for section in sections] == [
        *("preferences", "shared-context", "user")
    ]
    assert "vim" in sections[0]
    assert "auth handler" in sections[1] and "Dana" in sections[1]
    assert "Robin" in sections[2]
