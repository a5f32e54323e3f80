"""Calls from other machines: where the caller works, and how a call is done exactly once.

A call that changes something has an id. The commit records it in a mark, one of a few that each
machine uses in turn, so a call that is sent again because its answer was lost is recognized. A call
that waited in a queue also says what its author had seen: what others changed since is a conflict.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from nuggets.domain.limits import Address, Digits, Limit
from nuggets.domain.records import Anchor, Changes
from nuggets.domain.state import State
from nuggets.named_tuple import NamedTuple
from nuggets.operations.client_permissions import Client
from nuggets.operations.project_identity import Location
from nuggets.operations.write_conflicts import refuse_unseen_changes

CALL_MARK = "call:"
ANCHORS = 100  # of one text
FOLDERS = 100  # one in the other
SLOTS = 64  # marks of one machine; more calls than that are never under way from one


class Place(NamedTuple):
    """Where someone works on another machine."""

    location: Location  # its path names the machine too
    folders: Annotated[
        tuple[Address, ...], Limit(0, 100, "items")
    ] = ()  # a plain folder and those around it; none for a repository


class Call(NamedTuple):
    """What makes a call known if it is sent again."""

    machine: Digits  # an opaque id
    slot: Annotated[int, Limit(0, SLOTS - 1)]
    id: Digits
    seen: Address | None = None  # until when its author had seen what others did; None: no matter

    @property
    def mark(self) -> str:
        return f"{CALL_MARK}{self.machine}:{self.slot % SLOTS}"


class Caller(NamedTuple):
    """A client on another machine."""

    client: Client
    project: Address | None = None  # its id, if it was named; else it is recognized by the place
    place: Place | None = None  # None: in no project
    # what the text of this call names of the files there
    anchors: Annotated[tuple[Anchor, ...], Limit(0, ANCHORS, "items")] = ()
    digits: tuple[Digits, ...] = ()  # for the ids of new notes, so that they are as promised there
    call: Call | None = None


class DoneBefore(Exception):
    """The call was done when it was sent before."""


def check_call(call: Call, marks: Mapping[str, Any]) -> None:
    """Raise `DoneBefore` if a commit of this call is recorded."""
    recorded = marks.get(call.mark)
    if isinstance(recorded, list) and recorded[:1] == [call.id]:
        raise DoneBefore(call.id)


def record_call(call: Call, changes: Changes, state: State, now: str) -> Changes:
    """The changes with the mark of the call; `Conflict` if they overwrite what its author has not
    seen."""
    if changes == Changes():
        return changes
    if call.seen is not None:
        own = frozenset(_own_times(call, state.marks))
        refuse_unseen_changes(changes, state, call.seen, own)
    return changes._replace(marks={**changes.marks, call.mark: [call.id, now]})


def _own_times(call: Call, marks: Mapping[str, Any]) -> Iterable[str]:
    """When earlier calls of this machine were done: those changes its author knows."""
    for slot in range(SLOTS):
        recorded = marks.get(call._replace(slot=slot).mark)
        if isinstance(recorded, list) and len(recorded) == 2:
            yield recorded[1]
