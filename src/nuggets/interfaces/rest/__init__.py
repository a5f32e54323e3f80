"""The web application of one shelf: REST, live events, the page, and the door for other machines.
Knows no socket.

`POST /api/shelf` calls one method of the shelf. Which methods: `operations/operation_table.py`; the
shelf decides who may call them. What arguments must be is what the annotations of the method say.
"""

import asyncio
import inspect
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, ExceptionHandler, Scope

from nuggets.domain import codec, times
from nuggets.domain.limits import Name
from nuggets.domain.type_check import read
from nuggets.errors import InvalidInput, NotAllowed, NuggetsError
from nuggets.interfaces import json_responses
from nuggets.interfaces.request_shelf import (
    Team,
    answer_message,
    is_still_member,
    read_caller,
    shelf_of_request,
)
from nuggets.interfaces.rest import operations
from nuggets.interfaces.rest.guard import Access, Guard, RateLimit, error_response
from nuggets.interfaces.rest.operation_definition import REVISION, Operation, document, parse_query
from nuggets.operations.idempotent_calls import DoneBefore
from nuggets.operations.operation_table import CALLABLE, Refused
from nuggets.operations.operation_table import OPERATIONS as METHODS
from nuggets.remote import CALL_PATH, decode, encode
from nuggets.shelf import NuggetShelf

OPERATIONS = [part for part in vars(operations).values() if isinstance(part, Operation)]
PAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "ui")
_CODES = {404: "not_found", 405: "not_allowed", 413: "too_large"}

MEMBERSHIP = ("add_member", "revoke_member")

Lifespan = Callable[[], AbstractAsyncContextManager[Any]]


def application(
    shelf: NuggetShelf,
    *,
    is_ours: Callable[[str], bool],
    access: Access | Team | None = None,
    rate_limit: RateLimit | None = None,
    stopping: Callable[[], bool] = lambda: False,
    mounts: Mapping[str, ASGIApp] | None = None,
    lifespan: Lifespan | None = None,
) -> ASGIApp:
    """All routes behind the guard. `lifespan`: what has to run while the app is up."""

    async def listen(request: Request) -> Response:
        seen = await run_in_threadpool(shelf_of_request, request, shelf)
        return StreamingResponse(_stream(request, seen, stopping), media_type="text/event-stream")

    async def call_shelf(request: Request) -> Response:
        return await answer_message(request, run_call)

    def run_call(request: Request, message: Mapping[str, Any]) -> Mapping[str, Any]:
        if message.get("method") in MEMBERSHIP and access is None:
            raise NotAllowed(
                "this server asks nobody for a token, so anybody on its machine could become the "
                "owner of the shelf. Run `nuggets member` there with --dir, or start the server "
                "with --require-token"
            )
        return _call_method(request, shelf, message)

    openapi_text = codec.dumps(document(OPERATIONS))

    async def openapi(request: Request) -> Response:
        return Response(openapi_text, media_type="application/json")

    routes: list[BaseRoute] = [
        Route("/api/openapi.json", openapi),
        Route("/api/events", listen),
        *_routes(shelf),
        Route(CALL_PATH, call_shelf, methods=["POST"]),
        *(Route(path, app) for path, app in (mounts or {}).items()),
        Route("/api/{anything:path}", _unknown_path),
        Mount("/", Page(directory=PAGE, html=True)),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan and (lambda app: lifespan()),
        exception_handlers={
            NuggetsError: _answer_nuggets_error,
            HTTPException: _answer_http_error,
            # a client that disconnects while sending: the log has no error
            ClientDisconnect: _answer_always(400, "invalid_input", "the body ended too early"),
            # a defect: the log has the details, the network does not
            Exception: _answer_always(500, "error", "internal error; see the log of the server"),
        },
    )
    return Guard(app, is_ours=is_ours, access=access, rate_limit=rate_limit)


class Page(StaticFiles):
    """The files of the page; a browser asks each time whether they changed."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        answer = super().file_response(*arguments, **options)
        answer.headers["Cache-Control"] = "no-cache"
        return answer

    async def get_response(self, path: str, scope: Scope) -> Response:
        if "\x00" in path:
            raise HTTPException(404)
        return await super().get_response(path, scope)


def _routes(shelf: NuggetShelf) -> list[BaseRoute]:
    """One route per path, so that a method it does not have is a 405."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    return [
        Route(path, _endpoint(shelf, methods), methods=list(methods))
        for path, methods in by_path.items()
    ]


