"""When the daily clean-up is due, with every clock that people have."""

from datetime import date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from nuggets.maintenance import Hours, is_due, is_quiet, next_run

DAY = date(2026, 3, 10)
NINE = datetime(2026, 3, 10, 9, 0)


def test_it_is_due_at_its_hour() -> None:
    assert is_due(NINE, None, Hours())
    assert not is_due(NINE - timedelta(minutes=1), None, Hours())


def test_a_day_has_one_run() -> None:
    assert not is_due(NINE + timedelta(hours=3), DAY, Hours())


def test_a_missed_run_is_caught_up_later_the_same_day() -> None:
    assert is_due(NINE.replace(hour=21, minute=59), DAY - timedelta(days=1), Hours())


def test_missed_days_make_one_run_not_many() -> None:
    assert is_due(NINE, DAY - timedelta(days=30), Hours())
    assert not is_due(NINE, DAY, Hours())


def test_quiet_hours_wrap_around_midnight() -> None:
    quiet = [hour for hour in range(24) if is_quiet(NINE.replace(hour=hour), Hours())]

    assert quiet == [0, 1, 2, 3, 4, 5, 6, 7, 22, 23]


def test_quiet_hours_may_lie_within_a_day() -> None:
    hours = Hours(quiet_start=12, quiet_end=14)

    assert [h for h in range(24) if is_quiet(NINE.replace(hour=h), hours)] == [12, 13]


def test_negative_quiet_hours_are_none() -> None:
    assert not any(is_quiet(NINE.replace(hour=h), Hours(quiet_start=-1)) for h in range(24))
    assert not any(is_quiet(NINE.replace(hour=h), Hours(quiet_end=-1)) for h in range(24))


def test_nothing_is_caught_up_in_quiet_hours() -> None:
    assert not is_due(NINE.replace(hour=23), None, Hours())


def test_a_clock_set_back_does_not_stop_it() -> None:
    tomorrow = DAY + timedelta(days=1)

    assert is_due(NINE, tomorrow, Hours())


def test_the_next_run_is_today_when_it_is_still_to_come() -> None:
    assert next_run(NINE - timedelta(hours=2), None, Hours()) == NINE


def test_the_next_run_is_tomorrow_after_todays() -> None:
    assert next_run(NINE + timedelta(hours=1), DAY, Hours()) == NINE + timedelta(days=1)


def test_the_next_run_is_now_when_it_was_missed() -> None:
    late = NINE + timedelta(hours=4)

    assert next_run(late, DAY - timedelta(days=1), Hours()) == late


hours = st.builds(
    Hours, st.integers(0, 23), st.integers(0, 59), st.integers(-1, 23), st.integers(-1, 23)
)


@given(hours, st.lists(st.integers(1, 40), min_size=5, max_size=60))
def test_looked_at_now_and_then_every_day_has_at_most_one_run(
    hours: Hours, pauses: list[int]
) -> None:
    now, last, runs = datetime(2026, 3, 1, 0, 5), None, []
    for pause in pauses:
        now += timedelta(hours=pause)
        if is_due(now, last, hours):
            runs.append(now.date())
            last = now.date()

    assert len(runs) == len(set(runs))


@given(hours, st.integers(0, 24 * 60 - 1))
def test_the_next_run_is_due_when_it_comes(hours: Hours, minute: int) -> None:
    now = datetime(2026, 3, 10) + timedelta(minutes=minute)
    coming = next_run(now, DAY, hours)
    never = all(not is_due(now + timedelta(minutes=m), DAY, hours) for m in range(0, 3 * 1440, 7))

    assert coming >= now
    assert never or is_due(coming, DAY, hours)


@given(hours)
def test_every_day_has_a_moment_at_which_it_is_due(hours: Hours) -> None:
    day = [datetime(2026, 3, 1) + timedelta(minutes=minute) for minute in range(24 * 60)]

    assert any(is_due(now, None, hours) for now in day)


def test_the_hour_that_someone_chose_is_not_quiet() -> None:
    late = Hours(hour=23)

    assert is_due(NINE.replace(hour=23), None, late)
    assert next_run(NINE, None, late) == NINE.replace(hour=23)
    assert not is_due(NINE.replace(hour=7), None, Hours(hour=6))
