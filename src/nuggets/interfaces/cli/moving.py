"""The files of the version before the database, moved in by the first command that meets them."""

from nuggets.indexes import KINDS
from nuggets.interfaces.cli.printing import printable, warn
from nuggets.interfaces.cli.progress import Progress
from nuggets.interfaces.words import counted
from nuggets.stores.moving_in.move import move_in_locked


def move_in(directory: str) -> None:
    """Take the journal over and say so, in one line beside the output."""
    progress = Progress()
    try:
        moved = move_in_locked(directory, KINDS, progress)
    finally:
        progress.end()
    if moved is not None:
        what = counted(moved.notes, "note")
        warn(f"Moved {what} into nuggets.db; the old files are in {printable(moved.journal)}")
