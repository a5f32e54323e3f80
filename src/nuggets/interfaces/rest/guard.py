"""Who may ask: the checks before every route, whatever is mounted behind. Plain ASGI.

A page on the web can make a browser send requests to this machine, under a name of its own
(DNS rebinding) or from its own origin. Neither gets through; nor does a body that is too large
or is not declared as JSON, nor, where a token is needed, anyone without it or a session.
"""

from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nuggets.domain.codec import error_to_json
from nuggets.interfaces.rest.access import SESSION_SECONDS, Access, cookie_name

BODY_BYTES = 4 * 1024 * 1024  # the largest note, written with JSON's longest escapes, and a bit
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_WITH_BODY = ("POST", "PUT", "PATCH")
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Nuggets</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
{head}<h1>Nuggets</h1><p>{text}</p></html>
"""


class Guard:
    """Wraps an app and refuses requests that must not reach it."""

    def __init__(
        self, app: ASGIApp, *, is_ours: Callable[[str], bool], access: Access | None = None
    ) -> None:
        """`is_ours`: is this value of Host a name of this server? `access`: if not all may ask."""
        self._app = app
        self._is_ours = is_ours
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no other protocols here
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _add_headers(send))
            return
        await self._app(scope, _limit_body(receive), _add_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or not self._is_ours(host[0]):
            return error_response(421, "wrong_host", "this server does not go by that name")
        if not _same_origin(headers, host[0], scope["path"]):
            return error_response(403, "foreign_origin", "pages of other origins have no access")
        if self._access is not None:
            refusal = _access_refusal(self._access, scope, headers)
            if refusal is not None:
                return refusal
        return _body_refusal(scope["method"], headers)


def _access_refusal(access: Access, scope: Scope, headers: Headers) -> Response | None:
    """The refusal of a request without token and session; a launch code gets a session."""
    port = headers["host"].rpartition(":")[2]
    port = port if port.isdigit() else "80"
    codes = parse_qs(scope["query_string"].decode("latin-1")).get("code", [])
    is_page = scope["path"] == "/" and scope["method"] == "GET"
    if is_page and codes:
        session = access.launch(codes[0])
        if session is not None:
            return _start_session(port, session)
        if access.allows(headers, port):  # the link again, in the browser that used it
            return _to_page("Opening your memory.")
    if access.allows(headers, port):
        return None
    if is_page and "text/html" in headers.get("accept", ""):
        text = "This needs a link with an unused code. The server prints one in its terminal."
        return HTMLResponse(_PAGE.format(head="", text=text), 401)
    return error_response(
        401, "no_token", "send the token as Authorization: Bearer …, or open the server's link"
    )


def _start_session(port: str, session: str) -> Response:
    answer = _to_page("Opening your memory.")
    answer.set_cookie(
        cookie_name(port),
        session,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        path="/",
    )
    return answer


def _to_page(text: str) -> Response:
    """Leads to the page without the code. No redirect: a browser that followed a link from
    elsewhere sends a strict cookie only with a request that our own page makes."""
    head = '<meta http-equiv="refresh" content="0; url=/">'
    return HTMLResponse(_PAGE.format(head=head, text=text))


def error_response(status: int, code: str, message: str) -> Response:
    """An error in the one shape that errors have."""
    return JSONResponse(error_to_json(code, message), status)


def _same_origin(headers: Headers, host: str, path: str) -> bool:
    """Asked by a page of our own, or by no page at all (a script, an agent)."""
    for origin in headers.getlist("origin"):
        if origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            return False
    site = headers.get("sec-fetch-site", "none")
    return site in ("same-origin", "none") or (
        path == "/" and headers.get("sec-fetch-mode") == "navigate"  # a link to the page is fine
    )


def _body_refusal(method: str, headers: Headers) -> Response | None:
    if method in _WITH_BODY:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return error_response(415, "not_json", "a body is application/json")
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        return error_response(400, "invalid_input", "Content-Length is a number")
    if int(length) > BODY_BYTES:
        return too_large_response()
    return None


class TooLarge(Exception):
    """The body is larger than announced or allowed."""


def too_large_response() -> Response:
    return error_response(413, "too_large", f"a body has at most {BODY_BYTES} bytes")


def _limit_body(receive: Receive) -> Receive:
    """Count the bytes of a body whose length was not announced."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > BODY_BYTES:
            raise TooLarge
        return message

    return receive_limited


def _add_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return send_with_headers
