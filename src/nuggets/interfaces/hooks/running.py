"""One call of a hook: read what the host sends, act within a second, answer, exit 0."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from nuggets.interfaces.hooks.payload import HOST_NAMES, Event, event_of
from nuggets.traces import count_miss, log_problem

DEADLINE_SECONDS = 1.0
DEADLINE_VARIABLE = "NUGGETS_HOOK_SECONDS"  # for a machine that is slower than most


def main(argv: Sequence[str]) -> int:
    """Always 0: a memory that fails must not fail the host."""
    words, options = _split(argv)
    directory = options.get("--dir") or os.environ.get("NUGGETS_DIR") or "~/.nuggets"
    name = words[0] if words else ""
    try:
        _set_deadline(directory, name)
        answer(name, options.get("--host", ""), _stdin(), directory)
    except Exception as problem:
        log_problem(directory, f"hook {name[:40]}", problem)
    finally:
        _clear_deadline()
    return 0


def answer(name: str, host: str, raw: bytes, directory: str) -> None:
    """Say what the host shall read, as JSON in its own form, or nothing."""
    import json

    sent = json.loads(raw) if raw.strip() else {}
    if not isinstance(sent, Mapping):
        sent = {}
    event = event_of(name, host or _host(sent), sent)
    if not event.name:
        return
    if event.name == "post-tool":
        from nuggets.interfaces.hooks.inbox import leave

        leave(directory, event)
        return
    from nuggets.interfaces.hooks.moments import act

    def say(text: str) -> None:
        if text:
            _say(json.dumps(_shape(event, text), ensure_ascii=False))

    act(event, directory, say)


def _shape(event: Event, text: str) -> dict[str, Any]:
    """Where each host looks for context."""
    if event.host == "cursor":
        return {"continue": True, "additional_context": text}
    name = event.spelled or HOST_NAMES[event.name]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _host(sent: Mapping[str, Any]) -> str:
    """Who called, where the command line does not say: Cursor runs Claude Code's hooks as well."""
    if os.environ.get("CURSOR_VERSION") or "cursor_version" in sent:
        return "cursor"
    return "claude-code" if os.environ.get("CLAUDE_PROJECT_DIR") else ""


def _split(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in ("--host", "--dir"):
            options[name] = value if equals else next(rest, "")
        elif not word.startswith("-"):
            words.append(word)
    return words, options


def _stdin() -> bytes:
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()


def _say(text: str) -> None:
    with suppress(OSError):  # the host has stopped listening
        os.write(1, text.encode(errors="replace") + b"\n")


def _set_deadline(directory: str, name: str) -> None:
    """When time is up the process ends on the spot; every write here survives a kill."""
    import signal

    def expired(*_: object) -> None:
        count_miss(directory, name)
        os._exit(0)

    signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, _seconds())


def _seconds() -> float:
    try:
        return min(60.0, max(0.1, float(os.environ[DEADLINE_VARIABLE])))
    except (KeyError, ValueError):
        return DEADLINE_SECONDS


def _clear_deadline() -> None:
    import signal

    signal.setitimer(signal.ITIMER_REAL, 0)
