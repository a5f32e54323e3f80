"""The sentence encoder of a shelf: how a question is compared with notes by meaning, and the
vectors of notes that wait for it."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.encoder.text_encoder import Encoder, TextEncoder
from nuggets.errors import NotFound, NuggetsError
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.encoder.text_encoder import Encoder, NearestNotes
    from nuggets.encoder.vector_index import VectorIndex
    from nuggets.operations.transactions import Transactions, View
    from nuggets.search.encoder_signal import Meaning, Similarity


INDEX = "encoder"  # the name of the index that keeps the vectors


class NamedEncoder:
    """A function from texts to vectors, or an object with such a method `encode` and no name, as
    those of model2vec and sentence-transformers are."""

    def __init__(self, encoder: Any) -> None:
        kind = encoder if hasattr(encoder, "__qualname__") else type(encoder)
        self.name = f"{kind.__module__}.{kind.__qualname__}"
        self._function = getattr(encoder, "encode", encoder)

    def encode(self, texts: Sequence[str]) -> Any:
        return self._function(texts)


class ShelfEncoder:
    """An encoder that was given, or the one installed in a file; loaded when it is first used."""

    def __init__(self, path: str, encoder: "TextEncoder | Callable[..., Any] | None") -> None:
        self._path = path
        self._given: Any = encoder
        if encoder is not None and not (hasattr(encoder, "encode") and hasattr(encoder, "name")):
            self._given = NamedEncoder(encoder)
        self._loaded: tuple[tuple[int, ...], Encoder] | None = None

    def load(self) -> Encoder | None:
        """None if there is none. A file that was replaced is loaded again."""
        if self._given is not None:
            given: Encoder = self._given
            return given
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        identity = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._loaded is None or self._loaded[0] != identity:
            from nuggets.encoder.minilm import load_model

            self._loaded = identity, load_model(self._path)
        return self._loaded[1]

    def compare_with(self, view: "View") -> "Meaning | None":
        """How to compare a question with the notes; None if no note has a vector."""
        encoder, index = self._load_for(view), view.indexes[INDEX]
        if encoder is None:
            return None

        def compare(text: str) -> "Similarity | None":
            similarity: Similarity | None = index.compare(encoder.name, encoder.encode([text])[0])
            return similarity

        return compare

    def find_nearest(self, view: "View", text: str, count: int) -> "NearestNotes | None":
        """The notes nearest to a text; None if no note has a vector."""
        from nuggets.encoder.text_encoder import NearestNotes

        encoder = self._load_for(view)
        if encoder is None:
            return None
        vector = encoder.encode([text])[0]
        cosines = view.indexes[INDEX].compare(encoder.name, vector)
        nearest = NearestNotes(
            {note: cosines.get(note, 0.0) for note in cosines.nearest(count)}, cosines.note_count
        )
        if hasattr(encoder, "common_cosine"):  # only the installed one has these vectors
            return nearest._replace(common=encoder.common_cosine(vector))
        return nearest

    def _load_for(self, view: "View") -> Encoder | None:
        """The encoder, if it made the vectors. A search does without one that cannot be loaded;
        `nuggets encoder status` says why."""
        name = view.indexes[INDEX].encoder_name
        if not name:
            return None
        with suppress(NuggetsError, OSError):
            encoder = self.load()
            if encoder is not None and encoder.name == name:
                return encoder
        return None


# --- vectors of notes that wait for the encoder, a few at a time ----------------------------------


SECONDS_PER_MINUTE = 10.0  # for waiting notes, in a process that lives long
SECONDS_PER_DAY = 120.0  # in the daily pass
NOTES_PER_WRITE = 16  # notes between two writes: about a second

Report = Callable[[str], None]


class EncoderStatus(NamedTuple):
    """Whether search uses an encoder, and for how many notes."""

    installed: bool
    encoder: str  # its name; "" if none is installed
    problem: str  # why it cannot be used
    encoded: int
    waiting: int


def update_encoder(
    transactions: "Transactions", encoder: "ShelfEncoder", seconds: float | None, report: Report
) -> None:
    """Encode notes that have no vector yet, for at most so many seconds."""
    loaded = encoder.load()
    if loaded is None:
        raise NotFound("no encoder is installed; run `nuggets encoder install` first")
    transactions.settle()
    _update_vectors(transactions, loaded, seconds, report)


def encode_waiting(transactions: "Transactions", encoder: "ShelfEncoder", seconds: float) -> None:
    """The same in the background, if a note waits; the status shows what went wrong."""
    with suppress(NuggetsError, OSError):
        store = transactions.store
        with transactions.reading():
            waits = not store.has_index(INDEX) or store.indexes[INDEX].counts.waiting
        if waits:
            update_encoder(transactions, encoder, seconds, lambda text: None)
        with transactions.reading_indexes() as view:
            view.indexes[INDEX].keep_sketches()


def remove_vectors(transactions: "Transactions") -> bool:
    """Remove all vectors; False if there were none."""
    store = transactions.store
    with transactions.reading():
        has_vectors = store.has_index(INDEX)
    if has_vectors:
        store.disable_index(INDEX)
    return has_vectors


def _update_vectors(
    transactions: "Transactions", encoder: "Encoder", seconds: float | None, report: Report
) -> None:
    """Encode waiting notes, newest first, until none waits or the time is over.

    Every few vectors are saved, so whoever goes on later has less to do.
    """
    from nuggets.encoder.similarity import encode_note

    store = transactions.store
    store.enable_index(INDEX)
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        with transactions.reading():
            index: VectorIndex = store.indexes[INDEX]
            rows, counts = index.pending(NOTES_PER_WRITE), index.counts
        if not rows:
            return
        report(f"Encoded {counts.encoded} of {counts.encoded + counts.waiting} notes")
        vectors = [encode_note(encoder, text) for _, _, text in rows]
        with store.exclusive():
            store.indexes[INDEX].add(encoder.name, rows, vectors)
            store.touch(())


def encoder_status(transactions: "Transactions", encoder: "ShelfEncoder") -> EncoderStatus:
    """Whether an encoder is installed, and how many notes have a vector."""
    store = transactions.store
    name = problem = ""
    try:
        loaded = encoder.load()
        name = "" if loaded is None else loaded.name
    except NuggetsError as error:
        problem = str(error)
    with transactions.reading():
        if not store.has_index(INDEX):
            return EncoderStatus(bool(name), name, problem, 0, 0)
        counts = store.indexes[INDEX].counts
    return EncoderStatus(bool(name), name, problem, *counts)
