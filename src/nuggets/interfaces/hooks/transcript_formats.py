"""The formats in which hosts keep the transcripts of their sessions, read into one neutral form.

Each section knows the format of one host and nothing else. Formats change without notice: what is
not understood is skipped.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nuggets.interfaces.hooks.host_payload import changed_files
from nuggets.operations.session_note_text import Step

Calls = dict[str, tuple[str, Mapping[str, Any]]]  # of tools, by id: name and arguments


# --- Claude Code: JSON lines of `user` and `assistant` messages, tool results among the user's

# What the host puts among the person's words.
_CLAUDE_INJECTED = re.compile(
    r"<(system-reminder|command-[a-z]{1,20}|local-command-[a-z]{1,20}|task-notification|"
    r"user-prompt-submit-hook)>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_CLAUDE_NOT_SAID = (
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued",
)


def claude_code_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    calls: Calls = {}
    for entry in entries:
        message = entry.get("message")
        if not isinstance(message, dict) or _is_claude_aside(entry):
            continue
        content = message.get("content")
        if entry.get("type") == "assistant":
            yield from _claude_replies(content, calls)
        elif entry.get("type") == "user":
            yield from _claude_results(content, calls)
            words = _CLAUDE_INJECTED.sub(" ", texts_of(content, "text")).strip()
            if words and not words.startswith(_CLAUDE_NOT_SAID):
                yield Step("request", words)


def _is_claude_aside(entry: Mapping[str, Any]) -> bool:
    """Is it of a subagent, or from the host and not from the person?"""
    return any(entry.get(name) for name in ("isSidechain", "isMeta", "isCompactSummary"))


def _claude_replies(content: Any, calls: Calls) -> Iterator[Step]:
    text = texts_of(content, "text").strip()
    if text:
        yield Step("reply", text)
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") == "tool_use":
            given = part.get("input")
            if isinstance(given, dict):
                calls[str(part.get("id"))] = (str(part.get("name")), given)


def _claude_results(content: Any, calls: Calls) -> Iterator[Step]:
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") == "tool_result":
            call = calls.pop(str(part.get("tool_use_id")), None)
            if call is not None:
                output = texts_of(part.get("content"))
                yield from call_steps(*call, bool(part.get("is_error")), output)


# --- Codex: JSON lines with a `payload`, of response items and of events. Newer versions let the
# model call tools from a script; only events then name commands and files.

_CODEX_EXIT_CODE = re.compile(r"(?:[Ee]xit code:?|exited with code) (-?\d{1,5})")
_CODEX_OUTPUT_HEAD = 400  # characters in which the exit code stands
_CODEX_INJECTED = ("<", "# AGENTS.md instructions")  # the host's words in the person's name


def codex_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    calls: Calls = {}
    for entry in entries:
        payload = entry.get("payload", entry)  # early versions have no payload
        if not isinstance(payload, dict):
            continue
        kind = payload.get("type")
        if kind == "message":
            yield from _codex_message(payload)
        elif kind == "item_completed":
            yield from _codex_item(payload.get("item"), calls)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            calls[str(payload.get("call_id"))] = _codex_call(payload)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            call = calls.pop(str(payload.get("call_id")), None)
            if call is not None:
                yield from call_steps(*call, *_codex_outcome(payload.get("output")))


def _codex_item(item: Any, calls: Calls) -> Iterator[Step]:
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


def _codex_message(payload: Mapping[str, Any]) -> Iterator[Step]:
    text = texts_of(payload.get("content")).strip()
    if payload.get("role") == "assistant" and text:
        yield Step("reply", text)
    elif payload.get("role") == "user" and text and not text.startswith(_CODEX_INJECTED):
        yield Step("request", text)


def _codex_call(payload: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    name = str(payload.get("name") or payload.get("type"))
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {"input": given}  # a patch
    return name, given if isinstance(given, dict) else {"input": str(given)}


def _codex_outcome(output: Any) -> tuple[bool | None, str]:
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
        stated = _CODEX_EXIT_CODE.search(text[:_CODEX_OUTPUT_HEAD])
        code = int(stated[1]) if stated else None
    return (None if code is None else code != 0), text


# --- Gemini CLI: one JSON object with `messages`, or the same messages as JSON lines

_GEMINI_EXIT_CODE = re.compile(r"Exit Code: (-?\d{1,5})")
_GEMINI_INJECTED = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.DOTALL)


def gemini_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for entry in entries:
        messages = entry.get("messages")
        for message in messages if isinstance(messages, list) else [entry]:
            if isinstance(message, dict):
                yield from _gemini_message(message)


def _gemini_message(message: Mapping[str, Any]) -> Iterator[Step]:
    text = texts_of(message.get("content"))
    if message.get("type") == "user":
        words = _GEMINI_INJECTED.sub(" ", text).strip()
        if words:
            yield Step("request", words)
    elif message.get("type") == "gemini":
        for call in _gemini_calls(message):
            given = call.get("args")
            output = _gemini_output(call)
            yield from call_steps(
                str(call.get("name")),
                given if isinstance(given, dict) else {},
                _gemini_failed(call, output),
                output,
            )
        if text.strip():
            yield Step("reply", text.strip())


def _gemini_calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("toolCalls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _gemini_failed(call: Mapping[str, Any], output: str) -> bool:
    stated = _GEMINI_EXIT_CODE.search(output)
    return stated[1] != "0" if stated else call.get("status") in ("error", "cancelled")


def _gemini_output(call: Mapping[str, Any]) -> str:
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


# --- opencode: messages with parts, which its plugin sends, for the host's store is its own matter


def opencode_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for entry in entries:
        info, parts = entry.get("info"), entry.get("parts")
        role = info.get("role") if isinstance(info, dict) else None
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict):
                yield from _opencode_part(role, part)


def _opencode_part(role: Any, part: Mapping[str, Any]) -> Iterator[Step]:
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
            _opencode_failed(state),
            output if isinstance(output, str) else "",
        )


def _without_quotes(request: str) -> str:
    """`opencode run "a request"` passes it on in quotes."""
    inner = request[1:-1]
    is_quoted = len(request) > 2 and request[0] == request[-1] == '"' and '"' not in inner
    return inner.strip() if is_quoted else request


def _opencode_failed(state: Mapping[str, Any]) -> bool | None:
    metadata = state.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    if isinstance(code, int):
        return code != 0
    return {"completed": False, "error": True}.get(str(state.get("status")))


# --- Pi: JSON lines, of which those of type `message` hold what was said and done


def pi_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
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
            calls.update(_pi_calls(message))
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


def _pi_calls(message: Mapping[str, Any]) -> Calls:
    content = message.get("content")
    calls: Calls = {}
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") == "toolCall":
            given = part.get("arguments")
            named = str(part.get("name"))
            calls[str(part.get("id"))] = (named, given if isinstance(given, dict) else {})
    return calls


# --- Cursor: JSON lines with a role and a message; calls of tools stand there without their results

_CURSOR_REQUEST = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)


def cursor_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for entry in entries:
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        text = texts_of(content, "text").strip()
        if entry.get("role") == "user":
            asked = "\n".join(map(str.strip, _CURSOR_REQUEST.findall(text)))
            if asked or (text and not text.startswith("<")):  # else only the host's words
                yield Step("request", asked or text)
        elif entry.get("role") == "assistant":
            if text:
                yield Step("reply", text)
            for part in content if isinstance(content, list) else []:
                if isinstance(part, dict) and isinstance(part.get("input"), dict):
                    yield from call_steps(str(part.get("name")), part["input"], None)


# --- what tool calls mean as steps of a session, whatever the host calls its tools

OUTPUT_CHARACTERS = 2000  # of a command's output: what git says of a commit comes early
_SHELLS = frozenset(
    ("bash", "shell", "execcommand", "runshellcommand", "localshell", "localshellcall", "terminal")
) | {"runterminalcmd", "shellcommand", "containerexec"}
_PLANS = frozenset(("todowrite", "updateplan", "writetodos"))
_FINISHED = ("completed", "done", "cancelled", "canceled")


def call_steps(
    tool: str, given: Mapping[str, Any], failed: bool | None, output: str = ""
) -> list[Step]:
    """The steps that a finished call of a tool is."""
    name = "".join(letter for letter in tool if letter.isalpha()).lower()
    if name in _SHELLS:
        command = _command(given)
        return [Step("command", command, failed, output[:OUTPUT_CHARACTERS])] if command else []
    if name in _PLANS:
        return [Step("plan", "\n".join(_open_points(given)))]
    return [] if failed else [Step("file", path) for path in changed_files(tool, given)]


def _command(given: Mapping[str, Any]) -> str:
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list):  # Codex: ["bash", "-lc", "make test"]
        words = [word for word in command if isinstance(word, str)]
        return words[-1] if words[1:2] in (["-lc"], ["-c"]) else " ".join(words)
    return command if isinstance(command, str) else ""


def _open_points(given: Mapping[str, Any]) -> list[str]:
    """The points of a plan that are not finished."""
    points = given.get("todos", given.get("plan"))
    texts = [
        point.get("content") or point.get("step") or point.get("description")
        for point in (points if isinstance(points, list) else [])
        if isinstance(point, dict) and point.get("status") not in _FINISHED
    ]
    return [" ".join(text.split()) for text in texts if isinstance(text, str)]


def texts_of(content: Any, *kinds: str) -> str:
    """The text of a message: a string, or the text parts of a list; `kinds`: their types."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and (not kinds or part.get("type") in kinds)
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


STEPS: dict[str, Callable[[Iterable[Mapping[str, Any]]], Iterator[Step]]] = {
    "claude-code": claude_code_steps,
    "codex": codex_steps,
    "gemini": gemini_steps,
    "cursor": cursor_steps,
    "opencode": opencode_steps,
    "pi": pi_steps,
}
