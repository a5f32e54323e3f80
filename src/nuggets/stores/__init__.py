"""Where a shelf is kept. Every store keeps the contract in `base`."""

from typing import TYPE_CHECKING

from nuggets.place import directory_of

if TYPE_CHECKING:
    from nuggets.stores.adoption import Adopt
    from nuggets.stores.base import Store


def open_store(url: str, adopt: "Adopt", *, short_lived: bool = False) -> "Store":
    """A directory, or ``memory:`` for one that lasts as long as the process.

    `short_lived`: the process ends soon, so everything is in its final place after each write.
    """
    directory = directory_of(url)
    if not directory:
        from nuggets.stores.in_memory import InMemoryStore

        return InMemoryStore()
    from nuggets.stores.json_files import PAINT_SECONDS, JsonFileStore

    lag = 0.0 if short_lived else PAINT_SECONDS
    return JsonFileStore(directory, adopt, paint_seconds=lag)
