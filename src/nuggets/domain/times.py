"""Times as text: ISO 8601 in UTC with milliseconds and ``Z``.

In this form they sort as text, survive JSON unchanged, and need no parsing.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from time import time_ns

from nuggets.errors import InvalidInput

_CLOCKS_DIFFER = timedelta(days=1)
_DAY_LENGTH = len("2026-01-31")
_SECOND = len("2026-01-31T09:00:00")
_YOUNGEST_CLOCK = "2026"  # Nuggets is no older: a clock before that was never set


def iso(moment: datetime) -> str:
    """The text of an aware datetime."""
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"


def now() -> str:
    """The current time as text."""
    seconds, milliseconds = divmod(time_ns() // 1_000_000, 1000)
    return f"{_text_of_second(seconds)}.{milliseconds:03}Z"


@lru_cache(maxsize=1)  # a batch asks thousands of times a second
def _text_of_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:_SECOND]


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
    if last > now > _YOUNGEST_CLOCK and parse(last) - parse(now) > _CLOCKS_DIFFER:
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
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "just now"
