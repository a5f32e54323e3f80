"""Which notes belong in a project's memory file, and under which heading. Knows no file."""

from typing import Literal, NamedTuple

from nuggets.graph.metadata import CONFIRMED
from nuggets.promotion.entry import line_for
from nuggets.records import PROMOTE_THRESHOLD, MemoryNote
from nuggets.secrets import found, found_in

Outcome = Literal["new", "kept", "updated", "changed", "declined", "no room", "out"]


class Explanation(NamedTuple):
    """Why a note is in the file, or why not."""

    note_id: str
    title: str
    outcome: Outcome
    reason: str


def why_not(note: MemoryNote, project: str) -> str:
    """What keeps a note out of this project's file; "" when nothing does.

    What a tool saw is confirmed when someone tags it so or says by an edit that the source is
    another: recalls alone prove nothing, whoever planted it may ask for it three times.
    """
    if note.hidden:
        return "archived"
    if note.project not in ("", project):
        return "belongs to another project"
    if note.stability == "temporary":
        return "temporary"
    if note.hits < PROMOTE_THRESHOLD:
        return f"recalled in {note.hits} of {PROMOTE_THRESHOLD} sessions"
    if note.source == "tool_observation" and CONFIRMED not in note.tags:
        return f"seen by a tool, not confirmed by anyone (tag it {CONFIRMED})"
    secret = found_in(note.title, note.content) or found(line_for(note))
    return f"looks like a credential: {', '.join(secret)}" if secret else ""


def section_of(note: MemoryNote) -> str:
    """The heading it stands under."""
    for name in ("learnings", "preferences"):
        if name in note.tags:
            return name
    if note.subject == "assistant:self":
        return "assistant-self"
    if note.subject.startswith("user:"):
        return "user"
    return "shared-context" if note.scope in ("shared", "project") else note.nugget_name
