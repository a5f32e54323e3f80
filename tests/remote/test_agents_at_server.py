"""Hooks and MCP where a server keeps the memory, with real processes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from agent_doors import hook, injected, over_stdio, repository, said
from command_line import run_process
from nuggets import NuggetShelf
from web_serving import served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with served(str(tmp_path / "kept")) as process:
        yield process.url.rstrip("/")


def test_a_prompt_is_answered_from_the_server(server: str, tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    run = {"session_id": "s1", "cwd": str(folder)}
    with NuggetShelf(server, folder=str(folder), at_work=True) as shelf:
        shelf.create_note("project", "Deploy day", "The shop is deployed on Tuesdays.")

        first = hook("user-prompt", {**run, "prompt": "On which deploy day do we ship?"}, server)
        again = hook("user-prompt", {**run, "prompt": "On which deploy day do we ship?"}, server)
        shelf.edit_note("Deploy day", content="The shop is deployed on Mondays.")
        changed = hook("user-prompt", {**run, "prompt": "And now?"}, server)
        note = shelf.get_note("Deploy day", session=None)

    assert "Tuesdays" in injected(first)
    assert not again.stdout.strip()
    assert "now: The shop is deployed on Mondays" in injected(changed)
    assert note.hits == 1


def test_a_preference_in_a_prompt_is_kept_there(server: str, tmp_path: Path) -> None:
    sent = {"session_id": "s1", "cwd": str(tmp_path), "prompt": "Remember: use tabs, never spaces."}

    answer = json.loads(hook("user-prompt", sent, server).stdout)

    assert "kept" in answer["systemMessage"]
    with NuggetShelf(server, project="") as shelf:
        assert [fact.client for fact in shelf.commit_summaries()] == ["hook"]


def test_a_file_that_a_memory_names_is_looked_at_on_this_machine(
    server: str, tmp_path: Path
) -> None:
    folder = repository(tmp_path / "shop")
    (folder / "auth.py").write_text("def login():\n    pass\n")
    with NuggetShelf(server, folder=str(folder), at_work=True) as shelf:
        shelf.create_note("project", "Login handler", "The login handler is in auth.py:1.")
    (folder / "auth.py").unlink()

    sent = {"session_id": "s1", "cwd": str(folder), "prompt": "Where is the login handler?"}
    context = injected(hook("user-prompt", sent, server))

    assert "auth.py" in context.rpartition("note-")[2]


def test_a_session_starts_with_what_the_server_holds(server: str, tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    with NuggetShelf(server, folder=str(folder), at_work=True) as shelf:
        shelf.remember("project", "test command", "make check")

    sent = {"session_id": "s1", "cwd": str(folder), "source": "startup"}
    started = hook("session-start", sent, server)
    hook("post-tool", {"session_id": "s1", "cwd": str(folder), "tool_name": "Read"}, server)
    hook("stop", {"session_id": "s1", "cwd": str(folder)}, server)

    assert "make check" in injected(started)


def test_a_server_that_is_away_stops_no_host(tmp_path: Path) -> None:
    sent = {"session_id": "s1", "cwd": str(tmp_path), "prompt": "Where is the login handler?"}

    for event in ("user-prompt", "session-start", "stop", "post-tool"):
        assert hook(event, sent, "http://localhost:9").returncode == 0


def test_mcp_serves_the_memory_of_a_server(server: str, tmp_path: Path) -> None:
    async def talk(client: Client) -> Any:
        fact = {"nugget": "project", "key": "port", "value": "8080"}
        await client.call_tool("remember", fact)
        return await client.call_tool("recall", {"query": "prot"})

    answer = over_stdio(tmp_path, talk, NUGGETS_DIR=server, HOME=str(tmp_path))

    assert "8080" in said(answer)
    with NuggetShelf(server, project="") as shelf:
        assert shelf.recall("port").answer == "8080"


def test_connect_writes_the_address_of_the_server(server: str, tmp_path: Path) -> None:
    os.makedirs(os.path.expanduser("~/.claude"))

    done = run_process("connect", "claude-code", "--dir", server, "--dry-run")

    assert server in done.out


def test_without_the_server_a_prompt_is_answered_from_the_copy_and_a_preference_waits(
    tmp_path: Path,
) -> None:
    with served(str(tmp_path / "kept")) as process:
        url = process.url.rstrip("/")
        env = {"NUGGETS_DIR": url}
        with NuggetShelf(url, project="") as shelf:
            shelf.create_note("project", "Deploy day", "The shop is deployed on Tuesdays.")
        assert run_process("sync", env=env).code == 0
    sent = {"session_id": "s1", "cwd": str(tmp_path)}

    asked = hook("user-prompt", {**sent, "prompt": "On which deploy day do we ship?"}, url)
    stated = hook("user-prompt", {**sent, "prompt": "Remember: use tabs, never spaces."}, url)

    assert "Tuesdays" in injected(asked)
    assert "local copy, which is" in json.loads(asked.stdout)["systemMessage"]
    assert "queued" in json.loads(stated.stdout)["systemMessage"]
    assert run_process("queue", "--json", env=env).json["waiting"][0]["method"] == "remember"
