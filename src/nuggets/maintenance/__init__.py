"""What is done to a shelf over time: in which context all of it works, and when the daily clean-up
is due."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from nuggets.named_tuple import NamedTuple

if TYPE_CHECKING:
    from nuggets.operations.lookups_before_write import FindAnchors
    from nuggets.operations.transactions import Transactions
    from nuggets.settings import Settings


class ShelfContext(NamedTuple):
    """On which shelf something is done, in whose name, for which project and at what time."""

    transactions: "Transactions"
    settings: "Settings"
    client: str  # for the history
    project: str
    now: Callable[[], str]
    draw: Callable[[], str]  # digits of new ids
    find_anchors: "FindAnchors"


# --- the daily clean-up ---------------------------------------------------------------------------
#
# It runs once per calendar day, in whichever process is up: at its hour, or later that day if it
# was missed. The date of the last run is compared instead of intervals, so suspended laptops,
# changed clocks and time zones need no special case. Local wall-clock times in, an answer out.


class Hours(NamedTuple):
    """When to run, and when not to; local hours."""

    hour: int = 9
    minute: int = 0
    quiet_start: int = 22  # may be later than the end: then quiet hours span midnight
    quiet_end: int = 8  # either negative: no quiet hours

    @classmethod
    def from_settings(cls, settings: "Settings") -> "Hours":
        names = ("reflection_hour", "reflection_minute", "quiet_hours_start", "quiet_hours_end")
        return cls(*(settings[name] for name in names))


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
    """The next time at which it is due: now, at its minute, or when an hour begins."""
    if is_due(now, last_run, hours):
        return now
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    later = (this_hour + timedelta(hours=number) for number in range(3 * 24))
    at_minute = (m.replace(minute=hours.minute) if m.hour == hours.hour else m for m in later)
    # it is due by tomorrow at its hour; three days are a safe bound
    return next(m for m in at_minute if m > now and is_due(m, last_run, hours))
