"""Reads the payloads of all hosts into one form."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from nuggets.named_tuple import NamedTuple

PROMPT_CHARACTERS = 20_000  # read of a prompt: injected context may stand before the person's words
EVENTS = ("session-start", "user-prompt", "post-tool", "pre-compact", "stop", "session-end")

_CONTEXT, _CONTEXT_END = "<hook_context>", "</hook_context>"
_MOVED = "*** Move to: "  # after the name that the file had
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "target_file", "path")
_READERS = frozenset(("read", "readfile", "readmanyfiles", "view"))
_WRITERS = frozenset(
    ("edit", "multiedit", "write", "writefile", "notebookedit", "replace", "editfile", "strreplace")
) | {"searchreplace", "applypatch", "create"}


class Event(NamedTuple):
    """One call of a hook."""

    name: str = ""  # of EVENTS; "" for one that we do not know
    host: str = ""
    spelled: str = ""  # the event's name as the host gave it
    session: str = ""
    directory: str = ""  # where the agent works
    prompt: str = ""
    source: str = ""  # why a session started, or a context is compacted
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    transcript: str = ""  # the path of the host's transcript
    messages: tuple[Any, ...] = ()  # the transcript itself, from hosts that send it
    last_reply: str = ""  # what the agent said last; a transcript may not have it yet
    folder: str = ""  # of the project, which stays though the agent changes its directory


def is_command(prompt: str) -> bool:
    """Is it a command to the host? "/src/auth.py: …" is a prompt."""
    return bool(re.match(r"/[\w:-]+(?:\s|$)", prompt))


def event_of(argument: str, host: str, sent: Mapping[str, Any]) -> Event:
    """The event of a call; fields of wrong types are ignored."""
    tool_input = sent.get("tool_input", sent.get("toolInput"))
    directory = _text(sent, "cwd", "directory") or _first_root(sent) or os.getcwd()
    return Event(
        argument if argument in EVENTS else "",
        host,
        _text(sent, "hook_event_name", "hookEventName"),
        _text(sent, "session_id", "conversation_id", "sessionID", "sessionId"),
        directory,
        _own_words(_text(sent, "prompt", "user_prompt", "message")),
        _text(sent, "source", "trigger", "reason"),
        _text(sent, "tool_name", "toolName"),
        tool_input if isinstance(tool_input, Mapping) else {},
        _text(sent, "transcript_path", "transcriptPath"),
        tuple(messages) if isinstance(messages := sent.get("messages"), list) else (),
        _text(sent, "last_assistant_message", "prompt_response"),
        os.environ.get("CLAUDE_PROJECT_DIR") or directory,
    )


def files_of(event: Event) -> list[tuple[str, bool]]:
    """The files that a tool read or changed, and whether it changed them."""
    tool = _letters(event.tool)
    if tool not in _READERS | _WRITERS:
        return []
    return [(path, tool in _WRITERS) for path in _named_files(tool, event.tool_input)]


def changed_files(tool: str, tool_input: Mapping[str, Any]) -> list[str]:
    """The files that a call of a tool changed, if it is a tool that changes files."""
    name = _letters(tool)
    return _named_files(name, tool_input) if name in _WRITERS else []


def _named_files(tool: str, tool_input: Mapping[str, Any]) -> list[str]:
    if tool == "applypatch":
        return _patched_files(tool_input)
    named = [tool_input.get(name) for name in _PATHS]
    return [path for path in named if isinstance(path, str) and path]


def _patched_files(tool_input: Mapping[str, Any]) -> list[str]:
    """The files that a patch names; moved ones by their new name."""
    text = next((v for v in tool_input.values() if isinstance(v, str) and "*** " in v), "")
    paths: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith(_MOVED):
            del paths[-1:]
        if line.startswith(("*** Update File: ", "*** Add File: ", _MOVED)):
            paths.append(line.split(": ", 1)[1])
    return paths


def _letters(name: str) -> str:
    return "".join(letter for letter in name if letter.isalpha()).lower()


def _text(sent: Mapping[str, Any], *names: str) -> str:
    paths = next((v for name in names if isinstance(v := sent.get(name), str) and v), "")
    if paths.isascii():
        return paths
    # half of a surrogate pair (an emoji that was cut) cannot be stored
    return paths.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _own_words(prompt: str) -> str:
    """The prompt without injected context: Gemini passes the start's context with it."""
    first, *others = prompt.split(_CONTEXT)
    return (first + "".join(part.partition(_CONTEXT_END)[2] for part in others)).strip()


def _first_root(sent: Mapping[str, Any]) -> str:
    roots = sent.get("workspace_roots")
    return roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""


def json_objects(texts: Iterable[bytes]) -> list[dict[str, Any]]:
    """The objects of texts in JSON; those that are cut, broken, or something else are skipped."""
    found = []
    for text in texts:
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            if isinstance(value, dict):
                found.append(value)
    return found
