"""Moving the files of the version before the database into one: done once for a shelf.

Nothing else knows that journal any more; this folder can go when nobody has one left.
"""

import os

from nuggets.errors import StoreError

JOURNAL = "journal"
SET_ASIDE = "journal.old"


def is_needed(directory: str) -> bool:
    """Is there a journal, and no database yet?"""
    if os.path.lexists(os.path.join(directory, "nuggets.db")):
        return False
    try:
        names = os.listdir(os.path.join(directory, JOURNAL))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return any(name.startswith(("log-", "snapshot-")) for name in names)


def unmoved(directory: str, problem: StoreError) -> StoreError:
    """What to say where nothing can be moved."""
    return StoreError(
        f"{directory} has the files of an earlier version, which are moved into a database once, "
        f"and that cannot be done here: {problem}"
    )
