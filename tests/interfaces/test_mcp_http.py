from pathlib import Path
from typing import Any

import anyio
import httpx
from mcp.client import Client

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
