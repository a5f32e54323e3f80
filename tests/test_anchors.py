"""Memories are anchored to the repository that they name, and say what has changed since."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nuggets import NuggetShelf
from nuggets.domain.codec import note_to_json
from nuggets.operations.permissions import COMMAND

SOURCE = "def verify_token(token):\n    return token\n\n\nLIMIT = 512\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "auth.py").write_text(SOURCE)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "start")
    return folder


@pytest.fixture
def shelf(tmp_path: Path, repository: Path) -> NuggetShelf:
    return NuggetShelf(tmp_path / "shelf", folder=str(repository), client=COMMAND)


def keep(shelf: NuggetShelf, text: str) -> str:
    return shelf.create_note("project", "What I know", text).id


def caveats(shelf: NuggetShelf, note_id: str) -> list[str]:
    return list(shelf.caveats(shelf.get_note(note_id, session=None)))


def move(repository: Path) -> None:
    (repository / "lib").mkdir()
    git(repository, "mv", "src/auth.py", "lib/auth.py")
    git(repository, "commit", "-q", "-m", "move")


def test_an_anchor_has_path_line_commit_and_branch(shelf: NuggetShelf) -> None:
    note = shelf.remember("locations", "token check", "src/auth.py:1")
    (anchor,) = note.anchors
    assert (anchor.path, anchor.line, anchor.branch) == ("src/auth.py", 1, "main")
    assert len(anchor.commit) == 40
    assert len(anchor.lines) == 1


def test_what_is_unchanged_has_no_caveat(shelf: NuggetShelf, repository: Path) -> None:
    note = keep(shelf, "verify_token is in src/auth.py, and LIMIT is 512")
    assert caveats(shelf, note) == []
    os.utime(repository / "src" / "auth.py")
    assert caveats(shelf, note) == []


def test_a_changed_line_and_a_lost_symbol_are_told(shelf: NuggetShelf, repository: Path) -> None:
    note = keep(shelf, "verify_token is in src/auth.py, and LIMIT is 512")
    at_line = keep(shelf, "LIMIT is set at src/auth.py:5")
    file = repository / "src" / "auth.py"
    file.write_text(SOURCE.replace("verify_token", "check").replace("512", "640"))
    assert caveats(shelf, note) == [
        "verify_token is no longer in src/auth.py",
        "src/auth.py: lines changed since",
    ]
    assert caveats(shelf, at_line) == ["src/auth.py:5: lines changed since"]
    file.write_text(f"import os\n{SOURCE}")
    assert caveats(shelf, at_line) == ["src/auth.py:5 is now line 6"]


def test_a_moved_file_is_found_by_git(shelf: NuggetShelf, repository: Path) -> None:
    note = keep(shelf, "Tokens are checked in src/auth.py")
    move(repository)
    assert caveats(shelf, note) == ["src/auth.py: moved to lib/auth.py"]


@pytest.mark.parametrize("committed", [True, False])
def test_one_of_two_identical_files_that_is_deleted_was_not_moved(
    shelf: NuggetShelf, repository: Path, *, committed: bool
) -> None:
    (repository / "lib").mkdir()
    shutil.copy(repository / "src" / "auth.py", repository / "lib" / "auth.py")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "a copy")
    note = keep(shelf, "Tokens are checked in src/auth.py")
    (repository / "src" / "auth.py").unlink()
    if committed:
        git(repository, "commit", "-q", "-a", "-m", "one is enough")

    assert caveats(shelf, note) == ["src/auth.py: file gone"]


def test_a_file_of_another_branch_says_which(shelf: NuggetShelf, repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "feature/coupons")
    (repository / "src" / "coupons.py").write_text("x = 1\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "coupons")
    note = keep(shelf, "Coupons are in src/coupons.py on branch feature/coupons")
    git(repository, "checkout", "-q", "main")
    assert caveats(shelf, note) == ["src/coupons.py: not here (from branch feature/coupons)"]
    git(repository, "branch", "-q", "-D", "feature/coupons")
    assert "branch feature/coupons: gone" in caveats(shelf, note)


@pytest.mark.parametrize("place", ["refs/heads/release-1", "packed-refs"])
def test_a_pipe_in_place_of_a_branch_keeps_nobody_waiting(
    shelf: NuggetShelf, repository: Path, place: str
) -> None:
    git(repository, "branch", "release-1")
    note = keep(shelf, "The fix is on branch release-1")
    (repository / ".git" / "refs" / "heads" / "release-1").unlink()
    os.mkfifo(repository / ".git" / place)

    assert caveats(shelf, note) == ["branch release-1: gone"]


def test_branches_are_found_in_packed_refs(shelf: NuggetShelf, repository: Path) -> None:
    git(repository, "branch", "release-1")
    git(repository, "pack-refs", "--all")
    note = keep(shelf, "The fix is on branch release-1")
    assert caveats(shelf, note) == []
    git(repository, "branch", "-q", "-D", "release-1")
    assert caveats(shelf, note) == ["branch release-1: gone"]


def test_what_is_said_again_is_anchored_anew(shelf: NuggetShelf, repository: Path) -> None:
    shelf.remember("locations", "limit", "LIMIT is 512 in src/auth.py")
    (repository / "src" / "auth.py").write_text("LIMIT = 512  # bytes\n")
    assert shelf.caveats(shelf.get_note("limit", session=None))
    again = shelf.remember("locations", "limit", "LIMIT is 512 in src/auth.py")
    assert shelf.caveats(again) == []


def test_an_edit_of_tags_keeps_the_anchors(shelf: NuggetShelf) -> None:
    note = keep(shelf, "Tokens are checked in src/auth.py")
    assert shelf.edit_note(note, tags=["auth"]).anchors
    assert shelf.edit_note(note, "Tokens are checked at the gateway").anchors == ()


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    later = path.stat().st_mtime_ns + 1  # a save of the same size within one tick of the clock
    os.utime(path, ns=(later, later))


def edit_memory_file(shelf: NuggetShelf, old: str, new: str) -> None:
    shelf.pin(shelf.get_note("token check", session=None).id)
    shelf.promote()
    replace_in(Path(shelf.memory_path()), old, new)
    shelf.promote()


def edit_export(name: str) -> Callable[[NuggetShelf, str, str], None]:
    def edit(shelf: NuggetShelf, old: str, new: str) -> None:
        shelf.save_all()
        shelf.close()
        replace_in(Path(shelf.settings["dir"]) / name, old, new)

    return edit


def edit_vault(shelf: NuggetShelf, old: str, new: str) -> None:
    folder = Path(shelf.settings["dir"]).parent / "vault"
    shelf.vault(folder)
    replace_in(folder / "locations" / "token check.md", f"\n{old}\n", f"\n{new}\n")
    shelf.vault(folder)


BY_HAND = pytest.mark.parametrize(
    "edit",
    [
        edit_memory_file,
        edit_export("locations.nugget.json"),
        edit_export("graph/graph.json"),
        edit_vault,
    ],
    ids=["memory file", "nugget file", "graph", "vault"],
)
Edit = Callable[[NuggetShelf, str, str], None]


@BY_HAND
def test_what_is_corrected_by_hand_is_anchored_to_what_it_says_now(
    shelf: NuggetShelf, repository: Path, edit: Edit
) -> None:
    (repository / "src" / "keys.py").write_text("KEYS = {}\n")
    note = shelf.remember("locations", "token check", "src/auth.py:1").id
    edit(shelf, "src/auth.py:1", "src/keys.py:1")
    assert caveats(shelf, note) == []
    (repository / "src" / "keys.py").unlink()
    assert caveats(shelf, note) == ["src/keys.py: file gone"]


@BY_HAND
def test_a_doubt_that_is_answered_by_hand_is_gone(
    shelf: NuggetShelf, repository: Path, edit: Edit
) -> None:
    note = shelf.remember("locations", "token check", "src/auth.py:1").id
    (repository / "src" / "auth.py").write_text(f"import os\n{SOURCE}")
    assert caveats(shelf, note) == ["src/auth.py:1 is now line 2"]
    edit(shelf, "src/auth.py:1", "src/auth.py:2")
    assert caveats(shelf, note) == []


@BY_HAND
def test_a_doubt_stays_while_an_edit_by_hand_still_names_what_is_gone(
    shelf: NuggetShelf, repository: Path, edit: Edit
) -> None:
    note = shelf.remember("locations", "token check", "src/auth.py:1").id
    (repository / "src" / "auth.py").unlink()
    edit(shelf, "src/auth.py:1", "see src/auth.py:1")
    assert caveats(shelf, note) == ["src/auth.py: file gone"]


def test_an_edited_copy_that_comes_in_is_not_anchored_to_what_it_no_longer_names(
    shelf: NuggetShelf,
) -> None:
    note = shelf.remember("locations", "token check", "src/auth.py:1")
    copy = {**note_to_json(note), "content": "lib/keys.py:1", "updatedAt": "2190-01-01T00:00:00Z"}
    shelf.import_memories([copy])
    after = shelf.get_note(note.id, session=None)
    assert (after.content, after.anchors) == ("lib/keys.py:1", ())


def test_a_merged_memory_is_doubted_for_the_words_of_both(
    shelf: NuggetShelf, repository: Path
) -> None:
    (repository / "src" / "keys.py").write_text("KEYS = {}\n")
    one, two = (
        shelf.create_note("project", title, f"See src/{title}.py for {title}.").id
        for title in ("auth", "keys")
    )
    shelf.merge_notes(one, two)
    (repository / "src" / "keys.py").unlink()
    assert caveats(shelf, one) == ["src/keys.py: file gone"]


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("src/auth.py:1 checks", "src/auth.py:1 checks all", ["src/auth.py"]),
        ("src/auth.py:1 checks", "src/auth.py:2 checks", []),
        ("src/auth.py has `verify_token`", "src/auth.py has `check`", []),
        ("src/auth.py has LIMIT 512", "src/auth.py has LIMIT 640", []),
        ("src/auth.py has LIMIT 512", "src/auth.py has the LIMIT 512", ["src/auth.py"]),
        ("done on branch main", "done on branch next", []),
        ("done on branch main", "all done on branch main", [""]),
        ("run make test", "run make check", []),
        ("run make test", "always run make test", ["Makefile"]),
    ],
)
def test_without_its_repository_an_edit_keeps_the_anchors_that_it_still_names(
    tmp_path: Path, shelf: NuggetShelf, repository: Path, old: str, new: str, kept: list[str]
) -> None:
    (repository / "Makefile").write_text("test:\n\tpytest\n")
    note = shelf.remember("locations", "token check", old)
    assert len(note.anchors) == 1
    repository.rename(tmp_path / "elsewhere")
    edit_vault(shelf, old, new)

    after = shelf.get_note(note.id, session=None)
    assert after.content == new
    assert [anchor.path for anchor in after.anchors] == kept


def test_a_preference_of_the_user_is_not_anchored(shelf: NuggetShelf) -> None:
    assert shelf.remember("prefs", "example", "see src/auth.py").anchors == ()


def test_another_project_says_nothing_about_the_files_of_this_one(
    shelf: NuggetShelf, repository: Path, tmp_path: Path
) -> None:
    note = keep(shelf, "Tokens are checked in src/auth.py")
    (repository / "src" / "auth.py").unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(elsewhere, "init", "-q")
    other = shelf.for_project(str(elsewhere))
    assert list(other.caveats(other.get_note(note, session=None))) == []


def test_the_audit_reports_what_is_outdated(shelf: NuggetShelf, repository: Path) -> None:
    note = keep(shelf, "Tokens are checked in src/auth.py")
    move(repository)
    found = [finding for finding in shelf.audit() if finding.kind == "outdated"]
    assert [(one.note_ids, "moved to lib/auth.py" in one.detail) for one in found] == [
        ((note,), True)
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.txt", "/etc/passwd", ".git/config", "src/../../secret.txt", "link.txt"),
        *("folder/secret.txt", "src", "pipe.txt", "--output=x.txt", "src/auth.py\0.txt"),
    ],
)
def test_no_path_leads_out_of_the_repository(
    shelf: NuggetShelf, repository: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "secret.txt").write_text("password\n")
    (repository / "link.txt").symlink_to(tmp_path / "secret.txt")
    (repository / "folder").symlink_to(tmp_path)
    os.mkfifo(repository / "pipe.txt")
    from nuggets.filesystem.anchors import make_anchors

    assert make_anchors(str(repository), f"It is in {name} now") == ()


def test_a_hostile_anchor_reads_nothing_outside(
    shelf: NuggetShelf, repository: Path, tmp_path: Path
) -> None:
    from nuggets.domain.records import Anchor
    from nuggets.filesystem.anchors import stale_reasons

    (tmp_path / "secret.txt").write_text("password\n")
    anchors = [Anchor("../secret.txt", symbols=("password",)), Anchor("", branch="../../x")]
    assert stale_reasons(str(repository), anchors, {}) == [
        "../secret.txt: file gone",
        "branch ../../x: gone",
    ]


def test_nothing_that_a_repository_configures_is_started(
    shelf: NuggetShelf, repository: Path, tmp_path: Path
) -> None:
    note = keep(shelf, "Tokens are checked in src/auth.py")
    move(repository)
    proof = tmp_path / "started"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {proof}\n")
    script.chmod(0o755)
    (repository / ".git" / "hooks" / "post-index-change").write_text(script.read_text())
    (repository / ".git" / "hooks" / "post-index-change").chmod(0o755)
    (repository / ".gitattributes").write_text("* diff=evil\n")
    with open(repository / ".git" / "config", "a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {script}\n\tpager = {script}\n[pager]\n\tlog = {script}\n"
            f'[diff]\n\texternal = {script}\n[diff "evil"]\n\ttextconv = {script}\n'
        )
    assert caveats(shelf, note) == ["src/auth.py: moved to lib/auth.py"]
    assert not proof.exists()
