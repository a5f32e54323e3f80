"""Ways in for tests of what agents use: an MCP client, a hook as its host calls it."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation, TextContent

from forked_processes import run_module
from nuggets.interfaces.mcp.server import ALL_TOOLS, ServerContext, build_server
from nuggets.interfaces.mcp.tool_definition import Tool
from nuggets.settings import load

# tests share their machine, and no clean-up goes on when one has ended
PATIENT = {"NUGGETS_HOOK_SECONDS": "60", "MEMORY_REFLECTION_DAILY": "0"}
Talk = Callable[[Client], Awaitable[Any]]


def server_context(directory: Path | str, **settings: str) -> ServerContext:
    """To a shelf of its own, in a project that need not exist."""
    return ServerContext(
        load({}, {"dir": str(directory), "project": "/home/me/here/.git", **settings})
    )


def in_memory(
    context: ServerContext, talk: Talk, tools: Sequence[Tool] = ALL_TOOLS, host: str = "test"
) -> Any:
    """Talk to the server inside this process, as this host."""

    async def connected() -> Any:
        info = Implementation(name=host, version="1")
        async with Client(build_server(context, tools), client_info=info) as client:
            return await talk(client)

    try:
        return anyio.run(connected)
    finally:
        context.close()


def server_at(directory: Path, **environ: str) -> StdioServerParameters:
    """The real command, on its own shelf."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "nuggets", "mcp", "--tools", "all"],
        env={"NUGGETS_DIR": str(directory), **environ},
        cwd=str(directory),
    )


def over_stdio(directory: Path, talk: Talk, **environ: str) -> Any:
    """Talk to a server in a process of its own."""

    async def connected() -> Any:
        async with Client(stdio_client(server_at(directory, **environ))) as client:
            return await talk(client)

    return anyio.run(connected)


def said(result: CallToolResult) -> str:
    """The text of an answer."""
    part = result.content[0]
    assert isinstance(part, TextContent)
    return part.text


def hook(
    event: str,
    sent: Mapping[str, Any] | bytes,
    directory: Path | str,
    *options: str,
    environ: Mapping[str, str] | None = None,
    run: Callable[..., "subprocess.CompletedProcess[bytes]"] = run_module,
) -> subprocess.CompletedProcess[bytes]:
    """Call a hook as a host does: a process, JSON on its input."""
    raw = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    inherited = {name: value for name, value in os.environ.items() if not _of_a_host(name)}
    env = {**inherited, **PATIENT, "NUGGETS_DIR": str(directory), **(environ or {})}
    return run("nuggets", "hook", event, *options, given=raw, env=env)


def _of_a_host(variable: str) -> bool:
    return variable.startswith(("CLAUDE", "CURSOR", "NUGGETS", "GEMINI", "CODEX"))


def injected(answer: subprocess.CompletedProcess[bytes]) -> str:
    """What a hook put into the agent's context; "" if nothing."""
    assert answer.returncode == 0
    assert answer.stderr == b""
    if not answer.stdout:
        return ""
    context = json.loads(answer.stdout).get("hookSpecificOutput", {}).get("additionalContext", "")
    assert isinstance(context, str)
    return context


def repository(place: Path) -> Path:
    """A folder that counts as a project."""
    (place / ".git").mkdir(parents=True)
    return place
