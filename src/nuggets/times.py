"""Moments as text: ISO 8601 in UTC with milliseconds and ``Z``.

Written like that they sort as text, survive JSON unchanged, and cost nothing to load.
"""

from datetime import UTC, datetime, timedelta

from nuggets.errors import InvalidInput


def iso(moment: datetime) -> str:
    """The written form of an aware moment."""
    utc = moment.astimezone(UTC)
    return f"{utc.year:04d}-{utc:%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def now() -> str:
    """The present, written."""
    return iso(datetime.now(UTC))


def moment_after(last: str, now: str) -> str:
    """Now, but never as early as the last moment: what comes in order is dated in order, however
    fast it comes and wherever the clock jumps. Only the end of time has nothing after it."""
    if now > last:
        return now
    try:
        return iso(parsed(last) + timedelta(milliseconds=1))
    except OverflowError:
        return last


def parsed(text: str) -> datetime:
    """The moment that a written form names; without a zone it is taken as UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError) as problem:
        raise InvalidInput(
            f"{text!r} is no time; write it like 2026-01-31T09:00:00.000Z"
        ) from problem
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def normal(text: str) -> str:
    """Any ISO 8601 form, in ours."""
    try:
        return iso(parsed(text))
    except OverflowError:
        raise InvalidInput(
            f"{text!r} is too near the end of time; years go from 1 to 9999"
        ) from None
