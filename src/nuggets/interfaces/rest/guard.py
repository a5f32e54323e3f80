"""Which requests are let in: by host, origin, token, rate, size and type of the body. Plain ASGI.

A page on the web can make a browser send requests to this machine, under a name of its own
(DNS rebinding) or from its own origin. Both are refused. So are bodies that are too large or not
declared as JSON and, if a token is required, requests with neither token nor session.
"""

import hmac
import math
import secrets
import time
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nuggets.domain.codec import error_to_json
from nuggets.interfaces.request_shelf import Team, admit_member

# --- who asks: programs send a token, browsers have a session -------------------------------------
#
# The server's own token never reaches a browser. A person opens a link with a launch code, which
# works once, and the browser gets a cookie of its own. The cookie is signed with a key made from
# the token: it outlives a restart of the server, and a new token ends every session.
#
# Where a shelf has members, each of them has a token, which programs send and browsers keep as a
# cookie that no script can read. It is looked up in the store at every request: a revoked one ends
# everything at once, at every server of the shelf.


SESSION_SECONDS = 30 * 24 * 3600  # who opens the page every month never needs another link
COOKIE = "nuggets_session"  # and the port: browsers share cookies between all ports of a host


class Access:
    """The token of a server, its unused launch code, and the sessions that it signs."""

    def __init__(
        self,
        token: str,
        on_launch: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`on_launch`: called when the code was used, so that a new one can be made and shown."""
        self._token = token
        self._key = hmac.digest(token.encode(), b"nuggets session", "sha256")
        self._code = ""
        self.on_launch = on_launch
        self._now = now

    def new_launch_code(self) -> str:
        """A code for one browser; an earlier one that was not used ends."""
        self._code = secrets.token_urlsafe(24)
        return self._code

    def launch(self, code: str) -> str | None:
        """The cookie of a new session, if the code is the unused one."""
        if not self._code or not hmac.compare_digest(code.encode(), self._code.encode()):
            return None
        self._code = ""
        self.on_launch()
        expires = int(self._now()) + SESSION_SECONDS
        session = f"{expires}.{secrets.token_urlsafe(12)}"
        return f"{session}.{self._signature(session)}"

    def allows(self, headers: Headers, port: str) -> bool:
        """Does the request carry the token, or the cookie of a session?"""
        token = bearer_token(headers)
        if token is not None:
            return hmac.compare_digest(token.encode(), self._token.encode())
        return self._is_session(cookie_of(headers, port))

    def _is_session(self, cookie: str) -> bool:
        session, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(session).encode()):
            return False
        return int(session.partition(".")[0]) > self._now()

    def _signature(self, session: str) -> str:
        return hmac.digest(self._key, session.encode(), "sha256").hex()


# --- how much a member may send in a minute -------------------------------------------------------


class RateLimit:
    """Requests and bytes of each member, counted for a minute from the first."""

    def __init__(
        self, *, requests: int, kilobytes: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests = requests
        self._bytes = kilobytes * 1000
        self._now = now
        self._minutes: dict[str, _Minute] = {}  # by member

    def refusal(self, member: str) -> Response | None:
        """Count a request; the answer if it is one too many."""
        now = self._now()
        minute = self._minutes.get(member)
        if minute is None or now >= minute.ends:
            minute = self._minutes[member] = _Minute(now + 60)
        if minute.requests < self._requests and minute.bytes < self._bytes:
            minute.requests += 1
            return None
        seconds = math.ceil(minute.ends - now)
        text = f"that is more than a member may send in a minute; wait {seconds} s"
        answer = error_response(429, "too_many", text)
        answer.headers["Retry-After"] = str(seconds)
        return answer

    def count_body(self, member: str, receive: Receive) -> Receive:
        """Count what a member sends as the body of a request that was let in."""

        async def receive_counted() -> Message:
            message = await receive()
            self._minutes[member].bytes += len(message.get("body", b""))
            return message

        return receive_counted


class _Minute:
    """What a member has sent in a minute that ends then."""

    def __init__(self, ends: float) -> None:
        self.ends = ends
        self.requests = 0
        self.bytes = 0


# --- what requests carry --------------------------------------------------------------------------


def bearer_token(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def cookie_of(headers: Headers, port: str) -> str:
    """What the browser keeps for the server at this port; "" if nothing."""
    return cookie_parser(headers.get("cookie", "")).get(cookie_name(port), "")


def cookie_name(port: str) -> str:
    """The name of the session cookie of the server at this port."""
    return f"{COOKIE}_{port}"


# --- what is let in -------------------------------------------------------------------------------


SESSION_PATH = "/api/session"  # where a member's browser begins and ends a session
SIGN_IN_FILES = ("/sign-in.js", "/icon.svg")  # what a browser gets before anybody is known
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
        self,
        app: ASGIApp,
        *,
        is_ours: Callable[[str], bool],
        access: Access | Team | None = None,
        rate_limit: RateLimit | None = None,
    ) -> None:
        """`is_ours`: is this value of Host a name of this server? `access`: None if all may ask.
        `rate_limit`: of each member of a team."""
        self._app = app
        self._is_ours = is_ours
        self._access = access
        self._rate_limit = rate_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no other protocols here
        headers, send = Headers(scope=scope), _add_headers(send)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif isinstance(self._access, Team):
            await self._serve_member(self._access, scope, receive, send)
        else:
            await self._app(scope, _limit_body(receive), send)

    async def _serve_member(self, team: Team, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out who asks before anything else, and let go of their shelf at the end."""
        headers, path = Headers(scope=scope), scope["path"]
        port = _port(headers)
        if path in SIGN_IN_FILES or (path == SESSION_PATH and scope["method"] == "DELETE"):
            answer = end_session(port) if path == SESSION_PATH else None
            await (answer or self._app)(scope, receive, send)
            return
        sent = bearer_token(headers)
        token = cookie_of(headers, port) if sent is None else sent
        member = await run_in_threadpool(team.find_member, token) if token else None
        if member is None:
            await _unknown_member(scope, headers)(scope, receive, send)
            return
        if self._rate_limit is not None:
            refusal = self._rate_limit.refusal(member.name)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
            receive = self._rate_limit.count_body(member.name, receive)
        if path == SESSION_PATH:
            await _start_session(port, token, is_secure=_is_secure(headers))(scope, receive, send)
            return
        lease = admit_member(scope, team, member, token)
        try:
            await self._app(scope, _limit_body(receive), send)
        finally:
            await run_in_threadpool(lease.close)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.getlist("host")
        if len(host) != 1 or not self._is_ours(host[0]):
            return error_response(421, "wrong_host", "the Host header does not name this server")
        if not _same_origin(headers, host[0], scope["path"]):
            return error_response(403, "foreign_origin", "pages of other origins have no access")
        if isinstance(self._access, Access):
            refusal = _access_refusal(self._access, scope, headers)
            if refusal is not None:
                return refusal
        return _body_refusal(scope["method"], headers)


def _access_refusal(access: Access, scope: Scope, headers: Headers) -> Response | None:
    """The refusal of a request without token and session; a launch code gets a session."""
    port = _port(headers)
    codes = parse_qs(scope["query_string"].decode("latin-1")).get("code", [])
    if codes and _is_page(scope):
        session = access.launch(codes[0])
        if session is not None:
            return _start_session(port, session, is_secure=_is_secure(headers))
        if access.allows(headers, port):  # the link again, in the browser that used it
            return _to_page()
    if access.allows(headers, port):
        return None
    return _ask_who(
        scope,
        headers,
        "",
        "This needs a link with an unused code. The server prints one in its terminal.",
        "send the token as Authorization: Bearer …, or open the server's link",
    )


def _unknown_member(scope: Scope, headers: Headers) -> Response:
    """Nobody is known by this token, or not any more. A person may sign in."""
    return _ask_who(
        scope,
        headers,
        '<script type="module" src="/sign-in.js"></script>',
        "Sign in with your token.",
        "this needs the token of a member, as Authorization: Bearer …; it may have been revoked",
    )


def _ask_who(scope: Scope, headers: Headers, head: str, text: str, message: str) -> Response:
    """A page for a person's browser, a message for a program."""
    if _is_page(scope) and "text/html" in headers.get("accept", ""):
        return HTMLResponse(_PAGE.format(head=head, text=text), 401)
    return error_response(401, "no_token", message)


def _is_page(scope: Scope) -> bool:
    return bool(scope["path"] == "/" and scope["method"] == "GET")


def _port(headers: Headers) -> str:
    port = headers["host"].rpartition(":")[2]
    return port if port.isdigit() else "80"


def _is_secure(headers: Headers) -> bool:
    """Does a proxy say that the browser came by HTTPS? Whoever lies gets a cookie that is not
    sent back to them."""
    return headers.get("x-forwarded-proto", "") == "https"


def _start_session(port: str, session: str, *, is_secure: bool) -> Response:
    answer = _to_page()
    answer.set_cookie(
        cookie_name(port),
        session,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=is_secure,
        path="/",
    )
    return answer


def end_session(port: str) -> Response:
    """The browser forgets its session."""
    answer = Response(status_code=204)
    answer.delete_cookie(cookie_name(port), path="/", httponly=True, samesite="strict")
    return answer


def _to_page() -> Response:
    """Leads to the page without the code. No redirect: a browser that followed a link from
    elsewhere sends a strict cookie only with a request that our own page makes."""
    head = '<meta http-equiv="refresh" content="0; url=/">'
    return HTMLResponse(_PAGE.format(head=head, text="Opening your memory."))


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
    if "content-length" in headers and "transfer-encoding" in headers:  # a proxy may read it else
        return error_response(400, "invalid_input", "a body has one length, not two")
    if not (length.isascii() and length.isdigit()):
        return error_response(400, "invalid_input", "Content-Length is a number")
    if int(length) > BODY_BYTES:
        return error_response(413, "too_large", _TOO_LARGE)
    return None


_TOO_LARGE = f"a body has at most {BODY_BYTES} bytes"


def _limit_body(receive: Receive) -> Receive:
    """Count the bytes of a body, whose length may not have been announced."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > BODY_BYTES:
            raise HTTPException(413, _TOO_LARGE)
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
