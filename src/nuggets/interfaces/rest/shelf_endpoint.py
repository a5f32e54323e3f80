"""The door for other machines: `POST /api/shelf` calls one method of the shelf.

Which methods: `remote/callable_methods.py`; the shelf decides who may call them. A message holds
only the types that `remote/wire_format.py` lists.
"""

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nuggets.domain import times
from nuggets.errors import InvalidInput
from nuggets.interfaces.remote_requests import answer_message, read_caller
from nuggets.interfaces.request_shelf import shelf_of_request
from nuggets.operations.idempotent_calls import DoneBefore
from nuggets.remote.callable_methods import CALL_PATH, METHODS, REFUSED
from nuggets.remote.wire_format import ARGUMENTS, RECORDS, decode, encode
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


def _has_type(value: Any, annotation: Any) -> bool:
    """Whether a value is what a parameter takes, as far as its annotation says."""
    if get_origin(annotation) in (Union, UnionType):
        return any(_has_type(value, one) for one in get_args(annotation))
    if isinstance(annotation, str):  # only the type checker knows it
        return annotation not in RECORDS or type(value).__name__ == annotation
    kind: Any = type(None) if annotation is None else get_origin(annotation) or annotation
    if kind is Any or not isinstance(kind, type):
        return True
    if not isinstance(value, (int, float) if kind is float else kind):
        return False
    parts, several = get_args(annotation), cast("Iterable[Any]", value)
    return len(parts) != 1 or all(_has_type(part, parts[0]) for part in several)


def _call(view: NuggetShelf, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if METHODS[name] == "attribute":
        return getattr(view, name)
    import inspect

    method = getattr(view, name)
    signature = inspect.signature(method)
    try:
        given = signature.bind(*args, **options).arguments
    except TypeError as problem:
        raise InvalidInput(f"{name}: {problem}") from None
    for argument, value in given.items():
        if not _has_type(value, signature.parameters[argument].annotation):
            raise InvalidInput(f"{name}: {argument} has the wrong type")
    if name == "record_location":
        view.project  # noqa: B018  recognizes it
    return method(*args, **options)
