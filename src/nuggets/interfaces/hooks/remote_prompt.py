"""A prompt, where a server keeps the memory: one request, with as little imported as possible; and
what the server answers to it.

The server does what `event_handlers` does, with the part of the session's diary that it needs; the
diary itself stays on the machine of the hook, and files that memories name are looked at there.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from nuggets.domain.limits import ADDRESS_CHARACTERS, SESSION_CHARACTERS, Address, Limit, Session
from nuggets.errors import InvalidInput
from nuggets.filesystem.git_repository import find_place
from nuggets.filesystem.hook_files import append, host_processes, record_session
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, Event
from nuggets.interfaces.hooks.orders import WaitingOrder, settle
from nuggets.interfaces.hooks.shown_memories import diary_path, read_diary, where_it_is
from nuggets.named_tuple import NamedTuple
from nuggets.remote import HOOK_PATH, ServerCalls, decode
from nuggets.remote.http_connection import HOOK_CONNECT_SECONDS, Unreachable

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from nuggets.interfaces.hooks.event_handlers import Say
    from nuggets.operations.idempotent_calls import Caller
    from nuggets.shelf import NuggetShelf

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
                "entries": [
                    {k: v for k, v in e.items() if k in DiaryEntry.__annotations__} for e in entries
                ],
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


# --- at the server --------------------------------------------------------------------------------


MOST_ENTRIES = 1000  # of a diary, from a client of any version
Path = Annotated[Address, Limit(1, ADDRESS_CHARACTERS)]


class PromptMessage(NamedTuple):
    """What a prompt hook sends."""

    host: str
    session: Session
    prompt: str
    entries: Annotated[tuple[Any, ...], Limit(0, MOST_ENTRIES, "items")]  # of its diary
    project: Address = ""
    place: (  # as in `filesystem/git_repository.py`
        tuple[Path, Address, Address, Address, bool, tuple[Address, ...]] | None
    ) = None


class DiaryEntry(TypedDict, total=False):
    """What the server needs of an entry of a diary."""

    prompt: str
    shown: list[str]
    at: str
    forgotten: Any


class HookEndpoint:
    """Answers prompts; an instance, as the application mounts it."""

    def __init__(self, shelf: "NuggetShelf") -> None:
        self._shelf = shelf

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        from starlette.requests import Request

        from nuggets.interfaces.request_shelf import answer_message

        answer = await answer_message(Request(scope, receive), self._run)
        await answer(scope, receive, send)

    def _run(self, request: "Request", message: Mapping[str, Any]) -> Mapping[str, Any]:
        from nuggets.domain.codec import to_json
        from nuggets.interfaces.hooks.event_handlers import answer_prompt
        from nuggets.interfaces.request_shelf import shelf_of_request

        sent = {name: part for name, part in message.items() if name != "protocol"}
        asked: PromptMessage = decode(sent, PromptMessage, "the message")
        shelf = shelf_of_request(request, self._shelf).for_caller(_caller(asked))
        written: list[dict[str, Any]] = []
        prompt = asked.prompt[:PROMPT_CHARACTERS]
        event = Event("user-prompt", asked.host, "", asked.session, "", prompt, "", "", {})
        context, text = answer_prompt(
            shelf, event, _entries(asked), written.append, _Unprinted(), None
        )
        shown = [note_id for entry in written for note_id in entry["shown"]]
        notes = shelf.get_notes(shown).values() if context else ()
        anchors = {
            note.id: to_json(note.anchors)
            for note in notes
            if note.anchors and note.project == shelf.project
        }
        return {"context": context, "message": text, "entries": written, "anchors": anchors}


class _Unprinted:
    """The client prints, or says that it had no answer in time."""

    def __call__(self, context: str, message: str = "") -> None: ...

    def hold(self, context: str, message: str) -> None: ...

    def explain(self, line: str) -> None: ...


def _entries(asked: PromptMessage) -> list[dict[str, Any]]:
    """The entries that are whole: the diary is a file, which may be damaged."""
    entries = []
    for entry in asked.entries:
        with suppress(InvalidInput):
            entries.append(decode(entry, DiaryEntry, "an entry"))
    return entries


def _caller(asked: PromptMessage) -> "Caller":
    from nuggets.operations.idempotent_calls import Caller, Place
    from nuggets.operations.permissions import HOOK, name_agent
    from nuggets.operations.project_identity import Location

    client = name_agent(HOOK, asked.host)._replace(session=asked.session)
    if asked.project:
        return Caller(client, asked.project)
    if asked.place is None:
        return Caller(client)
    path, stamp, root, remote, is_shallow, folders = asked.place
    here = Location(path, path, stamp, root, remote, is_shallow)
    return Caller(client, place=Place(here, tuple(folders)))
