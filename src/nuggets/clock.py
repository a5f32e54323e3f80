"""When the daily clean-up is due. Pure: local wall-clock times in, an answer out.

One run per calendar day, whoever is up: at its hour, or later that day when it was missed. Judging
by the date of the last run, not by intervals, makes suspended laptops, changed clocks and moved
time zones ordinary days.
"""

from datetime import date, datetime, timedelta
from typing import NamedTuple


class Hours(NamedTuple):
    """When to run, and when to leave people alone; local hours."""

    hour: int = 9
    minute: int = 0
    quiet_start: int = 22  # may be later than the end: then it wraps around midnight
    quiet_end: int = 8  # either negative: no quiet hours


def is_due(now: datetime, last_run: date | None, hours: Hours) -> bool:
    """Has today's time passed without a run, outside of quiet hours?

    Its own hour is none of them: who chose 23:00 means it. A last run dated in the future (the
    clock was set back) counts as none today.
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
    """The next moment at which it will be due, to the minute."""
    moment = now.replace(second=0, microsecond=0)
    if moment < now:
        moment += timedelta(minutes=1)
    if is_due(now, last_run, hours):
        return now
    for _ in range(3 * 24 * 60):  # tomorrow at its hour at the latest, and a day to spare
        if is_due(moment, last_run, hours):
            return moment
        moment += timedelta(minutes=1)
    return moment
