"""Archives notes: empty ones, and temporary ones that nobody used for days.

A title or key such as "tmp branch" makes a note temporary: `graph/metadata_inference`.
"""

from datetime import timedelta

from nuggets.domain.records import MemoryNote
from nuggets.domain.times import iso, parse
from nuggets.graph.notes import archive_note
from nuggets.maintenance.reflection.plan import Plan
from nuggets.maintenance.reflection.rewriting import tidy

WORTHLESS_CHARACTERS = 2  # a note this short that was never recalled is taken for a mistake
TEMPORARY_DAYS = 7  # that a temporary note is kept after its last recall or edit


def oldest_kept(now: str) -> str:
    """Temporary notes that were last used before this time are archived."""
    return iso(parse(now) - timedelta(days=TEMPORARY_DAYS))


def is_stale(note: MemoryNote, cutoff: str) -> bool:
    """Whether it is temporary and was neither used nor changed since the cutoff."""
    used = max(note.last_accessed_at, note.updated_at)
    return note.stability == "temporary" and used < cutoff


def archive(plan: Plan, ids: list[str]) -> None:
    """Archive worthless notes; archived notes can be restored."""
    cutoff = oldest_kept(plan.now)
    for note in plan.visible(ids):
        reason = why_worthless(note._replace(content=tidy(note)), cutoff)
        if reason and plan.may("hide", note.id):
            plan.put(archive_note(note, plan.now))
            plan.record("hide", note, f"archived {note.title!r:.80}: {reason}")


def why_worthless(note: MemoryNote, cutoff: str) -> str:
    """Why a note should be archived; "" if it should not."""
    content = note.content.strip()
    if not content:
        return "it is empty"
    if note.kind == "note" and not note.hits and len(content) <= WORTHLESS_CHARACTERS:
        return "almost empty and never recalled"
    if is_stale(note, cutoff):
        return "temporary and not used for days"
    return ""
