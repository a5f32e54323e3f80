"""Which fields of an answer a model gets: those that help it, under their documented names.

Some hosts give a model the JSON and not the text, so every field costs tokens at every call.
"""

from collections.abc import Iterable
from itertools import accumulate

from nuggets.domain import codec
from nuggets.domain.codec import Json
from nuggets.domain.records import MemoryNote
from nuggets.interfaces.prompt_quoting import one_line
from nuggets.operations.read_before_edit import AT_A_GLANCE

ROOM = 4800  # characters of an index, about 1,200 tokens
MOST_LINKS = 20  # links of a note

_NAME_FIELDS = ("id", "title")  # an id begins with the nugget
_TRUST_FIELDS = ("source", "updatedAt")  # source and age
_RECALL_FIELDS = (
    *("found", "answer", "probability", "missing", "key", "nugget", "match", "ratio"),
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
