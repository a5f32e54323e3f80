"""The place on this machine that a client works in, with the machine's name in its paths, so that a
server can tell it from places elsewhere.

Plain values: a hook sends them without importing the records of the engine.
"""

import os

from nuggets.filesystem.current_project import (
    ID_SEPARATOR,
    current_project,
    is_repository,
    plain_folders,
)
from nuggets.named_tuple import NamedTuple


class FoundPlace(NamedTuple):
    """A repository or a plain folder, with the name of the machine in its paths."""

    path: str
    stamp: str = ""
    root: str = ""
    remote: str = ""
    is_shallow: bool = False
    folders: tuple[str, ...] = ()  # a plain folder and those around it; none for a repository


def find_place(folder: str, server: str) -> FoundPlace | None:
    """The place around a folder; None in no project."""
    path = current_project(folder)
    if not path:
        return None
    if not is_repository(path):
        return FoundPlace(_name(path), folders=tuple(map(_name, plain_folders(path))))
    from nuggets.filesystem.repository_evidence import gather_evidence

    return FoundPlace(_name(path), *gather_evidence(path, server))


def _name(path: str) -> str:
    return f"{path}{ID_SEPARATOR}{os.uname().nodename}"
