"""Runs one hook: read the payload, handle it within a second, print the answer, exit 0."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from typing import TYPE_CHECKING, Any

from nuggets.domain.limits import SESSION_CHARACTERS
from nuggets.filesystem.hook_files import (
    count_miss,
    host_processes,
    log_problem,
    record_session,
)
from nuggets.filesystem.shelf_location import default_location, is_server, parse_server_url
from nuggets.interfaces.hooks import deadline_seconds
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, Event, event_of
from nuggets.interfaces.prompt_quoting import CAMEL_CASE_HOSTS, name_tools

if TYPE_CHECKING:
    from nuggets.interfaces.hooks.orders import WaitingOrder
    from nuggets.interfaces.hooks.prompt_answer import Say

WAITING = "Nuggets: waiting: memory is busy. It is kept with the next prompt or command."
FULL = "Nuggets: the disk is full. Nothing can be kept until there is room; see `nuggets doctor`."


def main(argv: Sequence[str]) -> int:
    """Always returns 0: an error in memory must not stop the host."""
    call = _Call(argv)
    try:
        call.set_deadline()
        call.answer(_read_stdin())
    except Exception as problem:
        call.print_held()
        log_problem(call.directory, f"hook {call.name[:40]}", problem)
    finally:
        _clear_deadline()
    return 0


def _read_stdin() -> bytes:
    """What the host sends."""
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()


class _Call:
    """One call of a hook: prints the answer, or what is held if time runs out before."""

    def __init__(self, argv: Sequence[str]) -> None:
        words, options = _split(argv)
        self.name = words[0] if words else ""
        self.directory = options.get("--dir") or default_location(os.environ)
        self._host = options.get("--host", "")
        self._explains = "--why" in argv
        self._event = Event()
        self._held = b""

    def __call__(self, context: str, message: str = "") -> None:
        self._held = b""
        _print(self._encode(context, message))

    def hold(self, context: str, message: str) -> None:
        self._held = self._encode(context, message)

    def explain(self, line: str) -> None:
        if self._explains:
            _print(line.encode(errors="replace"), to=2)

    def print_held(self) -> None:
        _print(self._held)

    def _encode(self, context: str, message: str) -> bytes:
        shape = _shape(self._event, _name_tools(context, self._event.host), message)
        return json.dumps(shape, ensure_ascii=False).encode(errors="replace") if shape else b""

    def answer(self, sent: bytes) -> None:
        """Print the answer for the host, as JSON in its form, or nothing."""
        left = self._take_in(sent)
        event = self._event
        if not event.name:
            return
        if is_server(self.directory) and event.name in ("post-tool", "user-prompt"):
            if event.name == "user-prompt":
                _ask_server(event, self.directory, self, left)
            return  # which files an agent touched is no memory of a team
        if event.name == "post-tool":
            from nuggets.interfaces.hooks.observed_files import append_files

            append_files(self.directory, event)
            return
        from nuggets.interfaces.hooks.event_handlers import handle_event

        try:
            handle_event(event, self.directory, self, left)
        except Exception as problem:
            if _is_disk_full(problem):
                self("", "\n".join([FULL, *[WAITING for one in left[:1] if one.path]]))
            elif any(not one.path and not one.order.refusal for one in left):
                self("", f"Nuggets: not kept: {problem}")
            raise

    def _take_in(self, sent: bytes) -> "list[WaitingOrder]":
        """The orders of the event: written down, and said to wait, before the deadline may end the
        process."""
        import signal

        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        try:
            payload = json.loads(sent) if sent.strip() else {}
            if not isinstance(payload, Mapping):
                payload = {}
            self._event = event_of(self.name, self._host or _find_host(payload), payload)
            left: list[WaitingOrder] = []
            if self._event.name == "user-prompt":  # before memory is opened, which may be busy
                from nuggets.interfaces.hooks.orders import leave_orders, read_orders

                orders = read_orders(self._event.prompt)
                left = leave_orders(self.directory, orders, self._event.folder)
            if any(one.path for one in left):
                self.hold("", WAITING)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        return left

    def set_deadline(self) -> None:
        """End the process when time is up; every write here survives a kill."""
        import signal

        signal.signal(signal.SIGALRM, self._end_process)
        signal.setitimer(signal.ITIMER_REAL, deadline_seconds())

    def _end_process(self, *_: object) -> None:
        self.print_held()
        count_miss(self.directory, self.name)
        os._exit(0)


def _is_disk_full(problem: BaseException | None) -> bool:
    from nuggets.filesystem.atomic_files import NO_SPACE

    while problem is not None and getattr(problem, "errno", None) not in (ENOSPC, EDQUOT):
        if NO_SPACE in str(problem):
            break
        problem = problem.__cause__ or problem.__context__
    return problem is not None


def _name_tools(context: str, host: str) -> str:
    """The context with the names that tools have at the host, in our words about it."""
    if host not in CAMEL_CASE_HOSTS:
        return context
    from nuggets.interfaces.hooks.shown_memories import HOW_TO_READ

    renamed = context.replace(HOW_TO_READ, name_tools(HOW_TO_READ, host))
    return name_tools(renamed, host)


def _shape(event: Event, context: str, message: str) -> dict[str, Any]:
    """The JSON in which each host expects the context, and a message to the person."""
    if event.host == "cursor":  # shows a message only when it refuses a prompt
        return {"continue": True, "additional_context": context} if context else {}
    shape: dict[str, Any] = {"systemMessage": message} if message else {}
    if context:
        told = {"hookEventName": event.spelled, "additionalContext": context}
        shape["hookSpecificOutput"] = told
    return shape


def _find_host(sent: Mapping[str, Any]) -> str:
    """The calling host, if the command line does not name it: Cursor runs Claude Code's hooks."""
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


