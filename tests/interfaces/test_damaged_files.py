"""Something else stands where a file of the shelf belongs: every command ends and says so.

A command that raised an error or waited for a pipe would end the test: `main` runs in this process.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from command_line import Nuggets
from nuggets import NuggetShelf
from privileges import permissions_hold

pytestmark = pytest.mark.usefixtures("no_daily_pass")

COMMANDS = (
    *("remember prefs shell fish", "recall editor", "facts", "forget prefs editor"),
    *("note add ops Title content", "note show Deploys", "note edit Deploys new"),
    *("note archive Deploys", "note list", "note delete Deploys", "search deploys", "graph"),
    *("link Deploys Rollback", "unlink Deploys Rollback", "list", "status prefs"),
    *("project list", "reflect", "promote --path memory/MEMORY.md"),
    *("history", "undo", "import other", "export json", "export markdown pages"),
    *("backup", "restore --dry-run", "audit", "config", "hook user-prompt", "version", "doctor"),
    *("clear prefs --yes", "remove ops --yes", "forget prefs editor --purge", "doctor --fix"),
)
FILES = (
    *("nuggets.db", "nuggets.db-wal", "nuggets.lock", "config.toml", "recalls.jsonl", "token"),
    *("prefs.nugget.json", "graph/graph.json", "graph", "hooks", "hooks/log", "hooks/inbox"),
    *("hooks/sessions", "backups", "backups/copy.db", "../memory/MEMORY.md"),
)
PART = int(os.environ.get("NUGGETS_DAMAGE_PART", "7"))  # of the commands, others each time
PROMPT = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "editor?", "session_id": "s"})


def make_directory(path: Path) -> None:
    path.mkdir()
    (path / "something").touch()


def write_nested_text(path: Path) -> None:
    path.write_text("[" * 100_000)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a directory": make_directory,
    "a dangling link": lambda path: path.symlink_to("/nowhere/at/all"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "nested text": write_nested_text,
}
FORBIDDEN = "without permission"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shelf to copy."""
    directory = tmp_path_factory.mktemp("original")
    with NuggetShelf(directory, project="") as shelf:
        shelf.remember("prefs", "editor", "helix")
        first = shelf.create_note("ops", "Deploys", "By hand.")
        shelf.add_link(first.id, shelf.create_note("ops", "Rollback", "make back").id)
        shelf.backup(directory / "backups" / "copy.db")
    return directory


