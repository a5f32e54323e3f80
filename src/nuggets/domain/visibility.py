"""Whose memories a project and a team see, which of them come first, and what filters leave.

A memory belongs to one project, or to none (""), and then it is valid in every project. In a team
its scope says whether everybody sees it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from nuggets.domain.names_and_tags import CONFIRMED, normal_tag
from nuggets.domain.records import MemoryNote, NoteFilterOptions
from nuggets.errors import InvalidInput
from nuggets.language.text import fold_case


class Owned(Protocol):
    """Anything that belongs to a project, or with "" to none."""

    @property
    def project(self) -> str: ...


T = TypeVar("T", bound=Owned)
PRIVATE_SCOPES = ("user", "self", "session")  # the others are a team's


def is_private(memory: MemoryNote) -> bool:
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


def is_observed(memory: MemoryNote) -> bool:
    """Whether a tool saw it and nobody said it."""
    return memory.source == "tool_observation"


def is_unconfirmed(memory: MemoryNote) -> bool:
    """Whether a tool saw it and nobody vouches for it: planted text could be its origin."""
    return is_observed(memory) and CONFIRMED not in memory.tags


def is_seen_file(memory: MemoryNote) -> bool:
    """Whether it only says that a file was touched: a hook wrote it, and it passes."""
    return is_observed(memory) and memory.stability == "temporary"


def is_of_conversation(memory: MemoryNote) -> bool:
    """Whether a hook wrote it about a conversation."""
    return (memory.source, memory.scope) == ("system", "session")


def may_be_linked(a: Owned, b: Owned) -> bool:
    """Whether they belong to the same project, or one of them to none."""
    return not is_foreign(a, b.project) or not is_foreign(b, a.project)


# --- filters ----------------------------------------------------------------------------------

_NO_FILTERS = NoteFilterOptions()


def combine_filters(filters: NoteFilterOptions, wanted: Mapping[str, Any]) -> NoteFilterOptions:
    """The filters with those given by name, checked and in written form."""
    if not isinstance(filters, NoteFilterOptions):
        raise InvalidInput(f"filters are NoteFilterOptions, or given by name; not {filters!r:.80}")
    unknown = wanted.keys() - set(NoteFilterOptions._fields)
    if unknown:
        raise InvalidInput(
            f"there is no filter called {', '.join(sorted(unknown))}; "
            f"there are: {', '.join(NoteFilterOptions._fields)}"
        )
    return checked_filters(filters._replace(**wanted))


def checked_filters(filters: NoteFilterOptions) -> NoteFilterOptions:
    """The filters, with tags in normal form; an unknown value is refused, because it would match
    nothing."""
    if filters != _NO_FILTERS:
        from nuggets.domain.type_check import check_fields  # most questions have no filter

        check_fields(filters._asdict(), NoteFilterOptions)
    return filters if filters.tag is None else filters._replace(tag=normal_tag(filters.tag))


def matches(note: MemoryNote, filters: NoteFilterOptions) -> bool:
    """Whether the note meets all that is asked."""
    return (
        (filters.include_hidden or not note.hidden)
        and filters.subject in (None, note.subject)
        and filters.scope in (None, note.scope)
        and filters.type in (None, note.type)
        and filters.kind in (None, note.kind)
        and (filters.nugget is None or fold_case(filters.nugget) == fold_case(note.nugget_name))
        and (filters.tag is None or filters.tag in note.tags)
    )
