"""Files that an agent used: a tool call appends a line to the inbox, without opening the shelf, and
the next hook that opens it turns the lines into temporary notes of their project."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets.filesystem.atomic_files import read_if_plain
from nuggets.filesystem.hook_files import append, file_size, hook_path
from nuggets.interfaces.hooks.host_payload import Event, files_of

if TYPE_CHECKING:
    from nuggets.domain.records import MemoryNote
    from nuggets.shelf import NuggetShelf

NUGGET = "files"
TAG = "seen-file"
ABANDONED_SECONDS = 60  # no hook runs longer, so the process that claimed it crashed
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


def import_inbox(shelf: "NuggetShelf", directory: str) -> None:
    """Turn the lines of the inbox into temporary notes of their projects."""
    from nuggets.domain.limits import FILES_SEEN

    files_by_project: dict[str, dict[str, bool]] = {}
    claims = _claim_inboxes(directory)
    for claim in claims:
        for line in read_if_plain(claim).decode(errors="replace").splitlines():
            project, relative, edited = _sighting(line, shelf.project_of)
            if project and relative:
                files = files_by_project.setdefault(project, {})
                files[relative] = files.pop(relative, False) or edited
    with shelf.batch():
        for project, files in files_by_project.items():
            _store(shelf, project, dict(list(files.items())[-FILES_SEEN:]))
    for claim in claims:  # if the write failed they stay for the next import
        with suppress(OSError):
            os.unlink(claim)


def _claim_inboxes(directory: str) -> list[str]:
    """Rename the inbox for ourselves, and those that a crashed process left.

    The rename decides which process gets it. The time is set first, because a rename keeps it, and
    an old inbox would at once look abandoned.
    """
    inbox = hook_path(directory, "inbox")
    folder, claims = os.path.dirname(inbox), []
    with suppress(OSError):
        for name in os.listdir(folder):
            path, claim = os.path.join(folder, name), f"{inbox}.{os.urandom(4).hex()}"
            with suppress(OSError):  # another process claimed it
                waited = time.time() - os.stat(path).st_mtime
                if path == inbox or (name.startswith("inbox.") and waited > ABANDONED_SECONDS):
                    os.utime(path)
                    os.rename(path, claim)
                    claims.append(claim)
    return claims


def _sighting(line: str, project_of: Callable[[str], str]) -> tuple[str, str, bool]:
    """The project, the path in it ("": do not store), and whether the file was edited."""
    from nuggets.filesystem.current_project import checkout_root

    try:
        directory, path, edited = json.loads(line)
        project = project_of(directory)
        absolute = os.path.realpath(os.path.join(directory, path))
        relative = os.path.relpath(absolute, checkout_root(directory))
    except (ValueError, TypeError, OSError, RecursionError):
        return "", "", False
    outside = relative.startswith(os.pardir) or relative == os.curdir
    # some file names can be no title
    is_namable = relative.isprintable() and len(relative) <= LONGEST_PATH
    return project, "" if outside or not is_namable else relative, bool(edited)


def _store(shelf: "NuggetShelf", project: str, files: dict[str, bool]) -> None:
    from nuggets.domain import times
    from nuggets.domain.limits import FILES_SEEN
    from nuggets.errors import RefusedText

    notes_by_title = {note.title: note for note in _sightings_of(shelf, project)}
    for relative, edited in files.items():
        title = f"file: {relative}"
        what = f"{relative} was {'edited' if edited else 'read'} on {times.now()[:10]}"
        note = notes_by_title.pop(title, None)
        with suppress(RefusedText):  # a path with a credential in it
            if note is not None:
                shelf.edit_note(note.id, content=what, hidden=False)
                continue
            shelf.create_note(
                NUGGET,
                title,
                what,
                [TAG],
                scope="project",
                source="tool_observation",
                stability="temporary",
                project=project,
            )
    oldest = sorted(notes_by_title.values(), key=lambda note: note.updated_at)
    for note in oldest[: max(0, len(notes_by_title) + len(files) - FILES_SEEN)]:
        shelf.delete_note(note.id, hard=True)


def _sightings_of(shelf: "NuggetShelf", project: str) -> "list[MemoryNote]":
    """The file notes of a project, archived ones too, so that a file gets one note."""
    if not shelf.has(NUGGET):
        return []
    notes = shelf.list_notes(nugget=NUGGET, tag=TAG, include_hidden=True)
    return [note for note in notes if note.project == project]
