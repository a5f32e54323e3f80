"""A half-saved file stops no agent: every door goes on, and a person is told."""

from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from agent_doors import hook, in_memory, injected, said, server_context
from command_line import Nuggets
from nuggets import NuggetShelf
from web_serving import client as web_client

OOPS = '{"facts": [ oops'


@pytest.fixture
def broken(directory: Path) -> Path:
    """The file of one nugget of two, after its journal was begun."""
    with NuggetShelf(directory, project="") as shelf:
        shelf.remember("self", "tone", "dry wit")
        shelf.remember("tools", "test cmd", "make test")
    (directory / "self.nugget.json").write_text(OOPS)
    return directory / "self.nugget.json"


@pytest.mark.parametrize(
    "command",
    [
        ("recall", "test cmd"),
        ("recall", "tone", "--nugget", "self"),
        ("search", "wit"),
        ("list",),
        ("status", "self"),
        ("remember", "tools", "lint cmd", "make lint"),
        ("remember", "self", "tone", "warm"),
        ("reflect",),
        ("history",),
    ],
)
def test_every_command_answers_and_warns_once(
    nuggets: Nuggets, directory: Path, broken: Path, command: tuple[str, ...]
) -> None:
    done = nuggets("--dir", str(directory), *command)

    assert done.code == 0
    assert done.out
    assert done.err.count("self.nugget.json cannot be read") == 1
    assert "nuggets doctor --fix" in done.err
    assert broken.read_text() == OOPS


def test_a_script_still_gets_only_its_answer(
    nuggets: Nuggets, directory: Path, broken: Path
) -> None:
    done = nuggets("--dir", str(directory), "recall", "tone", "--json")

    assert done.json["answer"] == "dry wit"
    assert "self.nugget.json" in done.err


def test_a_miss_is_told_together_with_the_file_that_may_be_why(
    nuggets: Nuggets, directory: Path, broken: Path
) -> None:
    (directory / "guest.nugget.json").write_text(OOPS)
    done = nuggets("--dir", str(directory), "status", "guest")

    assert done.code == 1
    assert "guest.nugget.json cannot be read" in done.err


def test_the_doctor_names_it_and_sets_it_aside(
    nuggets: Nuggets, directory: Path, broken: Path
) -> None:
    found = nuggets("--dir", str(directory), "doctor")
    fixed = nuggets("--dir", str(directory), "doctor", "--fix")
    after = nuggets("--dir", str(directory), "recall", "tone")

    assert (found.code, fixed.code, after.code) == (1, 0, 0)
    assert "self.nugget.json" in found.out
    assert "Correct it" in found.out
    assert "Correct it" not in fixed.out
    assert "done: set it aside" in fixed.out
    assert after.err == ""
    assert (directory / "self.nugget.json.damaged-1").read_text() == OOPS


def test_hooks_still_inject(directory: Path, broken: Path) -> None:
    sent = {"session_id": "s", "cwd": str(directory), "prompt": "What is the test cmd here?"}

    assert "make test" in injected(hook("user-prompt", sent, directory))


def test_an_agent_recalls_and_can_tell_its_user(directory: Path, broken: Path) -> None:
    async def talk(mcp: Client) -> Any:
        recalled = await mcp.call_tool("recall", {"query": "test cmd"})
        status = await mcp.call_tool("status", {})
        return said(recalled), said(status), status.structured_content

    recalled, status, shape = in_memory(server_context(directory), talk)

    assert "make test" in recalled
    assert "self.nugget.json cannot be read" in status
    assert len(shape["warnings"]) == 1


def test_the_page_is_told(directory: Path, broken: Path) -> None:
    with NuggetShelf(directory) as shelf, web_client(shelf) as web:
        status = web.get("/api/status").json()

    assert "self.nugget.json cannot be read" in status["warnings"][0]
