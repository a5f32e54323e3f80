"""Where a server listens, and how long and how many it lets wait: address, connections, log."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from nuggets.errors import InvalidInput
from nuggets.interfaces.rest.guard import is_loopback, is_own_host

PORT = 6844  # NUGG on a telephone
PORTS_TRIED = 20  # from the usual one up, when none was asked for: another page may be open
BACKLOG = 128  # connections accepted in one go: far fewer than a process has descriptors for


class Address:
    """Where to listen: a bound socket, and the names that clients may use."""

    def __init__(self, host: str, port: int | None, public_name: str = "") -> None:
        """`public_name`: what clients call it that come through a proxy."""
        self.host = host.strip("[]")
        self.public_name = public_name
        self.is_loopback = is_loopback(self.host)
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
        return is_own_host(host, host=self.host, port=self.port, public_name=self.public_name)

    @property
    def is_for_others(self) -> bool:
        """Can it be reached from other machines?"""
        return bool(self.public_name) or not self.is_loopback


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
    """A connection that must soon say what it wants.

    A request that is not there in time ends it. If too many are open, the one that has said nothing
    for the longest time makes room, so that silent ones shut nobody out.
    """

    head_seconds = 10.0  # for a request without its body; as nginx and Apache, rounded down
    body_seconds = 60.0  # for a body: 4 MB, the largest, on a line of half a megabit a second
    most = 500  # open at once: half of the descriptors that a process usually has

    _awaited = ""
    _timer: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._since = self.loop.time()
        if len(self.connections) > self.most:
            self._make_room()
        self._limit_wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._limit_wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._since = self.loop.time()
        self._limit_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._set_timer(None)

    def _awaits(self) -> str:
        """What the client has yet to send, if anything."""
        if self.transport.is_closing():
            return ""
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        return "body" if self.cycle.more_body else ""

    def _limit_wait(self) -> None:
        """Begin to wait for the next part; pieces of the same part give no more time."""
        awaited = self._awaits()
        if awaited != self._awaited:
            self._awaited = awaited
            seconds = {"head": self.head_seconds, "body": self.body_seconds, "": None}[awaited]
            self._set_timer(seconds)

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        wait = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)
        self._timer = wait

    def _make_room(self) -> None:
        self.logger.warning("%d connections are open; silent ones are closed", self.most)
        others = [other for other in self.connections if isinstance(other, LimitedConnection)]
        silent = [other for other in others if other._awaits() == "head"]
        min(silent, key=lambda other: other._since, default=self).transport.abort()


class OnceAMinute(logging.Filter):
    """Lets each message through once a minute: a flood of requests must not fill the disk."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._told: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Is it the first of its kind in a minute?"""
        now, kind = self._now(), str(record.msg)
        if now - self._told.get(kind, now - 60) < 60:
            return False
        self._told = {k: at for k, at in self._told.items() if now - at < 60} | {kind: now}
        return True


def limit_log() -> None:
    """What any client can cause to be logged, at most once a minute."""
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(OnceAMinute())
