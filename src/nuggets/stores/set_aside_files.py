"""Older copies of a shelf in its own directory: backups, files that were set aside, and temporary
files of writers that died."""

import os
import shutil
from collections.abc import Iterator

from nuggets.filesystem.atomic_files import is_leftover, unwritable

DAMAGED = ".damaged-"  # then a number: a file that a repair set aside
REPLACED = "replaced-"  # then a number: a shelf that a restore replaced


def free_name(prefix: str) -> str:
    """The first path of the form `<prefix><number>` that does not exist."""
    number = 1
    while os.path.lexists(f"{prefix}{number}"):
        number += 1
    return f"{prefix}{number}"


def remove_copies(directory: str) -> list[str]:
    """Remove everything that was set aside, since it may hold what is being erased; the paths.

    So do temporary files. Their writers, if any is alive, then fail and begin anew.
    """
    paths = list(_set_aside_paths(directory))
    for path in paths:
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except FileNotFoundError:
            pass  # its writer has just removed it
        except OSError as problem:
            raise unwritable(path, problem) from problem
    return paths


def _set_aside_paths(directory: str) -> Iterator[str]:
    for subfolder in ("", "graph", "backups"):
        folder = os.path.join(directory, subfolder)
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
            is_copy = DAMAGED in name or name.startswith(REPLACED)
            if is_copy or is_leftover(name):
                yield os.path.join(folder, name)


def list_backups(directory: str) -> list[str]:
    """The backups that a shelf's own directory holds."""
    folder = os.path.join(directory, "backups")
    names = os.listdir(folder) if directory and os.path.isdir(folder) else []
    paths = (os.path.join(folder, name) for name in names)
    return sorted(path for path in paths if not os.path.isdir(path))  # of `connect`: no memories
