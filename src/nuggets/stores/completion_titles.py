"""Names for shell completion, read from the database without opening a shelf. Never writes."""

import os
from collections.abc import Sequence
from typing import Any

from nuggets.domain.records import NuggetConfig
from nuggets.domain.visibility import visible_projects
from nuggets.stores.sql.row_format import TITLE_IN_RECORD
from nuggets.stores.sqlite.database import open_read_only

NOTES_SCANNED = 5000  # of the newest notes, so that a large shelf answers as quickly
_NAME_IN_CONFIG = f"json_extract(config, '$[{NuggetConfig._fields.index('name')}]')"


def recent_titles(
    directory: str, prefix: str, *, project: str, kind: str = "", nugget: str = "", limit: int = 100
) -> list[str]:
    """Titles that begin with a prefix, newest first: of this project and of none, not archived.

    `kind` and `nugget` ("" for all) restrict them; `nugget` is a folded name.
    """
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
        " WHERE title LIKE ? ESCAPE '\\' LIMIT ?"
    )
    return _texts(directory, sql, (*projects, *wanted.values(), f"{pattern}%", limit))


def nugget_names(directory: str) -> list[str]:
    """The names of all nuggets."""
    return _texts(directory, f"SELECT {_NAME_IN_CONFIG} FROM nuggets ORDER BY place")


def _texts(directory: str, sql: str, parameters: Sequence[Any] = ()) -> list[str]:
    """The first column of what a statement finds; nothing if there is no shelf."""
    path = os.path.join(directory, "nuggets.db")
    if not directory or not os.path.lexists(path):
        return []
    database = open_read_only(path, immutable=not os.path.exists(f"{path}-wal"))
    try:
        return [text for (text,) in database.execute(sql, parameters).fetchall()]
    finally:
        database.close()
