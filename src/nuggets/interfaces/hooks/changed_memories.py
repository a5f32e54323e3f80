"""Memories that changed since a session was shown them: what they say now, and what they said."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nuggets.domain.records import MemoryNote
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

MEMORIES_SHOWN = 5  # that one prompt is told of; the next one is told of more


class ChangedMemory(NamedTuple):
    """A memory that a session knows in an earlier version."""

    was: MemoryNote
    now: MemoryNote | None  # None: archived or forgotten


def find_changed(shelf: "NuggetShelf", shown_at: Mapping[str, str]) -> list[ChangedMemory]:
    """Those of the notes whose text changed after the session was shown it; `shown_at`: when."""
    with shelf.snapshot():
        notes = shelf.get_notes(shown_at)
        changed: list[ChangedMemory] = []
        for note_id, moment in shown_at.items():
            current = notes.get(note_id)
            if current is not None and max(current.updated_at, current.archived_at or "") <= moment:
                continue
            was = shelf.note_at(note_id, moment)
            now = None if current is None or current.hidden else current
            if was is not None and not was.hidden and _differ(was, now):
                changed.append(ChangedMemory(was, now))
            if len(changed) == MEMORIES_SHOWN:
                break
    return changed


def _differ(was: MemoryNote, now: MemoryNote | None) -> bool:
    return now is None or (was.title, was.content) != (now.title, now.content)
