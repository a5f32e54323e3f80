"""The encoder that is installed beside a shelf, and what any other encoder must offer."""

import os
from collections.abc import Sequence
from typing import Any, Protocol

from nuggets.filesystem.shelf_location import ENCODER_FILE

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
