"""Where the documented files are, and the format of their first line.

It has the revision that the export shows, the time of that revision, and the number of the last
recall that it counts. Knows no notes.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from nuggets.domain import codec, times
from nuggets.errors import InvalidInput, StoreError
from nuggets.filesystem.atomic_files import open_plain, refuse_broken_link, unreadable
from nuggets.named_tuple import NamedTuple

GRAPH_VERSION = 3
NUGGET_VERSION = 4
SUFFIX = ".nugget.json"
GRAPH = os.path.join("graph", "graph.json")
GRAPH_FIELDS = "graph.json"  # the mark that keeps unknown fields beside the notes
FIRST_BYTES = b'{"version":'  # of every export
_HEAD_BYTES = 512  # version, revision, time and recalls always fit


class ExportedRevision(NamedTuple):
    """What an export shows: a revision, its time, and all recalls up to a number."""

    revision: int
    saved_at: str
    touch: int | None = None  # None: its author removed that field


def documented_files(directory: str) -> dict[str, os.stat_result]:
    """The status of every documented file, by its path in the directory."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        refuse_broken_link(directory)
        return {}
    except OSError as problem:
        raise unreadable(directory, problem) from problem
    files: dict[str, os.stat_result] = {}
    if_there = suppress(FileNotFoundError, NotADirectoryError)
    try:
        for name in (GRAPH, *os.listdir(descriptor)):
            if name == GRAPH or (name.endswith(SUFFIX) and not name.startswith(".")):
                with if_there:
                    files[name] = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except OSError as problem:
        raise unreadable(directory, problem) from problem
    finally:
        os.close(descriptor)
    return files


def nugget_file(nugget: str) -> str:
    """The name of a nugget's file. A database may come from elsewhere: a name that would lead out
    of the directory is refused."""
    if os.path.basename(nugget) != nugget or "\0" in nugget:
        raise StoreError(f"the database has a nugget called {nugget!r:.80}, which no file can be")
    return nugget + SUFFIX


def nugget_in(name: str) -> str:
    """The nugget that a file is named after."""
    return os.path.basename(name).removesuffix(SUFFIX)


def first_line(version: int, exported: ExportedRevision) -> str:
    """The beginning of an export's first line."""
    head = {
        "version": version,
        "revision": exported.revision,
        "savedAt": exported.saved_at,
        "recalls": exported.touch,
    }
    return codec.dumps(head)[:-1]


def read_exported_revision(fields: Mapping[str, Any]) -> ExportedRevision | None:
    """What a file shows according to its fields; None if they do not say."""
    revision, saved_at, touch = (fields.get(name) for name in ("revision", "savedAt", "recalls"))
    if type(revision) is not int or revision < 1 or not isinstance(saved_at, str):
        return None
    try:
        return ExportedRevision(
            revision, times.normalize_time(saved_at), touch if type(touch) is int else None
        )
    except InvalidInput:
        return None


def begins_with(path: str, head: str) -> bool:
    """Does the file begin with this text?"""
    try:
        with open(path, "rb", opener=open_plain) as file:
            return file.read(_HEAD_BYTES).startswith(head.encode())
    except OSError:
        return False
