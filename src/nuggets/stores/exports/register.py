"""What was exported: a row for each documented file, by which our own files are known again.

A file whose status is that of its row is ours, and so is one with its checksum: then it was only
copied. Every other one was written by somebody else.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple
from zlib import crc32

from nuggets.sql import Database


class Export(NamedTuple):
    """A documented file as we left it, or as we took it in."""

    name: str
    revision: int = 0
    touch: int = 0  # number of the last recall that it shows
    checksum: str = ""
    status: str = ""
    edited: int = 0  # 1: somebody's edit that was taken in; to be written anew
    problem: str = ""  # why it is left as it is

    @property
    def is_sound(self) -> bool:
        """Is it exactly what we wrote?"""
        return not self.edited and not self.problem


def exports(database: Database) -> dict[str, Export]:
    """All rows by the names of their files."""
    rows = database.execute(f"SELECT {', '.join(Export._fields)} FROM exports")
    return {row[0]: Export(*row) for row in rows.fetchall()}


def record(database: Database, export: Export) -> None:
    database.execute(
        f"INSERT OR REPLACE INTO exports ({', '.join(Export._fields)})"
        f" VALUES ({', '.join('?' * len(export))})",
        export,
    )


def forget(database: Database, name: str) -> None:
    database.execute("DELETE FROM exports WHERE name = ?", (name,))


def oldest_revision(database: Database) -> int | None:
    """The earliest revision that an outstanding export shows; None if there is none."""
    row = database.execute("SELECT min(revision) FROM exports WHERE revision > 0").fetchone()
    return None if row[0] is None else int(row[0])


def status_of(status: os.stat_result) -> str:
    """What tells a file from one that was saved since."""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def size_in(status: str) -> int:
    return int(status.split()[1])


def foreign(files: Mapping[str, os.stat_result], known: Mapping[str, Export]) -> list[str]:
    """The files that are not as we know them, the graph first."""
    blank = Export("")
    found = [name for name, s in files.items() if known.get(name, blank).status != status_of(s)]
    return sorted(found, key=lambda name: (os.sep not in name, name))


class Checksum:
    """Of bytes that come in parts. Against accidents, so 32 bits and the size will do: loading a
    cryptographic hash costs a cold command more than writing its files."""

    def __init__(self) -> None:
        self._crc = 0
        self._size = 0

    def add(self, part: bytes) -> bytes:
        self._crc = crc32(part, self._crc)
        self._size += len(part)
        return part

    def __str__(self) -> str:
        return f"{self._crc:08x}-{self._size}"


def checksum_of(content: bytes) -> str:
    checksum = Checksum()
    checksum.add(content)
    return str(checksum)
