"""opencode: messages with parts, which its plugin sends, for the host's store is its own matter."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nuggets.interfaces.hooks.transcripts.tool_calls import call_steps
from nuggets.operations.session_note_text import Step


def steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for entry in entries:
        info, parts = entry.get("info"), entry.get("parts")
        role = info.get("role") if isinstance(info, dict) else None
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict):
                yield from _part(role, part)


def _part(role: Any, part: Mapping[str, Any]) -> Iterator[Step]:
    text = part.get("text")
    if part.get("type") == "text" and isinstance(text, str) and text.strip():
        if role == "assistant":
            yield Step("reply", text.strip())
        elif role == "user" and not part.get("synthetic"):
            yield Step("request", _without_quotes(text.strip()))
    state = part.get("state")
    if part.get("type") == "tool" and isinstance(state, dict):
        given, output = state.get("input"), state.get("output")
        yield from call_steps(
            str(part.get("tool")),
            given if isinstance(given, dict) else {},
            _has_failed(state),
            output if isinstance(output, str) else "",
        )


def _without_quotes(request: str) -> str:
    """`opencode run "a request"` passes it on in quotes."""
    inner = request[1:-1]
    is_quoted = len(request) > 2 and request[0] == request[-1] == '"' and '"' not in inner
    return inner.strip() if is_quoted else request


def _has_failed(state: Mapping[str, Any]) -> bool | None:
    metadata = state.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    if isinstance(code, int):
        return code != 0
    return {"completed": False, "error": True}.get(str(state.get("status")))
