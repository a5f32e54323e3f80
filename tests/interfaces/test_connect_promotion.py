"""`connect --promote` writes memories into the file that an agent reads; `disconnect` undoes it."""

from pathlib import Path

import pytest

from agent_doors import repository
from command_line import Nuggets
from nuggets import PROMOTE_THRESHOLD
from nuggets.domain.marks import INSTRUCTION_FILES


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nuggets: Nuggets) -> Path:
    """A repository with a promotable memory, in a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    project = repository(tmp_path / "shop")
    monkeypatch.chdir(project)
    nuggets("remember", "project", "deploy command", "make ship")
    for number in range(PROMOTE_THRESHOLD):
        nuggets("recall", "deploy command", "--session", f"session {number}")
    return project


@pytest.mark.parametrize("host", INSTRUCTION_FILES)
def test_the_block_comes_by_choice_and_goes_with_the_connection(
    host: str, project: Path, nuggets: Nuggets
) -> None:
    path = project / INSTRUCTION_FILES[host]
    path.write_text("# Ours\n")
    nuggets("connect", host)
    without = path.read_text()
    planned = nuggets("connect", host, "--promote", "--dry-run")
    after_plan = path.read_text()
    connected = nuggets("connect", host, "--promote", "--json").json
    text = path.read_text()
    left = nuggets("disconnect", host)

    assert without == after_plan == "# Ours\n"
    assert f"Would promote 1 memory to {path}" in planned.out
    assert connected["promotedTo"] == str(path)
    assert text.startswith("# Ours\n")
    assert "- **deploy command**: make ship\n" in text
    assert f"Taken out of {path}." in left.out
    assert path.read_text() == "# Ours\n"


def test_a_block_that_another_connected_agent_reads_stays(project: Path, nuggets: Nuggets) -> None:
    path = project / "AGENTS.md"
    nuggets("connect", "opencode")
    nuggets("connect", "codex", "--promote")
    nuggets("disconnect", "codex")
    still_there = "make ship" in path.read_text()
    nuggets("disconnect", "opencode")

    assert still_there
    assert "make ship" not in path.read_text()


def test_disconnecting_a_project_leaves_other_repositories_alone(
    project: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    nuggets("connect", "codex", "--project", "--promote")
    other = repository(project.parent / "other")
    monkeypatch.chdir(other)
    nuggets("connect", "codex", "--project")
    nuggets("disconnect", "codex", "--project")

    assert "make ship" in (project / "AGENTS.md").read_text()


def test_it_says_where_it_cannot_promote(
    project: Path, nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_host = nuggets("connect", "claude-code", "--promote")
    monkeypatch.chdir(project.parent)
    nowhere = nuggets("connect", "codex", "--promote")

    assert other_host.code == nowhere.code == 2
    assert "`nuggets promote` is enough" in other_host.err
    assert "change into the repository" in nowhere.err
    assert not (project.parent / ".codex").exists()
