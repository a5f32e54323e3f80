"""Stores keep a shelf. Every store fulfils the contract in `sql/store.py`."""

import os
from collections.abc import Sequence
from contextlib import closing
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


# --- names for shell completion, read from the database without opening a shelf -----------------


NOTES_SCANNED = 5000  # of the newest notes, so that a large shelf answers as quickly
TITLES_OFFERED = 100  # more than a terminal shows


def recent_titles(
    directory: str, prefix: str, *, project: str, kind: str = "", nugget: str = ""
) -> list[str]:
    """Titles that begin with a prefix, newest first: of this project and of none, not archived.

    `kind` and `nugget` ("" for all) restrict them; `nugget` is a folded name.
    """
    from nuggets.domain.visibility import visible_projects
    from nuggets.stores.sql.row_format import TITLE_IN_RECORD

    filters = {"kind": kind, "nugget": nugget}
    wanted = {name: value for name, value in filters.items() if value}
    where = "".join(f" AND {name} = ?" for name in wanted)
    projects = visible_projects(project)
    marks = ", ".join("?" * len(projects))
    pattern = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    sql = (
        f"SELECT DISTINCT title FROM (SELECT {TITLE_IN_RECORD} AS title FROM notes"
        f" WHERE hidden = 0 AND project IN ({marks}){where}"
        f" ORDER BY place DESC LIMIT {NOTES_SCANNED})"
        f" WHERE title LIKE ? ESCAPE '\\' LIMIT {TITLES_OFFERED}"
    )
    return _texts(directory, sql, (*projects, *wanted.values(), f"{pattern}%"))


def nugget_names(directory: str) -> list[str]:
    """The names of all nuggets."""
    from nuggets.stores.sql.row_format import NAME_IN_CONFIG

    return _texts(directory, f"SELECT {NAME_IN_CONFIG} FROM nuggets ORDER BY place")


def _texts(directory: str, sql: str, parameters: Sequence[str] = ()) -> list[str]:
    """The first column of what a statement finds; nothing if there is no shelf."""
    from nuggets.stores.sqlite.database import open_read_only

    path = os.path.join(directory, "nuggets.db")
    if not directory or not os.path.lexists(path):
        return []
    with closing(open_read_only(path, immutable=not os.path.exists(f"{path}-wal"))) as database:
        return [text for (text,) in database.execute(sql, parameters).fetchall()]
