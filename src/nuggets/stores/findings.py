"""What a doctor finds in a store's directory, and setting it aside without losing a byte."""

import os
from typing import NamedTuple

from nuggets.files import sync_directory


class Defect(NamedTuple):
    """One thing that is not as it should be."""

    kind: str  # e.g. "damaged log"
    path: str
    problem: str
    remedy: str  # what repair does about it
    harmful: bool  # keeps the store from working, or says that something was lost
    mended: bool = False


def set_aside(path: str) -> None:
    os.rename(path, aside(path))
    sync_directory(os.path.dirname(path))


def aside(path: str) -> str:
    number = 1
    while os.path.lexists(f"{path}.damaged-{number}"):
        number += 1
    return f"{path}.damaged-{number}"
