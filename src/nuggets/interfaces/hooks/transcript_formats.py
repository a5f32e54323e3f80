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
        # of a subagent, or from the host and not from the person
        if any(entry.get(name) for name in ("isSidechain", "isMeta", "isCompactSummary")):
            continue
        content = object_of(entry.get("message")).get("content")
        if entry.get("type") == "assistant":
            yield from _replies(content)
            calls.update(_calls_in(content, "tool_use", "input"))
        elif entry.get("type") == "user":
            for part in objects_of(content):
                if part.get("type") == "tool_result":
                    output, failed = texts_of(part.get("content")), bool(part.get("is_error"))
                    yield from _finish(calls, part.get("tool_use_id"), failed, output)
            words = _CLAUDE_INJECTED.sub(" ", texts_of(content, "text")).strip()
            if words and not words.startswith(_CLAUDE_NOT_SAID):
                yield Step("request", words)


def _replies(content: Any) -> Iterator[Step]:
    text = texts_of(content, "text").strip()
    if text:
        yield Step("reply", text)


def _calls_in(content: Any, kind: str, arguments: str) -> Calls:
    """The calls of tools in a message, by the name that its arguments have."""
    return {
        str(part.get("id")): (str(part.get("name")), object_of(part.get(arguments)))
        for part in objects_of(content)
        if part.get("type") == kind
    }


def _finish(calls: Calls, called: Any, failed: bool | None, output: str) -> list[Step]:
    """The steps of a call whose result is there; none if the call is not."""
    call = calls.pop(str(called), None)
    return call_steps(*call, failed, output) if call is not None else []


# --- Codex: JSON lines with a `payload`, of response items and of events. Newer versions let the
# model call tools from a script; only events then name commands and files.

_CODEX_EXIT_CODE = re.compile(r"(?:[Ee]xit code:?|exited with code) (-?\d{1,5})")
_CODEX_OUTPUT_HEAD = 400  # characters in which the exit code stands
_CODEX_INJECTED = ("<", "# AGENTS.md instructions")  # the host's words in the person's name


def codex_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    calls: Calls = {}
    for entry in entries:
        payload = object_of(entry.get("payload", entry))  # early versions have no payload
        kind, called = payload.get("type"), payload.get("call_id")
        if kind == "message":
            yield from _codex_message(payload)
        elif kind == "item_completed":
            yield from _codex_item(object_of(payload.get("item")), calls)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            calls[str(called)] = _codex_call(payload)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from _finish(calls, called, *_codex_outcome(payload.get("output")))


def _codex_item(item: Mapping[str, Any], calls: Calls) -> Iterator[Step]:
    """A command or a change of files that an event reports; the output of the same call is then
    left out."""
    if item.get("type") not in ("CommandExecution", "FileChange"):
        return
    calls.pop(str(item.get("id")), None)
    if item["type"] == "CommandExecution":
        code = item.get("exit_code")
        failed = code != 0 if isinstance(code, int) else item.get("status") == "failed"
        yield from call_steps("shell", item, failed, text_of(item.get("aggregated_output")))
    elif item.get("status") == "completed":
        yield from (Step("file", path) for path in object_of(item.get("changes")))


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
        for message in objects_of(messages) if isinstance(messages, list) else [entry]:
            yield from _gemini_message(message)


def _gemini_message(message: Mapping[str, Any]) -> Iterator[Step]:
    text = texts_of(message.get("content"))
    if message.get("type") == "user":
        words = _GEMINI_INJECTED.sub(" ", text).strip()
        if words:
            yield Step("request", words)
    elif message.get("type") == "gemini":
        for call in objects_of(message.get("toolCalls")):
            output = _gemini_output(call)
            code = _GEMINI_EXIT_CODE.search(output)
            failed = code[1] != "0" if code else call.get("status") in ("error", "cancelled")
            yield from call_steps(
                str(call.get("name")), object_of(call.get("args")), failed, output
            )
        if text.strip():
            yield Step("reply", text.strip())


