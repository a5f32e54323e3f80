from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx
import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from agent_doors import repository
from nuggets.shelf import NuggetShelf
from web_serving import served


def test_real_clients_use_the_same_shelf_over_http_each_as_its_own_session(tmp_path: Path) -> None:
    directory = tmp_path / "shelf"

    async def visited(url: str, mode: str) -> Any:
        async with Client(url, mode=mode) as client:
            fact = {"nugget": "project", "key": f"port {mode}", "value": "8080"}
            await client.call_tool("remember", fact)
            for _ in range(2):
                await client.call_tool("recall", {"query": "port legacy"})
            return await client.call_tool("search_notes", {"query": "port"})

    with served(str(directory)) as server:
        url = f"{server.url.rstrip('/')}/mcp"
        for mode in ("legacy", "legacy", "auto"):
            result = anyio.run(visited, url, mode)

    facts = {fact.title: fact for fact in NuggetShelf(directory).facts("project")}

    assert len(result.structured_content["results"]) == 2
    assert set(facts) == {"port legacy", "port auto"}
    assert facts["port legacy"].hits == 3


def test_a_client_over_http_says_which_project_it_is_in(tmp_path: Path) -> None:
    folder = repository(tmp_path / "web shöp")
    header = {"Nuggets-Project": quote(str(folder))}
    body = {"key": "port", "value": "80", "scope": "project"}

    async def visited(url: str) -> Any:
        async with httpx2.AsyncClient(headers=header, timeout=60) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport) as client:
                fact = {"nugget": "project", "key": "host", "value": "there"}
                await client.call_tool("remember", fact)

    with served(str(tmp_path / "shelf")) as server:
        base = server.url.rstrip("/")
        anyio.run(visited, f"{base}/mcp")
        there = httpx.post(f"{base}/api/nuggets/project/facts", json=body, headers=header)
        status = httpx.get(f"{base}/api/status", headers=header)
        by_name = httpx.get(f"{base}/api/status", headers={"Nuggets-Project": quote("web shöp")})
        nowhere = httpx.get(f"{base}/api/status", headers={"Nuggets-Project": "unheard of"})

    assert there.status_code < 300
    assert status.json()["project"] == by_name.json()["project"] == str(folder / ".git")
    assert nowhere.status_code == 404
    with NuggetShelf(tmp_path / "shelf") as shelf:
        assert {fact.project for fact in shelf.facts("project")} == {str(folder / ".git")}


def test_a_shelf_in_memory_is_one_for_agents_and_for_the_page(tmp_path: Path) -> None:
    async def visited(url: str) -> Any:
        async with Client(url) as client:
            fact = {"nugget": "project", "key": "from mcp", "value": "1"}
            await client.call_tool("remember", fact)
            return await client.call_tool("recall", {"query": "from rest"})

    with served("memory:", HOME=str(tmp_path)) as server:
        url = server.url.rstrip("/")
        facts = f"{url}/api/nuggets/project/facts"
        httpx.post(facts, json={"key": "from rest", "value": "2"})
        result = anyio.run(visited, f"{url}/mcp")
        titles = [fact["title"] for fact in httpx.get(facts).json()]
        history = httpx.get(f"{url}/api/history").json()

    assert result.structured_content["answer"] == "2"
    assert titles == ["from rest", "from mcp"]
    assert [step["client"] for step in history] == ["mcp", "page"]
