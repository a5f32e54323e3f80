"""Messages of clients on other machines: read, checked, answered."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from nuggets.domain import codec
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.operations.idempotent_calls import Caller
from nuggets.remote.server_requests import PROTOCOL, decode, dump, error_to_wire

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
