"""The notes of sessions through MCP and REST."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextResourceContents

from agent_doors import in_memory, said, server_context
from nuggets.errors import NotFound
from nuggets.shelf import NuggetShelf
from session_samples import PROJECT, keep_sessions
from web_serving import AppClient, client


@pytest.fixture
def web() -> Iterator[AppClient]:
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


def test_rest_lists_the_sessions_of_the_project_or_of_all(web: AppClient) -> None:
    def titles(**wanted: str) -> list[str]:
        return [note["title"][11:] for note in web.get("/api/sessions", params=wanted).json()]

    assert titles() == ["Shorten the deploy pipeline", "Move orders to UUID keys"]
    assert titles(all="true")[0] == "Another project"
    assert titles(limit="1") == ["Shorten the deploy pipeline"]


def test_rest_searches_sessions_and_shows_one(web: AppClient) -> None:
    query = {"query": "orders with UUID"}
    (found,) = web.get("/api/sessions/search", params=query).json()
    (last,) = web.get("/api/sessions", params={"limit": 1}).json()
    shown = web.get(f"/api/notes/{found['note']['id']}").json()

    assert found["note"]["title"].endswith("Move orders to UUID keys")
    assert last["title"].endswith("Shorten the deploy pipeline")
    assert shown["content"] == "Goal: Move orders to UUID keys"


def test_a_tool_lists_shows_and_searches_sessions(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path, project=PROJECT) as shelf:
        keep_sessions(shelf)
        first = shelf.search_sessions("orders with UUID")[0].note

    async def talk(agent: Client) -> list[CallToolResult]:
        calls: list[dict[str, Any]] = [
            {},
            {"query": "orders with UUID"},
            {"session": first.id},
            {"all": True, "limit": 1},
            {"query": "kangaroos"},
        ]
        return [await agent.call_tool("sessions", call) for call in calls]

    listed, found, shown, everywhere, missing = in_memory(server_context(tmp_path), talk)

    assert goals(listed) == ["Shorten the deploy pipeline", "Move orders to UUID keys"]
    assert "Goal: Shorten the deploy pipeline" in said(listed)
    assert f"{first.id} | {first.title} (" in said(listed)
    assert "archived" not in said(listed)
    assert goals(found) == goals(shown) == ["Move orders to UUID keys"]
    assert "Goal: Move orders to UUID keys" in said(shown)
    assert goals(everywhere) == ["Another project"]
    assert structure(everywhere)["results"][0]["note"]["project"] == "/home/me/there/.git"
    assert structure(everywhere)["omitted"] == 2
    assert goals(missing) == []
    assert "no note of such a session" in said(missing)


def test_no_session_counts_as_recalled_and_an_agent_is_not_told_to_restore_it(
    tmp_path: Path,
) -> None:
    with NuggetShelf(tmp_path, project=PROJECT) as shelf:
        keep_sessions(shelf)
        note_id = shelf.get_session().id

    async def talk(agent: Client) -> str:
        await agent.call_tool("sessions", {"session": note_id})
        with NuggetShelf(tmp_path, project=PROJECT) as shelf:
            assert {note.hits for note in shelf.sessions()} == {0}
        return said(await agent.call_tool("get_note", {"note": note_id}))

    opened = in_memory(server_context(tmp_path), talk)

    assert "deploy pipeline" in opened
    assert "archived" not in opened


def test_a_note_of_ones_own_is_no_session(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path, project=PROJECT) as shelf:
        own = shelf.create_note("sessions", "My plan", "for the week")

        with pytest.raises(NotFound, match="no note of a session"):
            shelf.get_session(own.id)
        with pytest.raises(NotFound, match="no note of a session"):
            shelf.get_session()


def test_a_search_leaves_out_sessions_that_are_only_linked_to_what_it_finds() -> None:
    with NuggetShelf("memory:", project="") as shelf:
        keep_sessions(shelf)
        found = shelf.search_sessions("orders with UUID", all_projects=True)

    assert [result.note.title[11:] for result in found] == ["Move orders to UUID keys"]


def goals(result: CallToolResult) -> list[str]:
    return [one["note"]["title"][11:] for one in structure(result)["results"]]


def structure(result: CallToolResult) -> dict[str, Any]:
    return dict(result.structured_content or {})
