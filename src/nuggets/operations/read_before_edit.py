"""Which part of which note each session has read: only a text that was read may be replaced."""

from nuggets.domain.records import MemoryNote
from nuggets.errors import Conflict
from nuggets.named_tuple import NamedTuple

NOTES_KEPT = 1000  # what was read longer ago is forgotten
AT_A_GLANCE = 160  # characters of a note that every index shows


class _Reading(NamedTuple):
    updated_at: str
    until: int  # characters, from the start on without a gap


class ReadingRecord:
    """What each session has read of each note; the oldest entries are dropped first."""

    def __init__(self) -> None:
        self._readings: dict[tuple[str, str], _Reading] = {}

    def add(self, session: str, note: MemoryNote, start: int, end: int) -> None:
        """Record that the client was shown, or wrote, this part of the note's text."""
        before = self._readings.get((session, note.id), _Reading(note.updated_at, 0))
        until = before.until if before.updated_at == note.updated_at else 0
        self._keep(session, note, max(until, end) if start <= until else until)

    def carry_over(self, session: str, before: MemoryNote, after: MemoryNote) -> None:
        """Keep what was read after the client changed a note but not its text."""
        reading = self._readings.get((session, after.id))
        if reading is not None and before.updated_at == reading.updated_at:
            self._keep(session, after, reading.until)

    def check(self, session: str, note: MemoryNote) -> None:
        """Refuse to replace what was not read, or not as it is now."""
        reading = self._readings.get((session, note.id), _Reading(note.updated_at, AT_A_GLANCE))
        if reading.updated_at != note.updated_at:
            raise Conflict(
                f"{note.id} was changed at {note.updated_at}, after you read it; "
                "get_note again and repeat your edit on what it says now"
            )
        if reading.until < len(note.content):
            raise Conflict(
                f"{note.id} has {len(note.content)} characters and you have read {reading.until}: "
                "the rest would be lost. get_note it to the end first, or create_note what is new"
            )

    def _keep(self, session: str, note: MemoryNote, until: int) -> None:
        self._readings.pop((session, note.id), None)
        self._readings[session, note.id] = _Reading(note.updated_at, until)
        if len(self._readings) > NOTES_KEPT:
            del self._readings[next(iter(self._readings))]
