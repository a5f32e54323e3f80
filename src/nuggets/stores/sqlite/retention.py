"""How long the history is kept. Old commits go with all they kept, a part at a time, so that
nobody waits long; notes and their recalls stay."""

from nuggets.stores.sqlite.database import Database

_ROWS = 2000  # that one transaction deletes


def prune_some(database: Database, before: str) -> bool:
    """Inside a transaction: a part of what is older than a moment; False when nothing is left.

    The last commit stays, and all from the oldest export on: edits of it are compared with what it
    showed. Commits go first, so that none of them is seen with half of its notes.
    """
    doomed = database.value(
        "SELECT max(revision) FROM commits WHERE at < ? AND revision < (SELECT max(revision)"
        " FROM commits) AND revision < (SELECT coalesce(min(revision), 1 << 62) FROM exports"
        " WHERE revision > 0)",
        (before,),
    )
    if doomed is not None:
        database.execute("DELETE FROM commits WHERE revision <= ?", (doomed,))
    first = database.value("SELECT min(revision) FROM commits")
    deleted = 0
    for table, key in (("changes", "revision, position"), ("touches", "number")):
        old = f"SELECT {key} FROM {table} WHERE revision < ? LIMIT {_ROWS}"
        deleted += database.execute(
            f"DELETE FROM {table} WHERE ({key}) IN ({old})", (first or 0,)
        ).rowcount
    return deleted > 0
