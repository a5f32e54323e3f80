"""One process for people and agents: REST, the page, MCP over HTTP, and the daily reflection; and
where it listens, how long and how many it lets wait."""

import asyncio
import ipaddress
import logging
import os
import resource
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from nuggets.errors import InvalidInput, StoreError
from nuggets.filesystem.atomic_files import NEW_FILE, open_plain, private_directory
from nuggets.filesystem.shelf_location import DEFAULT_DIRECTORY, directory_of
from nuggets.interfaces.hook_endpoint import HookEndpoint
from nuggets.interfaces.request_shelf import Team, is_still_member, member_of_request
from nuggets.interfaces.rest import application
from nuggets.interfaces.rest.guard import Access, RateLimit, error_response
from nuggets.interfaces.scheduler import Heartbeat
from nuggets.remote import HOOK_PATH
from nuggets.settings import Settings
from nuggets.shelf import NuggetShelf

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


# --- address, connections, log --------------------------------------------------------------------


PORT = 6844  # NUGG on a telephone
PORTS_TRIED = 20  # from the usual one up, when none was asked for: another page may be open
BACKLOG = 128  # connections accepted in one go: far fewer than a process has descriptors for


class Address:
    """Where to listen: a bound socket, and the names that clients may use."""

    def __init__(self, host: str, port: int | None, public_name: str = "") -> None:
        """`public_name`: what clients call it that come through a proxy."""
        self.host = host.strip("[]")
        self.public_name = public_name
        self.is_loopback = self.host == "localhost" or (
            _is_ip(self.host) and ipaddress.ip_address(self.host).is_loopback
        )
        self.socket = _bind(self.host, port)
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """What to type into a browser on this machine."""
        anywhere = self.host in ("0.0.0.0", "::", "")
        host = socket.gethostname() if anywhere else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def is_ours(self, host: str) -> bool:
        """Is this value of a Host header one of our names?"""
        name, port = _split_host(host.lower())
        if self.public_name and name == _split_host(self.public_name.lower())[0]:
            return True  # the port is the proxy's
        if port != self.port:
            return False
        own = self.host.lower()
        if self.is_loopback:
            return name in ("localhost", "127.0.0.1", "::1", own)
        return name in (own, socket.gethostname().lower(), "localhost") or _is_ip(name)

    @property
    def is_for_others(self) -> bool:
        """Can it be reached from other machines?"""
        return bool(self.public_name) or not self.is_loopback


