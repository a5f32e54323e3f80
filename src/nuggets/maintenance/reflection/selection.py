"""Selects the notes that need maintenance most."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from nuggets.domain.records import MemoryNote
from nuggets.domain.tags import own_tags
from nuggets.domain.times import parse
from nuggets.domain.undone_reflection import RejectedChange
from nuggets.errors import InvalidInput
from nuggets.maintenance.reflection.archiving import why_worthless
from nuggets.maintenance.reflection.plan import Policy, age

# Days of waiting that each lack counts for. Waiting time is unbounded, so every note is selected
# some day.
UNTAGGED_DAYS = 7
UNLINKED_DAYS = 7
RUBBISH_DAYS = 365  # archiving a worthless note is certain to help, and happens once

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def select_notes(notes: Iterable[MemoryNote], now: str, policy: Policy) -> list[str]:
    """The ids of the notes to inspect, the most urgent first, equals by age."""
    moment = parse(now)

    def is_rubbish(note: MemoryNote) -> bool:
        return (
            bool(why_worthless(note, now))
            and RejectedChange("hide", note.id) not in policy.rejected
        )

    ranked = sorted((-need(note, moment, is_rubbish(note)), age(note), note.id) for note in notes)
    return [note_id for _, _, note_id in ranked[: max(policy.max_notes, 0)]]


def need(note: MemoryNote, now: datetime, worthless: bool) -> timedelta:
    """How urgent an inspection is, as waiting time; exact, so that equals stay equal."""
    inspected = _past_moment(note.last_inspected_at, now)
    written = _past_moment(note.updated_at, now) or _past_moment(note.created_at, now) or _LONG_AGO
    cared_for = max(inspected or written, written)
    return (now - cared_for) + timedelta(
        (UNTAGGED_DAYS if not own_tags(note.tags, note.nugget_name) else 0)
        + (UNLINKED_DAYS if not note.links else 0)
        + (RUBBISH_DAYS if worthless else 0)
    )


def _past_moment(written: str | None, now: datetime) -> datetime | None:
    """The time, or None if it is invalid or in the future (written by a clock that was ahead)."""
    try:
        moment = parse(written) if written else None
    except InvalidInput:
        return None
    return moment if moment is not None and moment <= now else None
