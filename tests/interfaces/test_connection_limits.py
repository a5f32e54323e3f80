"""Silent and slow connections, and many of them: none holds a server or shuts others out."""

import logging
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from nuggets import NuggetShelf
from nuggets.interfaces.serve import (
    MEMBER_SESSIONS,
    LimitedConnection,
    OnceAMinute,
    allow_descriptors,
)
from web_serving import served, served_here

HEAD = b"POST /api/facts HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


class Hasty(LimitedConnection):
    request_seconds = 0.05


class Crowded(LimitedConnection):
    most = 3


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    parts = urlsplit(url)
    assert parts.hostname and parts.port
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        yield connection


def head(url: str, rest: bytes) -> bytes:
    return HEAD % urlsplit(url).netloc.encode() + rest


NEVER_ENDING = [
    b"",
    b"Content-Len",
    b"Content-Length: 500\r\n\r\n",
    b'Content-Length: 500\r\n\r\n{"key"',
    b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
]


@pytest.mark.parametrize("sent", NEVER_ENDING)
def test_a_request_that_does_not_come_to_its_end_is_dropped(
    shelf: NuggetShelf, sent: bytes
) -> None:
    with served_here(shelf, connection=Hasty) as url, connected(url) as connection:
        connection.sendall(head(url, sent) if sent else b"")

        while connection.recv(1000):  # the end is awaited: nothing else ends this
            pass


@pytest.mark.parametrize("sent", NEVER_ENDING)
def test_connections_that_come_to_no_end_make_room_for_one_that_asks(
    shelf: NuggetShelf, sent: bytes
) -> None:
    with served_here(shelf, connection=Crowded) as url, ExitStack() as stack:
        slow = [stack.enter_context(connected(url)) for _ in range(10)]
        for connection in slow:
            with suppress(OSError):  # it was closed for the next one
                connection.sendall(head(url, sent) if sent else b"")

        assert httpx.get(f"{url}api/status").status_code == 200
        with suppress(ConnectionResetError):
            assert slow[0].recv(10) == b""


def test_two_lengths_of_one_body_are_refused(shelf: NuggetShelf) -> None:
    with served_here(shelf) as url, connected(url) as connection:
        two = b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
        connection.sendall(head(url, two))

        assert b" 400 " in connection.recv(1000)


def test_the_same_line_is_logged_once_a_minute() -> None:
    clock = [0.0]
    once = OnceAMinute(now=lambda: clock[0])
    record = logging.LogRecord("x", logging.ERROR, "", 0, "%d connections", (3,), None)
    other = logging.LogRecord("x", logging.ERROR, "", 0, "damaged", (), None)

    assert [once.filter(record), once.filter(record), once.filter(other)] == [True, False, True]
    clock[0] = 61.0
    assert once.filter(record)


def test_a_server_may_open_as_many_connections_as_it_allows() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        allow_descriptors()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 2 * LimitedConnection.most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_server_limits_what_a_member_sends(tmp_path: Path) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        headers = {"Authorization": f"Bearer {shelf.add_member('alice')}"}

    with served(directory, NUGGETS_MEMBER_REQUESTS="2") as server:
        address = f"{server.url}api/health"
        answers = [httpx.get(address, headers=headers).status_code for _ in range(3)]

    assert answers == [200, 200, 429]


def test_sessions_of_one_member_shut_no_other_out(tmp_path: Path) -> None:
    directory = str(tmp_path / "team")
    with NuggetShelf(directory) as shelf:
        tokens = {name: shelf.add_member(name) for name in ("alice", "bob")}
    accepted = {"Accept": "application/json, text/event-stream"}
    headers = {n: {"Authorization": f"Bearer {t}", **accepted} for n, t in tokens.items()}

    with served(directory) as server, httpx.Client() as client:
        url = f"{server.url}mcp"

        def begin(name: str) -> dict[str, str]:
            begun = client.post(url, json=HELLO, headers=headers[name])
            return {**headers[name], "mcp-session-id": begun.headers["mcp-session-id"]}

        other = begin("bob")
        sessions = [begin("alice") for _ in range(MEMBER_SESSIONS + 2)]
        alive = [client.post(url, json=PING, headers=session).status_code for session in sessions]

        assert alive == [404, 404] + [200] * MEMBER_SESSIONS
        assert client.post(url, json=PING, headers=other).status_code == 200
