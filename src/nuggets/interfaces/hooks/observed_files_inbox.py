"""The inbox of file sightings: a tool call appends a line, without opening the shelf.

The next hook that opens the shelf imports the lines (`observed_files_import`).
"""

import json
import os

from nuggets.filesystem.hook_files import append, file_size, hook_path
from nuggets.interfaces.hooks.host_payload import Event, files_of

LONGEST_PATH = 500  # characters: with "file: " before it, it is a title, which may have 512
INBOX_BYTES = 1024 * 1024  # nobody imported them for long; further lines are dropped


def append_files(directory: str, event: Event) -> None:
    """Append the files of a tool call; the shelf is not opened."""
    lines = "".join(
        json.dumps([event.directory, path, edited]) + "\n"
        for path, edited in files_of(event)
        if len(path) <= LONGEST_PATH
    )
    path = hook_path(directory, "inbox")
    if lines and file_size(path) <= INBOX_BYTES:
        append(path, lines)


def has_entries(directory: str) -> bool:
    """Is there an inbox to import?"""
    return os.path.exists(hook_path(directory, "inbox"))
