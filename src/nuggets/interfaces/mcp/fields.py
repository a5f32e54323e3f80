"""What a model is told of an answer: the documented names, and of the fields those that help it.

Some hosts give a model the structure and not the text, so each field costs tokens at every call.
"""

from collections.abc import Iterable
from itertools import accumulate

from nuggets import codec
from nuggets.codec import Json
from nuggets.interfaces.fencing import one_line
from nuggets.interfaces.mcp.seen import AT_A_GLANCE
from nuggets.records import MemoryNote

ROOM = 4800  # characters of an index, about 1,200 tokens: it is read at every question
LINKS = 20  # of a note: more are a list, not what it is about

_NAMED = ("id", "title")  # an id begins with the nugget
_WEIGHED = ("source", "updatedAt")  # whose word it is, and how old
_RECALLED = ("found", "answer", "key", "nugget", "match", "ratio", "confidence", "margin")
_OURS_ALONE = ("hitSessions", "lastHitSession", "lastInspectedAt")  # of no use to whoever reads it


def picked(shape: Json, names: Iterable[str]) -> Json:
    """The shape with these fields alone."""
    return {name: shape[name] for name in names if name in shape}


def indexed(note: MemoryNote, foreign: bool) -> Json:
    """A note in an index: how its text begins, and what one must know to trust or open it."""
    told = ["project"] * foreign + ["hidden"] * note.hidden
    shape = picked(codec.note_to_json(note, vector=False), (*_NAMED, "content", *_WEIGHED, *told))
    return {**shape, "content": one_line(note.content, AT_A_GLANCE)}


def recalled(shape: Json) -> Json:
    """The answer of a recall; which note it is says how to open it."""
    found = picked(shape, _RECALLED)
    if not shape["found"]:
        return found
    found["note"] = picked(shape["note"], ("id", *_WEIGHED, "project"))
    if "also" in shape:
        found["also"] = [picked(one, _NAMED) for one in shape["also"]]
    return found


def whole(note: MemoryNote) -> Json:
    """A note to read; what is left out of its links is counted."""
    shape = codec.note_to_json(note, vector=False)
    for name in _OURS_ALONE:
        shape.pop(name, None)
    shape["links"] = [picked(link, ("to", "reason")) for link in shape["links"][:LINKS]]
    more = len(note.links) - LINKS
    return {**shape, "omittedLinks": more} if more > 0 else shape


def room_for(sizes: Iterable[int]) -> int:
    """How many entries of these sizes an index has room for: at least one."""
    return max(1, sum(total <= ROOM for total in accumulate(sizes)))
