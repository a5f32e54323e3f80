"""The register of exports: a row for each documented file, which tells ours from external edits.

A file with the status of its row is ours. One with another status but the same checksum is ours as
well, and was only copied. Every other file was edited by someone.
"""

import os
from collections.abc import Mapping
from functools import cache
from zlib import crc32

from nuggets.domain.sql_interface import Database
from nuggets.named_tuple import NamedTuple


class Export(NamedTuple):
    """A documented file as we wrote it, or as we imported it."""

    name: str
    revision: int = 0
    touch: int = 0  # number of the last recall that it shows
    checksum: str = ""
    status: str = ""
    edited: int = 0  # 1: an external edit that was imported; the file must be written again
    problem: str = ""  # why it cannot be imported, and is left as it is

    @property
    def is_sound(self) -> bool:
        """Is it exactly what we wrote?"""
        return not self.edited and not self.problem


_SELECT = f"SELECT {', '.join(Export._fields)} FROM exports"


def exports(database: Database) -> dict[str, Export]:
    """All rows by the names of their files."""
    return {row[0]: Export(*row) for row in database.execute(_SELECT)}


def record(database: Database, export: Export) -> None:
    database.execute(
        f"INSERT OR REPLACE INTO exports ({', '.join(Export._fields)})"
        f" VALUES ({', '.join('?' * len(export))})",
        export,
    )


def forget(database: Database, name: str) -> None:
    database.execute("DELETE FROM exports WHERE name = ?", (name,))


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """Numbers that differ after the file was saved again."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def status_of(status: os.stat_result) -> str:
    """A text that differs after the file was saved again, and after the machine was started again:
    exports are not synced, so a power cut may have damaged one whose status is the same."""
    return f"{' '.join(map(str, stamp_of(status)))} {_boot_id()}"


@cache
def _boot_id() -> str:
    """Another one after each start of the machine; "-" where the system has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read(8)
    except OSError:
        return "-"


def size_in(status: str) -> int:
    return int(status.split()[1])


def changed_files(files: Mapping[str, os.stat_result], recorded: Mapping[str, Export]) -> list[str]:
    """The files whose status is not the recorded one, the graph first."""
    new = Export("")
    names = [name for name, s in files.items() if recorded.get(name, new).status != status_of(s)]
    return sorted(names, key=lambda name: (os.sep not in name, name))


class Checksum:
    """The checksum of bytes that come in parts. It guards against accidents, so 32 bits and the
    size are enough: loading a cryptographic hash takes longer than writing small files."""

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
