"""Times as text, ISO 8601 in UTC with milliseconds and ``Z``; and when a memory is valid.

In this form they sort as text, survive JSON unchanged, and need no parsing.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from nuggets.domain.records import EarlierImage, MemoryNote, MemoryVersion, RecallResult
from nuggets.errors import InvalidInput

CLOCKS_DIFFER = timedelta(days=1)  # more than any wrong time zone makes of a right clock
_DAY_LENGTH = len("2026-01-31")
_YOUNGEST_CLOCK = "2026"  # Nuggets is no older: a clock before that was never set


def iso(moment: datetime) -> str:
    """The text of an aware datetime."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"


def now() -> str:
    """The current time as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment_after(last: str, now: str) -> str:
    """The current time, but later than the last one: commits are dated in order, even if the clock
    jumps back."""
    if now > last:
        return now
    try:
        return iso(parse(last) + timedelta(milliseconds=1))
    except OverflowError:  # the end of the year 9999
        return last


def commit_time(last: str, now: str) -> str:
    """Now, but after the last commit.

    A commit that is dated further ahead than clocks differ was dated by a wrong clock, and does not
    date all later ones; unless it is the present clock that cannot be right.
    """
    if last > now > _YOUNGEST_CLOCK and parse(last) - parse(now) > CLOCKS_DIFFER:
        return now
    return moment_after(last, now)


def parse(text: str | datetime, field: str = "") -> datetime:
    """The moment that a written form names; without a zone it is taken as UTC. `field`: the name
    of what it is given for.

    A datetime is the moment itself; without a zone it is local, as everywhere in Python.
    """
    if isinstance(text, datetime):
        return text.astimezone()
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError) as problem:
        named = f"{field}: " if field else ""
        raise InvalidInput(
            f"{named}{text!r:.80} is no time; write it like 2026-01-31T09:00:00.000Z, or give a "
            "datetime"
        ) from problem
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def day_boundary(text: str | datetime, *, end: bool, field: str = "") -> str:
    """A moment in our form; a day without a time means its first, or last, moment in local time."""
    if isinstance(text, str) and len(text) == _DAY_LENGTH:
        try:
            start = datetime.strptime(text, "%Y-%m-%d")
            day = start.replace(hour=23, minute=59, second=59, microsecond=999_000)
            return iso((day if end else start).astimezone())
        except (ValueError, OverflowError, OSError):
            pass  # the general form says what is wrong
    return normalize_time(text, field)


def normalize_time(text: str | datetime, field: str = "") -> str:
    """Any ISO 8601 form, or a datetime, in ours."""
    try:
        return iso(parse(text, field))
    except (OverflowError, OSError):  # local times of such years are beyond some systems
        raise InvalidInput(
            f"{text!r} is too near the end of time; years go from 1 to 9999"
        ) from None


def age(then: str, now: str) -> str:
    """How long ago, in the largest unit that fits."""
    try:
        seconds = (parse(now) - parse(then)).total_seconds()
    except ValueError:
        return "unknown"
    return duration(seconds) or "just now"


def ago(then: str, now: str) -> str:
    """The same as one says it: "3 days ago", "just now"."""
    told = age(then, now)
    return told if told == "just now" else f"{told} ago"


def duration(seconds: float) -> str:
    """In the largest unit that fits; "" for less than a minute."""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return ""


# --- when a memory is valid -------------------------------------------------------------------

# Which version of a memory was valid at a moment is derived from the history. A version is valid
# from the commit that wrote it to the one that replaced, archived or dropped it, unless the note
# itself says otherwise (`valid_from`, `valid_until`).


def invalidity(memory: MemoryNote | RecallResult, now: str) -> str:
    """Why it is not valid now: "no longer valid" or "not yet valid"; "" if it is."""
    if memory.valid_until is not None and memory.valid_until < now:
        return "no longer valid"
    return "not yet valid" if memory.valid_from is not None and memory.valid_from > now else ""


def note_at(
    images: Iterable[EarlierImage], current: MemoryNote | None, moment: str
) -> MemoryNote | None:
    """A note as it was at a time; `images`: of earlier versions, oldest first."""
    for image in images:
        if image.until is not None and image.until > moment:
            return image.note
    return current


def versions_of(earlier: Iterable[EarlierImage], current: MemoryNote | None) -> list[MemoryVersion]:
    """The versions of a note, oldest first; `current`: the note now, None if it was dropped."""
    runs: list[tuple[MemoryNote | None, str, str | None]] = []  # a visible note, from, until
    start = ""
    for note, until in (*earlier, EarlierImage(current, None)):
        visible = None if note is None or note.hidden else note
        if runs and _say_the_same(runs[-1][0], visible):
            runs[-1] = (visible, runs[-1][1], until)
        else:
            runs.append((visible, start, until))
        start = until or ""
    versions: list[MemoryVersion] = []
    for note, begin, end in runs:
        if note is not None:
            if not versions:  # an import may have brought it, older than the commit
                begin = min(begin or note.updated_at, note.updated_at)
            versions.append(_make_version(note, begin, end))
    return versions


def version_at(versions: Sequence[MemoryVersion], moment: str) -> MemoryVersion | None:
    """The version that was valid at a moment; of several the one that was written last."""
    for version in versions[::-1]:
        end = version.valid_until
        if version.valid_from <= moment and (end is None or moment <= end):
            return version
    return None


def _say_the_same(a: MemoryNote | None, b: MemoryNote | None) -> bool:
    if a is None or b is None:
        return a is b
    return (a.title, a.content) == (b.title, b.content)


def _make_version(note: MemoryNote, begin: str, end: str | None) -> MemoryVersion:
    ends = [moment for moment in (end, note.valid_until) if moment is not None]
    return MemoryVersion(note, note.valid_from or begin, min(ends, default=None))
