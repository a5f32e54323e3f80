"""A repository keeps its memories wherever it lies; what only resembles it is asked about once."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_doors import hook
from command_line import Nuggets
from git_repositories import clone, git, new_repository
from nuggets.filesystem.git_repository import gather_evidence, normalize_remote
from nuggets.shelf import NuggetShelf

REMOTE = "https://git.example/team/webshop.git"
Go = Callable[[Path], None]


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch) -> Go:
    return monkeypatch.chdir


@pytest.fixture
def webshop(tmp_path: Path, nuggets: Nuggets, go: Go) -> Path:
    """A repository with a memory; we are in it."""
    folder = new_repository(tmp_path / "webshop", REMOTE)
    go(folder)
    nuggets("remember", "locations", "auth handler", "src/auth.py")
    return folder


def is_known_here(nuggets: Nuggets) -> bool:
    done = nuggets("recall", "auth handler")
    return "src/auth.py" in done.out and "another project" not in done.out


def test_a_repository_that_was_moved_keeps_its_memories_and_says_so_once(
    webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    moved = webshop.rename(webshop.with_name("shop"))
    go(moved)

    first = nuggets("recall", "auth handler")
    second = nuggets("recall", "auth handler")
    nuggets("remember", "locations", "port", "8080")
    [project] = nuggets("project", "list", "--json").json

    assert "another project" not in first.out
    assert f"This repository was at {webshop} before" in first.err
    assert second.err == ""
    assert (project["fact_count"], project["there"]) == (2, True)
    assert str(moved) in nuggets("project", "list").out


def test_a_repository_that_was_cloned_again_keeps_its_memories(
    webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    again = clone(webshop, webshop.with_name("again"), "git@git.example:team/webshop")
    shutil.rmtree(webshop)
    go(again)

    assert is_known_here(nuggets)


def test_a_repository_without_a_remote_is_recognized_by_its_first_commit(
    tmp_path: Path, nuggets: Nuggets, go: Go
) -> None:
    folder = new_repository(tmp_path / "local")
    go(folder)
    nuggets("remember", "locations", "auth handler", "src/auth.py")
    go(folder.rename(tmp_path / "elsewhere"))

    assert is_known_here(nuggets)


def test_work_trees_share_their_memories_also_after_a_move(
    webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    moved = webshop.rename(webshop.with_name("shop"))
    git(moved, "worktree", "add", "-q", "../tree")
    go(moved.with_name("tree"))

    assert is_known_here(nuggets)


@pytest.mark.parametrize(
    ("remote", "options"),
    [
        (REMOTE, []),  # a second clone: the first is still there
        ("https://git.example/fork/webshop.git", []),
        (REMOTE, ["--depth", "1"]),
    ],
    ids=["second", "fork", "shallow"],
)
def test_what_may_be_another_clone_is_asked_about_once_by_a_message(
    remote: str, options: list[str], webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    go(clone(webshop, webshop.with_name("other"), remote, *options))

    asked = nuggets("recall", "auth handler")
    again = nuggets("recall", "auth handler")
    joined = nuggets("project", "join", str(webshop))

    assert "another project" in asked.out
    assert f"`nuggets project join {webshop}`" in asked.err
    assert again.err == ""
    assert joined.code == 0
    assert is_known_here(nuggets)
    go(webshop)
    assert is_known_here(nuggets)


def test_a_second_clone_is_asked_about_though_the_first_was_moved_before(
    webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    moved = webshop.rename(webshop.with_name("shop"))
    go(moved)
    assert is_known_here(nuggets)
    go(clone(moved, webshop.with_name("other"), REMOTE))

    asked = nuggets("recall", "auth handler")
    joined = nuggets("project", "join", str(moved))

    assert "another project" in asked.out
    assert f"`nuggets project join {moved}`" in asked.err
    assert joined.code == 0
    assert is_known_here(nuggets)


@pytest.mark.parametrize("options", [["--depth", "1"], []], ids=["shallow", "fork"])
def test_what_is_not_certain_is_asked_about_though_the_old_path_is_gone(
    options: list[str], webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    remote = REMOTE if options else "https://git.example/fork/webshop.git"
    other = clone(webshop, webshop.with_name("other"), remote, *options)
    shutil.rmtree(webshop)
    go(other)

    asked = nuggets("recall", "auth handler")

    assert "another project" in asked.out
    assert "nuggets project join" in asked.err


def test_joining_brings_along_what_was_stored_here(webshop: Path, nuggets: Nuggets, go: Go) -> None:
    other = clone(webshop, webshop.with_name("other"), REMOTE)
    go(other)
    nuggets("remember", "locations", "port", "8080")

    shown = nuggets("project", "join", "webshop", "--dry-run")
    joined = nuggets("project", "join", "webshop", "--json").json
    go(webshop)

    assert "1 memory of this place moved there." in shown.out
    assert len(joined["moved"]) == 1
    assert "another project" not in nuggets("recall", "port").out


def test_a_place_that_leaves_has_memories_of_its_own(
    webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    moved = webshop.rename(webshop.with_name("shop"))
    go(moved)
    assert is_known_here(nuggets)

    left = nuggets("project", "leave")

    assert left.code == 0
    assert "another project" in nuggets("recall", "auth handler").out
    nuggets("remember", "locations", "auth handler", "lib/auth.py")
    assert "lib/auth.py" in nuggets("recall", "auth handler").out


def test_another_repository_at_the_path_of_one_that_moved_is_another_project(
    webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    moved = webshop.rename(webshop.with_name("shop"))
    go(moved)
    assert is_known_here(nuggets)
    os.chdir("/")
    go(new_repository(webshop, "https://git.example/team/other.git"))

    other = nuggets("recall", "auth handler")
    nuggets("remember", "locations", "auth handler", "other/auth.py")
    go(moved)

    assert "another project" in other.out
    assert "src/auth.py" in nuggets("recall", "auth handler").out


def test_a_repository_that_replaces_another_does_not_get_its_memories(
    webshop: Path, nuggets: Nuggets, go: Go
) -> None:
    os.chdir("/")
    shutil.rmtree(webshop)
    go(new_repository(webshop, "https://git.example/team/other.git"))

    assert "another project" in nuggets("recall", "auth handler").out


def test_where_a_plain_folder_lies_is_recorded_once(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "config").write_text("as a repository has")
    for key in ("port", "host"):
        with NuggetShelf(tmp_path / "shelf", folder=str(folder), at_work=True) as shelf:
            shelf.remember("project", key, "1")
            marks = [commit.changes.marks.keys() for commit in shelf.commits()]

    assert [any("papers" in mark for mark in names) for names in marks] == [True, False]


def test_a_plain_folder_is_a_project_that_reaches_no_other(
    tmp_path: Path, nuggets: Nuggets, go: Go
) -> None:
    for name in ("papers", "letters"):
        (tmp_path / name / "inside").mkdir(parents=True)
    go(tmp_path / "papers")
    nuggets("remember", "locations", "auth handler", "src/auth.py")

    assert is_known_here(nuggets)
    go(tmp_path / "papers" / "inside")
    assert is_known_here(nuggets)
    go(tmp_path / "letters")
    assert not is_known_here(nuggets)


def test_hooks_recognize_a_repository_and_ask_in_their_message(
    webshop: Path, tmp_path: Path, nuggets: Nuggets
) -> None:
    fork = clone(webshop, tmp_path / "fork", "https://git.example/fork/webshop.git")
    moved = webshop.rename(tmp_path / "shop")
    shelf = Path(os.environ["NUGGETS_DIR"])

    def start(folder: Path) -> dict[str, Any]:
        sent = {"cwd": str(folder), "session_id": "s", "source": "startup"}
        answer = hook("session-start", sent, shelf).stdout
        return dict(json.loads(answer)) if answer else {}

    asked, again, here = start(fork), start(fork), start(moved)

    assert "nuggets project join" in str(asked.get("systemMessage"))
    assert "nuggets project join" not in str(again)
    assert "src/auth.py" not in str(asked)
    assert "was at" in str(here.get("systemMessage"))
    assert "src/auth.py" in str(here)


def test_git_is_asked_once_per_repository(
    webshop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = str(tmp_path / "shelf")
    root = git(webshop, "rev-list", "--max-parents=0", "HEAD").strip()
    first = gather_evidence(str(webshop / ".git"), shelf)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no git
    second = gather_evidence(str(webshop / ".git"), shelf)
    third = gather_evidence(str(webshop / ".git"), "memory:")

    assert first == second
    assert first.root == root
    assert first.remote == "git.example/team/webshop"
    assert third.root == ""


def test_git_is_asked_again_a_day_after_it_gave_no_answer(
    webshop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(tmp_path))
        unanswered = gather_evidence(str(webshop / ".git"), str(shelf))
    soon = gather_evidence(str(webshop / ".git"), str(shelf))
    [kept] = [path for path in shelf.rglob("*") if path.is_file()]
    os.utime(kept, (0, 0))
    later = gather_evidence(str(webshop / ".git"), str(shelf))

    assert (unanswered.root, soon.root) == ("", "")
    assert later.root == git(webshop, "rev-list", "--max-parents=0", "HEAD").strip()


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example/team/webshop.git",
        "https://someone:secret@git.example/team/webshop",
        "ssh://git@git.example:22/team/webshop.git/",
        "git@git.example:team/webshop.git",
        "GIT.example:team/webshop",
    ],
)
def test_a_remote_is_the_same_however_it_is_reached_and_keeps_no_credentials(address: str) -> None:
    assert normalize_remote(address) == "git.example/team/webshop"


def test_marks_of_locations_are_plain_data(webshop: Path) -> None:
    with NuggetShelf(os.environ["NUGGETS_DIR"]) as shelf:
        [commit] = [c for c in shelf.history(limit=50) if c.changes.put]
        [(name, value)] = commit.changes.marks.items()

    assert name == f"location:{webshop / '.git'}"
    assert json.loads(json.dumps(value))["remote"] == "git.example/team/webshop"
