"""`remember --pin` writes a memory to MEMORY.md at once, by the rules of promotion."""

from pathlib import Path

import pytest

from command_line import Nuggets


@pytest.fixture
def file(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = directory / "MEMORY.md"
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(path))
    return path


def test_a_pinned_fact_is_in_the_memory_file_at_once(nuggets: Nuggets, file: Path) -> None:
    nuggets("remember", "prefs", "font", "mono")
    done = nuggets("remember", "prefs", "editor", "helix", "--pin")

    assert (done.code, done.lines[-1]) == (0, f"Pinned to {file}")
    assert "- **editor**: helix" in file.read_text()
    assert "mono" not in file.read_text()


def test_a_pinned_text_is_a_note_in_the_memory_file(nuggets: Nuggets, file: Path) -> None:
    nuggets("remember", "Releases are cut on Thursdays. The script is in tools/.", "--pin")

    assert "Releases are cut on Thursdays" in file.read_text()


def test_a_pin_is_explained_and_stays(nuggets: Nuggets, file: Path) -> None:
    nuggets("remember", "prefs", "editor", "helix", "--pin")
    path = file.parent / "other.md"

    explained = nuggets("promote", "--explain", "--path", str(path), "--json").json

    assert [(e["outcome"], e["reason"]) for e in explained["explanations"]] == [("new", "pinned")]
    nuggets("promote")
    assert "- **editor**: helix" in file.read_text()


def test_undo_takes_the_memory_and_its_line_back(nuggets: Nuggets, file: Path) -> None:
    nuggets("remember", "prefs", "editor", "vim")
    nuggets("remember", "prefs", "editor", "helix", "--pin")

    done = nuggets("undo")

    assert done.code == 0
    assert "editor" not in file.read_text()
    assert [fact["value"] for fact in nuggets("facts", "prefs", "--json").json] == ["vim"]


def test_a_line_that_a_person_removes_is_not_written_again(nuggets: Nuggets, file: Path) -> None:
    nuggets("remember", "prefs", "editor", "helix", "--pin")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "editor" not in line))
    nuggets("promote")
    removed = file.read_text()

    nuggets("remember", "prefs", "editor", "helix", "--pin")

    assert "editor" not in removed
    assert "- **editor**: helix" in file.read_text()


def test_what_does_not_belong_there_is_neither_pinned_nor_stored(
    nuggets: Nuggets, file: Path
) -> None:
    key = f"sk-ant-{'a1B2' * 12}"
    secret = nuggets("remember", "prefs", "api key", key, "--pin", "--allow-secret")
    passing = nuggets("remember", "prefs", "mood", "fine", "--pin", "--stability", "temporary")

    assert (secret.code, passing.code) == (2, 2)
    assert "cannot be pinned to MEMORY.md: looks like a credential" in secret.err
    assert "cannot be pinned to MEMORY.md: temporary" in passing.err
    assert nuggets("facts", "--json").json == []
    assert not file.exists()


def test_a_pin_needs_no_host(nuggets: Nuggets) -> None:
    done = nuggets("remember", "prefs", "editor", "helix", "--pin")

    assert done.code == 0
    assert "helix" in Path(done.lines[-1].removeprefix("Pinned to ")).read_text()
