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
    _check_scheme(url)
    from nuggets.stores.json_files import PAINT_SECONDS, JsonFileStore

    lag = 0.0 if short_lived else PAINT_SECONDS
    return JsonFileStore(url.removeprefix("file://"), adopt, paint_seconds=lag)


def _check_scheme(url: str) -> None:
    """A store of another kind must not become a directory of that name."""
    scheme, colon, _ = url.removeprefix("file://").partition(":")
    letters = scheme.translate(dict.fromkeys(map(ord, "+-.")))
    if colon and scheme[:1].isalpha() and letters.isascii() and letters.isalnum():
        raise SettingsError(
            f"no store is known for {scheme}:; give a directory, or memory: "
            f"(and ./{url} if that is a directory)"
        )
