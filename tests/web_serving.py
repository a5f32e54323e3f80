"""The web interface for tests: in this process on a shelf in memory, or as a real server."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn
from starlette.testclient import TestClient

from forked_processes import ForkedProcess, run_module
from nuggets import NuggetShelf
from nuggets.interfaces.rest.app import application
from nuggets.interfaces.rest.guard import Access
from nuggets.interfaces.serve import Address, LimitedConnection, Server

HOST = "127.0.0.1:6844"
NEVER = {  # a daily clean-up in the middle of a test would be a surprise
    "MEMORY_REFLECTION_HOUR": "23",
    "MEMORY_REFLECTION_MINUTE": "59",
    "QUIET_HOURS_START": "23",
    "QUIET_HOURS_END": "22",
}


@contextmanager
def client(
    shelf: NuggetShelf, token: str | None = None, raises: bool = True, **headers: str
) -> Iterator[TestClient]:
    """A client of the shelf's application, in this process; a defect of ours raises here."""
    access = Access(token) if token else None
    app = application(shelf, is_ours=lambda host: host == HOST, access=access)
    with TestClient(
        app, base_url=f"http://{HOST}", headers=headers, raise_server_exceptions=raises
    ) as found:
        yield found


def run(directory: str, *arguments: str) -> Any:
    """A command on a shelf, in a process of its own; what it says as JSON."""
    words = ("--dir", directory, *arguments, "--json")
    done = run_module("nuggets", *words, env={**os.environ, **NEVER})
    done.check_returncode()
    return json.loads(done.stdout)


@contextmanager
def served_here(
    shelf: NuggetShelf, port: int = 0, connection: type[LimitedConnection] = LimitedConnection
) -> Iterator[str]:
    """The application on a real socket, in a thread of this process; its address."""
    address = Address("127.0.0.1", port)
    server = Server(
        uvicorn.Config(
            "", log_level="error", ws="none", http=connection, timeout_graceful_shutdown=1
        )
    )
    server.config.app = application(
        shelf, is_ours=address.is_ours, stopping=lambda: server.should_exit
    )
    thread = threading.Thread(target=server.run, args=([address.socket],))
    thread.start()
    try:
        yield address.url
    finally:
        server.should_exit = True
        thread.join()


class Served(NamedTuple):
    """A real server and its shelf's directory."""

    url: str
    directory: str
    process: ForkedProcess


@contextmanager
def served(directory: str, *options: str, **environment: str) -> Iterator[Served]:
    """`nuggets serve` on a port of its own, until the block ends."""
    words = ("serve", "--dir", directory, "--port", "0", "--json", *options)
    env = {**os.environ, **NEVER, "HOME": directory, **environment}
    with ForkedProcess("-m", "nuggets", *words, env=env, stderr=None) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            yield Served(url, directory, process)
        finally:
            process.terminate()
            process.wait()
