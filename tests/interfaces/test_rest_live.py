"""A real server beside real commands: live events, MCP over HTTP, and a quiet end."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from web_serving import Served, run, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(str(tmp_path_factory.mktemp("live") / "shelf")) as found:
        yield found


@contextmanager
def connected(server: Served) -> Iterator[HTTPConnection]:
    with closing(HTTPConnection(server.url.removeprefix("http://").rstrip("/"))) as web:
        yield web


@contextmanager
def listening(server: Served) -> Iterator[HTTPResponse]:
    with connected(server) as web:
        web.request("GET", "/api/events")
        with web.getresponse() as stream:
            yield stream


def next_event(stream: HTTPResponse) -> tuple[str, Any]:
    kind = ""
    for line in stream:
        if line.startswith(b"event: "):
            kind = line[7:].decode().strip()
        elif line.startswith(b"data: "):
            return kind, json.loads(line[6:])
    raise AssertionError("the stream ended")


def test_a_write_of_another_process_is_told(server: Served) -> None:
    with listening(server) as stream:
        assert next_event(stream)[0] == "hello"
        written = run(server.directory, "note", "add", "project", "From elsewhere", "text")
        kind, news = next_event(stream)
        assert kind == "change"
        assert [node["id"] for node in news["put"]] == [written["id"]]
        assert news["steps"][0]["client"] == "cli"
        run(server.directory, "note", "archive", written["id"])
        assert next_event(stream)[1]["put"][0]["hidden"] is True


def test_a_recall_is_told_with_its_hits_and_is_no_change(server: Served) -> None:
    asked = run(server.directory, "note", "add", "project", "Asked for", "text")
    gone = run(server.directory, "note", "add", "project", "Soon gone", "text")

    with listening(server) as stream:
        assert next_event(stream)[0] == "hello"
        run(server.directory, "note", "show", asked["id"], "--session", "s1")
        kind, news = next_event(stream)
        run(server.directory, "note", "delete", gone["id"], "--hard")
        _, later = next_event(stream)

    assert (kind, news["put"], news["drop"]) == ("change", [], [])
    assert [(node["id"], node["hits"]) for node in news["recalled"]] == [(asked["id"], 1)]
    assert (later["put"], later["drop"], later["recalled"]) == ([], [gone["id"]], [])


def test_agents_reach_the_same_shelf_by_mcp_over_http(server: Served) -> None:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}

    with connected(server) as web:
        web.request("POST", "/mcp", json.dumps(hello), headers)
        with web.getresponse() as answer:
            assert answer.status == 200
            assert b"protocolVersion" in answer.read()
    with connected(server) as web:
        web.request("POST", "/mcp", json.dumps(hello), {**headers, "Origin": "http://evil"})
        with web.getresponse() as answer:
            assert answer.status == 403


def test_the_server_ends_although_a_page_is_listening(tmp_path: Path) -> None:
    with served(str(tmp_path / "shelf")) as server, listening(server) as stream:
        next_event(stream)

        os.kill(server.process.pid, signal.SIGINT)

        assert server.process.wait() == 0
        assert server.process.stdout.read() == b""  # the address was the one value that it prints


def test_the_socket_is_open_to_this_machine_only(server: Served) -> None:
    port = int(server.url.rstrip("/").rpartition(":")[2])
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]

    addresses = {entry[1] for entry in listening if entry[3] == "0A"}
    assert f"0100007F:{port:04X}" in addresses
    assert f"00000000:{port:04X}" not in addresses
