"""Codex: JSON lines with a `payload`, of response items and of events.

Newer versions let the model call tools from a script; only events then name commands and files.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nuggets.interfaces.hooks.transcripts.tool_calls import call_steps, texts_of
from nuggets.operations.session_note_text import Step

_EXIT_CODE = re.compile(r"(?:[Ee]xit code:?|exited with code) (-?\d{1,5})")
_OUTPUT_HEAD = 400  # characters in which the exit code stands
_INJECTED = ("<", "# AGENTS.md instructions")  # the host's words in the person's name

Calls = dict[str, tuple[str, Mapping[str, Any]]]


def steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    calls: Calls = {}
    for entry in entries:
        payload = entry.get("payload", entry)  # early versions have no payload
        if not isinstance(payload, dict):
            continue
        kind = payload.get("type")
        if kind == "message":
            yield from _message(payload)
        elif kind == "item_completed":
            yield from _finished_item(payload.get("item"), calls)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            calls[str(payload.get("call_id"))] = _call(payload)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            call = calls.pop(str(payload.get("call_id")), None)
            if call is not None:
                yield from call_steps(*call, *_outcome(payload.get("output")))


def _finished_item(item: Any, calls: Calls) -> Iterator[Step]:
    """A command or a change of files that an event reports; the output of the same call is then
    left out."""
    if not isinstance(item, dict) or item.get("type") not in ("CommandExecution", "FileChange"):
        return
    calls.pop(str(item.get("id")), None)
    if item["type"] == "CommandExecution":
        code, output = item.get("exit_code"), item.get("aggregated_output")
        failed = code != 0 if isinstance(code, int) else item.get("status") == "failed"
        yield from call_steps("shell", item, failed, output if isinstance(output, str) else "")
    elif item.get("status") == "completed" and isinstance(item.get("changes"), dict):
        yield from (Step("file", path) for path in item["changes"])


def _message(payload: Mapping[str, Any]) -> Iterator[Step]:
    text = texts_of(payload.get("content")).strip()
    if payload.get("role") == "assistant" and text:
        yield Step("reply", text)
    elif payload.get("role") == "user" and text and not text.startswith(_INJECTED):
        yield Step("request", text)


def _call(payload: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    name = str(payload.get("name") or payload.get("type"))
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {"input": given}  # a patch
    return name, given if isinstance(given, dict) else {"input": str(given)}


def _outcome(output: Any) -> tuple[bool | None, str]:
    """Whether a call failed, and what it said; newer versions write text, older ones JSON."""
    text = output if isinstance(output, str) else texts_of(output)
    code: Any = None
    if text.startswith("{"):
        try:
            said = json.loads(text)
            text, code = str(said.get("output", "")), said["metadata"]["exit_code"]
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            code = None
    if code is None:
        stated = _EXIT_CODE.search(text[:_OUTPUT_HEAD])
        code = int(stated[1]) if stated else None
    return (None if code is None else code != 0), text
