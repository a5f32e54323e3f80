"""What waits in the inbox becomes temporary notes: what an agent touched lately, per project."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets import times
from nuggets.project import checkout_root, current_project
from nuggets.records import MemoryNote
from nuggets.traces import place

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

NUGGET = "files"
TAG = "seen-file"
KEPT = 200  # per project: what was touched lately, not a listing of the repository
LONGEST_PATH = 480  # characters: a title may have 512, and says what it names
LEFT_SECONDS = 60  # a claimed inbox this old was left by a process that died


def fold(shelf: "NuggetShelf", directory: str) -> int:
    """Turn what waits into temporary notes, each of its own project; how many were new."""
    seen: dict[str, dict[str, bool]] = {}
    claims = list(_claimed(directory))
    for claim in claims:
        for line in _lines(claim):
            project, relative, edited = _sighting(line, shelf.settings["project"])
            if relative:
                files = seen.setdefault(project, {})
                files[relative] = files.pop(relative, False) or edited
    count = 0
    with shelf.batch():
        for project, files in seen.items():
            count += _stored(shelf, project, dict(list(files.items())[-KEPT:]))
    for claim in claims:  # those of a write that failed stay, and are folded the next time
        with suppress(OSError):
            os.unlink(claim)
    return count


def _claimed(directory: str) -> Iterator[str]:
    """Take the inbox for ourselves, and what a process left that died on the way."""
    import time

    inbox = place(directory, "inbox")
    if not inbox:
        return
    folder = os.path.dirname(inbox)
    ours = f"{inbox}.{os.getpid()}"
    with suppress(OSError):
        os.rename(inbox, ours)
        yield ours
    with suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name.startswith("inbox.") and path != ours:
                with suppress(OSError):
                    if time.time() - os.stat(path).st_mtime > LEFT_SECONDS:
                        yield path


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readlines()
    except OSError:
        return []


def _sighting(line: str, told: str) -> tuple[str, str, bool]:
    """Project, path inside of it, and whether the file was changed; no path: not to be kept."""
    try:
        directory, path, edited, _ = json.loads(line)
        project = told or current_project(directory)
        whole = os.path.realpath(os.path.join(directory, path))
        relative = os.path.relpath(whole, checkout_root(directory))
    except (ValueError, TypeError):
        return "", "", False
    outside = relative.startswith((os.pardir, ".git" + os.sep)) or relative == os.curdir
    if outside or not project or not _is_namable(relative):
        return project, "", False
    return project, relative, bool(edited)


def _is_namable(path: str) -> bool:
    """Can a note be called after it? Some names of files are no text, or too long."""
    return path.isprintable() and len(path) <= LONGEST_PATH


def _stored(shelf: "NuggetShelf", project: str, seen: dict[str, bool]) -> int:
    from nuggets.secrets import found as secrets_in

    known = {note.title: note for note in _of_project(shelf, project)}
    new = 0
    for relative, edited in seen.items():
        title = f"file: {relative}"
        what = f"{relative} was {'edited' if edited else 'read'} on {times.now()[:10]}"
        note = known.pop(title, None)
        if note is not None:
            shelf.edit_note(note.id, content=what, hidden=False)
        elif not secrets_in(relative):
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
            new += 1
    oldest = sorted(known.values(), key=lambda note: note.updated_at)
    for note in oldest[: max(0, len(known) + len(seen) - KEPT)]:
        shelf.delete_note(note.id, hard=True)
    return new


def _of_project(shelf: "NuggetShelf", project: str) -> list[MemoryNote]:
    """Sightings of a project, the archived too: a file seen again is no second note."""
    if not shelf.has(NUGGET):
        return []
    notes = shelf.list_notes(nugget=NUGGET, tag=TAG, include_hidden=True)
    return [note for note in notes if note.project == project]
