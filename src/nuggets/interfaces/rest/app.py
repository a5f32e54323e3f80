"""The web application of one shelf: REST, live events and the page. Knows no socket."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, ExceptionHandler, Scope

from nuggets.domain import codec
from nuggets.domain.limits import Name
from nuggets.domain.type_check import read
from nuggets.errors import NuggetsError
from nuggets.interfaces.request_shelf import project_from_headers, shelf_of_request
from nuggets.interfaces.rest import events, operations, shelf_endpoint
from nuggets.interfaces.rest.guard import Access, Guard, MemberAccess, error_response
from nuggets.interfaces.rest.operation_definition import REVISION, Operation, document, parse_query
from nuggets.shelf import NuggetShelf

OPERATIONS = [part for part in vars(operations).values() if isinstance(part, Operation)]
PAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "ui")
_CODES = {404: "not_found", 405: "not_allowed", 413: "too_large"}

Lifespan = Callable[[], AbstractAsyncContextManager[Any]]


def application(
    shelf: NuggetShelf,
    *,
    is_ours: Callable[[str], bool],
    access: Access | MemberAccess | None = None,
    stopping: Callable[[], bool] = lambda: False,
    mounts: Mapping[str, ASGIApp] | None = None,
    lifespan: Lifespan | None = None,
) -> ASGIApp:
    """All routes behind the guard. `lifespan`: what has to run while the app is up."""

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        if lifespan is None:
            yield
            return
        async with lifespan():
            yield

    async def listen(request: Request) -> Response:
        return await events.response(request, shelf, stopping)

    openapi_text = codec.dumps(document(OPERATIONS))

    async def openapi(request: Request) -> Response:
        return Response(openapi_text, media_type="application/json")

    routes: list[BaseRoute] = [
        Route("/api/openapi.json", openapi),
        Route("/api/events", listen),
        *_routes(shelf),
        shelf_endpoint.route(shelf, asks_for_token=access is not None),
        *(Route(path, app) for path, app in (mounts or {}).items()),
        Route("/api/{anything:path}", _unknown_path),
        Mount("/", Page(directory=PAGE, html=True)),
    ]
    app = Starlette(
        routes=routes,
        lifespan=running,
        exception_handlers={
            NuggetsError: _answer_nuggets_error,
            HTTPException: _answer_http_error,
            # a client that disconnects while sending: the log has no error
            ClientDisconnect: _answer_always(400, "invalid_input", "the body ended too early"),
            # a defect: the log has the details, the network does not
            Exception: _answer_always(500, "error", "internal error; see the log of the server"),
        },
    )
    return Guard(app, is_ours=is_ours, access=access)


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
        project = project_from_headers(request.headers)
        return await run_in_threadpool(
            _run_operation, request, shelf, operation, arguments, project
        )

    return answer


def _run_operation(
    request: Request,
    shelf: NuggetShelf,
    operation: Operation,
    arguments: Mapping[str, Any],
    project: str | None,
) -> Response:
    """In one thread, because `own_revision` belongs to the thread."""
    shelf = shelf_of_request(request, shelf)
    if project is not None:
        shelf = shelf.for_project(project)
    before = shelf.own_revision
    text = codec.dumps(operation.run(shelf, **arguments))
    own = shelf.own_revision
    headers = {REVISION: str(own)} if own != before else None
    return Response(text, operation.status, headers, media_type="application/json")


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
