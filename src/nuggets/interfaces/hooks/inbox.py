"""File sightings on their way into memory: appended in a moment, folded in when there is time.

A tool call must not wait for a shelf to load, so it leaves a line here; the next hook that opens
the shelf turns lines into temporary notes, at most `KEPT` for a project.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from nuggets import times
from nuggets.interfaces.hooks.payload import Event, files_of
from nuggets.interfaces.hooks.record import append, place
from nuggets.project import current_project
from nuggets.records import MemoryNote

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

NUGGET = "files"
TAG = "seen-file"
KEPT = 200  # per project: what an agent touched lately, not a listing of the repository
INBOX_BYTES = 1024 * 1024  # nobody folded for long; older sightings would say nothing
LEFT_SECONDS = 60  # a claimed inbox this old was left by a process that died


def leave(directory: str, event: Event) -> None:
    """Append what a tool call touched; no memory is read."""
    lines = "".join(
        json.dumps([event.directory, path, edited, event.session]) + "\n"
        for path, edited in files_of(event)
        if len(path) < 500
    )
    path = place(directory, "inbox")
    if not lines or not path:
        return
    with suppress(FileNotFoundError):
        if os.stat(path).st_size > INBOX_BYTES:
            return
    append(path, lines)


def waiting(directory: str) -> bool:
    """Is there anything to fold in?"""
    return os.path.exists(place(directory, "inbox"))


def fold(shelf: "NuggetShelf", directory: str) -> int:
    """Turn what waits into temporary notes of this shelf's project; how many were new.

    Sightings of other projects stay for those who work there.
    """
    seen: dict[str, bool] = {}
    others: list[str] = []
    claims = list(_claimed(directory))
    for claim in claims:
        for line in _lines(claim):
            if _project_of(line, shelf) != shelf.project:
                others.append(line)
                continue
            relative, edited = _sighting(line, shelf.project)
            if relative:
                seen[relative] = seen.pop(relative, False) or edited
    count = _stored(shelf, seen) if seen else 0
    if others:
        append(place(directory, "inbox"), "".join(others[-KEPT:]))
    for claim in claims:
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


def _read(line: str) -> list[Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return []
    return found if isinstance(found, list) and len(found) == 4 else []


def _project_of(line: str, shelf: "NuggetShelf") -> str:
    found = _read(line)
    if not found:
        return shelf.project  # unreadable: ours to throw away
    return shelf.settings["project"] or current_project(str(found[0]))


def _sighting(line: str, project: str) -> tuple[str, bool]:
    """The file's path inside the project; "" for one outside of it."""
    found = _read(line)
    if not found or not project:
        return "", False
    root = os.path.dirname(project)
    path = os.path.normpath(os.path.join(str(found[0]), str(found[1])))
    relative = os.path.relpath(path, root)
    inside = not relative.startswith((os.pardir, ".git" + os.sep)) and relative != os.curdir
    return (relative if inside else ""), bool(found[2])


def _stored(shelf: "NuggetShelf", seen: dict[str, bool]) -> int:
    from nuggets.secrets import found as secrets_in

    known = {note.title: note for note in _of_project(shelf)}
    new = 0
    with shelf.batch():
        for relative, edited in seen.items():
            title = f"file: {relative}"
            what = f"{relative} was {'edited' if edited else 'read'} on {times.now()[:10]}"
            note = known.pop(title, None)
            if note is not None:
                if note.content != what:
                    shelf.edit_note(note.id, content=what)
            elif not secrets_in(relative):
                shelf.create_note(
                    NUGGET,
                    title,
                    what,
                    [TAG],
                    scope="project",
                    source="tool_observation",
                    stability="temporary",
                    project=shelf.project,
                )
                new += 1
        oldest = sorted(known.values(), key=lambda note: note.updated_at)
        for note in oldest[: max(0, len(known) + len(seen) - KEPT)]:
            shelf.delete_note(note.id, hard=True)
    return new


def _of_project(shelf: "NuggetShelf") -> list[MemoryNote]:
    """Sightings of this project, the archived too: a file seen again is no second note."""
    if not shelf.has(NUGGET):
        return []
    notes = shelf.list_notes(nugget=NUGGET, tag=TAG, include_hidden=True)
    return [note for note in notes if note.project == shelf.project]
