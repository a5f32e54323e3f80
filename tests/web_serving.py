"""The web interface for tests: in this process on a shelf in memory, or as a real server."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx2
import uvicorn

from forked_processes import ForkedProcess, run_module
from nuggets import NuggetShelf
from nuggets.interfaces.rest import application
from nuggets.interfaces.rest.guard import Access
from nuggets.interfaces.serve import Address, LimitedConnection

HOST = "127.0.0.1:6844"
NEVER = {  # a daily clean-up in the middle of a test would be a surprise
    "MEMORY_REFLECTION_HOUR": "23",
    "MEMORY_REFLECTION_MINUTE": "59",
    "QUIET_HOURS_START": "23",
    "QUIET_HOURS_END": "22",
}


class AppTransport(httpx2.BaseTransport):
    """Lets an application answer in the thread that asks. Starlette's own client changes threads
    eight times for each request, and begins a thread and an event loop unless it is entered."""

    def __init__(self, app: Any, raises: bool) -> None:
        self._asgi = httpx2.ASGITransport(app, raise_app_exceptions=raises)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return asyncio.run(self._answer(request))

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        request.read()  # what is sent in parts
        answer = await self._asgi.handle_async_request(request)
        body = httpx2.ByteStream(await answer.aread())
        return httpx2.Response(answer.status_code, headers=answer.headers, stream=body)


class AppClient(httpx2.Client):
    """A client of an application in this process; a defect of ours raises here."""

    def __init__(self, app: Any, *, raises: bool = True, **headers: str) -> None:
        super().__init__(
            transport=AppTransport(app, raises),
            base_url=f"http://{HOST}",
            headers=headers,
            follow_redirects=True,
        )


def client(
    shelf: NuggetShelf, token: str | None = None, raises: bool = True, **headers: str
) -> AppClient:
    """A client of the shelf's application."""
    access = Access(token) if token else None
    app = application(shelf, is_ours=lambda host: host == HOST, access=access)
    return AppClient(app, raises=raises, **headers)


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
    server = uvicorn.Server(
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
    words = ("serve", "--store", directory, "--port", "0", "--json", *options)
    env = {**os.environ, **NEVER, "HOME": directory, **environment}
    with ForkedProcess("-m", "nuggets", *words, env=env, stderr=None) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            yield Served(url, directory, process)
        finally:
            process.terminate()
            process.wait()
