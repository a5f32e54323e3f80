"""Where a shelf is kept. Every store keeps the contract in `base`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nuggets.place import directory_of

if TYPE_CHECKING:
    from nuggets.stores.base import IndexKind, Store
    from nuggets.stores.exports.intake import Adopt


def open_store(
    url: str, kinds: "Sequence[IndexKind]", adopt: "Adopt", *, short_lived: bool = False
) -> "Store":
    """A directory, or ``memory:`` for one that lasts as long as the process.

    `adopt`: what an edit of a documented file means.
    `short_lived`: the process ends soon, so it does nothing in the background.
    """
    from nuggets.stores.sqlite.store import SqliteStore

    return SqliteStore(directory_of(url), kinds, adopt, short_lived=short_lived)
