"""What tool calls mean as steps of a session, whatever the host calls its tools."""

from collections.abc import Mapping
from typing import Any

from nuggets.interfaces.hooks.host_payload import changed_files
from nuggets.operations.session_note_text import Step

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
