"""Which notes need care most. Knows what a note lacks, not how to mend it."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from nuggets.errors import InvalidInput
from nuggets.graph.metadata import own_tags
from nuggets.records import MemoryNote
from nuggets.reflection.draft import age
from nuggets.reflection.outcome import Policy
from nuggets.reflection.tidying import oldest_kept, why_worthless
from nuggets.refusals import Refusal
from nuggets.times import parsed

# Days of waiting that a lack counts for. Waiting itself has no bound, so whatever else is
# written meanwhile, every note comes first one day.
UNSEEN = 30  # more than the other two: what was never looked at goes before what was
UNTAGGED = 7
UNLINKED = 7
RUBBISH = 365  # certain work, and once done it never comes back

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def selected(notes: Iterable[MemoryNote], now: str, policy: Policy) -> list[str]:
    """The ids of the notes to inspect, the most needy first, equals by age."""
    moment = parsed(now)
    cutoff = oldest_kept(now, policy)

    def is_rubbish(note: MemoryNote) -> bool:
        return bool(why_worthless(note, cutoff)) and Refusal("hide", note.id) not in policy.refused

    ranked = sorted((-need(note, moment, is_rubbish(note)), age(note), note.id) for note in notes)
    return [note_id for _, _, note_id in ranked[: max(policy.max_notes, 0)]]


def need(note: MemoryNote, now: datetime, worthless: bool) -> timedelta:
    """How urgent a look at this note is, as time of waiting; exact, so that equals stay equal."""
    inspected = _past(note.last_inspected_at, now)
    written = _past(note.updated_at, now) or _past(note.created_at, now) or _LONG_AGO
    cared_for = max(inspected or written, written)
    return (now - cared_for) + timedelta(
        (UNSEEN if inspected is None or written > inspected else 0)
        + (UNTAGGED if not own_tags(note.tags, note.nugget_name) else 0)
        + (UNLINKED if not note.links else 0)
        + (RUBBISH if worthless else 0)
    )


def _past(written: str | None, now: datetime) -> datetime | None:
    """None also for a time to come: a clock that once ran ahead must not hide a note for years."""
    try:
        moment = parsed(written) if written else None
    except InvalidInput:
        return None
    return moment if moment is not None and moment <= now else None
