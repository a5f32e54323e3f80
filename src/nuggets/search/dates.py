"""Times that a question or a note speaks of. Knows no clock: "today" is the note's own day."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from nuggets.text import plain

_MONTHS = "january february march april may june july august september october november december"
MONTHS = {
    name[:size]: number for number, name in enumerate(_MONTHS.split(), 1) for size in (3, len(name))
} | {"sept": 9}
_AMBIGUOUS = frozenset(("may", "march", "mar", "jan", "sun", "second", "seconds", "minute"))
# As the other languages write them behind a day. Alone they are no month: "mars", "mayo".
_MONTHS_ELSEWHERE = """
januar februar märz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november desember
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta \
lokakuuta marraskuuta joulukuuta
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
"""

_TIME_WORDS = """
yesterday today tonight tomorrow ago week weeks weekend month months year years day days
monday tuesday wednesday thursday friday saturday sunday morning afternoon evening night
last next recently spring summer autumn fall winter hour hours minutes date since
"""
_YEARS = frozenset(map(str, range(1900, 2100)))
TIME_WORDS = frozenset([*_TIME_WORDS.split(), *MONTHS, *_YEARS]) - _AMBIGUOUS

_ASKS_WHEN = (
    r"\b(?:when|(?:what|which) (?:\w+ )?(?:date|day|days|month|months|year|years|time|week|weekend)"
    r"|how long (?:ago|since|has|have))\b"
)


YEARS_BACK = 20  # "in May" may mean any of the years that notes are from, up to so many
DATE_LABEL = "date="
DECEMBER = 12
LONGEST_BEFORE = 10  # characters: "23rd of "
MOST_DATES = 1000  # of one month or year in one text: time is bounded
ANY_YEAR = 0.7  # how much the day of another year, or of an unnamed one, answers for a day


class Period(NamedTuple):
    """Days from `first` to `last`, as ordinals, both included."""

    first: int
    last: int


class WrittenDate(NamedTuple):
    """A day, month or year as a text names it; 0 for what it does not say."""

    text: str
    year: int
    month: int
    day: int


def asks_when(text: str) -> bool:
    """Whether the question asks for a time."""
    return _asks_when().search(text) is not None


@cache
def _asks_when() -> re.Pattern[str]:
    return re.compile(_ASKS_WHEN, re.IGNORECASE)


@lru_cache(maxsize=1024)
def ordinal(written: str) -> int:
    """A day in ISO form, counted; 0 if it is none."""
    try:
        return date.fromisoformat(written).toordinal()
    except ValueError:
        return 0


@cache
def _months() -> dict[str, int]:
    """By name in any language, without accents."""
    listed = (line.split() for line in _MONTHS_ELSEWHERE.strip().splitlines())
    return {plain(name): n for names in listed for n, name in enumerate(names, 1)} | MONTHS


@cache
def date_words() -> frozenset[str]:
    """Words without which no text names a date."""
    elsewhere = _MONTHS_ELSEWHERE.split()
    return frozenset([*elsewhere, *_months(), *_YEARS, "月"])


@cache
def _dates() -> re.Pattern[str]:
    """Ways to write a date, each with a year, a month and a day, which may be empty."""
    by_letter: dict[str, list[str]] = {}  # so that most names are passed over at a glance
    for name in sorted(_months(), key=len, reverse=True):
        by_letter.setdefault(name[0], []).append(name[1:])
    names = "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())
    month, year, day = f"(?:{names})", r"(?:19|20)\d\d", r"\d\d?"
    return re.compile(
        rf"\b(?P<m1>{month})\b\.?(?:\s+(?P<d1>{day})(?:st|nd|rd|th)?\b(?!:\d))?"
        rf"(?:,?\s+(?:of\s+)?(?P<y1>{year})\b)?"
        rf"|(?P<d2>{day})(?:st|nd|rd|th|\.)?\s+(?:(?:of|de)\s+)?(?P<m2>{month})\b"
        rf"(?:\.?,?\s+(?:de\s+)?(?P<y2>{year})\b)?"
        rf"|(?P<y3>{year})-(?P<m3>\d\d)(?:-(?P<d3>\d\d))?(?!\d)"
        rf"|(?P<d4>{day})\.\s?(?P<m4>{day})\.\s?(?P<y4>{year})\b"
        rf"|(?P<m5>{day})/(?P<d5>{day})/(?P<y5>{year})\b"
        rf"|(?:(?P<y6>{year})年)?(?P<m6>{day})月(?:(?P<d6>{day})日)?"
        rf"|\b(?P<y7>{year})\b(?P<m7>)(?P<d7>)"
    )


@cache
def _before() -> re.Pattern[str]:
    """What belongs to the same date before its month or year."""
    return re.compile(
        r"(?<!\d)(?:\d\d?(?:st|nd|rd|th|\.)?\s+(?:(?:of|de)\s+)?|\d\d?([./])\s?\d\d?\1\s?"
        r"|(?:\d{4}年)?\d\d?)\Z"
    )


def written_dates(text: str, words: Iterable[str]) -> list[WrittenDate]:
    """The days, months and years that a text names. `words`: those of the text, or at least all
    that are in `date_words`: only there is it looked at."""
    names = {plain(word) for word in date_words().intersection(words)}
    if not names:
        return []
    low, dates, before = plain(text), _dates(), _before()
    found: list[WrittenDate] = []
    seen: set[int] = set()
    # Months first: the year may be part of their date.
    for name in sorted(names, reverse=True):
        for at in islice(_places(name, low), MOST_DATES):
            if at in seen:
                continue
            start = before.search(low, max(0, at - LONGEST_BEFORE), at)
            match = (start and dates.match(low, start.start())) or dates.match(low, at)
            if match:
                seen.update(range(*match.span()))
                found += _written(match, text)
    return found


def _places(name: str, text: str) -> Iterator[int]:
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + len(name))


def _written(match: re.Match[str], text: str) -> Iterator[WrittenDate]:
    """The date, if it is one."""
    way = str(match.lastgroup)[1]
    named_year, named, named_day = match.group(f"y{way}", f"m{way}", f"d{way}")
    if not (named_year or named_day or named.isdecimal() or _is_month_alone(named, text)):
        return
    year, day = int(named_year or 0), int(named_day or 0)
    month = _months().get(named) or int(named or 0)
    if "/" in match[0] and month > DECEMBER:  # not the American order
        month, day = day, month
    if month <= DECEMBER and day <= 31:
        yield WrittenDate(match[0], year, month, day)


def _is_month_alone(name: str, text: str) -> bool:
    """Not in "you may", "dec to hex"; a name that is only another language's needs a day."""
    sure = name in _MONTHS.split() and name not in _AMBIGUOUS
    return sure or (name in MONTHS and name.capitalize() in text)


def periods(dates: Iterable[WrittenDate], years: range) -> list[Period]:
    """The days that are meant; without a year, in each of `years`."""
    found = (
        _period(year, named.month, named.day)
        for named in dates
        for year in ([named.year] if named.year else years)
    )
    return [period for period in found if period]


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


def date_labels(text: str, words: Iterable[str]) -> set[str]:
    """What a note is found by for the dates in its text, however they are written there."""
    dates = written_dates(text, words)
    return {label for one in dates if one.month for label in _labels(*one[1:])}


@lru_cache(maxsize=1024)
def _labels(year: int, month: int, day: int) -> tuple[str, ...]:
    """The month and the day, in any year and in theirs. A year alone is a word like others."""
    return tuple({_label(y, month, d) for y in (0, year) for d in (0, day)})


def asked_labels(asked: WrittenDate) -> dict[str, float]:
    """What notes that speak of the date have, and how much each answers for it."""
    _, year, month, day = asked
    if not month:
        return {}
    return {_label(0, month, day): ANY_YEAR if year else 1.0, _label(year, month, day): 1.0}


def _label(year: int, month: int, day: int) -> str:
    return DATE_LABEL + "-".join(f"{number:02}" for number in (year, month, day) if number)
