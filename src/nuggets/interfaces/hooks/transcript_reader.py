"""Reads a host's transcript: bounded, only inside the host's own folder, as data. One in which
nothing is understood is `Unreadable`."""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nuggets.interfaces.hooks.host_payload import json_objects
from nuggets.interfaces.hooks.transcript_formats import STEPS, object_of, text_of
from nuggets.named_tuple import NamedTuple
from nuggets.operations.session_note_text import Step

# Ours, bounds of the time: a transcript may have hundreds of megabytes.
HEAD_BYTES = 256 * 1024  # the goal stands at the beginning,
TAIL_BYTES = 2 * 1024 * 1024  # what matters else at the end
HEAD_LINES, TAIL_LINES = 200, 3000  # the same for many short lines, which take longer to parse

# host: the variable that moves its folder, the folder below the home directory
_FOLDERS = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
    "gemini": ("GEMINI_CLI_HOME", ".gemini"),
    "pi": ("PI_CODING_AGENT_DIR", ".pi"),
    "cursor": ("CURSOR_CONFIG_DIR", ".cursor"),
}
_TRANSCRIPTS_ASKED = 3  # for a working directory: one that was cut may not say it
_SENDING = ("opencode",)  # hosts whose plugin sends the transcript


class Unreadable(Exception):
    """A transcript that cannot be read; the message says why, without its texts."""


class Transcript(NamedTuple):
    """What a transcript says."""

    host: str
    steps: list[Step]
    started: str  # times as the host wrote them; "" if it wrote none
    ended: str
    session: str = ""  # the host's id of it, and where the agent worked, if it says so
    folder: str = ""


def read_transcript(path: str, since: str = "") -> Transcript:
    """Read the transcript at a path. `since`: what is not known to be later is left out."""
    place = os.path.realpath(path)
    host = _host_of(place)
    if not host:
        raise Unreadable("it lies in no folder of a known host")
    raw = _read(place)
    transcript = _transcript(host, _entries(raw), since)
    if raw and not transcript.steps and not since:
        raise Unreadable("its format is unknown")
    return transcript


def read_named_transcript(path: str, since: str = "") -> Transcript:
    """Read a transcript that a person named, wherever it lies: its entries say whose it is."""
    entries = _entries(_read(path))
    host = host_by_entries(entries)
    if not host:
        raise Unreadable("it is no transcript of a known host")
    transcript = _transcript(host, entries, since)
    return transcript if host != "cursor" else transcript._replace(folder=_trusted_folder(path))


def host_by_entries(entries: Iterable[Mapping[str, Any]]) -> str:
    """The host that writes such entries; "" if none is known."""
    for entry in entries:
        kind = entry.get("type")
        if "sessionId" in entry and ("messages" in entry or kind == "gemini"):
            return "gemini"
        if "sessionId" in entry and kind in ("user", "assistant") and "message" in entry:
            return "claude-code"
        if kind in ("session_meta", "response_item", "event_msg") and "payload" in entry:
            return "codex"
        if kind == "session" and "cwd" in entry:
            return "pi"
        if kind is None and entry.get("role") in ("user", "assistant") and "message" in entry:
            return "cursor"
    return ""


def read_sent_transcript(host: str, sent: Sequence[Any]) -> Transcript:
    """The same for a transcript that a host's plugin sends."""
    if host not in _SENDING:
        raise Unreadable("this host sends no transcripts")
    return _transcript(host, [entry for entry in sent if isinstance(entry, dict)], "")


def _transcript(host: str, entries: list[dict[str, Any]], since: str) -> Transcript:
    if since:
        entries = [entry for entry in entries if _time(entry) > since]
    steps = list(STEPS[host](entries))
    times = [time for time in map(_time, entries) if time]
    started, ended = (times[0], times[-1]) if times else ("", "")
    return Transcript(host, steps, started, ended, *_identity(entries))


def _identity(entries: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """The host's id of a session, and where the agent worked."""
    session = folder = ""
    for entry in entries:
        about = object_of(entry.get("payload", entry))
        is_head = entry.get("type") in ("session", "session_meta")
        session = session or text_of(about.get("id" if is_head else "sessionId"))
        folder = folder or text_of(about.get("cwd"))
        if session and folder:
            break
    return session, folder


def _time(entry: Mapping[str, Any]) -> str:
    return text_of(entry.get("timestamp") or entry.get("startTime"))


def host_folder(host: str) -> str:
    """Where a host keeps its files."""
    variable, folder = _FOLDERS[host]
    return os.environ.get(variable) or os.path.join(os.path.expanduser("~"), folder)


def read_folder_of(directory: str) -> str:
    """The working directory that Claude Code has a directory of transcripts for, as one of them
    says; "" if none does. The name of the directory does not tell a dash from a slash."""
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".jsonl"))
    except OSError:
        return ""
    for name in names[-_TRANSCRIPTS_ASKED:]:
        try:
            folder = read_named_transcript(os.path.join(directory, name)).folder
        except Unreadable:
            continue
        if folder:
            return folder
    return ""


def _trusted_folder(path: str) -> str:
    """The working directory of a transcript of Cursor, as the file says by which it is trusted; ""
    without one. The name of the directory does not tell a dash from a slash."""
    project = os.path.abspath(path).partition(f"{os.sep}agent-transcripts{os.sep}")[0]
    try:
        trusted = json_objects([_read(os.path.join(project, ".workspace-trusted"))])
    except Unreadable:
        return ""
    return text_of(trusted[0].get("workspacePath")) if trusted else ""


def _host_of(place: str) -> str:
    """The host in whose folder a path lies."""
    roots = {host: os.path.join(os.path.realpath(host_folder(host)), "") for host in _FOLDERS}
    return next((host for host, root in roots.items() if place.startswith(root)), "")


def _read(place: str) -> bytes:
    """The file, or its beginning and its end, parted by a line break."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        raise Unreadable(problem.strerror or "it cannot be opened") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is no file")
        if status.st_size <= HEAD_BYTES + TAIL_BYTES:
            return file.read(HEAD_BYTES + TAIL_BYTES)
        head = file.read(HEAD_BYTES)
        file.seek(-TAIL_BYTES, os.SEEK_END)
        return head + b"\n" + file.read(TAIL_BYTES)


def _entries(raw: bytes) -> list[dict[str, Any]]:
    """The objects of JSON lines, or of one JSON text; lines that are cut or broken are skipped."""
    whole = json_objects([raw]) if raw.lstrip()[:2] in (b"{\n", b"{\r") else []
    lines = raw.split(b"\n")
    if len(lines) > HEAD_LINES + TAIL_LINES:
        lines = [*lines[:HEAD_LINES], *lines[-TAIL_LINES:]]
    return whole or json_objects(lines)
