"""What a member of a team may do: read, write, or also what concerns everyone."""

from typing import Literal, NamedTuple, get_args

from nuggets.errors import InvalidInput

Role = Literal["reader", "writer", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)  # from least to most


class Member(NamedTuple):
    name: str
    role: Role


def allows(role: Role, needed: Role) -> bool:
    """Whether a member with `role` may do what needs the role `needed`."""
    return ROLES.index(role) >= ROLES.index(needed)


def parse_role(word: str) -> Role:
    for role in ROLES:
        if role == word:
            return role
    raise InvalidInput(f"there is no role {word!r}: choose one of {', '.join(ROLES)}")