@pytest.fixture
def place(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a shelf to copy, another shelf and a memory file."""
    shutil.copytree(original, tmp_path / "original")
    shutil.copytree(original, tmp_path / "other")
    (tmp_path / "memory").mkdir()
    monkeypatch.setenv("NUGGETS_DIR", str(tmp_path / "shelf"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_in_place_of(path: Path, damage: Callable[[Path], None]) -> None:
    path.parent.mkdir(exist_ok=True)
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    damage(path)


def part_of_commands(file: str, damage: str) -> Sequence[str]:
    """Every command with every file, and with every damage; all with all in `make faults`."""
    first = (FILES.index(file) + [*DAMAGE, FORBIDDEN].index(damage)) % PART
    return COMMANDS[first::PART]


@pytest.mark.faults
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", FILES)
def test_whatever_stands_in_place_of_a_file_every_command_ends_and_says_so(
    nuggets: Nuggets, place: Path, file: str, damage: str
) -> None:
    for command in part_of_commands(file, damage):
        shutil.rmtree(place / "shelf", ignore_errors=True)
        shutil.copytree(place / "original", place / "shelf")
        shutil.rmtree(place / "pages", ignore_errors=True)
        (place / "memory" / "MEMORY.md").unlink(missing_ok=True)
        put_in_place_of(place / "shelf" / file, DAMAGE[damage])
        done = nuggets(*command.split(), stdin=PROMPT)
        assert done.code in (0, 1, 2), command
        assert done.out or done.err or done.code == 0, command
        assert "Traceback" not in done.err, command
        if (place / "memory" / "MEMORY.md").is_dir():
            shutil.rmtree(place / "memory" / "MEMORY.md")


def forbid(path: Path) -> None:
    """What is there may neither be read nor written; nor may anything be put beside it."""
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        path.chmod(0)
    path.parent.chmod(0o500)


@pytest.mark.faults
@pytest.mark.parametrize("file", FILES)
def test_without_permission_every_command_ends_and_says_so(
    nuggets: Nuggets, place: Path, file: str
) -> None:
    for command in part_of_commands(file, FORBIDDEN):
        shutil.copytree(place / "original", place / "shelf")
        forbid(place / "shelf" / file)
        with permissions_hold():
            done = nuggets(*command.split(), stdin=PROMPT)
        (place / "memory").chmod(0o700)
        shutil.rmtree(place / "shelf")
        shutil.rmtree(place / "pages", ignore_errors=True)
        assert done.code in (0, 1, 2), command
        assert done.out or done.err or done.code == 0, command
        assert "Traceback" not in done.err, command


def test_nothing_can_be_written_beside_a_memory_file(nuggets: Nuggets, place: Path) -> None:
    nuggets("remember", "prefs", "editor", "helix")
    memory = place / "memory" / "MEMORY.md"
    memory.write_text("# Mine\n")
    nuggets("remember", "prefs", "shell", "fish")
    memory.parent.chmod(0o500)
    with permissions_hold():
        done = nuggets("remember", "prefs", "pager", "less", "--pin")
        promoted = nuggets("promote", "--path", str(memory))
    memory.parent.chmod(0o700)

    assert done.code in (0, 1)
    assert promoted.code in (0, 1)
    assert "Traceback" not in done.err + promoted.err
    assert memory.read_text() == "# Mine\n"
    assert list(memory.parent.iterdir()) == [memory]


@pytest.mark.parametrize("text", ["a = ", "\0", 'dir = "/elsewhere"'])
def test_settings_that_cannot_be_read_do_not_stop_the_doctor(
    nuggets: Nuggets, place: Path, text: str
) -> None:
    shutil.copytree(place / "original", place / "shelf")
    (place / "shelf" / "config.toml").write_text(text)
    refused, told = nuggets("recall", "editor"), nuggets("doctor", "--json")

    assert refused.code == told.code == 1
    assert "config.toml" in refused.err
    assert [defect["kind"] for defect in told.json] == ["settings"]
    assert told.json[0]["path"] == str(place / "shelf" / "config.toml")
    (place / "shelf" / "config.toml").unlink()
    assert nuggets("doctor", "--fix").code == 0


NESTED = "[" * 100_000 + "]" * 100_000


def test_deeply_nested_lines_in_place_of_recalls_or_a_diary_are_left_out(
    nuggets: Nuggets, place: Path
) -> None:
    shutil.copytree(place / "original", place / "shelf")
    (place / "shelf" / "recalls.jsonl").write_text(f"{NESTED}\n")
    nuggets("hook", "user-prompt", stdin=PROMPT)
    diaries = list((place / "shelf" / "hooks" / "sessions").iterdir())
    for diary in diaries:
        diary.write_text(f'{NESTED}\n[1]\n"text"\n{diary.read_text()}')

    assert diaries
    assert nuggets("remember", "prefs", "shell", "fish").code == 0
    assert nuggets("hook", "user-prompt", stdin=PROMPT).code == 0
    assert not (place / "shelf" / "hooks" / "log").exists()


@pytest.mark.parametrize("text", [f"a = {NESTED}", "\0", "a = "])
def test_settings_that_cannot_be_read_are_named(nuggets: Nuggets, place: Path, text: str) -> None:
    shutil.copytree(place / "original", place / "shelf")
    (place / "shelf" / "config.toml").write_text(text)
    done = nuggets("recall", "editor")
    assert done.code == 1
    assert "config.toml cannot be read" in done.err


def test_a_deeply_nested_memory_file_is_refused(nuggets: Nuggets, place: Path) -> None:
    (place / "memory.jsonl").write_text(NESTED)
    done = nuggets("import", "memory.jsonl")
    assert done.code == 2
    assert "nested too deeply" in done.err


def test_hundreds_of_git_files_inside_each_other_end(
    nuggets: Nuggets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "d"]
    for _ in range(600):
        folders.append(folders[-1] / "d")
    for folder in folders:
        folder.mkdir()
        (folder / ".git").write_text("gitdir: ../.git/modules/d\n")
    monkeypatch.chdir(folders[-1])
    done = nuggets("remember", "prefs", "editor", "helix")
    monkeypatch.chdir(tmp_path)
    for folder in reversed(folders):  # pytest's own removal is recursive
        (folder / ".git").unlink()
        folder.rmdir()
    assert done.code == 0
