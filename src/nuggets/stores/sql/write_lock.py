"""The write lock: one thread of one process holds it, together with the lock between processes.

The lock is counted, because a batch keeps it beyond the write that took it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nuggets.errors import StoreBusy


class WriteLock:
    """A lock between threads, and one between processes."""

    def __init__(
        self, take_process_lock: Callable[[float], None], release_process_lock: Callable[[], None]
    ) -> None:
        """`take_process_lock`: waits at most so many seconds."""
        self._take_process_lock = take_process_lock
        self._release_process_lock = release_process_lock
        self._thread_lock = threading.RLock()
        self.depth = 0

    @contextmanager
    def thread(self, wait_seconds: float) -> Iterator[None]:
        """Keep other threads of this process out."""
        self.take_thread(wait_seconds)
        try:
            yield
        finally:
            self._thread_lock.release()

    def take_thread(self, wait_seconds: float) -> None:
        """Keep other threads out until `release_thread`."""
        if not self._thread_lock.acquire(timeout=wait_seconds):
            raise StoreBusy("another thread of this process is writing; try again")

    def try_thread(self) -> bool:
        """Try to keep other threads out, without waiting; if True, until `release_thread`."""
        return self._thread_lock.acquire(blocking=False)

    def release_thread(self) -> None:
        self._thread_lock.release()

    def take(self, wait_seconds: float) -> bool:
        """Take the lock between processes; False if this process holds it already."""
        if not self.depth:
            self._take_process_lock(wait_seconds)
        self.depth += 1
        return self.depth == 1

    @contextmanager
    def hold(self, wait_seconds: float) -> Iterator[None]:
        """Keep other threads and processes from writing."""
        with self.thread(wait_seconds):
            self.take(wait_seconds)
            try:
                yield
            finally:
                self.release()

    def release(self) -> None:
        self.depth -= 1
        if not self.depth:
            self._release_process_lock()
