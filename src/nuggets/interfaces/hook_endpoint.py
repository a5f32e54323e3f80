"""What a server answers to the prompt hook of another machine (`hooks/remote_prompt.py`)."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from nuggets.domain.codec import anchor_to_json
from nuggets.errors import InvalidInput
from nuggets.interfaces.hooks.event_handlers import answer_prompt
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, Event
from nuggets.interfaces.remote_requests import answer_message, check_caller
from nuggets.interfaces.request_shelf import shelf_of_request
from nuggets.operations.client_permissions import HOOK, name_agent
from nuggets.operations.idempotent_calls import Caller, Place
from nuggets.operations.project_identity import Location
from nuggets.shelf import NuggetShelf

ENTRIES = 1000  # of a diary


class HookEndpoint:
    """Answers prompts; an instance, as the application mounts it."""

    def __init__(self, shelf: NuggetShelf) -> None:
        self._shelf = shelf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await answer_message(Request(scope, receive), self._run)
        await answer(scope, receive, send)

    def _run(self, request: Request, message: Mapping[str, Any]) -> Mapping[str, Any]:
        caller = check_caller(_caller(message))
        shelf = shelf_of_request(request, self._shelf).for_caller(caller)
        written: list[dict[str, Any]] = []
        context, text = answer_prompt(
            shelf,
            _event(message),
            _entries(message),
            written.append,
            _Unprinted(),
            lambda prompt: None,
        )
        shown = [note_id for entry in written for note_id in entry["shown"]]
        notes = shelf.get_notes(shown).values() if context else ()
        anchors = {
            note.id: [anchor_to_json(anchor) for anchor in note.anchors]
            for note in notes
            if note.anchors and note.project == shelf.project
        }
        return {"context": context, "message": text, "entries": written, "anchors": anchors}


class _Unprinted:
    """The client prints, or says that it had no answer in time."""

    def __call__(self, context: str, message: str = "") -> None: ...

    def hold(self, context: str, message: str) -> None: ...

    def explain(self, line: str) -> None: ...


def _event(message: Mapping[str, Any]) -> Event:
    host, session, prompt = (message.get(name) for name in ("host", "session", "prompt"))
    if not isinstance(host, str) or not isinstance(session, str) or not isinstance(prompt, str):
        raise InvalidInput("host, session and prompt are texts")
    return Event("user-prompt", host, "", session, "", prompt[:PROMPT_CHARACTERS], "", "", {})


def _entries(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = message.get("entries")
    if not isinstance(entries, list) or len(entries) > ENTRIES:
        raise InvalidInput("the entries of a diary are a list")
    return [entry for entry in entries if isinstance(entry, dict) and _is_entry(entry)]


def _is_entry(entry: Mapping[str, Any]) -> bool:
    shown = entry.get("shown", [])
    texts = [entry.get("prompt", ""), entry.get("at", "")]
    return isinstance(shown, list) and all(isinstance(text, str) for text in (*shown, *texts))


def _caller(message: Mapping[str, Any]) -> Caller:
    client = name_agent(HOOK, str(message.get("host", "")))._replace(
        session=str(message.get("session", ""))
    )
    project, place = message.get("project"), message.get("place")
    if project:
        return Caller(client, str(project))
    if not isinstance(place, list) or len(place) != 6 or not isinstance(place[5], list):
        return Caller(client)
    path, stamp, root, remote, is_shallow, folders = place
    here = Location(path, path, stamp, root, remote, is_shallow)
    return Caller(client, place=Place(here, tuple(folders)))
