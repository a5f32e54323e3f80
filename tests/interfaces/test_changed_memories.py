"""A session is told of memories that changed since it was shown them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_doors import hook, injected, repository
from nuggets.shelf import NuggetShelf

Ask = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "here")


@pytest.fixture
def shelf(tmp_path: Path, project: Path) -> NuggetShelf:
    shelf = NuggetShelf(tmp_path / "shelf", project=str(project / ".git"), at_work=True)
    shelf.remember("project", "deploy command", "make deploy ENV=staging")
    shelf.remember("project", "default branch", "trunk")
    return shelf


@pytest.fixture
def ask(tmp_path: Path, project: Path) -> Ask:
    def send(prompt: str, event: str = "user-prompt", **more: str) -> str:
        sent = {"session_id": "s", "cwd": str(project), "prompt": prompt, **more}
        return injected(hook(event, sent, tmp_path / "shelf"))

    return send


@pytest.mark.parametrize("shown_by", ["start", "prompt"])
def test_a_changed_memory_is_shown_once_as_it_is_now_and_was(
    shelf: NuggetShelf, ask: Ask, shown_by: str
) -> None:
    if shown_by == "start":
        ask("", "session-start")
    else:
        ask("what is the deploy command?")
    shelf.remember("project", "deploy command", "pnpm ship")
    told = ask("thanks, go on")

    assert "**deploy command**: now: pnpm ship; was: make deploy ENV=staging (" in told
    assert "default branch" not in told
    assert ask("thanks, go on") == ""


def test_a_memory_that_went_is_said_to_be_no_longer_valid(shelf: NuggetShelf, ask: Ask) -> None:
    ask("", "session-start")
    shelf.forget("project", "deploy command")
    shelf.delete_note("default branch")
    told = ask("thanks, go on")

    assert "**deploy command**: no longer valid, was: make deploy ENV=staging" in told
    assert "**default branch**: no longer valid, was: trunk" in told
    assert ask("thanks, go on") == ""


def test_what_was_not_shown_or_only_tagged_is_not_news(shelf: NuggetShelf, ask: Ask) -> None:
    ask("what is the deploy command?")
    shelf.remember("project", "default branch", "main")
    shelf.edit_note("deploy command", tags=["release"])

    assert ask("thanks, go on") == ""


def test_what_was_changed_and_changed_back_is_not_news(shelf: NuggetShelf, ask: Ask) -> None:
    ask("", "session-start")
    shelf.remember("project", "deploy command", "pnpm ship")
    shelf.remember("project", "deploy command", "make deploy ENV=staging")

    assert ask("thanks, go on") == ""


def test_after_a_compaction_only_later_changes_are_news(shelf: NuggetShelf, ask: Ask) -> None:
    ask("", "session-start")
    shelf.remember("project", "deploy command", "pnpm ship")
    ask("", "session-start", source="compact")

    assert ask("thanks, go on") == ""


def test_a_preference_said_in_this_session_is_not_news(shelf: NuggetShelf, ask: Ask) -> None:
    ask("Remember: use pnpm, never npm.")
    ask("", "session-start")
    ask("Remember: use pnpm, never npm!")

    assert ask("thanks, go on") == ""


def test_credentials_of_either_version_are_redacted(shelf: NuggetShelf, ask: Ask) -> None:
    token = "ghp_" + "a1B2" * 9
    shelf.remember("project", "deploy token", f"the token is {token}")
    ask("", "session-start")
    shelf.remember("project", "deploy token", f"the new token is {token[::-1]}")
    told = ask("thanks, go on")

    assert "deploy token" in told
    assert token not in told
    assert token[::-1] not in told