def _print(line: bytes, to: int = 1) -> None:
    with suppress(OSError):  # the host closed the pipe
        if line:
            os.write(to, line + b"\n")


def _clear_deadline() -> None:
    import signal

    signal.setitimer(signal.ITIMER_REAL, 0)


# --- a prompt, where a server keeps the memory ----------------------------------------------------
#
# One request, with as little imported as possible. The server does what `prompt_answer` does, with
# the part of the session's diary that it needs; the diary itself stays on this machine, and files
# that memories name are looked at here.

ENTRIES = 200  # of the diary, the last ones: ours, prompts of a long day
_SENT = ("prompt", "shown", "at", "forgotten")  # of an entry


def _ask_server(event: Event, url: str, say: "Say", left: "Sequence[WaitingOrder]") -> None:
    """Ask, print the answer, and write the diary; `left`: orders that the server now obeys."""
    from nuggets.interfaces.hooks.orders import settle
    from nuggets.interfaces.hooks.shown_memories import append_entry, read_diary, where_it_is
    from nuggets.operations.project_identity import find_place
    from nuggets.remote import HOOK_PATH, ServerCalls, encode
    from nuggets.remote.http_connection import HOOK_CONNECT_SECONDS, Unreachable

    event = event._replace(session=event.session[:SESSION_CHARACTERS])
    for process in host_processes():
        record_session(url, process, event.session)
    place = find_place(event.folder or os.getcwd(), url)
    entries = read_diary(url, event.session)[-ENTRIES:]
    calls = ServerCalls(parse_server_url(url), connect_seconds=HOOK_CONNECT_SECONDS)
    try:
        answer = calls.post(
            HOOK_PATH,
            {
                "host": event.host,
                "session": event.session,
                "prompt": event.prompt[:PROMPT_CHARACTERS],
                "place": encode(place),
                "project": os.environ.get("NUGGETS_PROJECT", ""),
                "entries": [{k: v for k, v in e.items() if k in _SENT} for e in entries],
            },
        )
    except Unreachable:
        from nuggets.interfaces.hooks.event_handlers import handle_event

        handle_event(event, url, say, left)  # from the copy; what the person orders is queued
        return
    for waiting in left:
        settle(waiting)
    context = str(answer.get("context", ""))
    if answer.get("anchors"):
        context = _add_stale_reasons(context, answer["anchors"], event.folder)
    say(context, str(answer.get("message", "")))
    for entry in answer.get("entries", ()):
        if isinstance(entry, dict):
            append_entry(url, event.session, {**entry, **where_it_is(event)})
    calls.close()


def _add_stale_reasons(context: str, anchors: Any, folder: str) -> str:
    """What has changed of the files that the memories name, behind the id of each."""
    from nuggets.domain.records import Anchor
    from nuggets.filesystem.anchors import stale_reasons
    from nuggets.filesystem.current_project import checkout_root
    from nuggets.interfaces.hooks.shown_memories import safe_line
    from nuggets.remote import decode_answer

    root = checkout_root(folder)
    known = decode_answer(anchors, dict[str, tuple[Anchor, ...]], "anchors")
    for note_id, named in known.items():
        reasons = stale_reasons(root, named, {})
        marks = "".join(f", {safe_line(reason, 160)}" for reason in reasons)
        context = context.replace(note_id, note_id + marks, 1)
    return context
