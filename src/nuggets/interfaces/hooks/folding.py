"""What waits in the inbox becomes temporary notes: what an agent touched lately, per project."""

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from nuggets import times
from nuggets.graph.limits import FILES_SEEN
from nuggets.interfaces.hooks.inbox import LONGEST_PATH
from nuggets.project import checkout_root, current_project
from nuggets.records import MemoryNote
from nuggets.traces import place

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

NUGGET = "files"
TAG = "seen-file"
LEFT_SECONDS = 60  # no hook lasts longer: a claimed inbox this old was left by one that died


def fold(shelf: "NuggetShelf", directory: str) -> None:
    """Turn what waits into temporary notes, each of its own project."""
    seen: dict[str, dict[str, bool]] = {}
    claims = _claimed(directory)
    for claim in claims:
        for line in _lines(claim):
            project, relative, edited = _sighting(line, shelf.settings["project"])
            if relative:
                files = seen.setdefault(project, {})
                files[relative] = files.pop(relative, False) or edited
    with shelf.batch():
        for project, files in seen.items():
            _store(shelf, project, dict(list(files.items())[-FILES_SEEN:]))
    for claim in claims:  # those of a write that failed stay, and are folded the next time
        with suppress(OSError):
            os.unlink(claim)


def _claimed(directory: str) -> list[str]:
    """Take the inbox for ourselves, and what a process left that died on the way.

    Whoever renames a file has it, and nobody else. It is touched before: a rename keeps its time,
    by which an inbox that was idle for long would at once look left behind.
    """
    inbox = place(directory, "inbox")
    folder, claims = os.path.dirname(inbox), []
    with suppress(OSError):
        for name in os.listdir(folder):
            path, ours = os.path.join(folder, name), f"{inbox}.{os.urandom(4).hex()}"
            with suppress(OSError):  # another was faster
                if path == inbox or (name.startswith("inbox.") and _is_left(path)):
                    os.utime(path)
                    os.rename(path, ours)
                    claims.append(ours)
    return claims


def _is_left(path: str) -> bool:
    import time

    return time.time() - os.stat(path).st_mtime > LEFT_SECONDS


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readlines()
    except OSError:
        return []


def _sighting(line: str, told: str) -> tuple[str, str, bool]:
    """Project, path inside of it, and whether the file was changed; no path: not to be kept."""
    try:
        directory, path, edited = json.loads(line)
        project = told or current_project(directory)
        whole = os.path.realpath(os.path.join(directory, path))
        relative = os.path.relpath(whole, checkout_root(directory))
    except (ValueError, TypeError, OSError):
        return "", "", False
    outside = relative.startswith((os.pardir, ".git" + os.sep)) or relative == os.curdir
    if outside or not project or not _is_namable(relative):
        return project, "", False
    return project, relative, bool(edited)


def _is_namable(path: str) -> bool:
    """Can a note be called after it? Some names of files are no text, or too long."""
    return path.isprintable() and len(path) <= LONGEST_PATH


def _store(shelf: "NuggetShelf", project: str, seen: dict[str, bool]) -> None:
    from nuggets.secrets import found as secrets_in

    known = {note.title: note for note in _of_project(shelf, project)}
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
    oldest = sorted(known.values(), key=lambda note: note.updated_at)
    for note in oldest[: max(0, len(known) + len(seen) - FILES_SEEN)]:
        shelf.delete_note(note.id, hard=True)


def _of_project(shelf: "NuggetShelf", project: str) -> list[MemoryNote]:
    """Sightings of a project, the archived too: a file seen again is no second note."""
    if not shelf.has(NUGGET):
        return []
    notes = shelf.list_notes(nugget=NUGGET, tag=TAG, include_hidden=True)
    return [note for note in notes if note.project == project]
