"""When two facts are the same one: they have one nugget, one key and one project.

Case does not matter in names and keys. Two projects may know different things by one key.
"""

from nuggets.domain.records import MemoryNote
from nuggets.domain.state import Notes
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple


class FactIdentity(NamedTuple):
    """What a fact is known by, apart from the id of its note."""

    nugget: str  # folded
    key: str  # folded
    project: str


def identity(nugget: str, key: str, project: str) -> FactIdentity:
    """The identity of the fact with this key."""
    return FactIdentity(fold_case(nugget), fold_case(key), project)


def identity_of(fact: MemoryNote) -> FactIdentity:
    """The identity of a note of kind fact."""
    return identity(fact.nugget_name, fact.title, fact.project)


def facts_with_key(notes: Notes, nugget: str, key: str) -> list[MemoryNote]:
    """The facts of exactly this key in every project, archived ones too, oldest first."""
    titled = notes.find(nugget=nugget, title=key, kind="fact")
    return [fact for fact in titled if fold_case(fact.title) == fold_case(key)]
