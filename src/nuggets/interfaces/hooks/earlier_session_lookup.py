"""Finds the session that a prompt asks for: "where were we?", "continue the UUID migration"."""

import re
from typing import TYPE_CHECKING

from nuggets.domain.records import MemoryNote
from nuggets.interfaces.hooks.relevance_gate import is_about
from nuggets.operations.substantial_requests import LAST_SESSION, has_topic

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

SESSIONS_JUDGED = 5  # notes of sessions that are judged word by word

_CONTINUE = re.compile(
    r"(?:(?:please|ok|okay|let's|lets|can we|can you|we|so|and|now)[, ]+){0,3}(?:continue|resume|"
    r"carry on|go on|keep going|pick up|get back to|back to|finish|weiter(?:machen)?|mach weiter|"
    r"continúa|seguimos|sigamos|reprends|reprenons|继续|続け)(?: (?:with|working|on|the|mit|con))*",
    re.IGNORECASE,
)


def find_session(
    shelf: "NuggetShelf", prompt: str, own_id: str, *, is_first: bool
) -> MemoryNote | None:
    """The note of the session that a prompt asks for; None if it asks for none.

    `own_id`: the note of the session at hand, which counts only if there is no other.
    `is_first`: the prompt opens a session, so a bare "continue" means the last one.
    """
    asked, going_on = LAST_SESSION.search(prompt), _CONTINUE.match(prompt)
    if not asked and not going_on:
        return None
    topic = _CONTINUE.sub(" ", LAST_SESSION.sub(" ", prompt), count=1).strip()
    if has_topic(topic):
        named = _session_about(shelf, topic, own_id)
        if named or not asked:
            return named
    return _last_session(shelf, own_id) if asked or is_first else None


def _session_about(shelf: "NuggetShelf", topic: str, own_id: str) -> MemoryNote | None:
    for result in shelf.search_sessions(topic, SESSIONS_JUDGED):
        note = result.note
        words = shelf.explain(topic, note.id, include_hidden=True).words
        if note.id != own_id and is_about(topic, note.title, words):
            return note
    return None


def _last_session(shelf: "NuggetShelf", own_id: str) -> MemoryNote | None:
    notes = shelf.sessions()
    return next((note for note in notes if note.id != own_id), None) or next(iter(notes), None)
