"""Members of a team: their names, and what each role may do."""

from typing import Literal, get_args

from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple

Role = Literal["reader", "writer", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)  # from least to most
NAME_CHARACTERS = 40  # of a member
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class Member(NamedTuple):
    """Someone who talks to the server of a team."""

    name: str
    role: Role


class MemberStatus(NamedTuple):
    """A member as the list of members shows them."""

    name: str
    role: Role
    since: str  # when the present token was made
    revoked_at: str = ""


def allows(role: Role, needed: Role) -> bool:
    """Whether a member with `role` may do what needs the role `needed`."""
    return ROLES.index(role) >= ROLES.index(needed)


def parse_role(word: str) -> Role:
    for role in ROLES:
        if role == word:
            return role
    raise InvalidInput(f"there is no role {word!r:.80}: choose one of {', '.join(ROLES)}")


def checked_member_name(name: str) -> str:
    """The name, if it can stand in a path, in a token and in the history without doubt."""
    if not name or len(name) > NAME_CHARACTERS or not _LETTERS.issuperset(name):
        raise InvalidInput(
            f"the name of a member has 1 to {NAME_CHARACTERS} small letters (a to z), digits, "
            f"- and _; not {name!r:.80}"
        )
    return name
