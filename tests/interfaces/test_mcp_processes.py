import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import stdio_client

from agent_doors import over_stdio, repository, said, server_at
from command_line import Nuggets
from forked_processes import ForkedProcess
from nuggets.interfaces.mcp.server import ServerContext
from nuggets.shelf import NuggetShelf

WRITES = 20
ANY_TIME = {  # the daily pass is due at once
    **{"MEMORY_REFLECTION_HOUR": "0", "MEMORY_REFLECTION_MINUTE": "0"},
    **{"QUIET_HOURS_START": "-1", "QUIET_HOURS_END": "-1"},
}
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":'
    b'"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
)


def test_a_real_client_talks_to_a_real_server_over_its_pipes(tmp_path: Path) -> None:
    async def talk(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        fact = {"nugget": "project", "key": "test cmd", "value": "pytest -q 設定"}
        await client.call_tool("remember", fact)
        recalled = await client.call_tool("recall", {"query": "test cmd"})
        return tools, recalled

    tools, recalled = over_stdio(tmp_path, talk)

    assert len(tools) == 15
    assert recalled.structured_content["answer"] == "pytest -q 設定"
    assert (tmp_path / "project.nugget.json").exists()  # closed in order


def test_two_servers_that_write_in_turns_lose_nothing(tmp_path: Path) -> None:
    async def both() -> None:
        async with (
            Client(stdio_client(server_at(tmp_path))) as one,
            Client(stdio_client(server_at(tmp_path))) as other,
        ):
            for number in range(WRITES):
                async with anyio.create_task_group() as together:
                    for name, client in (("one", one), ("other", other)):
                        fact = {"nugget": "shared", "key": f"{name} {number}", "value": "kept"}
                        together.start_soon(client.call_tool, "remember", fact)

    anyio.run(both)

    assert len(NuggetShelf(tmp_path).facts("shared")) == 2 * WRITES


def test_the_project_is_the_one_the_host_names(tmp_path: Path) -> None:
    project = repository(tmp_path / "named")

    async def talk(client: Client) -> Any:
        return await client.call_tool(
            "remember", {"nugget": "project", "key": "port", "value": "8080"}
        )

    result = over_stdio(tmp_path, talk, CLAUDE_PROJECT_DIR=str(project))

    assert result.structured_content["project"] == str(project / ".git")
    assert "project named" in said(result)


def test_a_server_ends_with_its_input_and_has_touched_no_data(tmp_path: Path) -> None:
    directory = tmp_path / "shelf"
    env = {**os.environ, "NUGGETS_DIR": str(directory)}
    with ForkedProcess("-m", "nuggets", "mcp", env=env) as process:
        process.stdin.write(HELLO)
        process.stdin.flush()
        answer = process.stdout.readline()
        process.stdin.close()
        code = process.wait()

    assert b'"instructions"' in answer
    assert code == 0
    assert not directory.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_told_to_end_leaves_its_files_in_order(
    number: signal.Signals, tmp_path: Path
) -> None:
    env = {**os.environ, "NUGGETS_DIR": str(tmp_path)}
    with ForkedProcess("-m", "nuggets", "mcp", env=env) as process:
        for line in (HELLO, b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'):
            process.stdin.write(line)
        for value in ("80", "81", "82"):
            fact = {"nugget": "ports", "key": "web", "value": value}
            call = {"name": "remember", "arguments": fact}
            sent = {"jsonrpc": "2.0", "id": value, "method": "tools/call", "params": call}
            process.stdin.write(json.dumps(sent).encode() + b"\n")
        process.stdin.flush()
        while b'"id":"82"' not in process.stdout.readline():
            pass
        process.send_signal(number)
        code = process.wait()

    assert code == 128 + number
    assert "82" in (tmp_path / "ports.nugget.json").read_text()


def test_a_server_that_is_closing_is_not_cut_off_by_a_host_in_a_hurry(
    nuggets: Nuggets, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers: dict[int, Any] = {}
    ended: list[int] = []
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(os, "_exit", ended.append)

    def close_and_be_told_to_end(context: ServerContext, tools: object) -> None:
        context.close()
        handlers[signal.SIGTERM](signal.SIGTERM, None)

    monkeypatch.setattr("nuggets.interfaces.mcp.server.serve_stdio", close_and_be_told_to_end)

    assert nuggets("mcp").code == 0
    assert ended == []


def test_a_host_that_goes_without_a_word_leaves_no_server_and_no_complaint(tmp_path: Path) -> None:
    env = {**os.environ, "NUGGETS_DIR": str(tmp_path)}
    with ForkedProcess("-m", "nuggets", "mcp", env=env) as process:
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\nno json\n\xff\n')
        process.stdin.close()
        code = process.wait()
        complaint = process.stderr.read()

    assert code == 0
    assert b"Traceback" not in complaint


HALVES = (rb"\ud83d", rb"\uDE00", rb"\ude00\ud83d")


def test_a_line_with_half_a_character_is_answered(tmp_path: Path) -> None:
    def call(number: int, tool: bytes, arguments: bytes) -> bytes:
        return (
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n'
            % (number, tool, arguments)
        )

    lines = [
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":'
        b'"2025-06-18","capabilities":{},"clientInfo":{"name":"%s","version":"1"}}}\n' % HALVES[0],
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    ]
    for number, half in enumerate(HALVES):
        fact = rb'{"nugget":"n%d","key":"cut","value":"whole \ud83d\ude00 cut %s \\ud83d"}'
        query = b'{"query":"cut","nugget":"n%d"}' % number
        lines += [call(1, b"remember", fact % (number, half)), call(2, b"recall", query)]
    env = {**os.environ, "NUGGETS_DIR": str(tmp_path)}
    with ForkedProcess("-m", "nuggets", "mcp", env=env) as process:
        answers = []
        for line in lines:
            process.stdin.write(line)
            process.stdin.flush()
            if b'"id"' in line:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        process.wait()

    assert [answer["id"] for answer in answers] == [0, *(1, 2) * len(HALVES)]
    for half, answer in zip(HALVES, answers[2::2], strict=True):
        replaced = "\ufffd" * (len(half) // 6)
        found = answer["result"]["structuredContent"]["answer"]
        assert found == f"whole \U0001f600 cut {replaced} \\ud83d"


def test_numpy_is_not_loaded_before_the_first_question() -> None:
    program = (
        "import sys\n"
        "from nuggets.interfaces.mcp.server import ServerContext, build_server\n"
        "from nuggets.settings import load\n"
        "build_server(ServerContext(load({}, {'dir': 'memory:'})))\n"
        "print([name for name in ('numpy', 'Stemmer', 'nuggets.shelf') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_the_daily_pass_runs_though_no_tool_is_called(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path) as shelf:
        shelf.create_note("project", "Twice", "the same line\nthe same line\nanother")

    async def talk(client: Client) -> None:
        while not NuggetShelf(tmp_path).last_run():
            await anyio.sleep(0.1)

    over_stdio(tmp_path, talk, **ANY_TIME)

    run = NuggetShelf(tmp_path).last_run()
    assert run is not None
    assert run.result.rewritten == 1
