"""Find the documented files that the earlier version wrote itself, so that none counts as an edit.

Their first line has a revision and its time, and their modification time is that time. If the two
agree, nobody else has written the file.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress

from nuggets.domain import codec, times
from nuggets.errors import InvalidInput
from nuggets.named_tuple import NamedTuple
from nuggets.stores.exports.export_fingerprints import Export, checksum_of, record, status_of
from nuggets.stores.exports.layout import documented_files
from nuggets.stores.sqlite.database import Database

_HEAD_BYTES = 512  # version, revision and time always fit
_CLOCK_SECONDS = 2  # the coarsest clock of a file system (FAT)


class OldExport(NamedTuple):
    """A documented file that nobody else has written."""

    name: str  # its path in the directory
    revision: int  # that it shows


def register_old_exports(database: Database, directory: str, moments: Mapping[int, str]) -> None:
    """Record them as our exports. `moments`: the time of each known revision."""
    for name, revision in _old_exports(directory, moments):
        touch = database.value(
            "SELECT coalesce(max(number), 0) FROM touches WHERE revision <= ?", (revision,)
        )
        with open(os.path.join(directory, name), "rb") as file:
            checksum = checksum_of(file.read())
            status = status_of(os.fstat(file.fileno()))
        record(database, Export(name, revision, touch, checksum, status))


def _old_exports(directory: str, moments: Mapping[int, str]) -> Iterator[OldExport]:
    for name in sorted(documented_files(directory)):
        with suppress(OSError, InvalidInput, ValueError, TypeError, KeyError):
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                head = file.read(_HEAD_BYTES).partition(b"\n")[0].decode()
                status = os.fstat(file.fileno())
            parts = head.lstrip("{").split(",")[1:3]
            fields = codec.loads("{" + ",".join(parts).rstrip("}") + "}", path)
            revision, saved_at = fields["revision"], times.normalize_time(fields["savedAt"])
            if moments.get(revision) == saved_at and status.st_mtime_ns in _stamps(saved_at):
                yield OldExport(name, revision)


def _stamps(moment: str) -> tuple[int, int]:
    """The modification times that mean "saved at this moment": one in milliseconds, and one for
    file systems with a coarse clock."""
    parsed = times.parse(moment)
    seconds = int(parsed.timestamp())
    coarse = seconds // _CLOCK_SECONDS * _CLOCK_SECONDS - _CLOCK_SECONDS
    return seconds * 10**9 + parsed.microsecond // 1000 * 10**6, coarse * 10**9
