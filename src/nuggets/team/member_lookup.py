"""The team of a server: whose token a request carries, and which shelf it works on."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from nuggets.domain.roles import Member
from nuggets.errors import InvalidInput
from nuggets.filesystem.shelf_location import IN_MEMORY, private_location
from nuggets.operations.client_permissions import PAGE
from nuggets.shelf import NuggetShelf
from nuggets.team.member_shelf import MemberShelf
from nuggets.team.shelf_pool import ShelfPool


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
        self._pool = ShelfPool(
            self._open_private,
            most=settings["server_shelves"],
            memory_bytes=settings["server_memory_mb"] * 1_000_000,
        )

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
