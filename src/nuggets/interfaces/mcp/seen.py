"""What an agent has read of each note: a whole new text is for those who saw the old one."""

from typing import NamedTuple

from nuggets.errors import Conflict
from nuggets.records import MemoryNote

REMEMBERED = 1000  # notes; of what was read longer ago nothing is known
AT_A_GLANCE = 160  # characters of a note that every index shows


class _Read(NamedTuple):
    updated_at: str
    until: int  # characters, from the start on without a gap


class Seen:
    """By session and note, the oldest forgotten first."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], _Read] = {}

    def read(self, session: str, note: MemoryNote, start: int, end: int) -> None:
        """So much of the note was shown."""
        before = self._read.pop((session, note.id), _Read(note.updated_at, 0))
        until = before.until if before.updated_at == note.updated_at else 0
        self._keep(session, note, max(until, end) if start <= until else until)

    def all_of(self, session: str, note: MemoryNote) -> MemoryNote:
        """The same; it was shown whole, or written by this very agent."""
        self._keep(session, note, len(note.content))
        return note

    def changed(self, session: str, before: MemoryNote, after: MemoryNote) -> None:
        """This agent changed something else than its text: as much of that is read as before."""
        read = self._read.get((session, after.id))
        if read is not None and (before.id, before.updated_at) == (after.id, read.updated_at):
            self._keep(session, after, read.until)

    def check(self, session: str, note: MemoryNote) -> None:
        """Refuse to replace what was not read, or not as it is now."""
        read = self._read.get((session, note.id), _Read(note.updated_at, AT_A_GLANCE))
        if read.updated_at != note.updated_at:
            raise Conflict(
                f"{note.id} was changed at {note.updated_at}, after you read it; "
                "get_note again and repeat your edit on what it says now"
            )
        if read.until < len(note.content):
            raise Conflict(
                f"{note.id} has {len(note.content)} characters and you have read {read.until}: "
                "the rest would be lost. get_note it to the end first, or create_note what is new"
            )

    def _keep(self, session: str, note: MemoryNote, until: int) -> None:
        self._read.pop((session, note.id), None)
        self._read[session, note.id] = _Read(note.updated_at, until)
        if len(self._read) > REMEMBERED:
            del self._read[next(iter(self._read))]
