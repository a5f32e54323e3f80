"""Stores keep a shelf. Every store fulfils the contract in `base`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nuggets.filesystem.shelf_location import directory_of, is_database

if TYPE_CHECKING:
    from nuggets.stores.exports.edits import DecideEdit
    from nuggets.stores.sql.schema import IndexKind
    from nuggets.stores.sql.store import Store


def open_store(
    url: str, kinds: "Sequence[IndexKind]", decide_edit: "DecideEdit", *, short_lived: bool = False
) -> "Store":
    """Open a directory, a database (``postgresql://…``), or ``memory:`` for a store that lasts as
    long as the process.

    `decide_edit`: what an external edit means.
    `short_lived`: the process ends soon, so it does nothing in the background.
    """
    if is_database(url):
        from nuggets.filesystem.shelf_location import DatabaseUrl
        from nuggets.stores.postgresql.store import PostgresqlStore

        return PostgresqlStore(DatabaseUrl(url), kinds)
    from nuggets.stores.sqlite.store import SqliteStore

    return SqliteStore(directory_of(url), kinds, decide_edit, short_lived=short_lived)
