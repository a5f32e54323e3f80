"""The vectors of a shelf's notes, as an index that its store keeps, and what an encoder must offer.
Needs no NumPy before it compares.

A note that was written or changed waits in `encoder_pending` until someone encodes it. Archived
notes have no vector. A vector is kept as integers of one byte with a common scale; those of the
newest notes are compared with a question, which are all of nearly every shelf.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from nuggets.domain.records import MemoryNote
    from nuggets.domain.state import Database
    from nuggets.encoder.quantized_vectors import Cosines, VectorMatrix

    Replaced = tuple[int, MemoryNote | None, MemoryNote | None]  # place, before, after
    Pending = tuple[int, str, "NoteText"]  # place, note, what the encoder reads of it

MOST_COMPARED = 100_000  # vectors, those of the newest notes: 39 MB, and 25 ms a question
MOST_CHARACTERS = 2000  # of a note; the encoder reads at most 256 pieces of words
ENCODER, REVISION = "encoder", "revision"  # rows of `encoder_state`


class TextEncoder(Protocol):
    """Turns texts into vectors of one length, near each other where the texts mean the same."""

    def encode(self, texts: Sequence[str]) -> Any:
        """One vector for each text."""


class Encoder(TextEncoder, Protocol):
    """One that is told from others."""

    @property
    def name(self) -> str:
        """Vectors of encoders with different names are never compared."""


class NearestNotes(NamedTuple):
    """Cosines of the nearest notes."""

    cosines: Mapping[str, float]  # by note, the nearest first
    compared: int  # notes that have a vector
    common: float = 1.0  # cosine of the nearest prompt that asks for no memory; 1: not known

    def cosine(self, note_id: str) -> float:
        """Of a note that is not among the nearest: the most that it can be."""
        farthest = min(self.cosines.values(), default=0.0)
        return self.cosines.get(note_id, farthest if len(self.cosines) < self.compared else 0.0)


class NoteText(NamedTuple):
    """What the encoder reads of a note."""

    title: str
    content: str


class Counts(NamedTuple):
    """How many notes have a vector, and how many wait for one."""

    encoded: int
    waiting: int


class VectorIndex:
    """Follows changes inside the transaction that makes them; compares vectors with a question."""

    def __init__(
        self,
        database: "Database",
        notes: "Callable[[Sequence[str]], Mapping[str, MemoryNote]]",
        all_notes: "Callable[[], Iterable[MemoryNote]]" = tuple,
    ) -> None:
        """`notes` gives notes by their ids; `all_notes` all that there are, for `check`."""
        self._database = database
        self._notes = notes
        self._all_notes = all_notes
        self._unsaved: list[tuple[Pending, bytes]] = []
        self._encoder = ""
        self._matrix: tuple[int, VectorMatrix] | None = None  # by revision

    # --- following changes ------------------------------------------------------------------

    def update(self, replaced: "Iterable[Replaced]") -> None:
        """Drop the vectors of notes whose text changed; new texts wait for the encoder."""
        changed = [
            (place, before, after)
            for place, before, after in replaced
            if text_of(before) != text_of(after)
        ]
        if not changed:
            return
        for place, before, _ in changed:
            if before is not None:
                self._delete(place, before.id)
        self._add_pending((place, after) for place, _, after in changed)
        self._raise_revision()

    def rebuild(self, notes: "Iterable[tuple[int, MemoryNote]]") -> None:
        """Let all notes wait for the encoder."""
        for table in ("encoder_vectors", "encoder_pending"):
            self._database.execute(f"DELETE FROM {table}")
        self._add_pending(notes)
        self._matrix = None
        self._raise_revision()

    def forget_traces(self, note_ids: "Collection[str]") -> None:
        """The rows went when the notes were dropped; nothing else holds their text."""
        self._matrix = None

    def _delete(self, place: int, note_id: str) -> None:
        for table in ("encoder_vectors", "encoder_pending"):
            self._database.execute(
                f"DELETE FROM {table} WHERE place = ? AND note = ?", (place, note_id)
            )

    def _add_pending(self, notes: "Iterable[tuple[int, MemoryNote | None]]") -> None:
        self._database.executemany(
            "INSERT INTO encoder_pending (place, note) VALUES (?, ?)"
            " ON CONFLICT (place) DO UPDATE SET note = excluded.note",
            ((place, note.id) for place, note in notes if note is not None and text_of(note)),
        )

    def check(self) -> list[str]:
        """Complaints if a note is left out, or one is kept that is gone or archived."""
        kept = [
            note
            for table in ("encoder_vectors", "encoder_pending")
            for (note,) in self._database.execute(f"SELECT note FROM {table}")
        ]
        visible = {note.id for note in self._all_notes() if text_of(note)}
        if len(kept) == len(visible) and set(kept) == visible:
            return []
        return [f"the vectors are of {len(kept)} notes, and {len(visible)} should have one"]

    # --- encoding ---------------------------------------------------------------------------

    @property
    def counts(self) -> Counts:
        encoded, waiting = (
            self._database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("encoder_vectors", "encoder_pending")
        )
        return Counts(encoded, waiting)

    @property
    def encoder_name(self) -> str:
        """Of the encoder that made the vectors; "" if there are none yet."""
        return self._state(ENCODER)

    def pending(self, most: int) -> "list[Pending]":
        """Place, id and text of the newest notes that wait for the encoder."""
        rows = self._database.execute(
            "SELECT place, note FROM encoder_pending ORDER BY place DESC LIMIT ?", (most,)
        ).fetchall()
        notes = self._notes([note_id for _, note_id in rows])
        texts = [(place, note_id, text_of(notes.get(note_id))) for place, note_id in rows]
        return [(place, note_id, text) for place, note_id, text in texts if text is not None]

    def add(self, encoder: str, pending: "Sequence[Pending]", vectors: "Iterable[Any]") -> None:
        """Keep vectors of texts that `pending` gave, until they are saved."""
        from nuggets.encoder.quantized_vectors import pack

        if encoder != self._encoder:
            self._encoder, self._unsaved = encoder, []
        self._unsaved += zip(pending, map(pack, vectors), strict=True)

    @property
    def has_unsaved(self) -> bool:
        return bool(self._unsaved)

    def save(self) -> None:
        """Save vectors, unless their notes changed meanwhile; inside a transaction."""
        encoded, self._unsaved = self._unsaved, []
        if self._state(ENCODER) != self._encoder:
            self._database.execute(
                "INSERT INTO encoder_pending (place, note) SELECT place, note FROM encoder_vectors"
            )
            self._database.execute("DELETE FROM encoder_vectors")
            self._set_state(ENCODER, self._encoder)
        notes = self._notes([note_id for (_, note_id, _), _ in encoded])
        for (place, note_id, text), vector in encoded:
            note = notes.get(note_id)
            waits = self._database.execute(
                "SELECT 1 FROM encoder_pending WHERE place = ? AND note = ?", (place, note_id)
            ).fetchone()
            if waits and note is not None and text_of(note) == text:
                self._delete(place, note_id)
                self._database.execute(
                    "INSERT INTO encoder_vectors (place, note, vector) VALUES (?, ?, ?)",
                    (place, note_id, vector),
                )
        self._raise_revision()

    # --- comparing --------------------------------------------------------------------------

    def compare(self, encoder: str, vector: Any) -> "Cosines | None":
        """The cosines of all notes with this vector; None if another encoder made theirs."""
        from nuggets.encoder.quantized_vectors import VectorMatrix, cosines

        if self.encoder_name != encoder:
            return None
        revision = int(self._state(REVISION) or 0)
        if self._matrix is None or self._matrix[0] != revision:
            rows = self._database.execute(
                "SELECT note, vector FROM encoder_vectors ORDER BY place DESC LIMIT ?",
                (MOST_COMPARED,),
            )
            self._matrix = revision, VectorMatrix(list(rows))
        return cosines(self._matrix[1], vector)

    def _state(self, name: str) -> str:
        row = self._database.execute(
            "SELECT value FROM encoder_state WHERE name = ?", (name,)
        ).fetchone()
        return "" if row is None else str(row[0])

    def _set_state(self, name: str, value: str) -> None:
        self._database.execute(
            "INSERT INTO encoder_state (name, value) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )

    def _raise_revision(self) -> None:
        self._set_state(REVISION, str(int(self._state(REVISION) or 0) + 1))


def text_of(note: "MemoryNote | None") -> NoteText | None:
    """What the encoder reads of a note; None if the note has no vector."""
    if note is None or note.hidden:
        return None
    return NoteText(note.title, note.content[:MOST_CHARACTERS])
