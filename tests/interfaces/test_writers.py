"""The history names who wrote: an agent, by its host's name and its door, or a person's door."""

import os
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client import Client as McpClient

from agent_doors import hook, repository, server_context
from command_line import Nuggets
from nuggets.interfaces.mcp.server import build_server
from nuggets.operations.permissions import HOOK, name_agent
from nuggets.shelf import NuggetShelf


def writers(directory: Path) -> list[str]:
    with NuggetShelf(directory) as shelf:
        return [step.changes.client for step in shelf.history()]


def test_an_mcp_client_is_named_as_it_called_itself(tmp_path: Path) -> None:
    context = server_context(tmp_path / "shelf")

    async def talk() -> Any:
        info = types.Implementation(name="codex-mcp-client", version="1")
        async with McpClient(build_server(context), client_info=info) as client:
            arguments = {"nugget": "project", "key": "port", "value": "8080"}
            return await client.call_tool("remember", arguments)

    anyio.run(talk)
    context.close()

    assert writers(tmp_path / "shelf") == ["codex-mcp-client (mcp)"]


@pytest.mark.parametrize(
    ("options", "writer"), [(("--host", "codex"), "codex (hook)"), ((), "hook")]
)
def test_a_hook_is_named_by_its_host(tmp_path: Path, options: tuple[str, ...], writer: str) -> None:
    sent = {"session_id": "s", "cwd": str(repository(tmp_path / "here"))}
    prompt = {**sent, "prompt": "Remember that we always use pnpm."}
    hook("user-prompt", prompt, tmp_path / "shelf", *options)

    assert writers(tmp_path / "shelf") == [writer]


def test_the_command_and_python_are_named(nuggets: Nuggets) -> None:
    nuggets("remember", "project", "port", "8080")
    with NuggetShelf(os.environ["NUGGETS_DIR"]) as shelf:
        shelf.remember("project", "port", "9090")
    done = nuggets("history")

    assert [step["client"] for step in nuggets("history", "--json").json] == ["python", "cli"]
    assert "remember from python" in done.out
    assert "remember from cli" in done.out


def test_a_person_who_edits_the_memory_file_is_named_so(nuggets: Nuggets, directory: Path) -> None:
    path = directory / "MEMORY.md"
    with NuggetShelf(os.environ["NUGGETS_DIR"]) as shelf:
        fact = shelf.remember("learn", "port", "8080")
        for session in "abc":
            shelf.get_note(fact.id, session=session)
    nuggets("promote", "--path", str(path))
    path.write_text(path.read_text().replace("8080", "9090"))
    nuggets("promote", "--path", str(path))

    assert "edit from memory file" in nuggets("history").out


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("", "hook"),
        ("hook", "hook"),
        ("codex", "codex (hook)"),
        ("two\nlines \u202eback", "two lines back (hook)"),
        ("x" * 500, f"{'x' * 40} (hook)"),
    ],
)
def test_the_name_of_an_agent_is_one_short_visible_line(agent: str, name: str) -> None:
    assert name_agent(HOOK, agent).name == name
