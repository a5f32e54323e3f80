"""Pi: JSON lines, of which those of type `message` hold what was said and done."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nuggets.interfaces.hooks.transcripts.tool_calls import call_steps, texts_of
from nuggets.operations.session_note_text import Step

Calls = dict[str, tuple[str, Mapping[str, Any]]]


def steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    calls: Calls = {}
    for entry in entries:
        message = entry.get("message")
        if entry.get("type") != "message" or not isinstance(message, dict):
            continue
        text = texts_of(message.get("content"), "text").strip()
        role = message.get("role")
        if role == "user" and text:
            yield Step("request", text)
        elif role == "assistant":
            calls.update(_calls(message))
            if text:
                yield Step("reply", text)
        elif role == "toolResult":
            call = calls.pop(str(message.get("toolCallId")), None)
            if call is not None:
                yield from call_steps(*call, bool(message.get("isError")), text)
        elif role == "bashExecution":  # the person's own command
            code = message.get("exitCode")
            failed = code != 0 if isinstance(code, int) else None
            yield from call_steps("bash", message, failed, str(message.get("output", "")))


def _calls(message: Mapping[str, Any]) -> Calls:
    content = message.get("content")
    calls: Calls = {}
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") == "toolCall":
            given = part.get("arguments")
            named = str(part.get("name"))
            calls[str(part.get("id"))] = (named, given if isinstance(given, dict) else {})
    return calls
