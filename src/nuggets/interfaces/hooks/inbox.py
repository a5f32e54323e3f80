"""File sightings on their way into memory: a tool call leaves a line and goes on.

A tool call must not wait for a shelf to load; the next hook that opens one takes the lines in.
"""

import json
import os

from nuggets.interfaces.hooks.payload import Event, files_of
from nuggets.traces import append, place, size

LONGEST_PATH = 500  # characters: with "file: " before it, it is a title, which may have 512
INBOX_BYTES = 1024 * 1024  # nobody took them in for long; more would say nothing


def leave(directory: str, event: Event) -> None:
    """Append what a tool call touched; no memory is read."""
    lines = "".join(
        json.dumps([event.directory, path, edited]) + "\n"
        for path, edited in files_of(event)
        if len(path) <= LONGEST_PATH
    )
    path = place(directory, "inbox")
    if lines and size(path) <= INBOX_BYTES:
        append(path, lines)


def waiting(directory: str) -> bool:
    """Is there anything to take in?"""
    return os.path.exists(place(directory, "inbox"))
