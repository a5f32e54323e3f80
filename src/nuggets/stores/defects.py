"""What a doctor finds in a shelf's directory."""

import os
from typing import NamedTuple


class Defect(NamedTuple):
    """One thing that is not as it should be."""

    kind: str  # e.g. "damaged database"
    path: str
    problem: str
    remedy: str  # what repair does about it
    harmful: bool  # keeps the shelf from working, or says that something was lost
    mended: bool = False


def aside(path: str) -> str:
    """A free name for something damaged, beside it."""
    number = 1
    while os.path.lexists(f"{path}.damaged-{number}"):
        number += 1
    return f"{path}.damaged-{number}"