def _gemini_output(call: Mapping[str, Any]) -> str:
    """The text that the model was given."""
    for part in objects_of(call.get("result")):
        response = object_of(object_of(part.get("functionResponse")).get("response"))
        output = response.get("output", response.get("error"))
        if isinstance(output, str):
            return output
    return text_of(call.get("resultDisplay"))


# --- opencode: messages with parts, which its plugin sends, for the host's store is its own matter


def opencode_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for entry in entries:
        role = object_of(entry.get("info")).get("role")
        for part in objects_of(entry.get("parts")):
            yield from _opencode_part(role, part)


def _opencode_part(role: Any, part: Mapping[str, Any]) -> Iterator[Step]:
    text, state = text_of(part.get("text")).strip(), object_of(part.get("state"))
    if part.get("type") == "text" and text:
        if role == "assistant":
            yield Step("reply", text)
        elif role == "user" and not part.get("synthetic"):
            yield Step("request", _without_quotes(text))
    elif part.get("type") == "tool":
        given, output = object_of(state.get("input")), text_of(state.get("output"))
        yield from call_steps(str(part.get("tool")), given, _opencode_failed(state), output)


def _without_quotes(request: str) -> str:
    """`opencode run "a request"` passes it on in quotes."""
    inner = request[1:-1]
    is_quoted = len(request) > 2 and request[0] == request[-1] == '"' and '"' not in inner
    return inner.strip() if is_quoted else request


def _opencode_failed(state: Mapping[str, Any]) -> bool | None:
    code = object_of(state.get("metadata")).get("exit")
    if isinstance(code, int):
        return code != 0
    return {"completed": False, "error": True}.get(str(state.get("status")))


# --- Pi: JSON lines, of which those of type `message` hold what was said and done


def pi_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    calls: Calls = {}
    for entry in entries:
        message = object_of(entry.get("message")) if entry.get("type") == "message" else {}
        text = texts_of(message.get("content"), "text").strip()
        role = message.get("role")
        if role == "user" and text:
            yield Step("request", text)
        elif role == "assistant":
            calls.update(_calls_in(message.get("content"), "toolCall", "arguments"))
            yield from _replies(message.get("content"))
        elif role == "toolResult":
            is_error = bool(message.get("isError"))
            yield from _finish(calls, message.get("toolCallId"), is_error, text)
        elif role == "bashExecution":  # the person's own command
            code = message.get("exitCode")
            failed = code != 0 if isinstance(code, int) else None
            yield from call_steps("bash", message, failed, str(message.get("output", "")))


# --- Cursor: JSON lines with a role and a message; calls of tools stand there without their results

_CURSOR_REQUEST = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)


def cursor_steps(entries: Iterable[Mapping[str, Any]]) -> Iterator[Step]:
    for entry in entries:
        content = object_of(entry.get("message")).get("content")
        if entry.get("role") == "user":
            text = texts_of(content, "text").strip()
            asked = "\n".join(map(str.strip, _CURSOR_REQUEST.findall(text)))
            if asked or (text and not text.startswith("<")):  # else only the host's words
                yield Step("request", asked or text)
        elif entry.get("role") == "assistant":
            yield from _replies(content)
            for part in objects_of(content):
                if isinstance(part.get("input"), dict):
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
    texts = [
        point.get("content") or point.get("step") or point.get("description")
        for point in objects_of(given.get("todos", given.get("plan")))
        if point.get("status") not in _FINISHED
    ]
    return [" ".join(text.split()) for text in texts if isinstance(text, str)]


# --- values of unknown types ----------------------------------------------------------------------


def object_of(value: Any) -> Mapping[str, Any]:
    """The object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; none for anything else."""
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """The text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def texts_of(content: Any, *kinds: str) -> str:
    """The text of a message: a string, or the text parts of a list; `kinds`: their types."""
    if isinstance(content, str):
        return content
    parts = (part for part in objects_of(content) if not kinds or part.get("type") in kinds)
    texts = (part.get("text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


STEPS: dict[str, Callable[[Iterable[Mapping[str, Any]]], Iterator[Step]]] = {
    "claude-code": claude_code_steps,
    "codex": codex_steps,
    "gemini": gemini_steps,
    "cursor": cursor_steps,
    "opencode": opencode_steps,
    "pi": pi_steps,
}
