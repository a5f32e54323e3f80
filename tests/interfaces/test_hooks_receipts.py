"""An explicit order is kept or refused aloud, through the host's channel for messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_doors import hook, repository
from nuggets.shelf import NuggetShelf
from nuggets.stores.process_lock import hold_shelf_lock
from secret_samples import CHOSEN


def answer(directory: Path, prompt: str, *options: str) -> dict[str, Any]:
    project = directory.parent / "here"
    if not project.exists():
        repository(project)
    sent = {"session_id": "s", "cwd": str(project), "prompt": prompt}
    environ = {"NUGGETS_HOOK_SECONDS": "60"}  # the lock is given up sooner
    done = hook("user-prompt", sent, directory, *options, environ=environ)
    assert done.returncode == 0 and done.stderr == b""
    shape: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return shape


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_what_is_kept_is_said_with_the_way_back(tmp_path: Path, host: str) -> None:
    told = answer(tmp_path / "shelf", "No, use pnpm not npm.", "--host", host)

    assert told == {"systemMessage": "Nuggets: kept: use pnpm not npm · nuggets undo 1"}
    with NuggetShelf(tmp_path / "shelf") as shelf:
        assert [note.content for note in shelf.list_notes(nugget="prefs")] == ["use pnpm not npm"]
        shelf.undo(1)
        assert not shelf.has("prefs") or not list(shelf.list_notes(nugget="prefs"))


def test_what_replaces_an_earlier_rule_says_which(tmp_path: Path) -> None:
    answer(tmp_path / "shelf", "Never use semicolons in TypeScript.")

    told = answer(tmp_path / "shelf", "Always use semicolons in TypeScript.")

    assert "hookSpecificOutput" not in told  # the rule that no longer holds is not recalled
    assert told["systemMessage"] == (
        "Nuggets: kept: Always use semicolons in TypeScript · instead of: Never use semicolons in "
        "TypeScript · nuggets undo 2"
    )
    again = answer(tmp_path / "shelf", "Always use semicolons in TypeScript.")
    assert "instead of" not in again["systemMessage"]


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        (f"Remember that the db password is {CHOSEN}.", "this looks like a credential"),
        ("Remember that I leave at five today.", "it holds only for a time"),
        ("remember that function we wrote", "it is about this conversation"),
        ("Remember that " + "it rains often " * 30, "longer than 300 characters"),
    ],
)
def test_what_is_refused_is_refused_aloud(tmp_path: Path, prompt: str, reason: str) -> None:
    message = answer(tmp_path / "shelf", prompt)["systemMessage"]

    assert message.startswith("Nuggets: not kept: ") and reason in message
    assert CHOSEN not in message


@pytest.mark.parametrize("prompt", ["fix the login bug", "do you remember that config change?"])
def test_what_orders_nothing_gets_no_message(tmp_path: Path, prompt: str) -> None:
    assert answer(tmp_path / "shelf", prompt) == {}


def test_a_host_without_such_a_channel_gets_none(tmp_path: Path) -> None:
    assert answer(tmp_path / "shelf", "Always use pnpm.", "--host", "cursor") == {}


def test_an_order_that_meets_a_busy_memory_is_refused_aloud(tmp_path: Path) -> None:
    shelf_directory = tmp_path / "shelf"
    answer(shelf_directory, "Always use pnpm.")
    with hold_shelf_lock(str(shelf_directory)):
        told = answer(shelf_directory, "Never push to main.")

    assert "memory was busy" in told["systemMessage"]
