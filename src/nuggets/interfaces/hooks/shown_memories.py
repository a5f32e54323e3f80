"""Which memories a session was shown, and when: its diary has a line of JSON for each prompt.

The diary also says where the host keeps the session's transcript, and when the session's note was
last kept (`session_note_update`).
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from nuggets.filesystem.atomic_files import open_plain
from nuggets.filesystem.hook_files import append, hook_path
from nuggets.interfaces.hooks.host_payload import Event
from nuggets.operations.session_notes import session_digest

FOLDER = "sessions"
TAIL_BYTES = 16 * 1024  # of other sessions' diaries: their last entries


def diary_path(directory: str, session: str) -> str:
    """The file of a session; "" if the host names no session."""
    return hook_path(directory, FOLDER, session_digest(session)) if session else ""


def append_entry(directory: str, session: str, entry: dict[str, Any]) -> None:
    append(diary_path(directory, session), json.dumps(entry) + "\n")


def where_it_is(event: Event, folder: str) -> dict[str, str]:
    """The part of an entry by which the session's note can be written later."""
    place = {"session": event.session, "host": event.host, "folder": folder}
    return {**place, "transcript": event.transcript} if event.transcript else place


def read_diary(directory: str, session: str) -> list[dict[str, Any]]:
    """The entries of a session, oldest first."""
    return _entries(diary_path(directory, session), whole=True)


def other_diaries(directory: str, session: str) -> Iterator[list[dict[str, Any]]]:
    """The last entries of other sessions."""
    own = diary_path(directory, session)
    with suppress(OSError):
        for name in sorted(os.listdir(hook_path(directory, FOLDER))):
            path = hook_path(directory, FOLDER, name)
            if path != own:
                yield _entries(path, whole=False)


def shown_notes(entries: list[dict[str, Any]]) -> dict[str, str]:
    """The ids of the notes that are in the context, and when each was shown last ("": unknown)."""
    shown: dict[str, str] = {}
    for entry in entries:
        if entry.get("forgotten"):
            shown.clear()
        shown.update(dict.fromkeys(entry.get("shown", ()), entry.get("at", "")))
    return shown


def prompts_of(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["prompt"] for entry in entries if entry.get("prompt")]


def _entries(path: str, *, whole: bool) -> list[dict[str, Any]]:
    try:
        with open(path, "rb", opener=open_plain) as file:
            if not whole and os.fstat(file.fileno()).st_size > TAIL_BYTES:
                file.seek(-TAIL_BYTES, os.SEEK_END)
            lines = file.readlines()
    except OSError:
        return []
    entries = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                entries.append(entry)
    return entries
