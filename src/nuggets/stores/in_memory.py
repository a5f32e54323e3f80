"""The store contract in its plainest form: the reference for the others, and for tests."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager

from nuggets.errors import StaleWrite
from nuggets.records import Changes, Touch
from nuggets.state import State, merged


class InMemoryStore:
    """Keeps every change in a list; gone when the process ends."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._changes: list[Changes] = []

    def read(self, since: int) -> tuple[Changes, int]:
        with self._lock:
            if since == 0:
                state = State()
                for changes in self._changes:
                    state.apply(changes)
                return state.everything(), len(self._changes)
            return merged(self._changes[since:]), len(self._changes)

    def write(self, changes: Changes, expected: int) -> int:
        with self._lock:
            if expected != len(self._changes):
                raise StaleWrite(f"revision {len(self._changes)} is newer than {expected}")
            self._changes.append(changes)
            return len(self._changes)

    def exclusive(self) -> AbstractContextManager[None]:
        return self._lock  # type: ignore[return-value]

    def touch(self, touches: Sequence[Touch]) -> None:
        with self._lock:
            self._changes.append(Changes(touches=tuple(touches)))

    def close(self) -> None:
        """Nothing to leave behind."""
