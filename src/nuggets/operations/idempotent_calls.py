"""Calls from other machines: where the caller works, and how a call is done exactly once.

A call that changes something has an id. The commit records it in a mark, one of a few that each
machine uses in turn, so a call that is sent again because its answer was lost is recognized. A call
that waited in a queue also says what its author had seen: what others changed since is a conflict.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Annotated, Any

from nuggets.domain.limits import Address, Digits, Limit
from nuggets.domain.records import Anchor, Changes, MemoryNote
from nuggets.domain.state import State, with_recalls_of
from nuggets.errors import Conflict
from nuggets.named_tuple import NamedTuple
from nuggets.operations.permissions import Client
from nuggets.operations.project_identity import LIST_ITEMS, Place

CALL_MARK = "call:"
SLOTS = 64  # marks of one machine; more calls than that are never under way from one


class Call(NamedTuple):
    """What makes a call known if it is sent again."""

    machine: Digits  # an opaque id
    slot: Annotated[int, Limit(0, SLOTS - 1)]
    id: Digits
    seen: Address | None = None  # until when its author had seen what others did; None: no matter

    @property
    def mark(self) -> str:
        return f"{CALL_MARK}{self.machine}:{self.slot % SLOTS}"


def call_of_member(call: Call, member: str) -> Call:
    """The call with marks that no other member's call can have."""
    from hashlib import sha256

    return call._replace(machine=sha256(f"{member} {call.machine}".encode()).hexdigest())


class Caller(NamedTuple):
    """A client on another machine."""

    client: Client
    project: Address | None = None  # its id, if it was named; else it is recognized by the place
    place: Place | None = None  # None: in no project
    # what the text of this call names of the files there
    anchors: Annotated[tuple[Anchor, ...], Limit(0, LIST_ITEMS, "items")] = ()
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


def refuse_unseen_changes(changes: Changes, state: State, seen: str, own_times: Set[str]) -> None:
    """Raise `Conflict` if changes that waited for a server overwrite what changed after `seen`.

    `own_times`: when their author's own calls were done, which the author knows.
    """
    after = {note.id: note for note in changes.put}
    before = state.notes.many([*after, *changes.drop])
    later = [
        note
        for note in before.values()
        if note.updated_at > seen and _is_changed(note, after.get(note.id))
    ]
    if later and not {note.updated_at for note in later} <= own_times:
        note = later[0]
        raise Conflict(
            f"{note.title!r:.80} ({note.id}) was changed at {note.updated_at}, while this change "
            f"waited; it now says: {note.content[:200]!r}"
        )


def _is_changed(before: MemoryNote, after: MemoryNote | None) -> bool:
    """Links and recalls aside, which take nothing away."""
    if after is None:
        return True
    shown = with_recalls_of(before, after)
    return shown._replace(links=after.links, updated_at=after.updated_at) != after
