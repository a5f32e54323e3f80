"""Open shelves of a server, within a bound on their number and a budget of memory."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from nuggets.errors import NuggetsError
from nuggets.shelf import NuggetShelf


class _OpenShelf:
    def __init__(self, shelf: NuggetShelf) -> None:
        self.shelf = shelf
        self.users = 0


class ShelfPool:
    """Shelves by name, opened when they are asked for. Those that nobody uses are closed, the least
    recently used first, while there are too many or the process takes too much memory."""

    def __init__(
        self,
        open_shelf: Callable[[str], NuggetShelf],
        *,
        most: int,
        memory_bytes: int,
        memory_in_use: Callable[[], int] | None = None,
    ) -> None:
        self._open_shelf = open_shelf
        self._most = most
        self._memory_bytes = memory_bytes
        self._memory_in_use = memory_in_use or resident_bytes
        self._shelves: OrderedDict[str, _OpenShelf] = OrderedDict()  # the last used last
        self._lock = threading.Lock()

    @contextmanager
    def lease(self, name: str) -> Iterator[NuggetShelf]:
        """The shelf of that name; it stays open inside."""
        with self._lock:
            entry = self._shelves.get(name)
            if entry is None:
                entry = self._shelves[name] = _OpenShelf(self._open_shelf(name))
            entry.users += 1
            self._shelves.move_to_end(name)
        try:
            yield entry.shelf
        finally:
            with self._lock:
                entry.users -= 1
                surplus = self._take_surplus()
            for shelf in surplus:
                _close(shelf)

    @property
    def names(self) -> list[str]:
        """The shelves that are open, the least recently used first."""
        with self._lock:
            return list(self._shelves)

    def close(self) -> None:
        with self._lock:
            shelves = [entry.shelf for entry in self._shelves.values()]
            self._shelves.clear()
        for shelf in shelves:
            _close(shelf)

    def _take_surplus(self) -> list[NuggetShelf]:
        """Idle shelves to close: all beyond the bound, and one if memory is short, so that a
        server whose budget is too small still answers."""
        idle = [name for name, entry in self._shelves.items() if not entry.users]
        count = max(0, len(self._shelves) - self._most)
        if not count and idle and self._memory_in_use() > self._memory_bytes:
            count = 1
        return [self._shelves.pop(name).shelf for name in idle[:count]]


def _close(shelf: NuggetShelf) -> None:
    with suppress(NuggetsError):  # it has no pending changes, so nothing is lost
        shelf.close()


def resident_bytes() -> int:
    """The memory that this process takes; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
