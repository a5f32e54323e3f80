"""Claude Code: JSON lines of `user` and `assistant` messages, tool results among the user's."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nuggets.interfaces.hooks.transcripts.tool_calls import call_steps, texts_of
from nuggets.operations.session_note_text import Step

# What the host puts among the person's words.
_INJECTED = re.compile(
    r"<(system-reminder|command-[a-z]{1,20}|local-command-[a-z]{1,20}|task-notification|"
    r"user-prompt-submit-hook)>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_NOT_SAID = (
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued",
)


def steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for entry in entries:
        message = entry.get("message")
        if not isinstance(message, dict) or _is_aside(entry):
            continue
        content = message.get("content")
        if entry.get("type") == "assistant":
            yield from _replies(content, calls)
        elif entry.get("type") == "user":
            yield from _results(content, calls)
            words = _INJECTED.sub(" ", texts_of(content, "text")).strip()
            if words and not words.startswith(_NOT_SAID):
                yield Step("request", words)


def _is_aside(entry: Mapping[str, Any]) -> bool:
    """Is it of a subagent, or from the host and not from the person?"""
    return any(entry.get(name) for name in ("isSidechain", "isMeta", "isCompactSummary"))


def _replies(content: Any, calls: dict[str, tuple[str, Mapping[str, Any]]]) -> Iterator[Step]:
    text = texts_of(content, "text").strip()
    if text:
        yield Step("reply", text)
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") == "tool_use":
            given = part.get("input")
            if isinstance(given, dict):
                calls[str(part.get("id"))] = (str(part.get("name")), given)


def _results(content: Any, calls: dict[str, tuple[str, Mapping[str, Any]]]) -> Iterator[Step]:
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") == "tool_result":
            call = calls.pop(str(part.get("tool_use_id")), None)
            if call is not None:
                output = texts_of(part.get("content"))
                yield from call_steps(*call, bool(part.get("is_error")), output)
