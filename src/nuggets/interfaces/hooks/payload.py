"""What hosts send, in one form: each spells events and fields its own way."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

EVENTS = ("session-start", "user-prompt", "post-tool", "pre-compact", "stop", "session-end")

_SPELLINGS = {  # folded to letters only; the hosts that say so
    "sessionstart": "session-start",  # Claude Code, Codex, Gemini, Cursor
    "sessioncreated": "session-start",  # opencode
    "userprompt": "user-prompt",
    "userpromptsubmit": "user-prompt",  # Claude Code, Codex
    "beforeagent": "user-prompt",  # Gemini
    "beforesubmitprompt": "user-prompt",  # Cursor
    "posttool": "post-tool",
    "posttooluse": "post-tool",  # Claude Code, Codex, Cursor
    "aftertool": "post-tool",  # Gemini
    "afterfileedit": "post-tool",  # Cursor
    "toolexecuteafter": "post-tool",  # opencode
    "precompact": "pre-compact",  # Claude Code, Codex, Cursor
    "precompress": "pre-compact",  # Gemini
    "stop": "stop",  # Claude Code, Codex, Cursor
    "afteragent": "stop",  # Gemini
    "sessionidle": "stop",  # opencode
    "sessionend": "session-end",  # Claude Code, Gemini, Cursor
}
HOST_NAMES = {  # our event -> what the answer has to call it where the host did not say
    "session-start": "SessionStart",
    "user-prompt": "UserPromptSubmit",
}
FILES = 20  # of one tool call: a patch of more is a sweep, which says little about each
_CONTEXT, _CONTEXT_END = "<hook_context>", "</hook_context>"
_MOVED = "*** Move to: "  # after the name that the file had
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "target_file", "path")
_READERS = frozenset(("read", "readfile", "readmanyfiles", "view"))
_WRITERS = frozenset(
    ("edit", "multiedit", "write", "writefile", "notebookedit", "replace", "editfile", "strreplace")
) | {"searchreplace", "applypatch", "create", "afterfileedit"}


class Event(NamedTuple):
    """One call of a hook."""

    name: str  # of EVENTS; "" for one that we do not know
    host: str
    spelled: str  # the event's name as the host gave it
    session: str
    directory: str  # where the agent works
    prompt: str
    source: str  # why a session started, or a context is compacted
    tool: str
    tool_input: Mapping[str, Any]


def event_of(argument: str, host: str, sent: Mapping[str, Any]) -> Event:
    """The call as we see it; fields of wrong types count as not sent."""
    spelled = _text(sent, "hook_event_name", "hookEventName")
    tool_input = sent.get("tool_input", sent.get("toolInput"))
    if not isinstance(tool_input, Mapping):  # some events carry the file on the top level
        tool_input = {name: sent[name] for name in _PATHS if name in sent}
    return Event(
        _known(argument) or _known(spelled),
        host,
        spelled,
        _text(sent, "session_id", "conversation_id", "sessionID", "sessionId"),
        _text(sent, "cwd", "directory") or _first_root(sent) or os.getcwd(),
        _own_words(_text(sent, "prompt", "user_prompt", "message")),
        _text(sent, "source", "trigger", "reason"),
        _text(sent, "tool_name", "toolName") or (spelled if _known(spelled) == "post-tool" else ""),
        tool_input,
    )


def files_of(event: Event) -> list[tuple[str, bool]]:
    """The files that a tool looked at or changed, and whether it changed them."""
    tool = _letters(event.tool)
    if tool not in _READERS | _WRITERS:
        return []
    named = [event.tool_input.get(name) for name in _PATHS]
    found = [path for path in named if isinstance(path, str) and path]
    if tool == "applypatch":
        found = _patched(event.tool_input)
    return [(path, tool in _WRITERS) for path in found[:FILES]]


def _patched(tool_input: Mapping[str, Any]) -> list[str]:
    """The files that a patch names, moved ones where they are now."""
    text = next((v for v in tool_input.values() if isinstance(v, str) and "*** " in v), "")
    found: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith(_MOVED):
            del found[-1:]
        if line.startswith(("*** Update File: ", "*** Add File: ", _MOVED)):
            found.append(line.split(": ", 1)[1])
    return found


def _known(spelled: str) -> str:
    return _SPELLINGS.get(_letters(spelled), "")


def _letters(name: str) -> str:
    return "".join(letter for letter in name if letter.isalpha()).lower()


def _text(sent: Mapping[str, Any], *names: str) -> str:
    found = next((v for name in names if isinstance(v := sent.get(name), str) and v), "")
    if found.isascii():
        return found
    # half a character, as of an emoji that was cut, can be neither written nor asked for
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _own_words(prompt: str) -> str:
    """Without what hooks have put into it: Gemini hands on its start's context with the prompt."""
    while _CONTEXT in prompt:
        before, _, rest = prompt.partition(_CONTEXT)
        prompt = before + rest.partition(_CONTEXT_END)[2]
    return prompt.strip()


def _first_root(sent: Mapping[str, Any]) -> str:
    roots = sent.get("workspace_roots")
    return roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
