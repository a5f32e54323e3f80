"""A prompt, where a server keeps the memory: one request, with as little imported as possible.

The server does what `event_handlers` does, with the part of the session's diary that it needs; the
diary itself stays on this machine, and files that memories name are looked at here.
"""

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nuggets.filesystem.git_repository import find_place
from nuggets.filesystem.hook_files import append, host_processes, record_session
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, Event
from nuggets.interfaces.hooks.orders import WaitingOrder, settle
from nuggets.interfaces.hooks.shown_memories import diary_path, read_diary, where_it_is
from nuggets.remote import HOOK_PATH, ServerCalls
from nuggets.remote.http_connection import HOOK_CONNECT_SECONDS, Unreachable

if TYPE_CHECKING:
    from nuggets.interfaces.hooks.event_handlers import Say

SESSION_CHARACTERS = 256
ENTRIES = 200  # of the diary, the last ones


def ask_server(event: Event, url: str, say: "Say", left: Sequence[WaitingOrder] = ()) -> None:
    """Ask, print the answer, and write the diary; `left`: orders that the server now obeys."""
    event = event._replace(session=event.session[:SESSION_CHARACTERS])
    for process in host_processes():
        record_session(url, process, event.session)
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or event.directory
    place = find_place(folder or os.getcwd(), url)
    entries = read_diary(url, event.session)[-ENTRIES:]
    calls = ServerCalls(parse_server_url(url), connect_seconds=HOOK_CONNECT_SECONDS)
    try:
        answer = calls.post(
            HOOK_PATH,
            {
                "host": event.host,
                "session": event.session,
                "prompt": event.prompt[:PROMPT_CHARACTERS],
                "place": place and [*place[:-1], list(place.folders)],
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
        context = _add_stale_reasons(context, answer["anchors"], folder)
    say(context, str(answer.get("message", "")))
    path = diary_path(url, event.session)
    for entry in answer.get("entries", ()):
        if path and isinstance(entry, dict):
            append(path, json.dumps({**entry, **where_it_is(event, folder)}) + "\n")
    calls.close()


_SENT = ("prompt", "shown", "at", "forgotten")  # of an entry


def _add_stale_reasons(context: str, anchors: Any, folder: str) -> str:
    """What has changed of the files that the memories name, behind the id of each."""
    from nuggets.domain.records import Anchor
    from nuggets.filesystem.anchors import stale_reasons
    from nuggets.filesystem.current_project import checkout_root
    from nuggets.interfaces.hooks.memory_lines import safe_line
    from nuggets.remote import decode_answer

    root = checkout_root(folder)
    known = decode_answer(anchors, dict[str, tuple[Anchor, ...]], "anchors")
    for note_id, named in known.items():
        reasons = stale_reasons(root, named, {})
        marks = "".join(f", {safe_line(reason, 160)}" for reason in reasons)
        context = context.replace(note_id, note_id + marks, 1)
    return context
