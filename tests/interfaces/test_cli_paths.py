"""Paths are anyone's words, too: a folder can be called anything, and steers no terminal."""

import os
from pathlib import Path

import pytest

from command_line import HARMFUL, Nuggets

FOLDER = "a\x1b]0;mine\x07\u202eb"


@pytest.fixture
def folder(directory: Path) -> Path:
    path = directory / FOLDER
    path.mkdir()
    return path


def test_promotion_names_a_file_without_what_would_act(nuggets: Nuggets, folder: Path) -> None:
    done = nuggets("promote", "--path", str(folder / "MEMORY.md"))

    assert done.code == 0
    assert "a\\x1b]0;mine\\x07\\u202eb" in done.out
    assert not HARMFUL & set(done.out)


def test_connect_names_backups_and_places_without_what_would_act(
    nuggets: Nuggets, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NUGGETS_DIR", str(folder / "shelf"))
    (Path(os.environ["HOME"]) / ".claude.json").write_text("{}")
    connected = nuggets("connect", "claude-code")
    here = nuggets("connect", "claude-code", "--project")

    assert "Backup: " in connected.out
    assert "Not a git repository" in here.err
    for said in (connected.out, connected.err, here.out, here.err):
        assert not HARMFUL & set(said)
