"""Who asks over HTTP, and which shelf and project the request works on: the one place that decides.

The guard notes the member in the scope of a request, once it knows them. Where a server has no
members everyone works on its shelf.
"""

from collections.abc import Mapping, MutableMapping
from contextlib import ExitStack
from typing import Any, Protocol
from urllib.parse import unquote

from nuggets.domain.records import Member
from nuggets.shelf import NuggetShelf
from nuggets.shelf.team_shelves import Team

PROJECT_HEADER = "nuggets-project"  # which project the client works in
_TEAM, _MEMBER, _TOKEN, _LEASE, _SHELF = (
    f"nuggets.{name}" for name in ("team", "member", "token", "lease", "shelf")
)


class Request(Protocol):
    """A request of any framework."""

    @property
    def scope(self) -> MutableMapping[str, Any]: ...


def admit_member(
    scope: MutableMapping[str, Any], team: Team, member: Member, token: str
) -> ExitStack:
    """Note who asks. What the request opens belongs to the stack, which ends with the request."""
    lease = ExitStack()
    scope.update({_TEAM: team, _MEMBER: member, _TOKEN: token, _LEASE: lease})
    return lease


def member_of_request(request: Request) -> Member | None:
    """Who asks; None where the server has no members."""
    return request.scope.get(_MEMBER)


def shelf_of_request(request: Request, shelf: NuggetShelf) -> NuggetShelf:
    """What the request may see and change: the member's, else `shelf`, which the server serves.

    Call it in a thread: it may open a private shelf.
    """
    scope = request.scope
    member: Member | None = scope.get(_MEMBER)
    if member is None:
        return shelf
    if _SHELF not in scope:
        scope[_SHELF] = scope[_LEASE].enter_context(scope[_TEAM].shelf_of(member))
    found: NuggetShelf = scope[_SHELF]
    return found


def is_still_member(request: Request) -> bool:
    """Whether the token still holds, for an answer that stays open for long. In a thread."""
    scope = request.scope
    member: Member | None = scope.get(_MEMBER)
    return member is None or scope[_TEAM].find_member(scope[_TOKEN]) == member


def project_from_headers(headers: Mapping[str, str]) -> str | None:
    """A folder, an id or the name of a project, percent-encoded; "" for none; None if not sent."""
    value = headers.get(PROJECT_HEADER)
    return None if value is None else unquote(value).strip()
