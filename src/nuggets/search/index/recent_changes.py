"""The newest changes, one row a note, until there are enough of them for a segment."""

import json
from typing import TYPE_CHECKING

from nuggets.domain.codec import dumps
from nuggets.search.index.note_analyzer import Analysis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nuggets.domain.sql_interface import Database

Change = tuple[int, int, Analysis, list[int]]  # document, space, what the note says, groups


def write_recent(database: "Database", changes: "Mapping[tuple[int, bool], Change]") -> None:
    database.executemany(
        "INSERT INTO search_recent VALUES (?, ?, ?, ?)",
        [
            (doc, int(removed), space, dumps((*analysis, groups)))
            for (doc, removed), (_, space, analysis, groups) in changes.items()
        ],
    )


def read_recent(
    database: "Database", known: "Mapping[tuple[int, bool], Change] | None" = None
) -> dict[tuple[int, bool], Change]:
    """Changes by document number and whether the document was removed, in that order.

    `known`: read before. A document number is never used twice, so these are not parsed again.
    """
    changes: dict[tuple[int, bool], Change] = {}
    known = known or {}
    for doc, removed, space, entry in database.execute(
        "SELECT doc, removed, space, entry FROM search_recent ORDER BY doc, removed"
    ):
        key = doc, bool(removed)
        if key in known:
            changes[key] = known[key]
        else:
            *analysis, groups = json.loads(entry)
            changes[key] = (doc, space, Analysis(*analysis), groups)
    return changes
