"""Who may write: one thread of one process, as long as it holds the shelf's lock file.

The lock is counted, because a batch keeps it beyond the write that took it.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from nuggets.errors import StoreBusy
from nuggets.files import private_directory
from nuggets.stores.lock import locked

LOCK = "nuggets.lock"


class WriteLock:
    """A lock between threads, and a lock file between processes where there is a directory."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._thread = threading.RLock()
        self._file = ExitStack()
        self._is_still_ours: Callable[[], bool] = lambda: True
        self.depth = 0

    @contextmanager
    def thread(self, wait_seconds: float) -> Iterator[None]:
        """One thread of this process at a time."""
        if not self._thread.acquire(timeout=wait_seconds):
            raise StoreBusy("another thread of this process is writing; try again")
        try:
            yield
        finally:
            self._thread.release()

    def try_thread(self) -> bool:
        """The same without waiting; whoever gets it gives it back with `release_thread`."""
        return self._thread.acquire(blocking=False)

    def release_thread(self) -> None:
        self._thread.release()

    def take(self, wait_seconds: float) -> bool:
        """The lock file; True if it was free before, and not ours already."""
        if not self.depth and self._directory:
            private_directory(self._directory)
            path = os.path.join(self._directory, LOCK)
            self._is_still_ours = self._file.enter_context(locked(path, wait_seconds))
        self.depth += 1
        return self.depth == 1

    def release(self) -> None:
        self.depth -= 1
        if not self.depth:
            self._is_still_ours = lambda: True
            self._file.close()

    def refuse_if_lost(self) -> None:
        """Before a commit: someone may have taken the lock file away."""
        if not self._is_still_ours():
            raise StoreBusy(
                f"the lock file in {self._directory} was taken away while it was held. "
                "Nothing was changed; try again"
            )
