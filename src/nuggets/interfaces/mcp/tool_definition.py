"""The definition of a tool: its description for a model, and its function."""

from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any

from nuggets.domain.records import MemoryNote, WrittenNote
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import Parameters, Schema, some_of
from nuggets.interfaces.prompt_quoting import fence, one_line, project_name
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

Json = dict[str, Any]


class ToolCall(NamedTuple):
    """One call of a tool: the shelf, the session, the time, and the revisions the session wrote."""

    shelf: "NuggetShelf"
    session: str
    now: str
    written: Set[int]  # revisions


class Answer(NamedTuple):
    """An answer as JSON and as text; the host decides which of the two a model reads."""

    structured: Json
    text: str


class Hints(NamedTuple):
    """Annotations that a host may show before it allows a call."""

    read_only: bool
    destructive: bool
    idempotent: bool


READ = Hints(read_only=True, destructive=False, idempotent=True)
ADD = Hints(read_only=False, destructive=False, idempotent=False)
CHANGE = Hints(read_only=False, destructive=True, idempotent=True)
TIDY = Hints(read_only=False, destructive=False, idempotent=False)  # archives, never deletes


class Tool(NamedTuple):
    """One tool. Its description says when to use it, not only what it does."""

    name: str
    title: str
    description: str
    arguments: Parameters
    result: Schema
    hints: Hints
    run: Callable[[ToolCall, Json], Answer]


# What a tool answers with, in few words, because hosts list all tools; the text says more.
HEAD: Schema = some_of({"id": str})
ITEMS: Schema = {"type": "array"}
INDEX: Schema = some_of({"results": ITEMS, "omitted": int})


def receipt(verb: str, note: MemoryNote) -> Answer:
    """The answer to a write: where the memory was stored and its source. Not its title, which may
    be hostile text."""
    text = (
        f"{verb} {note.id} in nugget {note.nugget_name}, scope {note.scope}, {note.stability}, "
        f"source {note.source}, valid {valid_in(note.project)}."
    )
    if not isinstance(note, WrittenNote) or not note.contradicts:
        return Answer(json_responses.brief(note), text)
    lines = (f"{other.id}: {one_line(other.content, 200)}" for other in note.contradicts)
    return Answer(
        {**json_responses.brief(note), **json_responses.contradictions(note)},
        f"{text} It contradicts what is stored; both stand. If only the new one holds, call "
        f"edit_note on {note.id} with supersedes:\n" + fence("\n".join(lines)),
    )


def valid_in(project: str) -> str:
    """Where a memory is valid, for a receipt."""
    return f"only in project {project_name(project)}" if project else "in every project"
