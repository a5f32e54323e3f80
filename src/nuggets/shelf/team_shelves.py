"""The team of a server: whose token a request carries, which shelf it works on, and how many
private shelves stay open."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from nuggets.domain.records import Member
from nuggets.errors import InvalidInput, NuggetsError
from nuggets.filesystem.shelf_location import IN_MEMORY, private_location
from nuggets.operations.permissions import PAGE
from nuggets.shelf import NuggetShelf
from nuggets.shelf.member_shelf import MemberShelf


class Team:
    """The shelf of a team, and the private shelves of its members, opened when needed."""

    def __init__(self, shelf: NuggetShelf) -> None:
        settings = shelf.settings
        self._shelf = shelf.for_project("")  # whoever asks says which project they work in
        self._url = str(settings["dir"])
        if self._url == IN_MEMORY:
            raise InvalidInput("a team's shelf is a directory or a database; it is not in memory")
        # What is private is promoted to no file but one beside it.
        self._settings = settings.replace(memory_file="")
        self._pool = ShelfPool(self._open_private, most=settings["server_shelves"])

    def find_member(self, token: str) -> Member | None:
        return self._shelf.find_member(token)

    @contextmanager
    def shelf_of(self, member: Member) -> Iterator[MemberShelf]:
        """What this member sees and may write."""
        with self._pool.lease(member.name) as private:
            yield MemberShelf(self._shelf, private, member).for_client(PAGE)

    def open_private_shelves(self) -> list[AbstractContextManager[NuggetShelf]]:
        """The private shelves in use lately, for the daily clean-up."""
        return [self._pool.lease(name) for name in self._pool.names]

    def close(self) -> None:
        self._pool.close()

    def _open_private(self, member: str) -> NuggetShelf:
        return NuggetShelf(
            private_location(self._url, member), settings=self._settings, project="", client=PAGE
        )


# --- open shelves, within a bound on their number -------------------------------------------------


class _OpenShelf:
    def __init__(self, shelf: NuggetShelf) -> None:
        self.shelf = shelf
        self.users = 0


class ShelfPool:
    """Shelves by name, opened when they are asked for. Those that nobody uses are closed, the least
    recently used first, while there are too many."""

    def __init__(self, open_shelf: Callable[[str], NuggetShelf], *, most: int) -> None:
        self._open_shelf = open_shelf
        self._most = most
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
        """Idle shelves to close: all beyond the bound."""
        idle = [name for name, entry in self._shelves.items() if not entry.users]
        count = max(0, len(self._shelves) - self._most)
        return [self._shelves.pop(name).shelf for name in idle[:count]]


def _close(shelf: NuggetShelf) -> None:
    with suppress(NuggetsError):  # it has no pending changes, so nothing is lost
        shelf.close()
