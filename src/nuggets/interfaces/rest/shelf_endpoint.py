"""The door for other machines: `POST /api/shelf` calls one method of the shelf; and how messages of
clients are read, checked and answered.

Which methods: `operations/operation_table.py`; the shelf decides who may call them. What arguments
must be is what the annotations of the method say.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nuggets.domain import codec, times
from nuggets.errors import InvalidInput, NotAllowed, NuggetsError
from nuggets.interfaces.request_shelf import shelf_of_request
from nuggets.operations.idempotent_calls import Caller, DoneBefore
from nuggets.operations.operation_table import CALLABLE, OPERATIONS, Refused
from nuggets.remote import CALL_PATH, PROTOCOL, decode, dump, encode, error_to_wire
from nuggets.shelf import NuggetShelf

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


# --- one call of a method -------------------------------------------------------------------------


MEMBERSHIP = ("add_member", "revoke_member")


def route(shelf: NuggetShelf, *, asks_for_token: bool) -> Route:
    """The route of this door; `shelf`: that of the server, of which members see their part."""

    def run(request: Request, message: Mapping[str, Any]) -> Mapping[str, Any]:
        if message.get("method") in MEMBERSHIP and not asks_for_token:
            raise NotAllowed(
                "this server asks nobody for a token, so anybody on its machine could become the "
                "owner of the shelf. Run `nuggets member` there with --dir, or start the server "
                "with --require-token"
            )
        return _run(request, shelf, message)

    async def answer(request: Request) -> Response:
        return await answer_message(request, run)

    return Route(CALL_PATH, answer, methods=["POST"])


def _run(request: Request, shelf: NuggetShelf, message: Mapping[str, Any]) -> Mapping[str, Any]:
    """In one thread, because `own_revision` belongs to the thread."""
    name = message.get("method")
    if not isinstance(name, str) or name not in CALLABLE:
        row = OPERATIONS.get(str(name))
        reason = "this server knows no such method; update it"
        if row is not None and isinstance(row.remote, Refused):
            reason = row.remote.reason
        raise InvalidInput(f"{name!r:.40}: {reason}")
    view = shelf_of_request(request, shelf).for_caller(read_caller(message))
    before = view.own_revision
    try:
        result = _call(view, name, message.get("args", []), message.get("options", {}))
    except DoneBefore:
        return {"done_before": True, "now": times.now()}
    own = view.own_revision
    question = view.recognition
    return {
        "result": encode(result),
        "project": view.project,
        "revision": own if own != before else 0,
        "now": times.now(),
        **({"question": encode(question.location)} if question else {}),
    }


def _call(view: NuggetShelf, name: str, args: Any, options: Any) -> Any:
    if isinstance(getattr(NuggetShelf, name), property):
        return getattr(view, name)
    given = _read_arguments(name, args, options)
    if name == "record_location":
        view.project  # noqa: B018  recognizes it
    return getattr(view, name)(*given.args[1:], **given.kwargs)


def _read_arguments(name: str, args: Any, options: Any) -> inspect.BoundArguments:
    """What a client sent, as what the method's annotations say."""
    signature = inspect.signature(getattr(NuggetShelf, name))
    positional = decode(args, list[Any], "args")
    try:
        given = signature.bind(None, *positional, **decode(options, dict[str, Any], "options"))
    except TypeError as problem:
        raise InvalidInput(f"{name}: {problem}") from None
    for argument, value in list(given.arguments.items())[1:]:
        kind = signature.parameters[argument].annotation
        given.arguments[argument] = decode(value, kind, f"{name}: {argument}")
    return given
