"""What a tool is: how a model is told of it, and what it does with the shelf."""

from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from nuggets.interfaces import answers
from nuggets.interfaces.fencing import project_name
from nuggets.interfaces.mcp.arguments import TEXT, Schema, object_schema
from nuggets.interfaces.mcp.seen import Seen
from nuggets.records import MemoryNote

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

Json = dict[str, Any]


class Asked(NamedTuple):
    """One call: the door to the shelf, who is asking, when, what they have read and written."""

    shelf: "NuggetShelf"
    session: str
    now: str
    seen: Seen
    written: Set[int]  # revisions


class Answer(NamedTuple):
    """The structure and the text: which of the two a model reads is up to its host."""

    structured: Json
    text: str


class Hints(NamedTuple):
    """What a host may tell its user before it allows a call."""

    read_only: bool
    destructive: bool
    idempotent: bool


READ = Hints(read_only=True, destructive=False, idempotent=True)
ADD = Hints(read_only=False, destructive=False, idempotent=False)
CHANGE = Hints(read_only=False, destructive=True, idempotent=True)
TIDY = Hints(read_only=False, destructive=False, idempotent=False)  # hides, never loses


class Tool(NamedTuple):
    """One tool. Its description says when to use it, not only what it does."""

    name: str
    title: str
    description: str
    arguments: Schema
    result: Schema
    hints: Hints
    run: Callable[[Asked, Json], Answer]


HEAD: Schema = object_schema({"id": TEXT}, ("id",))  # a list of tools is short; the text says more


def receipt(verb: str, note: MemoryNote) -> Answer:
    """What a write says: where exactly the memory went, and whose word it is. Not its title, which
    others may have written."""
    return Answer(
        answers.brief(note),
        f"{verb} {note.id} in nugget {note.nugget_name}, scope {note.scope}, {note.stability}, "
        f"source {note.source}, valid {valid_in(note.project)}.",
    )


def valid_in(project: str) -> str:
    """Where a memory is valid, in the words of a receipt."""
    return f"only in project {project_name(project)}" if project else "in every project"
