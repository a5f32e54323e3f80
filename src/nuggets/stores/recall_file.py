"""Recalls that no commit has taken in yet: a side file for whoever finds the store locked.

A writer takes the file away under another name, commits what it says and deletes it. A shared lock
around each append and an exclusive one around the taking make sure that no line falls between; a
file that outlives its taker is taken again, which counts nothing twice: a session counts once.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from nuggets import codec
from nuggets.records import Touch

_ATTEMPTS = 50  # at appending; a file is only ever refused while it is being taken away
_PATIENCE = 20  # milliseconds for someone in the middle of an append; they need microseconds


class RecallFile:
    """`recalls.jsonl` in a shelf's directory, and `recalls-taken.jsonl` while it is committed."""

    def __init__(self, directory: str) -> None:
        self._open = os.path.join(directory, "recalls.jsonl")
        self._taken = os.path.join(directory, "recalls-taken.jsonl")

    def append(self, touches: Sequence[Touch]) -> None:
        """Write them down. Fails silently: a memory that cannot be written can still be read."""
        import fcntl

        with suppress(OSError, ValueError):
            written = "".join(f"{codec.dumps(list(touch))}\n" for touch in touches)
            content = f"\n{written}".encode()  # a line cut off before must not spoil the next
            for _ in range(_ATTEMPTS):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
                descriptor = os.open(self._open, flags, 0o600)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    if os.path.samestat(os.fstat(descriptor), os.stat(self._open)):
                        os.write(descriptor, content)
                        return
                except (BlockingIOError, FileNotFoundError):
                    pass  # being taken away: there will be a new one
                finally:
                    os.close(descriptor)

    @contextmanager
    def taken(self) -> Iterator[tuple[Touch, ...]]:
        """Those that a commit should take in; gone when that succeeds. For the lock's holder."""
        if not os.path.exists(self._taken):  # else someone died here: theirs first
            try:
                os.rename(self._open, self._taken)
            except OSError:
                yield ()
                return
        try:
            descriptor = os.open(self._taken, os.O_RDONLY)
        except OSError:
            yield ()
            return
        try:
            if not _is_settled(descriptor):
                yield ()  # someone is stuck in the middle of an append: it waits for the next time
                return
            yield tuple(_touches(self._taken))
            with suppress(OSError):
                os.unlink(self._taken)
        finally:
            os.close(descriptor)


def _is_settled(descriptor: int) -> bool:
    """Has everyone who was appending finished? From now on nobody else can begin."""
    import fcntl

    for _ in range(_PATIENCE):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.001)
        else:
            return True
    return False


def _touches(path: str) -> Iterator[Touch]:
    try:
        with open(path, "rb") as file:
            written = file.read().split(b"\n")
    except OSError:
        return
    for line in written:
        with suppress(ValueError, TypeError):  # a line cut off by a power cut is one hit lost
            note_id, session, at = json.loads(line)
            yield Touch(str(note_id), str(session), str(at))
