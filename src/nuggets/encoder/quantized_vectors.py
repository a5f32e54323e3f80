"""Vectors as integers of one byte, and their cosines with a question; sketches of many of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nuggets.encoder.vector_index import Encoder, NoteText

TITLE_SHARE = 0.3  # of the title's own vector; measured by benchmarks/paraphrases.py
LARGEST_NUMBER = 127
BLOCK = 8192  # vectors that are turned into floats at once


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

    def __init__(self, matrix: VectorMatrix, values: "np.ndarray[Any, Any]", compared: int) -> None:
        self.note_count = compared  # notes, also those that only their sketches spoke against
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


def cosines(matrix: VectorMatrix, vector: Any, compared: int = 0) -> Cosines:
    """The cosine of a vector with each of the matrix. `compared`: if that are more."""
    question = _unit(vector)
    values = np.zeros(len(matrix.places), np.float32)
    if len(question) == matrix.width:
        for start in range(0, len(values), BLOCK):
            block = slice(start, start + BLOCK)
            values[block] = matrix.table["numbers"][block].astype(np.float32) @ question
        values *= matrix.table["scale"]
    return Cosines(matrix, values, compared or len(matrix.places))


class Sketches:
    """The signs of the numbers of many vectors, a bit each, by the place of the note. They tell in
    a tenth of the time and of the memory which vectors are worth a comparison."""

    def __init__(self) -> None:
        self.last = -1  # the highest place
        self._length = 0  # of a packed vector
        self._places: list[np.ndarray[Any, Any]] = []
        self._words: list[np.ndarray[Any, Any]] = []  # a row for 64 numbers of every vector

    def __len__(self) -> int:
        return sum(map(len, self._places))

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Append those of packed vectors. A place may come again: its note changed."""
        self._length = self._length or len(rows[0][1])
        rows = [row for row in rows if len(row[1]) == self._length]
        packed = np.frombuffer(b"".join(vector for _, vector in rows), np.int8)
        self._words.append(_sketch(packed.reshape(len(rows), -1)[:, 4:]))
        self._places.append(np.array([place for place, _ in rows], np.int64))
        self.last = max(self.last, *(place for place, _ in rows))

    def nearest(self, vector: Any, count: int) -> list[int]:
        """The places of the notes whose signs differ least from those of the vector."""
        question = _sketch(np.asarray(vector, np.float32)[None])[:, 0]
        if len(vector) + 4 != self._length:
            return []
        if len(self._places) > 1:
            self._words = [np.concatenate(self._words, axis=1)]
            self._places = [np.concatenate(self._places)]
        [places], [words] = self._places, self._words
        differing = np.zeros(len(places), np.uint16)
        for word, own in zip(words, question, strict=True):
            differing += np.bitwise_count(word ^ own)
        if len(differing) > count:
            places = places[np.argpartition(differing, count)[:count]]
        return list(dict.fromkeys(places.tolist()))


def _sketch(numbers: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    bits = np.packbits(numbers > 0, axis=1)
    missing = -bits.shape[1] % 8
    words = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(np.uint64)
    return np.ascontiguousarray(words.T)
