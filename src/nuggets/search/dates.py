"""Times that a question or a note speaks of. Knows no clock: "today" is the note's own day."""

import re
from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

_MONTHS = "january february march april may june july august september october november december"
MONTHS = {
    name[:size]: number for number, name in enumerate(_MONTHS.split(), 1) for size in (3, len(name))
} | {"sept": 9}
_AMBIGUOUS = frozenset(("may", "march", "mar", "jan", "sun", "second", "seconds", "minute"))

_TIME_WORDS = """
yesterday today tonight tomorrow ago week weeks weekend month months year years day days
monday tuesday wednesday thursday friday saturday sunday morning afternoon evening night
last next recently spring summer autumn fall winter hour hours minutes date since
"""
_YEARS = map(str, range(1900, 2100))
TIME_WORDS = frozenset([*_TIME_WORDS.split(), *MONTHS, *_YEARS]) - _AMBIGUOUS

ASKS_WHEN = re.compile(
    r"\b(?:when|(?:what|which) (?:\w+ )?(?:date|day|days|month|months|year|years|time|week|weekend)"
    r"|how long (?:ago|since|has|have))\b",
    re.IGNORECASE,
)


YEARS_BACK = 20  # "in May" may mean any of the years that notes are from, up to so many


class Period(NamedTuple):
    """Days from `first` to `last`, as ordinals, both included."""

    first: int
    last: int


def is_date_word(word: str) -> bool:
    """Whether the word may be part of a written date."""
    return word in MONTHS or (word.rstrip("stndrh").isdecimal() and len(word) <= 4)


@lru_cache(maxsize=1024)
def ordinal(written: str) -> int:
    """A day in ISO form, counted; 0 if it is none."""
    try:
        return date.fromisoformat(written).toordinal()
    except ValueError:
        return 0


@cache
def _written_dates() -> re.Pattern[str]:
    month = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
    return re.compile(
        rf"\b(?P<y1>(?:19|20)\d\d)-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?\b"
        rf"|\b(?P<m2>{month})\.?\s+(?P<d2>\d\d?)(?:st|nd|rd|th)?\b(?:,?\s+(?P<y2>(?:19|20)\d\d))?"
        rf"|\b(?P<d3>\d\d?)(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<m3>{month})\b(?:,?\s+(?P<y3>(?:19|20)\d\d))?"
        rf"|\b(?P<m4>{month})\b,?(?:\s+(?:of\s+)?(?P<y4>(?:19|20)\d\d))?"
        rf"|\b(?P<y5>(?:19|20)\d\d)\b",
        re.IGNORECASE,
    )


def periods(query: str, years: range) -> list[Period]:
    """The days, months or years that a question names; without a year, in each of `years`."""
    found: list[Period] = []
    for match in _written_dates().finditer(query):
        named = {key[0]: value for key, value in match.groupdict().items() if value}
        month = named.get("m", "")
        if month.lower() in _AMBIGUOUS and len(named) == 1 and not month[0].isupper():
            continue  # "you may", "we march"
        number = MONTHS.get(month.lower()) or int(month or 0)
        for year in [int(named["y"])] if "y" in named else years:
            period = _period(year, number, int(named.get("d", 0)))
            if period:
                found.append(period)
    return found


def _period(year: int, month: int, day: int) -> Period | None:
    try:
        if day:
            return Period(*(date(year, month, day).toordinal(),) * 2)
        if month:
            after = date(year + month // 12, month % 12 + 1, 1)
            return Period(date(year, month, 1).toordinal(), after.toordinal() - 1)
        return Period(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal())
    except ValueError:
        return None
