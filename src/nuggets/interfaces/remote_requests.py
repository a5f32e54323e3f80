"""Messages of clients on other machines: read, checked, answered."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from nuggets.domain import codec
from nuggets.engine.argument_checks import SESSION_CHARACTERS
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.operations.client_permissions import AGENT_CHARACTERS, Client
from nuggets.operations.idempotent_calls import SLOTS, Call, Caller, Place
from nuggets.operations.project_identity import Location
from nuggets.remote.callable_methods import PROTOCOL
from nuggets.remote.wire_format import ARGUMENTS, decode, dump, error_to_wire

TEXT_CHARACTERS = 4096  # of a path, an id, an address
ANCHORS = 100
_STATUSES = {"invalid_input": 400, "not_found": 404, "not_allowed": 403}

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
        status = _STATUSES.get(problem.code, 409)
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
    """Who sends a message, checked: nothing of it was written by us."""
    return check_caller(decode(message.get("caller"), ARGUMENTS))


def check_caller(caller: Any) -> Caller:
    """The caller, if all of it has the types and sizes that it should."""
    if not isinstance(caller, Caller) or not _is_caller(caller):
        raise InvalidInput("the message does not say who calls")
    return caller


def _is_caller(caller: Caller) -> bool:
    client, place, call = caller.client, caller.place, caller.call
    return (
        isinstance(client, Client)
        and _are_texts(client.name, client.session)
        and 0 < len(client.name) <= AGENT_CHARACTERS + 20
        and len(client.session) <= SESSION_CHARACTERS
        and (client.source is None or isinstance(client.source, str))
        and (caller.project is None or _are_texts(caller.project))
        and (place is None or _is_place(place))
        and (call is None or _is_call(call))
        and isinstance(caller.anchors, tuple)
        and len(caller.anchors) <= ANCHORS
        and isinstance(caller.digits, tuple)
        and all(map(_are_digits, caller.digits))
    )


def _is_place(place: Any) -> bool:
    if not isinstance(place, Place) or not isinstance(place.folders, tuple):
        return False
    location = place.location
    return (
        isinstance(location, Location)
        and _are_texts(*location[:5], location.resembles, *place.folders[:100])
        and isinstance(location.is_shallow, bool)
        and location.project == location.path != ""
    )


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, Call)
        and _are_digits(call.machine)
        and _are_digits(call.id)
        and isinstance(call.slot, int)
        and 0 <= call.slot < SLOTS
        and (call.seen is None or _are_texts(call.seen))
    )


def _are_texts(*values: object) -> bool:
    return all(
        isinstance(value, str) and len(value) <= TEXT_CHARACTERS and "\0" not in value
        for value in values
    )


def _are_digits(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 64 and value.isascii() and value.isalnum()
