"""Archives notes: empty ones, those with a title such as "tmp branch" that nobody recalled,
temporary ones that nobody used for days, and those whose time is over."""

import re
from datetime import timedelta
from functools import lru_cache

from nuggets.domain.records import MemoryNote
from nuggets.domain.times import iso, parse
from nuggets.graph.metadata_inference import scope_and_rest
from nuggets.graph.notes import archive_note
from nuggets.maintenance.reflection.plan import Plan
from nuggets.maintenance.reflection.rewriting import tidy

WORTHLESS_CHARACTERS = 2  # a note this short that was never recalled is taken for a mistake
TEMPORARY_DAYS = 7  # that a temporary note is kept after its last recall or edit
_PASSING = re.compile(r"(tmp|temp|scratch)\d*(?![^\W_])")  # words: Template is none of them


@lru_cache(maxsize=1)  # asked for every note of a pass
def oldest_kept(now: str) -> str:
    """Temporary notes that were last used before this time are archived."""
    return iso(parse(now) - timedelta(days=TEMPORARY_DAYS))


def is_stale(note: MemoryNote, cutoff: str) -> bool:
    """Whether it is temporary and was neither used nor changed since the cutoff."""
    used = max(note.last_accessed_at, note.updated_at)
    return note.stability == "temporary" and used < cutoff


def archive(plan: Plan, ids: list[str]) -> None:
    """Archive worthless notes; archived notes can be restored."""
    for note in plan.visible(ids):
        reason = why_worthless(note._replace(content=tidy(note)), plan.now)
        if reason and plan.may("hide", note.id):
            plan.put(archive_note(note, plan.now))
            plan.record("hide", note, f"archived {note.title!r:.80}: {reason}")


def why_worthless(note: MemoryNote, now: str) -> str:
    """Why a note should be archived; "" if it should not."""
    content = note.content.strip()
    if not content:
        return "it is empty"
    if note.kind == "note" and not note.hits and len(content) <= WORTHLESS_CHARACTERS:
        return "almost empty and never recalled"
    if note.valid_until is not None and note.valid_until < now:
        return f"expired, it was valid until {note.valid_until[:10]}"
    if is_stale(note, oldest_kept(now)):
        return "temporary and not used for days"
    if not note.hits and not _is_kept(note) and _PASSING.match(scope_and_rest(note.title)[1]):
        return "its title says that it is temporary, and it was never recalled"
    return ""


def _is_kept(note: MemoryNote) -> bool:
    """Whether someone said that it is durable, whatever its title."""
    return note.stability == "durable" and note.stability_given
