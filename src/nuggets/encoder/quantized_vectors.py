"""Vectors as integers of one byte, and their cosines with a question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nuggets.encoder.vector_index import Encoder, NoteText

TITLE_SHARE = 0.3  # of the title's own vector; measured by benchmarks/paraphrases.py
LARGEST_NUMBER = 127  # of a signed byte
BLOCK = 8192  # vectors that are turned into floats at once: 12 MB


def encode_note(encoder: "Encoder", text: "NoteText") -> "np.ndarray[Any, Any]":
    """The vector of a note: that of its text, in which its title counts a little more."""
    whole, title = map(_unit, encoder.encode([f"{text.title}: {text.content}", text.title]))
    return whole + TITLE_SHARE * title


def _unit(vector: Any) -> "np.ndarray[Any, Any]":
    numbers = np.asarray(vector, np.float32)
    return numbers / np.float32(max(float(np.linalg.norm(numbers)), 1e-12))


def pack(vector: Any) -> bytes:
    """A vector as bytes: the scale that makes its length 1, then a byte for each number."""
    numbers = _unit(vector)
    scale = np.float32(max(float(np.abs(numbers).max()), 1e-12) / LARGEST_NUMBER)
    return bytes(scale.tobytes() + np.rint(numbers / scale).astype(np.int8).tobytes())


class VectorMatrix:
    """Vectors of notes, in rows."""

    def __init__(self, rows: Sequence[tuple[str, bytes]]) -> None:
        """Vectors of another length than the first are left out."""
        size = len(rows[0][1]) if rows else 4
        rows = [row for row in rows if len(row[1]) == size]
        self.width = size - 4
        self.places = {note: place for place, (note, _) in enumerate(rows)}
        kind = np.dtype([("scale", "<f4"), ("numbers", "i1", (self.width,))])
        self.table = np.frombuffer(b"".join(vector for _, vector in rows), kind)


class Cosines(Mapping[str, float]):
    """Cosines by note."""

    def __init__(self, matrix: VectorMatrix, values: "np.ndarray[Any, Any]") -> None:
        self._matrix = matrix
        self._values = values

    def __getitem__(self, note: str) -> float:
        return float(self._values[self._matrix.places[note]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._matrix.places)

    def __len__(self) -> int:
        return len(self._matrix.places)

    def nearest(self, count: int) -> list[str]:
        """The notes with the highest cosines."""
        places = np.arange(len(self._values))
        if len(places) > count:
            places = np.argpartition(-self._values, count)[:count]
        ordered = places[np.argsort(-self._values[places], kind="stable")]
        notes = list(self._matrix.places)
        return [notes[place] for place in ordered.tolist()]


def cosines(matrix: VectorMatrix, vector: Any) -> Cosines:
    """The cosine of a vector with each of the matrix."""
    question = _unit(vector)
    values = np.zeros(len(matrix.places), np.float32)
    if len(question) == matrix.width:
        for start in range(0, len(values), BLOCK):
            block = slice(start, start + BLOCK)
            values[block] = matrix.table["numbers"][block].astype(np.float32) @ question
        values *= matrix.table["scale"]
    return Cosines(matrix, values)
