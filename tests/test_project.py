"""Which project someone is in."""

import os
import subprocess
from pathlib import Path

import pytest

from git_repositories import new_repository
from nuggets.filesystem.current_project import (
    checkout_root,
    current_branch,
    current_project,
    git_directory,
    name_of,
)


@pytest.fixture
def repository(directory: Path) -> Path:
    path = directory / "repo"
    (path / "src" / "deep").mkdir(parents=True)
    (path / ".git").mkdir()
    return path


def test_outside_of_any_repository_a_folder_is_a_project_of_its_own(directory: Path) -> None:
    assert current_project(str(directory)) == str(directory)


@pytest.mark.parametrize("folder", ["/", "/tmp", "/home", "~"])
def test_folders_that_hold_everything_are_no_project(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")

    assert current_project(os.path.expanduser(folder)) == ""


def test_a_repository_is_named_by_its_git_directory(repository: Path) -> None:
    assert current_project(str(repository)) == str(repository / ".git")


def test_any_folder_of_a_repository_belongs_to_it(repository: Path) -> None:
    assert current_project(str(repository / "src" / "deep")) == str(repository / ".git")


def test_without_a_folder_it_is_the_current_one(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "src")

    assert current_project() == str(repository / ".git")


def test_a_symbolic_link_leads_to_the_same_project(repository: Path, directory: Path) -> None:
    (directory / "link").symlink_to(repository / "src")

    assert current_project(str(directory / "link")) == str(repository / ".git")


def test_a_repository_inside_another_is_its_own(repository: Path) -> None:
    (repository / "src" / ".git").mkdir()

    assert current_project(str(repository / "src" / "deep")) == str(repository / "src" / ".git")


def test_a_home_under_git_is_no_project(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(directory))
    (directory / ".git").mkdir()
    (directory / "work").mkdir()

    assert current_project(str(directory)) == ""
    assert current_project(str(directory / "work")) == str(directory / "work")


def test_a_folder_that_is_gone_is_no_project(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (directory / "gone").mkdir()
    monkeypatch.chdir(directory / "gone")
    os.rmdir(directory / "gone")

    assert current_project() == ""


def test_all_worktrees_of_a_repository_are_one_project(directory: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    main, second = directory / "main", directory / "second"
    for command in (
        [*git, "init", "-q", str(main)],
        [*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "first"],
        [*git, "-C", str(main), "worktree", "add", "-q", str(second), "-b", "other"],
    ):
        subprocess.run(command, check=True, capture_output=True)

    assert current_project(str(second)) == current_project(str(main)) == str(main / ".git")


def test_a_submodule_is_named_by_where_its_git_directory_really_is(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: ../.git/modules/inner\n")
    own = repository / ".git" / "modules" / "inner"
    own.mkdir(parents=True)
    (own / "config").write_text("[core]\n\tworktree = ../../../inner\n")

    assert current_project(str(inner)) == str(own)


def test_a_folder_that_names_a_submodule_of_the_repository_around_it_is_not_that(
    repository: Path,
) -> None:
    inner, copied = repository / "inner", repository / "vendor" / "copied"
    own = repository / ".git" / "modules" / "inner"
    own.mkdir(parents=True)
    (own / "config").write_text(f"[core]\n\tworktree = {inner}\n")
    copied.mkdir(parents=True)
    (copied / ".git").write_text("gitdir: ../../.git/modules/inner\n")

    assert current_project(str(copied)) == str(copied / ".git")
    assert git_directory(str(copied)) == ""


def test_pointers_of_an_archive_open_no_other_repository(directory: Path) -> None:
    victim = new_repository(directory / "victim")
    unpacked = directory / "unpacked"
    (unpacked / "gd").mkdir(parents=True)
    (unpacked / ".git").write_text("gitdir: gd\n")
    (unpacked / "gd" / "gitdir").write_text(f"{unpacked}/.git\n")
    (unpacked / "gd" / "commondir").write_text("../../victim/.git\n")
    (unpacked / "gd" / "HEAD").write_text("ref: refs/heads/main\n")

    assert current_project(str(unpacked)) == str(unpacked / ".git")
    assert git_directory(str(unpacked)) == ""
    assert current_branch(str(unpacked)) == ""
    assert current_project(str(victim)) == str(victim / ".git")


@pytest.mark.parametrize("target", ["../repo/.git", "../repo/.git/worktrees/mine"])
def test_a_file_that_merely_leads_to_a_repository_opens_none(
    repository: Path, directory: Path, target: str
) -> None:
    own = repository / ".git" / "worktrees" / "mine"
    own.mkdir(parents=True)
    (own / "gitdir").write_text(f"{directory}/mine/.git\n")
    (own / "commondir").write_text("../..\n")
    unpacked = directory / "unpacked"
    unpacked.mkdir()
    (unpacked / ".git").write_text(f"gitdir: {target}\n")

    assert current_project(str(unpacked)) == str(unpacked / ".git")


def test_what_is_no_plain_file_is_not_waited_for(directory: Path) -> None:
    os.mkfifo(directory / ".git")

    assert current_project(str(directory)) == str(directory / ".git")


def test_people_call_a_project_by_its_folder_or_as_they_named_it() -> None:
    assert name_of("/home/me/webshop/.git") == "webshop"
    assert name_of("/srv/webshop.git") == "webshop.git"
    assert name_of("webshop") == "webshop"
    assert name_of("") == ""


def test_a_worktree_has_a_root_of_its_own_and_a_folder_without_any_is_its_own(
    repository: Path, directory: Path
) -> None:
    worktree = directory / "worktree"
    (worktree / "src").mkdir(parents=True)
    (worktree / ".git").write_text(f"gitdir: {repository}/.git/worktrees/worktree\n")
    (directory / "plain").mkdir()

    assert checkout_root(str(worktree / "src")) == str(worktree)
    assert checkout_root(str(directory / "plain")) == str(directory / "plain")
