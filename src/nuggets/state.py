"""All that a shelf holds at one revision, and how changes move it on.

Every store and every picture goes through `State.apply`, so they cannot come to differ.
"""

from collections.abc import Iterable
from typing import Any

from nuggets.records import Changes, MemoryNote, NuggetConfig, Touch
from nuggets.text import folded

SESSIONS_KEPT = 64  # per note: enough to know a session again, bounded on disk


class State:
    """Notes by id (in order of creation), nuggets and marks. Knows no store."""

    def __init__(self) -> None:
        self.notes: dict[str, MemoryNote] = {}
        self.nuggets: dict[str, NuggetConfig] = {}  # by folded name
        self.marks: dict[str, Any] = {}

    def apply(self, changes: Changes) -> None:
        """Take the changes over, all of them."""
        for config in changes.put_nuggets:
            self.nuggets[folded(config.name)] = config
        for note in changes.put:
            self.notes[note.id] = note
        for touch in changes.touches:
            note_or_none = self.notes.get(touch.note_id)
            if note_or_none is not None:
                self.notes[touch.note_id] = touched(note_or_none, touch)
        for note_id in changes.drop:
            self.notes.pop(note_id, None)
        for name in changes.drop_nuggets:
            self.nuggets.pop(folded(name), None)
        for mark, value in changes.marks.items():
            if value is None:
                self.marks.pop(mark, None)
            else:
                self.marks[mark] = value

    def copy(self) -> "State":
        """The same at this moment; the records in it are frozen and shared."""
        other = State()
        other.notes = dict(self.notes)
        other.nuggets = dict(self.nuggets)
        other.marks = dict(self.marks)
        return other

    def everything(self) -> Changes:
        """The changes that lead from nothing to here."""
        return Changes(
            put=tuple(self.notes.values()),
            put_nuggets=tuple(self.nuggets.values()),
            marks=dict(self.marks),
        )

    def before(self, changes: Changes) -> Changes:
        """The changes that would lead back: before-images of all that `changes` puts or drops."""
        notes = [*(note.id for note in changes.put), *changes.drop]
        nuggets = [*(config.name for config in changes.put_nuggets), *changes.drop_nuggets]
        return Changes(
            put=tuple(self.notes[i] for i in notes if i in self.notes),
            drop=tuple(i for i in notes if i not in self.notes),
            put_nuggets=tuple(
                self.nuggets[folded(n)] for n in nuggets if folded(n) in self.nuggets
            ),
            drop_nuggets=tuple(n for n in nuggets if folded(n) not in self.nuggets),
            marks={mark: self.marks.get(mark) for mark in changes.marks},
        )


def touched(note: MemoryNote, touch: Touch) -> MemoryNote:
    """The note after it was shown: a session counts once, however often it asks."""
    accessed = max(note.last_accessed_at, touch.at)
    if not touch.session or touch.session in note.hit_sessions:
        return note._replace(last_accessed_at=accessed)
    return note._replace(
        last_accessed_at=accessed,
        hits=note.hits + 1,
        last_hit_session=touch.session,
        hit_sessions=(*note.hit_sessions, touch.session)[-SESSIONS_KEPT:],
    )


def with_recalls_of(note: MemoryNote, other: MemoryNote) -> MemoryNote:
    """The note as if it had been shown when the other one was."""
    return note._replace(
        hits=other.hits,
        hit_sessions=other.hit_sessions,
        last_hit_session=other.last_hit_session,
        last_accessed_at=other.last_accessed_at,
    )


def merged_into(note: MemoryNote) -> list[str]:
    """The notes that an archived one went into: what is merged gets its last link as it goes."""
    since = note.archived_at if note.hidden else None
    return [link.to for link in note.links if since is not None and link.created_at >= since]


def merged(many: Iterable[Changes]) -> Changes:
    """Several changes as one, later ones winning; touches go where their notes are."""
    after = State()
    dropped: dict[str, None] = {}
    dropped_nuggets: dict[str, str] = {}
    touches: list[Touch] = []
    marks: dict[str, Any] = {}
    last = Changes()
    for last in many:
        written = {note.id for note in last.put}
        for note_id in written:
            dropped.pop(note_id, None)
        for config in last.put_nuggets:
            dropped_nuggets.pop(folded(config.name), None)
        touches = [touch for touch in touches if touch.note_id not in written]
        after.apply(last)
        touches.extend(touch for touch in last.touches if touch.note_id not in after.notes)
        dropped.update(dict.fromkeys(last.drop))
        dropped_nuggets.update({folded(name): name for name in last.drop_nuggets})
        marks.update(last.marks)
    return Changes(
        put=tuple(after.notes.values()),
        drop=tuple(dropped),
        put_nuggets=tuple(after.nuggets.values()),
        drop_nuggets=tuple(dropped_nuggets.values()),
        touches=tuple(touches),
        marks=marks,
        action=last.action,
        client=last.client,
    )
