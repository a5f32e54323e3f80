"""The definition of a tool: its description for a model, its function, and what a model gets of an
answer: the fields that help it, under their documented names.

Some hosts give a model the JSON and not the text, so every field costs tokens at every call.
"""

from collections.abc import Callable, Iterable, Set
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.domain.credentials import names_secret
from nuggets.domain.records import MemoryNote, WrittenNote
from nuggets.interfaces import json_responses
from nuggets.interfaces.json_schemas import Parameters, Schema, parameters_of, some_of
from nuggets.interfaces.prompt_quoting import fence, project_name
from nuggets.language.text import one_line
from nuggets.named_tuple import NamedTuple
from nuggets.operations.permissions import AT_A_GLANCE

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf


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
    result: Schema
    hints: Hints
    run: Callable[..., Answer]  # takes the call, and by name what the model sent
    arguments: Parameters


def tool(
    title: str, description: str, result: Schema, hints: Hints
) -> Callable[[Callable[..., Answer]], Tool]:
    """Make a function a tool of its name. Its first parameter is the call; the others, with their
    types, are what a model may send."""

    def define(run: Callable[..., Answer]) -> Tool:
        name = run.__name__.strip("_")
        return Tool(name, title, description, result, hints, run, parameters_of(run))

    return define


def tools_of(*modules: Any) -> list[Tool]:
    """The tools that these modules define, in their order."""
    return [part for module in modules for part in vars(module).values() if isinstance(part, Tool)]


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
    if names_secret(f"{note.title}: {note.content}"):
        text += (
            " It names a password, PIN or code: if that is in it too, tell the person, who can "
            f"erase it with `nuggets note delete {note.id} --purge`."
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


# --- which fields a model gets, and how many entries -------------------------------------------


ROOM = 4800  # characters of an index, about 1,200 tokens
MOST_LINKS = 20  # links of a note

_NAME_FIELDS = ("id", "title")  # an id begins with the nugget
_TRUST_FIELDS = ("source", "updatedAt")  # source and age
_RECALL_FIELDS = (
    *("found", "answer", "probability", "missing", "doubt", "key", "nugget", "match", "ratio"),
    *("confidence", "margin", "validFrom", "validUntil", "caveats"),
)
_INTERNAL = (  # of no use to a model
    *("hitSessions", "lastHitSession", "lastInspectedAt", "anchors", "stabilityGiven"),
)


def pick(shape: Json, names: Iterable[str]) -> Json:
    """Only these fields of a shape."""
    return {name: shape[name] for name in names if name in shape}


def index_entry(note: MemoryNote, foreign: bool) -> Json:
    """A note in an index: the beginning of its text, its source and age."""
    extra = ["project"] * foreign + ["hidden"] * note.hidden
    shape = pick(
        codec.note_to_json(note, vector=False), (*_NAME_FIELDS, "content", *_TRUST_FIELDS, *extra)
    )
    return {**shape, "content": one_line(note.content, AT_A_GLANCE)}


def session_entry(note: MemoryNote, foreign: bool, is_whole: bool) -> Json:
    """The note of a session in a list of them: its title, when it ended, and its text if asked."""
    extra = ["content"] * is_whole + ["project"] * foreign
    return pick(codec.note_to_json(note, vector=False), (*_NAME_FIELDS, "updatedAt", *extra))


def recall_fields(shape: Json) -> Json:
    """The answer of a recall, with the note's id to open it by."""
    answer = pick(shape, _RECALL_FIELDS)
    if "note" not in shape:
        return answer
    answer["note"] = pick(shape["note"], ("id", *_TRUST_FIELDS, "project"))
    if "also" in shape:
        answer["also"] = [pick(note, _NAME_FIELDS) for note in shape["also"]]
    return answer


def full_note(note: MemoryNote) -> Json:
    """All of a note; links that are left out are counted."""
    shape = codec.note_to_json(note, vector=False)
    for name in _INTERNAL:
        shape.pop(name, None)
    shape["links"] = [pick(link, ("to", "reason")) for link in shape["links"][:MOST_LINKS]]
    more = len(note.links) - MOST_LINKS
    return {**shape, "omittedLinks": more} if more > 0 else shape


def room_for(sizes: Iterable[int]) -> int:
    """How many entries of these sizes fit into an index: at least one."""
    return max(1, sum(total <= ROOM for total in accumulate(sizes)))
