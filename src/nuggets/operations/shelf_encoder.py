"""The sentence encoder of a shelf, and how a question is compared with notes by meaning."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets.encoder.text_encoder import Encoder, TextEncoder
from nuggets.errors import NuggetsError

if TYPE_CHECKING:
    from nuggets.encoder.text_encoder import NearestNotes
    from nuggets.operations.transactions import View
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
