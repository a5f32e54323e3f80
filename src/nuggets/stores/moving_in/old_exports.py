"""Which documented files the earlier version wrote itself, so that none is taken for an edit.

It said in the first line of a file which revision it shows and the moment of that revision, and
set the file's modification time to that moment: if the two agree, nobody else has touched it.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from nuggets import codec, times
from nuggets.errors import InvalidInput
from nuggets.stores.exports.register import Export, checksum_of, record, status_of
from nuggets.stores.sqlite.database import Database

_HEAD_BYTES = 512  # version, revision and time always fit
_COARSEST = 2  # seconds: what the clocks of file systems tell apart


class OwnFile(NamedTuple):
    """A documented file that nobody else has touched."""

    path: str
    revision: int  # that it shows


def own_files(directory: str, moments: Mapping[int, str]) -> Iterator[OwnFile]:
    """`moments`: of the revisions that are known."""
    for path in _documented(directory):
        with suppress(OSError, InvalidInput, ValueError, TypeError, KeyError):
            with open(path, "rb") as file:
                head = file.read(_HEAD_BYTES).partition(b"\n")[0].decode()
                status = os.fstat(file.fileno())
            parts = head.lstrip("{").split(",")[1:3]
            fields = codec.loads("{" + ",".join(parts).rstrip("}") + "}", path)
            revision, saved_at = fields["revision"], times.normal(fields["savedAt"])
            if moments.get(revision) == saved_at and status.st_mtime_ns in _stamps(saved_at):
                yield OwnFile(path, revision)


def _documented(directory: str) -> Iterator[str]:
    with suppress(OSError):
        for name in sorted(os.listdir(directory)):
            if name.endswith(".nugget.json") and not name.startswith("."):
                yield os.path.join(directory, name)
    yield os.path.join(directory, "graph", "graph.json")


def _stamps(moment: str) -> tuple[int, int]:
    """The modification times that say "saved at this moment": in milliseconds, and for a file
    system that cannot keep them one that its clock had left behind."""
    parsed = times.parsed(moment)
    seconds = int(parsed.timestamp())
    coarse = seconds // _COARSEST * _COARSEST - _COARSEST
    return seconds * 10**9 + parsed.microsecond // 1000 * 10**6, coarse * 10**9


def record_own_files(database: Database, directory: str, moments: Mapping[int, str]) -> None:
    """Note them as our exports, with the last recall that each of them shows."""
    for path, revision in own_files(directory, moments):
        touch = database.value(
            "SELECT coalesce(max(number), 0) FROM touches WHERE revision <= ?", (revision,)
        )
        with open(path, "rb") as file:
            checksum = checksum_of(file.read())
            status = status_of(os.fstat(file.fileno()))
        name = os.path.relpath(path, directory)
        record(database, Export(name, revision, touch, checksum, status))
