"""Dates that notes and questions write, each in its own way."""

from datetime import date

import pytest

from nuggets.language.dates import (
    DATE_LABEL,
    TIME_WORDS,
    Period,
    date_labels,
    ordinal,
    periods,
)
from nuggets.language.text import pieces, tokens
from nuggets.search.query import MOST_WORDS, tokenize_query
from searchable import found, index_of, note

RACE = note(1, "Half marathon", "Signed up for the half marathon on 5 October, target 1:50.")
OTHERS = [
    note(2, "Dentist", "Appointment on 12 May at 14:30."),
    note(3, "Car", "Last inspection 2024-10-14, next one in October 2026."),
    *(note(10 + i, f"Matter {i}", f"Number {i} of many, from page 5 on.") for i in range(20)),
]


def day(*parts: int) -> int:
    return date(*parts).toordinal()


def labels(text: str) -> set[str]:
    words = [word for token in tokens(text) for word in pieces(token)]
    return {label.removeprefix(DATE_LABEL) for label in date_labels(text, words)}


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("on May 3, 2023", day(2023, 5, 3), day(2023, 5, 3)),
        ("on 3rd of May 2023", day(2023, 5, 3), day(2023, 5, 3)),
        ("in May 2023", day(2023, 5, 1), day(2023, 5, 31)),
        ("in December 2023", day(2023, 12, 1), day(2023, 12, 31)),
        ("in 2023", day(2023, 1, 1), day(2023, 12, 31)),
        ("at 2023-02-28", day(2023, 2, 28), day(2023, 2, 28)),
        ("since February", day(2022, 2, 1), day(2022, 2, 28)),
        ("in Dec", day(2022, 12, 1), day(2022, 12, 31)),
    ],
)
def test_a_question_names_days_months_and_years(question: str, first: int, last: int) -> None:
    assert periods(tokenize_query(question).dates, range(2022, 2023)) == [Period(first, last)]


@pytest.mark.parametrize(
    "question",
    [
        "what may happen",
        "February 30, 2023",
        "port 8080",
        "we march",
        "from dec to hex",
        "life on mars",
        "2023-13-01",
        "version 3.11.2",
    ],
)
def test_what_only_looks_like_a_date_names_no_day(question: str) -> None:
    assert periods(tokenize_query(question).dates, range(2022, 2023)) == []


def test_times_are_recognised() -> None:
    assert {"yesterday", "2023", "monday"} <= TIME_WORDS
    assert TIME_WORDS.isdisjoint({"may", "8080"})
    assert ordinal("2023-05-03") == day(2023, 5, 3)
    assert ordinal("nonsense") == 0


@pytest.mark.parametrize(
    "written",
    [
        "5 October 2025",
        "October 5th, 2025",
        "5th of October 2025",
        "Oct. 5, 2025",
        "at 2025-10-05T07:15Z",
        "am 5. Oktober 2025",
        "5.10.2025",
        "05. 10. 2025",
        "10/5/2025",
        "5 de octubre de 2025",
        "5 octobre 2025",
        "5 октября 2025",
        "于2025年10月5日上午",
    ],
)
def test_a_day_is_the_same_however_it_is_written(written: str) -> None:
    assert labels(written) == {"10", "10-05", "2025-10", "2025-10-05"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("on 5 October", {"10", "10-05"}),
        ("from June 3rd to June 9th", {"06", "06-03", "06-09"}),
        ("14 février or fevrier 15", {"02", "02-14", "02-15"}),
        ("13/8/2025", {"08", "08-13", "2025-08", "2025-08-13"}),
        ("in October 2026", {"10", "2026-10"}),
        ("May 12:30", {"05"}),
        ("maybe 12 May", {"05", "05-12"}),
        ("in 2026", set()),
    ],
)
def test_what_is_not_said_of_a_date_stays_open(written: str, expected: set[str]) -> None:
    assert labels(written) == expected


@pytest.mark.parametrize(
    "asked", ["race on October 5", "what is on 2025-10-05", "october 5th", "Was ist am 5. Oktober?"]
)
def test_a_note_answers_for_a_day_that_it_names(asked: str) -> None:
    assert found(index_of(RACE, *OTHERS), asked)[:1] == ["Half marathon"]


def test_a_day_in_its_year_comes_before_the_same_day_of_another() -> None:
    index = index_of(
        note(7, "Then", "inspected on 14 October 2023"),
        note(8, "Some year", "inspected on 14 October"),
        *OTHERS,
    )

    assert found(index, "what was done on 14 October 2024")[0] == "Car"
    assert set(found(index, "October 14")) >= {"Then", "Some year", "Car"}


def test_a_month_is_named_by_its_days_and_not_the_other_way_round() -> None:
    index = index_of(RACE, *OTHERS)

    assert set(found(index, "what happens in October")) == {"Half marathon", "Car"}
    assert "Half marathon" not in found(index, "what is on October 14")


def test_a_title_is_not_read_on_into_the_content() -> None:
    index = index_of(note(1, "October", "5 apples"), *OTHERS)

    assert not any(word.matched for word in index.explain("2025-10-05", "note-n-00000001").words)


def test_a_note_that_was_edited_no_longer_answers_for_its_old_day() -> None:
    index = index_of(RACE, *OTHERS)
    index.search("October 5")

    index.put(RACE._replace(content="Moved to 6 November."))

    assert "Half marathon" not in found(index, "what is on 2025-10-05")
    assert found(index, "what is on 2025-11-06") == ["Half marathon"]


def test_why_names_the_date_and_where_it_stands() -> None:
    words = index_of(RACE, *OTHERS).explain("race on October 5", RACE.id).words
    told = {word.word: word for word in words}

    assert told["october 5"].matched == ("october 5 → 10-05 (date)",)
    assert told["october 5"].fields == ("content",)
    assert told["october 5"].weight > 5 * told["october"].weight
    assert told["october 5"].itself


def test_a_page_of_dates_costs_no_more_than_a_question() -> None:
    page = " ".join(f"{year}-{month:02}-05" for year in range(1950, 2050) for month in range(1, 13))

    assert len(tokenize_query(page).dates) == MOST_WORDS


def test_a_diary_in_one_note_is_found_by_any_of_its_days() -> None:
    diary = " ".join(f"On {day} March we rowed, and maybe more." for day in range(1, 29))

    assert found(index_of(note(1, "Diary", diary), *OTHERS), "March 17")[:1] == ["Diary"]
