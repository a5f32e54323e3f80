"""Dates and times that a question or a note names. Knows no clock."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import islice

from nuggets.language.text import plain
from nuggets.language.word_lists import months
from nuggets.named_tuple import NamedTuple

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS = {
    name[:size]: number for number, name in enumerate(_MONTHS, 1) for size in (3, len(name))
} | {"sept": 9}
_UNIT = "date|day|days|month|months|year|years|time|week|weekend"
_ASKS_WHEN = rf"\b(?:when|(?:what|which) (?:\w+ )?(?:{_UNIT})|how long (?:ago|since|has|have))\b"
# Words that are often something else than a time.
_AMBIGUOUS = frozenset(("may", "march", "mar", "jan", "sun", "second", "seconds", "minute"))
_TIME_WORDS = """
yesterday today tonight tomorrow ago week weeks weekend month months year years day days
monday tuesday wednesday thursday friday saturday sunday morning afternoon evening night
last next recently spring summer autumn fall winter hour hours minutes date since
"""
_YEARS = frozenset(map(str, range(1900, 2100)))  # other numbers of four digits mean any thing
TIME_WORDS = frozenset([*_TIME_WORDS.split(), *MONTHS, *_YEARS]) - _AMBIGUOUS

# The part of a date that stands before its month or year.
_DAY_BEFORE_MONTH = (
    r"(?<!\d)(?:\d\d?(?:st|nd|rd|th|\.)?\s+(?:(?:of|de)\s+)?|\d\d?([./])\s?\d\d?\1\s?"
    r"|(?:\d{4}年)?\d\d?)\Z"
)

YEARS_BACK = 20  # "in May" may mean any of the years that notes are from, up to this many
DATE_LABEL = "date="
LONGEST_DAY_BEFORE_MONTH = 10  # characters: "23rd of "
MOST_DATES = 1000  # occurrences of one month or year in one text: this bounds the time
ANY_YEAR = 0.7  # how well a day matches the same day of another or an unnamed year


class Period(NamedTuple):
    """Days from `first` to `last`, as ordinals, both included."""

    first: int
    last: int


class WrittenDate(NamedTuple):
    """A day, month or year as a text names it; 0 for a part that it does not name."""

    text: str
    year: int
    month: int
    day: int


def asks_when(text: str) -> bool:
    """Whether a question asks for a time."""
    return re.search(_ASKS_WHEN, text, re.IGNORECASE) is not None


@lru_cache(maxsize=1024)
def ordinal(iso_date: str) -> int:
    """The number of a day in ISO form; 0 if the text is no such day."""
    try:
        return date.fromisoformat(iso_date).toordinal()
    except ValueError:
        return 0


@cache
def _month_numbers() -> dict[str, int]:
    """By name in any language, without accents."""
    by_language = (plain("\n".join(names)).split("\n") for names in months().values())
    return {name: number for names in by_language for number, name in enumerate(names, 1)} | MONTHS


@cache
def date_words() -> frozenset[str]:
    """Words without which no text names a date."""
    accented = (name for names in months().values() for name in names)
    return frozenset([*accented, *_month_numbers(), *_YEARS, "月"])


@cache
def _date_pattern() -> re.Pattern[str]:
    """Ways to write a date, each with a year, a month and a day, which may be empty."""
    by_letter: dict[str, list[str]] = {}  # one comparison rules out most names
    for name in sorted(_month_numbers(), key=len, reverse=True):
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


def written_dates(text: str, words: Iterable[str]) -> list[WrittenDate]:
    """The days, months and years that a text names.

    `words`: those of the text, or at least all that are in `date_words`. The text is searched
    around these words only.
    """
    names = {plain(word) for word in date_words().intersection(words)}
    if not names:
        return []
    plain_text, pattern, day_before = plain(text), _date_pattern(), re.compile(_DAY_BEFORE_MONTH)
    dates: list[WrittenDate] = []
    parsed: set[int] = set()  # positions inside a date that was read already
    # Months first: the year may be part of their date.
    for name in sorted(names, reverse=True):
        for position in islice(_positions(name, plain_text), MOST_DATES):
            if position in parsed:
                continue
            start = max(0, position - LONGEST_DAY_BEFORE_MONTH)
            day = day_before.search(plain_text, start, position)
            match = day and pattern.match(plain_text, day.start())
            match = match or pattern.match(plain_text, position)
            if match:
                parsed.update(range(*match.span()))
                dates += _parse_date(match, text)
    return dates


def _positions(name: str, text: str) -> Iterator[int]:
    position = text.find(name)
    while position >= 0:
        yield position
        position = text.find(name, position + len(name))


def _parse_date(match: re.Match[str], text: str) -> Iterator[WrittenDate]:
    """The date, if it is one."""
    way = str(match.lastgroup)[1]
    year_text, month_text, day_text = match.group(f"y{way}", f"m{way}", f"d{way}")
    if not (year_text or day_text or month_text.isdecimal() or _is_month(month_text, text)):
        return
    year, day = int(year_text or 0), int(day_text or 0)
    month = _month_numbers().get(month_text) or int(month_text or 0)
    if "/" in match[0] and month > 12:  # not the American order
        month, day = day, month
    if month <= 12 and day <= 31:
        yield WrittenDate(match[0], year, month, day)


def _is_month(name: str, text: str) -> bool:
    """Whether a name means a month even without a day or a year: not in "you may", "dec to hex".

    A name of another language alone never does: "mars", "mayo".
    """
    is_unambiguous = name in _MONTHS and name not in _AMBIGUOUS
    return is_unambiguous or (name in MONTHS and name.capitalize() in text)


def periods(dates: Iterable[WrittenDate], years: range) -> list[Period]:
    """The days that the dates mean; without a year, in each of `years`."""
    possible = (
        _period(year, named.month, named.day)
        for named in dates
        for year in ([named.year] if named.year else years)
    )
    return [period for period in possible if period]


def _period(year: int, month: int, day: int) -> Period | None:
    try:
        if day:
            return Period(*(date(year, month, day).toordinal(),) * 2)
        if month:
            next_month = date(year + month // 12, month % 12 + 1, 1)
            return Period(date(year, month, 1).toordinal(), next_month.toordinal() - 1)
        return Period(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal())
    except ValueError:
        return None


def date_labels(text: str, words: Iterable[str]) -> set[str]:
    """Labels by which a note is found for the dates in its text, however they are written."""
    dates = written_dates(text, words)
    return {label for written in dates if written.month for label in _labels(*written[1:])}


@lru_cache(maxsize=1024)
def _labels(year: int, month: int, day: int) -> tuple[str, ...]:
    """The month and the day, in any year and in theirs. A year alone is a word like others."""
    return tuple({_label(y, month, d) for y in (0, year) for d in (0, day)})


def query_labels(query: WrittenDate) -> dict[str, float]:
    """Labels of notes that name the date, each with how well it matches."""
    _, year, month, day = query
    if not month:
        return {}
    return {_label(0, month, day): ANY_YEAR if year else 1.0, _label(year, month, day): 1.0}


def _label(year: int, month: int, day: int) -> str:
    return DATE_LABEL + "-".join(f"{number:02}" for number in (year, month, day) if number)
