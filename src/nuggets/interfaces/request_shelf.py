"""Which shelf a request over HTTP works on, and for whom: the one place that decides. And how the
messages of our own clients are read, checked and answered.

The guard notes the member in the scope of a request, once it knows them. A member works on the
team's shelf and a private one of their own, of which a bounded number stays open. Where a server
has no members everyone works on its shelf.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from nuggets.domain import codec
from nuggets.domain.records import Member
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.shelf_location import IN_MEMORY, private_location
from nuggets.operations.idempotent_calls import Caller
from nuggets.operations.permissions import PAGE
from nuggets.remote import PROTOCOL, decode, dump, error_to_wire
from nuggets.shelf import NuggetShelf
from nuggets.shelf.member_shelf import MemberShelf

# --- who asks, and for which project --------------------------------------------------------------


# Which project the client works in: a folder, an id or a name, percent-encoded; "" for none.
PROJECT_HEADER = "nuggets-project"
_TEAM, _MEMBER, _TOKEN, _LEASE, _SHELF = (
    f"nuggets.{name}" for name in ("team", "member", "token", "lease", "shelf")
)


def admit_member(
    scope: MutableMapping[str, Any], team: "Team", member: Member, token: str
) -> ExitStack:
    """Note who asks. What the request opens belongs to the stack, which ends with the request."""
    lease = ExitStack()
    scope.update({_TEAM: team, _MEMBER: member, _TOKEN: token, _LEASE: lease})
    return lease


def member_of_request(request: HTTPConnection) -> Member | None:
    """Who asks; None where the server has no members."""
    return request.scope.get(_MEMBER)


def shelf_of_request(request: HTTPConnection, shelf: NuggetShelf) -> NuggetShelf:
    """What the request may see and change: the member's, else `shelf`, which the server serves; in
    the project that its header names.

    Call it in a thread: it may open a private shelf.
    """
    scope = request.scope
    member: Member | None = scope.get(_MEMBER)
    if member is not None:
        if _SHELF not in scope:
            scope[_SHELF] = scope[_LEASE].enter_context(scope[_TEAM].shelf_of(member))
        shelf = scope[_SHELF]
    project = request.headers.get(PROJECT_HEADER)
    return shelf if project is None else shelf.for_project(unquote(project).strip())


def is_still_member(request: HTTPConnection) -> bool:
    """Whether the token still holds, for an answer that stays open for long. In a thread."""
    scope = request.scope
    member: Member | None = scope.get(_MEMBER)
    return member is None or scope[_TEAM].find_member(scope[_TOKEN]) == member


# --- messages of clients -------------------------------------------------------------------------


Run = Callable[[Request, Mapping[str, Any]], Mapping[str, Any]]


async def answer_message(request: Request, run: Run) -> Response:
    """Let `run` answer the message of a request, in a thread."""
    try:
        message = read_message(await request.body())
        shape = await run_in_threadpool(run, request, message)
    except NuggetsError as problem:
        shape = error_to_wire(problem)
        if isinstance(problem, _OtherProtocol):
            shape["error"]["protocol"] = PROTOCOL
        # what the store cannot do is an answer too, and no server that is unreachable
        status = problem.status if problem.status < 500 else 409
        return Response(dump(shape), status, media_type="application/json")
    return Response(dump({"protocol": PROTOCOL, **shape}), media_type="application/json")


class _OtherProtocol(InvalidInput):
    """The client is newer or older."""


def read_message(body: bytes) -> Mapping[str, Any]:
    """The message of a client that speaks our protocol."""
    message = codec.loads(body, "the body")
    if not isinstance(message, dict):
        raise InvalidInput("the body is no message of a client")
    if message.get("protocol") != PROTOCOL:
        raise _OtherProtocol(f"this server speaks protocol {PROTOCOL}")
    return message


def read_caller(message: Mapping[str, Any]) -> Caller:
    """Who sends a message; none of it was written by us."""
    caller: Caller = decode(message.get("caller"), Caller, "caller")
    location = caller.place and caller.place.location
    if location and (location.project != location.path or not location.path):
        raise InvalidInput("caller: place: location: project must be its path")
    return caller


# --- a team, and the shelves of its members -------------------------------------------------------


class Team:
    """The shelf of a team, and the private shelves of its members, opened when needed."""

    def __init__(self, shelf: NuggetShelf) -> None:
        settings = shelf.settings
        self._shelf = shelf.for_project("")  # whoever asks says which project they work in
        self._url = str(settings["dir"])
        if self._url == IN_MEMORY:
            raise InvalidInput("a team's shelf is a directory or a database; it is not in memory")
        # What is private is promoted to no file but one beside it.
        self._settings = settings.replace(memory_file="")
        self._pool = ShelfPool(self._open_private, most=settings["server_shelves"])

    def find_member(self, token: str) -> Member | None:
        return self._shelf.find_member(token)

    @contextmanager
    def shelf_of(self, member: Member) -> Iterator[MemberShelf]:
        """What this member sees and may write."""
        with self._pool.lease(member.name) as private:
            yield MemberShelf(self._shelf, private, member).for_client(PAGE)

    def open_private_shelves(self) -> list[AbstractContextManager[NuggetShelf]]:
        """The private shelves in use lately, for the daily clean-up."""
        return [self._pool.lease(name) for name in self._pool.names]

    def close(self) -> None:
        self._pool.close()

    def _open_private(self, member: str) -> NuggetShelf:
        return NuggetShelf(
            private_location(self._url, member), settings=self._settings, project="", client=PAGE
        )


class ShelfPool:
    """Shelves by name, opened when they are asked for. Those that nobody uses are closed, the least
    recently used first, while there are too many."""

    def __init__(self, open_shelf: Callable[[str], NuggetShelf], *, most: int) -> None:
        self._open_shelf = open_shelf
        self._most = most
        self._shelves: OrderedDict[str, NuggetShelf] = OrderedDict()  # the last used last
        self._users = Counter[str]()
        self._lock = threading.Lock()

    @contextmanager
    def lease(self, name: str) -> Iterator[NuggetShelf]:
        """The shelf of that name; it stays open inside."""
        with self._lock:
            if name not in self._shelves:
                self._shelves[name] = self._open_shelf(name)
            shelf = self._shelves[name]
            self._shelves.move_to_end(name)
            self._users[name] += 1
        try:
            yield shelf
        finally:
            with self._lock:
                self._users[name] -= 1
                idle = [other for other in self._shelves if not self._users[other]]
                surplus = idle[: max(0, len(self._shelves) - self._most)]
                shelves = [self._shelves.pop(other) for other in surplus]
            _close_all(shelves)

    @property
    def names(self) -> list[str]:
        """The shelves that are open, the least recently used first."""
        with self._lock:
            return list(self._shelves)

    def close(self) -> None:
        with self._lock:
            shelves = list(self._shelves.values())
            self._shelves.clear()
        _close_all(shelves)


def _close_all(shelves: list[NuggetShelf]) -> None:
    for shelf in shelves:
        with suppress(NuggetsError):  # it has no pending changes, so nothing is lost
            shelf.close()
