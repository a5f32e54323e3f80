"""Who may ask where a token is needed: programs that send it, and browsers with a session.

The token never reaches a browser. A person opens a link with a launch code, which works once, and
the browser gets a cookie of its own. The cookie is signed with a key made from the token: it
outlives a restart of the server, and a new token ends every session.
"""

import hmac
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

SESSION_SECONDS = 30 * 24 * 3600
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
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return hmac.compare_digest(token.strip().encode(), self._token.encode())
        cookies = cookie_parser(headers.get("cookie", ""))
        return self._is_session(cookies.get(cookie_name(port), ""))

    def _is_session(self, cookie: str) -> bool:
        session, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(session).encode()):
            return False
        return int(session.partition(".")[0]) > self._now()

    def _signature(self, session: str) -> str:
        return hmac.digest(self._key, session.encode(), "sha256").hex()


def cookie_name(port: str) -> str:
    """The name of the session cookie of the server at this port."""
    return f"{COOKIE}_{port}"
