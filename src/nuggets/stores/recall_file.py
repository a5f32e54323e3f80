"""The side file for recalls that found the store locked; the next commit counts them.

A writer renames the file, commits its recalls and deletes it. A shared lock around each append and
an exclusive one around the reading make sure that no line is lost. A file whose reader died is read
again, which counts nothing twice: a session counts once.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import cast, get_args

from nuggets.domain import codec
from nuggets.domain.records import HitKind, Touch
from nuggets.errors import StoreError
from nuggets.filesystem.atomic_files import open_plain, private_directory

_ATTEMPTS = 50  # at appending; an attempt fails only while a writer renames the file
_WAIT_MILLISECONDS = 20  # for a process in the middle of an append, which takes microseconds


class RecallFile:
    """`recalls.jsonl` in a shelf's directory, and `recalls-taken.jsonl` while it is committed."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._path = os.path.join(directory, "recalls.jsonl")
        self._taken_path = os.path.join(directory, "recalls-taken.jsonl")

    def append(self, touches: Sequence[Touch]) -> None:
        """Append recalls. Fails silently: a memory that cannot be written can still be read."""
        import fcntl

        with suppress(OSError, StoreError, ValueError):
            private_directory(self._directory)
            lines = "".join(f"{codec.dumps(list(touch))}\n" for touch in touches)
            content = f"\n{lines}".encode()  # the last line may have been cut off
            for _ in range(_ATTEMPTS):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
                descriptor = open_plain(self._path, flags)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    if os.path.samestat(os.fstat(descriptor), os.stat(self._path)):
                        os.write(descriptor, content)
                        return
                except (BlockingIOError, FileNotFoundError):
                    pass  # a writer has just renamed it: the next attempt makes a new one
                finally:
                    os.close(descriptor)

    @contextmanager
    def take(self) -> Iterator[tuple[Touch, ...]]:
        """The recalls to commit inside; they are deleted if that succeeds.

        The caller holds the shelf's lock.
        """
        if not self._directory:  # of a shelf in memory nothing waits
            yield ()
            return
        if not os.access(self._taken_path, os.F_OK):  # else a writer died here: its file is first
            if not os.access(self._path, os.F_OK):
                yield ()
                return
            try:
                os.rename(self._path, self._taken_path)
            except OSError:
                yield ()
                return
        try:
            descriptor = open_plain(self._taken_path, os.O_RDONLY)
        except OSError:
            yield ()
            return
        try:
            if not _lock_exclusively(descriptor):
                yield ()  # a process is stuck in the middle of an append: the next commit tries
                return
            yield tuple(_read_touches(self._taken_path))
            with suppress(OSError):
                os.unlink(self._taken_path)
        finally:
            os.close(descriptor)


def _lock_exclusively(descriptor: int) -> bool:
    """Wait until nobody appends; from then on nobody can. False if that takes too long."""
    import fcntl

    for _ in range(_WAIT_MILLISECONDS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.001)
        else:
            return True
    return False


def _read_touches(path: str) -> Iterator[Touch]:
    try:
        with open(path, "rb", opener=open_plain) as file:
            lines = file.read().split(b"\n")
    except OSError:
        return
    for line in lines:
        # A line that a power cut cut off, or that is none of ours, is lost.
        with suppress(ValueError, TypeError, RecursionError):
            yield _touch_of(*json.loads(line))


def _touch_of(note_id: str, session: str, at: str, kind: str) -> Touch:
    known = kind if kind in get_args(HitKind) else ""
    return Touch(str(note_id), str(session), str(at), cast("HitKind", known))
