"""Who may ask: the checks before every route, whatever is mounted behind. Plain ASGI.

A page on the web can make a browser send requests to this machine, under a name of its own
(DNS rebinding) or from its own origin. Neither gets through; nor does a body that is too large
or is not declared as JSON, nor, where a token is set, anyone who does not know it.
"""

import hmac
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nuggets.codec import error_to_json

BODY_BYTES = 4 * 1024 * 1024  # the largest note, written with JSON's longest escapes, and a bit
COOKIE = "nuggets_token"
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
_COOKIE = re.compile(rf"(?:^|;\s*){COOKIE}=([^;\s]*)")


class Guard:
    """Stands before an app and answers itself what must not reach it."""

    def __init__(
        self, app: ASGIApp, *, is_ours: Callable[[str], bool], token: str | None = None
    ) -> None:
        """`is_ours`: is this value of Host a name of this server?"""
        self._app = app
        self._is_ours = is_ours
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no other protocols here
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self._app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or not self._is_ours(host[0]):
            return refused(421, "wrong_host", "this server does not go by that name")
        if not _same_origin(headers, host[0], scope["path"]):
            return refused(403, "foreign_origin", "pages of other origins have no access")
        if self._token is not None:
            entry = self._entry(scope)
            if entry is not None:
                return entry
            if not self._knows_token(headers):
                return refused(401, "no_token", "send the token as Authorization: Bearer …")
        return _body_refusal(scope["method"], headers)

    def _entry(self, scope: Scope) -> Response | None:
        """The link that `nuggets serve` prints: the token moves from the address to a cookie."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if len(given) != 1 or not self._is_token(given[0]):
            return None
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(COOKIE, given[0], httponly=True, samesite="strict", path="/")
        return answer

    def _knows_token(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._is_token(given.strip())
        cookie = _COOKIE.search(headers.get("cookie", ""))
        return cookie is not None and self._is_token(cookie.group(1))

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self._token or "").encode())


def refused(status: int, code: str, message: str) -> Response:
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
            return refused(415, "not_json", "a body is application/json")
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        return refused(400, "invalid_input", "Content-Length is a number")
    if int(length) > BODY_BYTES:
        return too_large()
    return None


class TooLarge(Exception):
    """More came than was announced, or than fits."""


def too_large() -> Response:
    return refused(413, "too_large", f"a body has at most {BODY_BYTES} bytes")


def _limited(receive: Receive) -> Receive:
    """Bodies without an announced length are counted as they come."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_BYTES:
            raise TooLarge
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return with_headers
