"""Whose memories a project and a team see, and which of them come first.

A memory belongs to one project, or to none (""), and then it is valid in every project. In a team
its scope says whether everybody sees it.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Owned(Protocol):
    """Anything that belongs to a project, or with "" to none."""

    @property
    def project(self) -> str: ...


class Scoped(Protocol):
    """Anything that has a scope."""

    @property
    def scope(self) -> str: ...


T = TypeVar("T", bound=Owned)
PRIVATE_SCOPES = ("user", "self", "session")  # the others are a team's


def is_private(memory: Scoped) -> bool:
    """Whether in a team only one person may see it."""
    return memory.scope in PRIVATE_SCOPES


def visible_projects(project: str) -> tuple[str, ...]:
    """The values of `project` that memories seen in this project may have."""
    return (project, "")


def is_foreign(memory: Owned, project: str) -> bool:
    """Whether it belongs to another project than this one."""
    return memory.project not in visible_projects(project)


def precedence(memory: Owned, project: str) -> int:
    """This project's own memories come first (0), then those of none (1), then others' (2)."""
    if is_foreign(memory, project):
        return 2
    return 0 if memory.project == project else 1


def first_in_precedence(memories: Iterable[T], project: str) -> list[T]:
    """The memories that come before all others of them, in the order given."""
    ranked = [(precedence(memory, project), memory) for memory in memories]
    first = min((rank for rank, _ in ranked), default=0)
    return [memory for rank, memory in ranked if rank == first]


def may_be_linked(a: Owned, b: Owned) -> bool:
    """Whether they belong to the same project, or one of them to none."""
    return not is_foreign(a, b.project) or not is_foreign(b, a.project)
