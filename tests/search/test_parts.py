from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.search.dates import TIME_WORDS, Period, ordinal, periods
from nuggets.search.spelling import signatures
from nuggets.search.terms import pieces, stems
from nuggets.text import edits_between

LETTERS = st.text("abc", max_size=7)


def day(*parts: int) -> int:
    return date(*parts).toordinal()


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
    ],
)
def test_a_question_names_days_months_and_years(question: str, first: int, last: int) -> None:
    assert periods(question, range(2022, 2023)) == [Period(first, last)]


@pytest.mark.parametrize(
    "question", ["what may happen", "February 30, 2023", "port 8080", "we march"]
)
def test_what_only_looks_like_a_date_names_no_day(question: str) -> None:
    assert periods(question, range(2022, 2023)) == []


def test_times_are_recognised() -> None:
    assert {"yesterday", "2023", "monday"} <= TIME_WORDS
    assert TIME_WORDS.isdisjoint({"may", "8080"})
    assert ordinal("2023-05-03") == day(2023, 5, 3)
    assert ordinal("nonsense") == 0


@given(LETTERS, LETTERS)
def test_each_edit_changes_at_most_two_letters_of_a_signature(a: str, b: str) -> None:
    apart = edits_between(a, b, 2)

    if apart <= 2:
        one, other = (int(bits) for bits in signatures([f"x{a}", f"x{b}"]))
        assert (one ^ other).bit_count() <= 2 * apart


def test_an_identifier_is_read_whole_and_in_parts() -> None:
    assert pieces("createNotes") == ["createnotes", "create", "notes"]
    assert pieces("MAX_RETRY") == ["maxretry", "max", "retry"]
    assert pieces("don't") == ["do"]


def test_forms_of_a_word_share_a_term() -> None:
    assert len(set(stems(["go", "went", "gone", "goes"]))) == 1
    assert len(set(stems(["книга", "книги"]))) == 1
    assert stems(["café"]) == stems(["cafe"])
