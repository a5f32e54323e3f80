"""Which notes belong in a memory file, by recalls or because a person pinned them."""

from collections.abc import Mapping
from typing import Any, Literal

from nuggets.domain.credentials import credential_kinds, memory_credential_kinds
from nuggets.domain.records import HitKind, MemoryNote, Touch
from nuggets.domain.state import Notes, merged_into
from nuggets.domain.tags import CONFIRMED
from nuggets.domain.validity import invalidity
from nuggets.domain.visibility import is_foreign
from nuggets.named_tuple import NamedTuple
from nuggets.promotion.entry_text import line_for

Outcome = Literal["new", "kept", "updated", "changed", "declined", "no room", "out"]


class CountedSession(NamedTuple):
    """A session that counts for a note, when and why; both are "" if that is no longer known."""

    session: str
    at: str
    kind: HitKind


class Explanation(NamedTuple):
    """Why a note is in the file, or why not."""

    note_id: str
    title: str
    outcome: Outcome
    reason: str
    sessions: tuple[CountedSession, ...] = ()  # that recalled it, the last of them


def counted_sessions(
    note: MemoryNote, hits: Mapping[tuple[str, str], Touch]
) -> tuple[CountedSession, ...]:
    """The sessions that count for a note; `hits` by note and session."""
    session_hits = [
        hits.get((note.id, session), Touch(note.id, session, "")) for session in note.hit_sessions
    ]
    return tuple(CountedSession(hit.session, hit.at, hit.kind) for hit in session_hits)


def why_not(
    note: MemoryNote, project: str, promote_after: int, now: str, *, is_pinned: bool = False
) -> str:
    """Why a note does not belong in this project's file; "" if it does.

    An observation of a tool needs a confirmation: someone tags it or edits its source. Recalls are
    not enough, because planted text could cause its own recalls.
    """
    if note.hidden:
        return "archived"
    if is_foreign(note, project):
        return "belongs to another project"
    if note.stability == "temporary":
        return "temporary"
    invalid = invalidity(note, now) if now else ""
    if invalid:
        return invalid
    if not is_pinned and note.hits < promote_after:
        return f"recalled in {note.hits} of {promote_after} sessions"
    is_confirmed = is_pinned or CONFIRMED in note.tags
    if note.source == "tool_observation" and not is_confirmed:
        return f"seen by a tool, not confirmed by anyone (tag it {CONFIRMED})"
    secret = memory_credential_kinds(note.title, note.content) or credential_kinds(line_for(note))
    return f"looks like a credential: {', '.join(secret)}" if secret else ""


def why_personal(note: MemoryNote) -> str:
    """Why a memory does not belong into a file that others read; "" if it does."""
    return "" if note.project else "is of no project, and others read this file"


# --- pins -------------------------------------------------------------------------------------

# A pin is a mark, so that no text can pin itself, and it is written in the commit of its memory.
PIN_MARK = "pin:"


def pin_marks(note_id: str) -> dict[str, Any]:
    return {f"{PIN_MARK}{note_id}": True}


def reverted_pins(changed: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The marks that take back the pins of a commit; other marks stay."""
    return {mark: before.get(mark) for mark in changed if mark.startswith(PIN_MARK)}


def pinned_ids(marks: Mapping[str, Any], notes: Notes) -> frozenset[str]:
    """The pinned notes; a note that was merged passes its pin on."""
    ids = {mark.removeprefix(PIN_MARK) for mark in marks if mark.startswith(PIN_MARK)}
    merged = {target for note in notes.many(ids).values() for target in merged_into(note)}
    return frozenset(ids | merged)
