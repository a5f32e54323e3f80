"""Where a shelf is kept. Every store keeps the contract in `base`."""

from typing import TYPE_CHECKING

from nuggets.errors import SettingsError

if TYPE_CHECKING:
    from nuggets.stores.adoption import Adopt
    from nuggets.stores.base import Store


def open_store(url: str, adopt: "Adopt", *, short_lived: bool = False) -> "Store":
    """A directory, or ``memory:`` for one that lasts as long as the process.

    `short_lived`: the process ends soon, so everything is in its final place after each write.
    """
    if url == "memory:":
        from nuggets.stores.in_memory import InMemoryStore

        return InMemoryStore()
    if "://" in url and not url.startswith("file://"):
        raise SettingsError(
            f"no store is known for {url.partition(':')[0]}://; give a directory, or memory:"
        )
    from nuggets.stores.json_files import PAINT_SECONDS, JsonFileStore

    lag = 0.0 if short_lived else PAINT_SECONDS
    return JsonFileStore(url.removeprefix("file://"), adopt, paint_seconds=lag)
