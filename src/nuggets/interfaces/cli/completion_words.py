"""Answers a shell that completes a key or a title: `nuggets __complete KIND DIR NUGGET PREFIX`.

Imports little and never writes, because it runs at every press of the Tab key.
"""

import os
import sys
from collections.abc import Sequence

from nuggets.errors import NuggetsError
from nuggets.filesystem.current_project import current_project
from nuggets.filesystem.shelf_location import default_location, directory_of
from nuggets.language.text import fold_case
from nuggets.stores.completion_titles import recent_titles

_KINDS = {"key": "fact", "title": ""}


def main(arguments: Sequence[str]) -> int:
    """Print one title a line; nothing if there is no shelf, or if it cannot be read."""
    kind, directory, nugget, prefix = (*arguments, "", "", "", "")[:4]
    try:
        titles = recent_titles(
            directory_of(directory or default_location(os.environ)),
            prefix,
            project=os.environ.get("NUGGETS_PROJECT") or current_project(),
            kind=_KINDS.get(kind, ""),
            nugget=fold_case(nugget) if nugget else "",
        )
    except (NuggetsError, OSError, ValueError):
        return 1
    lines = "".join(f"{title}\n" for title in titles if title.isprintable())
    sys.stdout.buffer.write(lines.encode(errors="replace"))
    return 0
