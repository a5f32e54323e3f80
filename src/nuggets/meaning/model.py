"""The encoder that is installed beside a shelf, and what any other encoder must offer."""

import os
from collections.abc import Sequence
from typing import Any, Protocol

from nuggets.errors import NuggetsError
from nuggets.filesystem.location import ENCODER_FILE

NAME = "all-MiniLM-L6-v2"
FORMAT = "1"  # of the file; raise it whenever `quantize` makes other tensors


class Encoder(Protocol):
    """Turns texts into vectors of one length, near each other where the texts mean the same."""

    @property
    def name(self) -> str:
        """Vectors of encoders with different names are never compared."""

    def encode(self, texts: Sequence[str]) -> Any:
        """One vector for each text."""


def model_path(directory: str) -> str:
    """Where the encoder of the shelf in this directory is, or would be."""
    return os.path.join(directory, ENCODER_FILE)


def load_model(path: str) -> Encoder:
    """Load an installed encoder: some 20 ms, besides those of importing NumPy."""
    from nuggets.meaning import tensor_file
    from nuggets.meaning.minilm import MiniLM

    metadata, tensors = tensor_file.parse(tensor_file.map_file(path), path)
    if metadata.get("format") != FORMAT:
        raise NuggetsError(
            f"{path} was made by another version of Nuggets; run `nuggets meaning install` again"
        )
    return MiniLM(tensors)