def _endpoint(shelf: NuggetShelf, methods: Mapping[str, Operation]) -> Any:
    async def answer(request: Request) -> Response:
        operation = methods["GET" if request.method == "HEAD" else request.method]
        arguments = await _read_arguments(request, operation)

        def run() -> Response:
            """In one thread, because `own_revision` belongs to the thread."""
            view = shelf_of_request(request, shelf)
            before = view.own_revision
            text = codec.dumps(json_responses.shape_of(operation.run(view, **arguments)))
            own = view.own_revision
            headers = {REVISION: str(own)} if own != before else None
            return Response(text, operation.status, headers, media_type="application/json")

        return await run_in_threadpool(run)

    return answer


async def _read_arguments(request: Request, operation: Operation) -> dict[str, Any]:
    parts = {name: read(part, Name, name) for name, part in request.path_params.items()}
    if operation.has_body:
        sent, where = codec.loads(await request.body(), "the body"), "the body"
    else:
        query = request.query_params.multi_items()
        sent, where = parse_query(query, operation.parameters.kinds), "the query"
    return {**parts, **operation.parameters.read(sent, where)}


async def _unknown_path(request: Request) -> Response:
    raise HTTPException(404, "there is nothing at this path; see /api/openapi.json")


async def _answer_nuggets_error(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, NuggetsError)
    return error_response(problem.status, problem.code, str(problem))


async def _answer_http_error(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    answer = error_response(
        problem.status_code, _CODES.get(problem.status_code, "error"), str(problem.detail)
    )
    answer.headers.update(problem.headers or {})
    return answer


def _answer_always(status: int, code: str, text: str) -> ExceptionHandler:
    async def answer(request: Request, problem: Exception) -> Response:
        return error_response(status, code, text)

    return answer


# --- one call of a method, by another machine ---------------------------------------------------


def _call_method(
    request: Request, shelf: NuggetShelf, message: Mapping[str, Any]
) -> Mapping[str, Any]:
    """In one thread, because `own_revision` belongs to the thread."""
    name = message.get("method")
    if not isinstance(name, str) or name not in CALLABLE:
        row = METHODS.get(str(name))
        reason = "this server knows no such method; update it"
        if row is not None and isinstance(row.remote, Refused):
            reason = row.remote.reason
        raise InvalidInput(f"{name!r:.40}: {reason}")
    view = shelf_of_request(request, shelf).for_caller(read_caller(message))
    before = view.own_revision
    try:
        result = _run_method(view, name, message.get("args", []), message.get("options", {}))
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


def _run_method(view: NuggetShelf, name: str, args: Any, options: Any) -> Any:
    if isinstance(getattr(NuggetShelf, name), property):
        return getattr(view, name)
    given = _read_method_arguments(name, args, options)
    if name == "record_location":
        view.project  # noqa: B018  recognizes it
    return getattr(view, name)(*given.args[1:], **given.kwargs)


def _read_method_arguments(name: str, args: Any, options: Any) -> inspect.BoundArguments:
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


# --- live changes: an open page shows what any process writes -------------------------------------


LOOK_SECONDS = 0.3  # between two looks at the revision, which cost a few calls of stat
ALIVE_SECONDS = 15.0  # keeps proxies from closing an idle connection
COMMITS_SENT = 200  # a page further behind than this loads everything again


async def _stream(
    request: Request, shelf: NuggetShelf, stopping: Callable[[], bool]
) -> AsyncIterator[str]:
    """Ends when the client disconnects, its member is revoked or the server stops."""
    revision = await run_in_threadpool(lambda: shelf.revision)
    yield _event("hello", {"revision": revision})
    sent_at = time.monotonic()
    while not stopping():
        await asyncio.sleep(LOOK_SECONDS)
        if not await run_in_threadpool(_may_see, request):
            return
        update = await run_in_threadpool(_update_since, shelf, revision)
        if update is not None:
            revision = update["revision"]
            yield _event("change" if "put" in update else "reload", update)
            sent_at = time.monotonic()
        elif time.monotonic() - sent_at > ALIVE_SECONDS:
            yield ": still here\n\n"
            sent_at = time.monotonic()


def _may_see(request: Request) -> bool:
    try:
        return is_still_member(request)
    except NuggetsError:  # the browser asks again, and is told what is wrong
        return False


def _update_since(shelf: NuggetShelf, last: int) -> codec.Json | None:
    """What changed after a revision, or None; of too many changes only the revision."""
    try:
        with shelf.snapshot():
            revision = shelf.revision
            if revision == last:
                return None
            commits = shelf.commits(last, COMMITS_SENT + 1)
            if not commits or len(commits) > COMMITS_SENT:
                return {"revision": revision}
            return json_responses.update(shelf, last, revision, commits)
    except NuggetsError:  # the next request reports the problem
        return None


def _event(kind: str, data: codec.Json) -> str:
    return f"event: {kind}\ndata: {codec.dumps(data)}\n\n"
