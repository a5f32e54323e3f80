"""Which changes are refused, because someone else changed the same memory meanwhile."""

from collections.abc import Set
from typing import TYPE_CHECKING

from nuggets.domain import times
from nuggets.domain.records import Changes, MemoryNote
from nuggets.domain.state import State
from nuggets.errors import Conflict

if TYPE_CHECKING:
    from datetime import datetime

_OF_OTHERS = (  # fields whose change takes nothing from anybody
    *("links", "hits", "last_hit_session", "hit_sessions", "last_accessed_at", "updated_at"),
)


def refuse_if_changed(note: MemoryNote, read_at: "str | datetime") -> None:
    """Raise `Conflict` if an edit is of an older note: `read_at` is its `updated_at` when read."""
    if note.updated_at != times.normalize_time(read_at):
        raise Conflict(
            f"{note.id} was changed at {note.updated_at}, after you read it; "
            "read it again and repeat your edit"
        )


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
    return any(
        getattr(before, field) != getattr(after, field)
        for field in before._fields
        if field not in _OF_OTHERS
    )