def _split_host(value: str) -> tuple[str, int]:
    """Name and port of a Host header."""
    name, colon, port = value.rpartition(":")
    if not colon or value.endswith("]"):
        name, port = value, "80"
    return name.strip("[]"), int(port) if port.isascii() and port.isdigit() else -1


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bind(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    candidates = [port] if port is not None else [*range(PORT, PORT + PORTS_TRIED), 0]
    for candidate in candidates:
        # The protocol by name: only then are small answers sent at once, without Nagle's wait.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen(BACKLOG)  # from here on clients wait instead of being refused
            return listening
        except OverflowError:
            listening.close()
            raise InvalidInput(f"a port must be between 0 and 65535, not {candidate}") from None
        except OSError as problem:
            listening.close()
            reason = problem.strerror
    raise InvalidInput(f"cannot listen at {host} port {candidates[0]}: {reason}; choose another")


class LimitedConnection(H11Protocol):
    """One of a bounded number of connections: a request that is not there in time ends it, and if
    too many are open, the one that has kept us waiting for the longest makes room, so that silent
    and slow ones shut nobody out."""

    request_seconds = 60.0  # for head and body: 4 MB, the largest, at half a megabit a second
    most = 500  # open at once: half of the descriptors that a process usually has

    _since = 0.0
    _timer: asyncio.TimerHandle

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_request()
        if len(self.connections) > self.most:
            others = [other for other in self.connections if isinstance(other, LimitedConnection)]
            waiting = [other for other in others if other._is_awaited()]
            min(waiting, key=lambda other: other._since, default=self).transport.abort()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._timer.cancel()
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._timer.cancel()

    def _wait_for_request(self) -> None:
        self._since = self.loop.time()
        self._timer = self.loop.call_later(self.request_seconds, self._end_if_awaited)

    def _end_if_awaited(self) -> None:
        if self._is_awaited():
            self.transport.abort()

    def _is_awaited(self) -> bool:
        """Has the client yet to send something?"""
        is_idle = self.cycle is None or self.cycle.response_complete
        return not self.transport.is_closing() and (is_idle or self.cycle.more_body)


DESCRIPTORS = 2048  # for `most`, `BACKLOG` and 200 private shelves of four files each


def allow_descriptors() -> None:
    """Let this process open what it may need: macOS allows 256 until somebody asks for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class OnceAMinute(logging.Filter):
    """Lets each message through once a minute: a flood of connections must not fill the disk."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._told: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Is it the first of its kind in a minute?"""
        now, kind = self._now(), str(record.msg)
        self._told = {told: at for told, at in self._told.items() if now - at < 60}
        is_first = kind not in self._told
        self._told.setdefault(kind, now)
        return is_first


# --- serving --------------------------------------------------------------------------------------


MCP_SESSIONS = 1000  # open at once: ours; an idle one is closed after half an hour
MEMBER_SESSIONS = 50  # of one member: agents at once, and those that ended without a word
MCP_SESSION = "mcp-session-id"
TEAM_CALLS = 8  # of tools at once, where members would wait for each other
REVOKED_SECONDS = 1.0  # between two looks whether the member of an open stream still is one
CLOSING_SECONDS = 2  # that an answer under way gets when the server ends


def serve(
    shelf: NuggetShelf,
    address: Address,
    access: Access | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal ends it. If the shelf has members, only they may ask."""
    shelf.load_all()  # a problem of the store is reported before the server listens
    team = Team(shelf) if shelf.is_team else None
    if access is None and team is None and address.is_for_others:
        raise InvalidInput("an address that others can reach needs a token")
    server: uvicorn.Server
    mounts, running = _companions(shelf, team)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if team is not None:
                stack.push_async_callback(run_in_threadpool, team.close)
            for companion in running:
                await stack.enter_async_context(companion())
            on_ready()
            yield

    app = application(
        shelf,
        is_ours=address.is_ours,
        access=team or access,
        rate_limit=RateLimit(
            requests=shelf.settings["member_requests"],
            kilobytes=shelf.settings["member_kilobytes"],
        ),
        stopping=lambda: server.should_exit,  # open event streams would keep it running
        mounts=mounts,
        lifespan=lifespan,
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="error",  # not what a client sends: a flood of it must not fill the disk
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            http=LimitedConnection,
            backlog=BACKLOG,
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
    )
    log = logging.getLogger("asyncio")  # it logs each connection that finds no descriptor
    log.setLevel(logging.ERROR)
    log.addFilter(OnceAMinute())
    allow_descriptors()
    with suppress(KeyboardInterrupt):
        server.run(sockets=[address.socket])


Companion = Callable[[], AbstractAsyncContextManager[Any]]


def _companions(
    shelf: NuggetShelf, team: Team | None
) -> tuple[Mapping[str, ASGIApp], list[Companion]]:
    """What else lives in this process: apps by path, and what runs beside them."""
    heartbeat = Heartbeat(shelf, others=team.open_private_shelves if team else tuple)

    @asynccontextmanager
    async def daily() -> AsyncIterator[None]:
        heartbeat.start()
        try:
            yield
        finally:
            await run_in_threadpool(heartbeat.stop)

    hooks = {HOOK_PATH: HookEndpoint(shelf)}
    try:
        path, app, running = _mcp(shelf, calls_at_once=TEAM_CALLS if team else 1)
    except ImportError:  # installed without the SDK: everything else is there
        return hooks, [daily]
    return {path: app, **hooks}, [daily, running]


class _McpEndpoint:
    """MCP over streamable HTTP; an instance, so that the router passes every method on.

    A session belongs to the member who began it, and an open stream ends with their token. One
    session more than a member may have ends their oldest, so nobody can take the others' places.
    """

    def __init__(self, manager: "StreamableHTTPSessionManager") -> None:
        self._manager = manager
        self._sessions: dict[str, dict[str, None]] = {}  # by member, the oldest first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HTTPConnection(scope)
        member = member_of_request(request)
        own = self._sessions.setdefault("" if member is None else member.name, {})
        session = request.headers.get(MCP_SESSION, "")
        if session and session not in own:
            answer = error_response(404, "not_found", "there is no such session")
            await answer(scope, receive, send)
            return

        async def note_session(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun = Headers(raw=message.get("headers", [])).get(MCP_SESSION, "")
                own.update({begun: None} if begun else {})
            await send(message)

        async with anyio.create_task_group() as tasks:
            if scope["method"] == "GET" and member is not None:
                tasks.start_soon(_end_when_revoked, request, tasks.cancel_scope)
            await self._manager.handle_request(scope, receive, note_session)
            tasks.cancel_scope.cancel()
        while len(own) > MEMBER_SESSIONS:
            await self._end_session(scope, next(iter(own)))
            del own[next(iter(own))]

    async def _end_session(self, scope: Scope, session: str) -> None:
        """As its client would: the SDK has no other way."""
        headers = [(MCP_SESSION.encode(), session.encode())]

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            pass

        ended = {**scope, "method": "DELETE", "headers": headers}
        await self._manager.handle_request(ended, receive, send)


async def _end_when_revoked(request: HTTPConnection, scope: "anyio.CancelScope") -> None:
    while await run_in_threadpool(is_still_member, request):
        await anyio.sleep(REVOKED_SECONDS)
    scope.cancel()


def _mcp(shelf: NuggetShelf, calls_at_once: int) -> tuple[str, ASGIApp, Companion]:
    """Where MCP answers, and what has to run for it. Host and Origin were checked by the guard."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from nuggets.interfaces.mcp.server import ServerContext, build_server

    context = ServerContext(shelf.settings, shelf=shelf, calls_at_once=calls_at_once)
    manager = StreamableHTTPSessionManager(build_server(context), max_sessions=MCP_SESSIONS)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with manager.run():
            yield
        await run_in_threadpool(context.close)

    return "/mcp", _McpEndpoint(manager), running


def access_token(settings: Settings) -> str:
    """The token of this shelf's server, made when first needed; only its owner can read it."""
    directory = directory_of(settings["dir"]) or directory_of(DEFAULT_DIRECTORY)
    path = os.path.join(directory, "token")
    try:
        private_directory(directory)
        with suppress(FileExistsError):
            descriptor = os.open(path, NEW_FILE, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
        if os.path.islink(path):
            raise StoreError(f"{path} is a link; remove it, and a new token will be made")
        if os.stat(path).st_mode & 0o077:
            raise StoreError(f"others can read {path}; remove it, and a new token will be made")
        with open(path, encoding="ascii", opener=open_plain) as file:
            token = file.read().strip()
    except OSError as problem:
        raise StoreError(f"{path}: {problem.strerror}; it holds the server's token") from problem
    if len(token) < 32:
        raise StoreError(f"{path} holds no token; remove it, and a new one will be made")
    return token
