"""An explicit order is kept or refused aloud, through the host's channel for messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_doors import hook, repository
from nuggets.shelf import NuggetShelf
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
    told = answer(tmp_path / "shelf", "Remember that we use pnpm.", "--host", host)

    assert told == {"systemMessage": "Nuggets: kept: we use pnpm · nuggets undo 1"}
    with NuggetShelf(tmp_path / "shelf") as shelf:
        assert [note.content for note in shelf.list_notes(nugget="prefs")] == ["we use pnpm"]
        shelf.undo(1)
        assert not shelf.has("prefs") or not list(shelf.list_notes(nugget="prefs"))


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        (f"Remember that the db password is {CHOSEN}.", "this looks like a credential"),
        ("merk dir die pin vom terminal: vier acht null zwei", "it may hold a credential"),
        ("remember this", "it does not say what to remember"),
        ("Remember that " + "it rains often " * 100, "longer than 1000 characters"),
    ],
)
def test_what_is_refused_is_refused_aloud(tmp_path: Path, prompt: str, reason: str) -> None:
    message = answer(tmp_path / "shelf", prompt)["systemMessage"]

    assert message.startswith("Nuggets: not kept: ") and reason in message
    assert CHOSEN not in message
    assert ("--allow-secret" in message) is ("credential" in reason)  # the command asks for it too


def test_whether_what_names_a_secret_holds_one_is_left_to_the_model(tmp_path: Path) -> None:
    told = answer(tmp_path / "shelf", "remember that the wifi password hangs at the router")

    assert "if it holds none, store it (remember)" in json.dumps(told)


@pytest.mark.parametrize("prompt", ["fix the login bug", "do you remember that config change?"])
def test_what_orders_nothing_gets_no_message(tmp_path: Path, prompt: str) -> None:
    assert answer(tmp_path / "shelf", prompt) == {}


def test_a_host_without_such_a_channel_gets_none(tmp_path: Path) -> None:
    assert answer(tmp_path / "shelf", "Remember: use pnpm.", "--host", "cursor") == {}
