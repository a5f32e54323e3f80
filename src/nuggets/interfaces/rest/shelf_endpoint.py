"""The door for other machines: `POST /api/shelf` calls one method of the shelf.

Which methods: `remote/methods.py`; the shelf itself knows who may. What arrives is made of the
types that `remote/wire.py` lists, and nothing else.
"""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nuggets.domain import times
from nuggets.errors import InvalidInput
from nuggets.interfaces.remote_messages import answer_message, read_caller
from nuggets.interfaces.request_shelf import shelf_of_request
from nuggets.operations.remote_caller import DoneBefore
from nuggets.remote.methods import CALL_PATH, METHODS, REFUSED
from nuggets.remote.wire import ARGUMENTS, decode, encode
from nuggets.shelf import NuggetShelf


def route(shelf: NuggetShelf) -> Route:
    """The route of this door; `shelf`: that of the server, of which members see their part."""

    async def answer(request: Request) -> Response:
        return await answer_message(request, lambda asked, message: _run(asked, shelf, message))

    return Route(CALL_PATH, answer, methods=["POST"])


def _run(request: Request, shelf: NuggetShelf, message: Mapping[str, Any]) -> Mapping[str, Any]:
    """In one thread, because `own_revision` belongs to the thread."""
    name = message.get("method")
    if not isinstance(name, str) or name not in METHODS:
        reason = REFUSED.get(str(name), "this server knows no such method; update it")
        raise InvalidInput(f"{name!r:.40}: {reason}")
    view = shelf_of_request(request, shelf).for_caller(read_caller(message))
    args = decode(message.get("args", []), ARGUMENTS)
    options = decode(message.get("options", {}), ARGUMENTS)
    if not isinstance(args, tuple) or not isinstance(options, dict):
        raise InvalidInput("arguments are a list and an object")
    before = view.own_revision
    try:
        result = _call(view, name, args, options)
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


def _call(view: NuggetShelf, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if METHODS[name] == "attribute":
        return getattr(view, name)
    import inspect

    method = getattr(view, name)
    try:
        inspect.signature(method).bind(*args, **options)
    except TypeError as problem:
        raise InvalidInput(f"{name}: {problem}") from None
    if name == "record_location":
        view.project  # noqa: B018  recognizes it
    return method(*args, **options)
