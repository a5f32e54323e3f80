"""Copies of a shelf that lie in its directory: what was set aside, and backups."""

import os
import shutil
from collections.abc import Iterator

from nuggets.files import unwritable
from nuggets.stores.moving_in import SET_ASIDE


def remove_copies(directory: str) -> list[str]:
    """Take away all that was set aside, which may hold what is being erased; where it was."""
    gone = list(_set_aside(directory))
    for path in gone:
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except OSError as problem:
            raise unwritable(path, problem) from problem
    return gone


def _set_aside(directory: str) -> Iterator[str]:
    for folder in (directory, os.path.join(directory, "graph")):
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
            if ".damaged-" in name or name.startswith((SET_ASIDE, "replaced-")):
                yield os.path.join(folder, name)


def backups_in(directory: str) -> list[str]:
    """The backups that a shelf's own directory holds."""
    folder = os.path.join(directory, "backups")
    names = os.listdir(folder) if directory and os.path.isdir(folder) else []
    return sorted(os.path.join(folder, name) for name in names)
