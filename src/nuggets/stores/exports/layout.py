"""Where the documented files are, and what the first line of one says.

An export begins with the revision that it shows, the moment of that revision and the number of
the last recall it counts. Knows no notes.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from nuggets import codec, times
from nuggets.errors import InvalidInput
from nuggets.files import refuse_broken_link, unreadable

GRAPH_VERSION = 3
NUGGET_VERSION = 4
SUFFIX = ".nugget.json"
GRAPH = os.path.join("graph", "graph.json")
GRAPH_FIELDS = "graph.json"  # the mark that keeps what others wrote beside the notes
_HEAD_BYTES = 512  # version, revision, time and recalls always fit


class Shown(NamedTuple):
    """What an export shows: a revision, its moment, and all recalls up to a number."""

    revision: int
    saved_at: str
    touch: int | None = None  # None: its author took that line out


def documented_files(directory: str) -> dict[str, os.stat_result]:
    """The status of every documented file that is there, by its path in the directory."""
    found: dict[str, os.stat_result] = {}
    with suppress(FileNotFoundError, NotADirectoryError):
        found[GRAPH] = os.lstat(os.path.join(directory, GRAPH))
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                    with suppress(FileNotFoundError):
                        found[entry.name] = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        refuse_broken_link(directory)
    except OSError as problem:
        raise unreadable(directory, problem) from problem
    return found


def nugget_file(nugget: str) -> str:
    return nugget + SUFFIX


def nugget_in(name: str) -> str:
    """The nugget that a file is named after."""
    return os.path.basename(name).removesuffix(SUFFIX)


def first_line(version: int, shown: Shown) -> str:
    """How an export begins, without the rest of its first line."""
    head = {
        "version": version,
        "revision": shown.revision,
        "savedAt": shown.saved_at,
        "recalls": shown.touch,
    }
    return codec.dumps(head)[:-1]


def shown_in(fields: Mapping[str, Any]) -> Shown | None:
    """What a file says it shows, if it does."""
    revision, saved_at, touch = (fields.get(name) for name in ("revision", "savedAt", "recalls"))
    if type(revision) is not int or revision < 1 or not isinstance(saved_at, str):
        return None
    try:
        return Shown(revision, times.normal(saved_at), touch if type(touch) is int else None)
    except InvalidInput:
        return None


def begins_with(path: str, head: str) -> bool:
    """Does the file begin like this, as our exports do?"""
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD_BYTES).startswith(head.encode())
    except OSError:
        return False
