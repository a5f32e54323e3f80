"""Whose memory file is written by a run that is somewhere else."""

from datetime import datetime
from pathlib import Path

import pytest

from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf

AA, BB = "/repos/aa/.git", "/repos/bb/.git"
NINE = datetime(2026, 1, 31, 9)


def host_file(project: str) -> Path:
    """A repository's memory file; from now on the host knows the repository."""
    name = project.removesuffix("/.git").replace("/", "-")
    directory = Path.home() / ".claude/projects" / name
    directory.mkdir(parents=True, exist_ok=True)
    return directory / "memory" / "MEMORY.md"


def recalled_fact(shelf: NuggetShelf, key: str, value: str, project: str) -> None:
    fact = shelf.remember("learn", key, value, project=project)
    for session in ENOUGH_SESSIONS:
        shelf.get_note(fact.id, session=session)


@pytest.mark.parametrize("place", ["", AA])
def test_a_daily_run_serves_every_project_that_the_host_knows(place: str) -> None:
    served, unknown = host_file(BB), "/repos/cc/.git"
    with NuggetShelf("memory:", project=place) as shelf:
        recalled_fact(shelf, "port", "8080", BB)
        recalled_fact(shelf, "host", "there", unknown)
        run = shelf.run_daily(NINE)

    assert run is not None
    assert run.promoted == 1
    assert "- **port**: 8080" in served.read_text()
    assert len(list(Path.home().glob(".claude/projects/*"))) == 1


def test_a_project_that_has_nothing_to_tell_gets_no_file_and_no_entry_in_the_history() -> None:
    served = host_file(BB)
    with NuggetShelf("memory:", project="") as shelf:
        shelf.remember("learn", "port", "8080", project=BB)
        shelf.run_daily(NINE)
        actions = [commit.changes.action for commit in shelf.history()]

    assert not served.exists()
    assert "promote" not in actions


def test_where_one_file_is_told_others_are_not_begun(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, other = directory / "MEMORY.md", host_file(BB)
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(told))
    with NuggetShelf(directory / "shelf", project=AA) as shelf:
        recalled_fact(shelf, "port", "8080", BB)
        recalled_fact(shelf, "host", "there", AA)
        shelf.run_daily(NINE)

    assert "host" in told.read_text()
    assert "port" not in told.read_text()
    assert not other.exists()
