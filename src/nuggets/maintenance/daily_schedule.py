"""When the daily clean-up is due. Pure: local wall-clock times in, an answer out.

It runs once per calendar day, in whichever process is up: at its hour, or later that day if it was
missed. It compares the date of the last run instead of intervals, so suspended laptops, changed
clocks and time zones need no special case.
"""

from datetime import date, datetime, timedelta

from nuggets.named_tuple import NamedTuple


class Hours(NamedTuple):
    """When to run, and when not to; local hours."""

    hour: int = 9
    minute: int = 0
    quiet_start: int = 22  # may be later than the end: then quiet hours span midnight
    quiet_end: int = 8  # either negative: no quiet hours


def is_due(now: datetime, last_run: date | None, hours: Hours) -> bool:
    """Has today's time passed without a run, outside of quiet hours?

    The configured hour itself is never quiet. A last run dated in the future (the clock was set
    back) does not count as a run today.
    """
    if last_run == now.date() or (is_quiet(now, hours) and now.hour != hours.hour):
        return False
    return (now.hour, now.minute) >= (hours.hour, hours.minute)


def is_quiet(now: datetime, hours: Hours) -> bool:
    start, end = hours.quiet_start, hours.quiet_end
    if start < 0 or end < 0 or start == end:
        return False
    if start < end:
        return start <= now.hour < end
    return now.hour >= start or now.hour < end


def next_run(now: datetime, last_run: date | None, hours: Hours) -> datetime:
    """The next time at which it is due, to the minute."""
    moment = now.replace(second=0, microsecond=0)
    if moment < now:
        moment += timedelta(minutes=1)
    if is_due(now, last_run, hours):
        return now
    for _ in range(3 * 24 * 60):  # it is due by tomorrow at its hour; three days are a safe bound
        if is_due(moment, last_run, hours):
            return moment
        moment += timedelta(minutes=1)
    return moment
