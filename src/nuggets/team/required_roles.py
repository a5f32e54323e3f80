"""Which role each operation of a shelf needs, at every door of a team's server.

Whatever only reads needs none: every member is at least a reader. What stands in no table is
harmless: a test goes through all public names.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Protocol, TypeVar

from nuggets.domain.roles import Member, Role, allows
from nuggets.errors import NotAllowed
from nuggets.operations.client_permissions import is_of_member

NEEDED_ROLES: Mapping[str, Role] = {
    "create": "writer",
    "get_or_create": "writer",
    "remove": "writer",
    "remember": "writer",
    "forget": "writer",
    "clear": "writer",
    "create_note": "writer",
    "edit_note": "writer",
    "delete_note": "writer",
    "restore_note": "writer",
    "add_link": "writer",
    "remove_link": "writer",
    "merge_notes": "writer",  # a preview: reader
    "reflect": "writer",  # a preview: reader
    "keep_session": "writer",
    "undo": "writer",
    "purge": "writer",
    "purge_fact": "writer",
    "batch": "writer",
    "promote": "owner",
    "add_member": "owner",
    "revoke_member": "owner",
}
NEEDED_FOR_OTHERS: Mapping[str, tuple[Role, str]] = {  # where it is not the member's own
    "undo": ("owner", "undoing what others did"),
    "purge": ("owner", "purging what is the team's"),
    "purge_fact": ("owner", "purging what is the team's"),
}

NOT_SERVED = frozenset(  # they concern the machine of the server, its files or all shelves
    (
        *("backup", "checkup", "copy_from", "export", "restore", "import_memories"),
        *("encode_waiting", "install_meaning", "remove_meaning", "update_meaning"),
        *("find_member", "find_moved_files", "run_daily", "withdraw_promotion"),
        *("move_project", "join_project", "leave_project", "project_of"),
        *("share_project", "trust_project", "unshare_project", "untrust_project"),
        *("known_location", "record_location", "record_trust_question", "forget_recognition"),
    )
)


def may_undo(member: Member, find_author: Callable[[], str]) -> bool:
    """Whether a member may undo a change: everyone what they did, an owner whatever anyone did."""
    return allows(member.role, NEEDED_FOR_OTHERS["undo"][0]) or is_of_member(
        find_author(), member.name
    )


class RoleHolder(Protocol):
    """A shelf as one member sees it."""

    def require(self, role: Role, what: str) -> None:
        """Raise `NotAllowed` unless the member has the role."""


Shelf = TypeVar("Shelf", bound=type[RoleHolder])


def guard_operations(shelf: Shelf) -> Shelf:
    """Let every operation of a class ask for its role first."""
    for name, role in NEEDED_ROLES.items():
        setattr(shelf, name, _with_role(getattr(shelf, name), name, role))
    for name in NOT_SERVED:
        setattr(shelf, name, _refusal(name))
    return shelf


def _with_role(operation: Callable[..., Any], name: str, role: Role) -> Callable[..., Any]:
    @wraps(operation)
    def run_with_role(self: RoleHolder, *arguments: Any, **options: Any) -> Any:
        if not options.get("dry_run"):
            self.require(role, name)
        return operation(self, *arguments, **options)

    return run_with_role


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(self: RoleHolder, *arguments: Any, **options: Any) -> Any:
        raise NotAllowed(f"{name} is not served to members: run it where the shelf is kept")

    return refuse
