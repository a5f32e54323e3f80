"""Migrates the files of an earlier version into the database."""

from nuggets.engine.indexes import KINDS
from nuggets.interfaces.cli.progress import Progress
from nuggets.interfaces.cli.terminal_text import escape_controls, warn
from nuggets.interfaces.display_text import pluralize
from nuggets.stores.journal_migration.migrate import migrate_with_lock


def migrate_journal(directory: str) -> None:
    """Migrate the journal of an earlier version, and say so on stderr."""
    progress = Progress()
    try:
        moved = migrate_with_lock(directory, KINDS, progress)
    finally:
        progress.end()
    if moved is not None:
        what = pluralize(moved.notes, "note")
        warn(f"Moved {what} into nuggets.db; the old files are in {escape_controls(moved.journal)}")
