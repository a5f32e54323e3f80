"""What an encoder must offer, where the installed one lies, and the nearest notes that it finds, in
a form that processes can exchange. Needs no NumPy.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from nuggets.filesystem.shelf_location import ENCODER_FILE
from nuggets.named_tuple import NamedTuple

NAME = "all-MiniLM-L6-v2"
FORMAT = "2"  # of the file; raise it whenever `minilm` or the common prompts make other tensors


class TextEncoder(Protocol):
    """Turns texts into vectors of one length, near each other where the texts mean the same."""

    def encode(self, texts: Sequence[str]) -> Any:
        """One vector for each text."""


class Encoder(TextEncoder, Protocol):
    """One that is told from others."""

    @property
    def name(self) -> str:
        """Vectors of encoders with different names are never compared."""


def model_path(directory: str) -> str:
    """Where the encoder of the shelf in this directory is, or would be."""
    return os.path.join(directory, ENCODER_FILE)


class NearestNotes(NamedTuple):
    """Cosines of the nearest notes."""

    cosines: Mapping[str, float]  # by note, the nearest first
    compared: int  # notes that have a vector
    common: float = 1.0  # cosine of the nearest prompt that asks for no memory; 1: not known

    def cosine(self, note_id: str) -> float:
        """Of a note that is not among the nearest: the most that it can be."""
        farthest = min(self.cosines.values(), default=0.0)
        return self.cosines.get(note_id, farthest if len(self.cosines) < self.compared else 0.0)
