"""The notes of sessions through MCP and REST."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents
from starlette.testclient import TestClient

from agent_doors import in_memory, server_context
from nuggets.operations.session_notes import SessionRecord
from nuggets.shelf import NuggetShelf
from web_serving import client

PROJECT = "/home/me/here/.git"
SESSIONS = (  # id, project, days ago, goal
    ("one", PROJECT, 3, "Move orders to UUID keys"),
    ("two", PROJECT, 2, "Shorten the deploy pipeline"),
    ("three", "/home/me/there/.git", 1, "Another project"),
)


def keep_sessions(shelf: NuggetShelf) -> None:
    for session, project, days, goal in SESSIONS:
        day = (datetime.now(UTC) - timedelta(days=days)).date().isoformat()
        times = (f"{day}T09:00:00Z", f"{day}T10:00:00Z")
        text = f"Goal\n- {goal}"
        record = SessionRecord(session, "codex", project, f"{day} {goal}", text, *times)
        shelf.keep_session(record)


@pytest.fixture
def web() -> Iterator[TestClient]:
    shelf = NuggetShelf("memory:", project=PROJECT)
    keep_sessions(shelf)
    with client(shelf) as served:
        yield served


def test_a_resource_shows_the_last_sessions_of_the_project(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path, project=PROJECT) as shelf:
        keep_sessions(shelf)

    async def talk(agent: Client) -> str:
        (content,) = (await agent.read_resource("nuggets://sessions")).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    text = in_memory(server_context(tmp_path), talk)

    assert text.index("deploy pipeline") < text.index("UUID keys")
    assert text.count("<nuggets-memory") == 2
    assert "Another project" not in text


def test_without_sessions_the_resource_says_so(tmp_path: Path) -> None:
    async def talk(agent: Client) -> str:
        with pytest.raises(MCPError) as problem:
            await agent.read_resource("nuggets://sessions")
        return str(problem.value)

    assert "no note of a session" in in_memory(server_context(tmp_path), talk)


def test_rest_lists_the_sessions_of_the_project_or_of_all(web: TestClient) -> None:
    def titles(**wanted: str) -> list[str]:
        return [note["title"][11:] for note in web.get("/api/sessions", params=wanted).json()]

    assert titles() == ["Shorten the deploy pipeline", "Move orders to UUID keys"]
    assert titles(all="true")[0] == "Another project"
    assert titles(query="orders with UUID")[0] == "Move orders to UUID keys"
    assert titles(limit="1") == ["Shorten the deploy pipeline"]
