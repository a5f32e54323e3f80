"""The side file for recalls that found the store locked; the next commit counts them.

A recall that is counted again changes nothing, because a session counts once: so a writer that dies
after its commit, before it has cut the file off, does no harm.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import cast, get_args

from nuggets.domain import codec
from nuggets.domain.records import HitKind, Touch
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import open_plain, private_directory, read_if_plain, write_all

_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


class RecallFile:
    """`recalls.jsonl` in a shelf's directory."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._path = os.path.join(directory, "recalls.jsonl")

    def append(self, touches: Sequence[Touch]) -> None:
        """Append recalls. Fails silently: a memory that cannot be written can still be read."""
        with suppress(OSError, StoreError, ValueError):
            lines = "".join(f"{codec.dumps(list(touch))}\n" for touch in touches)
            private_directory(self._directory)
            with self._open_and_lock() as descriptor:
                write_all(descriptor, f"\n{lines}".encode())  # the last line may have been cut off

    @contextmanager
    def take(self) -> Iterator[tuple[Touch, ...]]:
        """The recalls to commit inside; they are deleted if that succeeds.

        The caller holds the shelf's lock.
        """
        content = read_if_plain(self._path) if self._directory else b""
        yield tuple(_read_touches(content))
        if content:
            with suppress(OSError), self._open_and_lock() as descriptor:
                later = os.pread(descriptor, os.fstat(descriptor).st_size, len(content))
                os.ftruncate(descriptor, 0)
                write_all(descriptor, later)

    @contextmanager
    def _open_and_lock(self) -> Iterator[int]:
        """The file, while no other process writes to it, which takes microseconds."""
        import fcntl

        descriptor = open_plain(self._path, _APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def _read_touches(content: bytes) -> Iterator[Touch]:
    for line in content.split(b"\n"):
        # A line that a power cut cut off, or that is none of ours, is lost.
        with suppress(ValueError, TypeError, RecursionError):
            yield _touch_of(*json.loads(line))


def _touch_of(note_id: str, session: str, at: str, kind: str) -> Touch:
    known = kind if kind in get_args(HitKind) else ""
    return Touch(str(note_id), str(session), str(at), cast("HitKind", known))
