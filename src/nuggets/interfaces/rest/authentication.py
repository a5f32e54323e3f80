"""Authentication where a token is required: programs send it, browsers have a session.

The server's own token never reaches a browser. A person opens a link with a launch code, which
works once, and the browser gets a cookie of its own. The cookie is signed with a key made from the
token: it outlives a restart of the server, and a new token ends every session.

Where a shelf has members, each of them has a token, which programs send and browsers keep as a
cookie that no script can read. It is looked up in the store at every request: a revoked one ends
everything at once, at every server of the shelf.
"""

import hmac
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, Response

from nuggets.domain.codec import error_to_json
from nuggets.domain.records import Member
from nuggets.shelf.team_shelves import Team

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


# --- how much a member may send in a minute ----------------------------------------------------


class RateLimit:
    """Requests and bytes of each member, counted by the minute."""

    def __init__(
        self, *, requests: int, kilobytes: int, now: Callable[[], float] = time.time
    ) -> None:
        self._requests = requests
        self._bytes = kilobytes * 1000
        self._now = now
        self._minute = 0
        self._used: dict[str, list[int]] = {}  # requests and bytes of this minute, by member

    def refusal(self, member: str) -> Response | None:
        """Count a request; the answer if it is one too many."""
        now = int(self._now())
        if now // 60 != self._minute:
            self._minute, self._used = now // 60, {}
        used = self._used.setdefault(member, [0, 0])
        if used[0] < self._requests and used[1] < self._bytes:
            used[0] += 1
            return None
        seconds = 60 - now % 60
        text = f"that is more than a member may send in a minute; wait {seconds} s"
        return JSONResponse(
            error_to_json("too_many", text), 429, headers={"Retry-After": str(seconds)}
        )

    def count_bytes(self, member: str, count: int) -> None:
        """Count what a member has sent."""
        self._used.setdefault(member, [0, 0])[1] += count


# --- members and their tokens -------------------------------------------------------------------


class MemberAccess:
    """The members of a team, each by their token."""

    def __init__(self, team: Team, rate_limit: RateLimit) -> None:
        self.team = team
        self.rate_limit = rate_limit

    def find_member(self, headers: Headers, port: str) -> tuple[Member, str] | None:
        """Who asks, with their token; None if nobody is known by it. Asks the store."""
        token = bearer_token(headers)
        token = cookie_of(headers, port) if token is None else token
        member = self.team.find_member(token) if token else None
        return None if member is None else (member, token)


def bearer_token(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def cookie_of(headers: Headers, port: str) -> str:
    """What the browser keeps for the server at this port; "" if nothing."""
    return cookie_parser(headers.get("cookie", "")).get(cookie_name(port), "")


def cookie_name(port: str) -> str:
    """The name of the session cookie of the server at this port."""
    return f"{COOKIE}_{port}"
