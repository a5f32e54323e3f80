from pathlib import Path
from typing import Any

import anyio
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
