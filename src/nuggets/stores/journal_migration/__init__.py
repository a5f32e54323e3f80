"""Migrate the journal of the version before the database; a shelf needs this once.

No other module reads that journal. This folder can go when nobody has a journal left.
"""

import os

from nuggets.errors import StoreError

JOURNAL = "journal"
SET_ASIDE = "journal.old"


def has_unmigrated_journal(directory: str) -> bool:
    """Is there a journal, and no database yet?"""
    if os.path.lexists(os.path.join(directory, "nuggets.db")):
        return False
    try:
        names = os.listdir(os.path.join(directory, JOURNAL))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return any(name.startswith(("log-", "snapshot-")) for name in names)


def migration_error(directory: str, problem: StoreError) -> StoreError:
    """The error to raise where nothing can be written."""
    return StoreError(
        f"{directory} has the files of an earlier version. They must be migrated to a database "
        f"once, which is not possible here: {problem}"
    )
