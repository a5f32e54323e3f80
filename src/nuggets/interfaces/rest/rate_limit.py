"""How much a member of a team may send in a minute, and the answer to more."""

import time
from collections.abc import Callable

from starlette.responses import JSONResponse, Response

from nuggets.domain.codec import error_to_json


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
