"""What a server answers to the prompt hook of another machine (`hooks/run_hook.py`)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, TypedDict

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from nuggets.domain.codec import to_json
from nuggets.domain.limits import Address, Limit, Session
from nuggets.errors import InvalidInput
from nuggets.interfaces.hooks.host_payload import PROMPT_CHARACTERS, Event
from nuggets.interfaces.hooks.prompt_answer import answer_prompt
from nuggets.interfaces.request_shelf import answer_message, shelf_of_request
from nuggets.named_tuple import NamedTuple
from nuggets.operations.idempotent_calls import Caller
from nuggets.operations.permissions import HOOK, name_agent
from nuggets.operations.project_identity import Place
from nuggets.remote import decode
from nuggets.shelf import NuggetShelf

ENTRIES = 1000  # of a diary: five times what our clients send


class PromptMessage(NamedTuple):
    """What a prompt hook sends."""

    host: str
    session: Session
    prompt: str
    entries: Annotated[tuple[Any, ...], Limit(0, ENTRIES, "items")]  # of its diary
    project: Address = ""
    place: Place | None = None


class DiaryEntry(TypedDict, total=False):
    """What the server needs of an entry of a diary."""

    prompt: str
    shown: list[str]
    at: str
    forgotten: Any


class HookEndpoint:
    """Answers prompts; an instance, as the application mounts it."""

    def __init__(self, shelf: NuggetShelf) -> None:
        self._shelf = shelf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await answer_message(Request(scope, receive), self._run)
        await answer(scope, receive, send)

    def _run(self, request: Request, message: Mapping[str, Any]) -> Mapping[str, Any]:
        sent = {name: part for name, part in message.items() if name != "protocol"}
        asked: PromptMessage = decode(sent, PromptMessage, "the message")
        shelf = shelf_of_request(request, self._shelf).for_caller(_caller(asked))
        written: list[dict[str, Any]] = []
        prompt = asked.prompt[:PROMPT_CHARACTERS]
        event = Event("user-prompt", asked.host, session=asked.session, prompt=prompt)
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


def _caller(asked: PromptMessage) -> Caller:
    client = name_agent(HOOK, asked.host)._replace(session=asked.session)
    return Caller(client, asked.project or None, asked.place)
