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
from starlette.types import ASGIApp, Scope

from nuggets import codec
from nuggets.errors import (
    Ambiguous,
    Conflict,
    InvalidInput,
    NotFound,
    NuggetsError,
    StaleWrite,
    StoreError,
)
from nuggets.interfaces.rest import care, events, reading, writing
from nuggets.interfaces.rest.checking import checked, checked_query
from nuggets.interfaces.rest.guard import Guard, TooLarge, refused, too_large
from nuggets.interfaces.rest.openapi import document
from nuggets.interfaces.rest.operation import REVISION, Given, Operation
from nuggets.shelf import NuggetShelf

OPERATIONS = (*reading.OPERATIONS, *writing.OPERATIONS, *care.OPERATIONS)
PAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "ui")
_STATUS: Mapping[type[NuggetsError], int] = {
    InvalidInput: 400,
    NotFound: 404,
    Ambiguous: 409,
    Conflict: 409,
    StaleWrite: 409,
    StoreError: 503,
}
_CODES = {404: "not_found", 405: "not_allowed"}

Lifespan = Callable[[], AbstractAsyncContextManager[Any]]


def application(
    shelf: NuggetShelf,
    *,
    is_ours: Callable[[str], bool],
    token: str | None = None,
    stopping: Callable[[], bool] = lambda: False,
    mounted: Mapping[str, ASGIApp] | None = None,
    lifespan: Lifespan | None = None,
) -> ASGIApp:
    """Everything behind its guard. `lifespan`: what has to run while the app is up."""

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        if lifespan is None:
            yield
            return
        async with lifespan():
            yield

    async def listen(request: Request) -> Response:
        return events.response(shelf, stopping)

    described = codec.dumps(document(OPERATIONS))

    async def openapi(request: Request) -> Response:
        return Response(described, media_type="application/json")

    routes: list[BaseRoute] = [
        Route("/api/openapi.json", openapi),
        Route("/api/events", listen),
        *_routes(shelf),
        *(Route(path, app) for path, app in (mounted or {}).items()),
        Route("/api/{anything:path}", _nowhere),
        Mount("/", Page(directory=PAGE, html=True)),
    ]
    app = Starlette(
        routes=routes,
        lifespan=running,
        exception_handlers={
            NuggetsError: _told,
            HTTPException: _told_by_starlette,
            TooLarge: _told_too_large,
            ClientDisconnect: _told_nobody,
            Exception: _failed,
        },
    )
    return Guard(app, is_ours=is_ours, token=token)


class Page(StaticFiles):
    """The page's files: kept by a browser, asked for again each time whether they changed."""

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
        given = await _given(request, operation)
        return await run_in_threadpool(_done, shelf, operation, given)

    return answer


def _done(shelf: NuggetShelf, operation: Operation, given: Given) -> Response:
    """All in one thread, which knows what it wrote itself."""
    before = shelf.own_revision
    text = codec.dumps(operation.run(shelf, given))
    own = shelf.own_revision
    headers = {REVISION: str(own)} if own != before else None
    return Response(text, operation.status, headers, media_type="application/json")


async def _given(request: Request, operation: Operation) -> Given:
    given: Given = {
        name: checked(part, operation.path_part, name) for name, part in request.path_params.items()
    }
    given |= checked_query(request.query_params.multi_items(), operation.query, operation.needed)
    if operation.body is not None:
        body = codec.loads(await request.body(), "the body")
        given |= checked(body, operation.body, "the body")
    return given


async def _nowhere(request: Request) -> Response:
    return refused(404, "not_found", "there is nothing at this path; see /api/openapi.json")


async def _told(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, NuggetsError)
    status = next((s for kind, s in _STATUS.items() if isinstance(problem, kind)), 500)
    return refused(status, problem.code, str(problem))


async def _told_by_starlette(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    answer = refused(
        problem.status_code, _CODES.get(problem.status_code, "error"), str(problem.detail)
    )
    answer.headers.update(problem.headers or {})
    return answer


async def _told_too_large(request: Request, problem: Exception) -> Response:
    return too_large()


async def _told_nobody(request: Request, problem: Exception) -> Response:
    """Who goes in the middle of a body hears no answer, and it is nothing for the log."""
    return refused(400, "invalid_input", "the body ended too early")


async def _failed(request: Request, problem: Exception) -> Response:
    """A defect of ours; what exactly it was is for the log, not for the network."""
    return refused(500, "error", "something went wrong in here; the server's log says what")
