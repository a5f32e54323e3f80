"""Gemini CLI: one JSON object with `messages`, or the same messages as JSON lines."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nuggets.interfaces.hooks.transcripts.tool_calls import call_steps, texts_of
from nuggets.operations.session_note_text import Step

_EXIT_CODE = re.compile(r"Exit Code: (-?\d{1,5})")
_INJECTED = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.DOTALL)


def steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for entry in entries:
        messages = entry.get("messages")
        for message in messages if isinstance(messages, list) else [entry]:
            if isinstance(message, dict):
                yield from _message(message)


def _message(message: Mapping[str, Any]) -> Iterator[Step]:
    text = texts_of(message.get("content"))
    if message.get("type") == "user":
        words = _INJECTED.sub(" ", text).strip()
        if words:
            yield Step("request", words)
    elif message.get("type") == "gemini":
        for call in _calls(message):
            given = call.get("args")
            output = _output(call)
            yield from call_steps(
                str(call.get("name")),
                given if isinstance(given, dict) else {},
                _has_failed(call, output),
                output,
            )
        if text.strip():
            yield Step("reply", text.strip())


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("toolCalls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _has_failed(call: Mapping[str, Any], output: str) -> bool:
    stated = _EXIT_CODE.search(output)
    return stated[1] != "0" if stated else call.get("status") in ("error", "cancelled")


def _output(call: Mapping[str, Any]) -> str:
    """The text that the model was given."""
    result = call.get("result")
    for part in result if isinstance(result, list) else []:
        response = part.get("functionResponse") if isinstance(part, dict) else None
        inner = response.get("response") if isinstance(response, dict) else None
        output = inner.get("output", inner.get("error")) if isinstance(inner, dict) else None
        if isinstance(output, str):
            return output
    shown = call.get("resultDisplay")
    return shown if isinstance(shown, str) else ""
