"""The history is kept as long as the setting says; the daily pass takes the rest away."""

from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

from nuggets import NuggetShelf
from nuggets.operations.external_edits import import_edit
from nuggets.operations.transactions import KINDS
from nuggets.settings import load
from nuggets.shelf import random_hex
from nuggets.stores.sql.history import DAYS_OF_USE
from nuggets.stores.sqlite.store import SqliteStore


def shelf_at(directory: Path, day: str, **flags: int) -> NuggetShelf:
    settings = load({}, {"dir": str(directory), "quiet_hours_start": -1, **flags})
    moment = f"{day}T12:00:00.000Z"
    store = SqliteStore(
        str(directory),
        KINDS,
        partial(import_edit, random_hex),
        short_lived=True,
        clock=lambda: moment,
    )
    return NuggetShelf(directory, store=store, project="", settings=settings, clock=lambda: moment)


def filled(directory: Path) -> None:
    for day in ("2024-01-01", "2024-06-01", "2025-05-01"):
        with shelf_at(directory, day) as shelf:
            shelf.remember("facts", f"of {day}", "value")
            shelf.recall(f"of {day}", session=day)


def use_daily(directory: Path, until: str) -> None:
    """Changes on some days before, which show that the clock is right."""
    last = date.fromisoformat(until)
    for number in range(DAYS_OF_USE, 0, -1):
        with shelf_at(directory, (last - timedelta(days=number)).isoformat()) as shelf:
            shelf.create_note("diary", f"Note {number}", "used")


def days(shelf: NuggetShelf) -> list[str]:
    return [one.at[:10] for one in shelf.commits() if one.changes.action == "remember"]


def test_what_is_older_goes_and_every_note_stays(tmp_path: Path) -> None:
    filled(tmp_path)
    use_daily(tmp_path, "2025-06-15")
    with shelf_at(tmp_path, "2025-06-15") as shelf:
        notes = shelf.list_notes()
        shelf.run_daily(datetime(2025, 6, 15, 12))

        assert days(shelf) == ["2025-05-01"]
        assert [(n.id, n.content, n.hits) for n in shelf.list_notes()] == [
            (n.id, n.content, n.hits) for n in notes
        ]
        shelf.undo(shelf.revision)  # what the clean-up did to it
        for _ in range(DAYS_OF_USE):
            shelf.undo()
        assert shelf.undo().at[:10] == "2025-05-01"
        assert shelf.checkup() == []


def test_zero_days_keep_it_for_ever(tmp_path: Path) -> None:
    filled(tmp_path)
    with shelf_at(tmp_path, "2035-01-01", history_days=0) as shelf:
        shelf.run_daily(datetime(2035, 1, 1, 12))

        assert days(shelf) == ["2024-01-01", "2024-06-01", "2025-05-01"]


def test_the_last_step_is_never_forgotten(tmp_path: Path) -> None:
    filled(tmp_path)
    use_daily(tmp_path, "2035-01-01")
    with shelf_at(tmp_path, "2035-01-01", history_days=1) as shelf:
        revision = shelf.revision
        shelf.run_daily(datetime(2035, 1, 1, 12))

        assert shelf.revision > revision
        assert days(shelf) == []


def test_an_edit_of_an_older_export_still_counts(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "facts.nugget.json"
    with shelf_at(tmp_path, "2035-01-01", history_days=1) as shelf:
        shelf.run_daily(datetime(2035, 1, 1, 12))
    path.write_text(path.read_text().replace(':"value"', ':"by hand"', 1))

    with shelf_at(tmp_path, "2035-01-02") as shelf:
        values = [fact.content for fact in shelf.facts("facts")]
        assert values == ["by hand", "value", "value"]


def test_a_long_history_goes_in_parts(tmp_path: Path) -> None:
    with shelf_at(tmp_path, "2024-01-01") as shelf, shelf.batch():
        for number in range(4500):
            shelf.remember("facts", f"key {number}", "value")
    with shelf_at(tmp_path, "2024-02-01") as shelf:
        shelf.remember("facts", "key 1", "another")
    use_daily(tmp_path, "2026-01-01")
    with shelf_at(tmp_path, "2026-01-01") as shelf:
        shelf.run_daily(datetime(2026, 1, 1, 12))
        assert days(shelf) == []
        assert len(shelf.list_notes()) == 4500 + DAYS_OF_USE


def test_a_wrong_clock_erases_no_history_and_is_told(tmp_path: Path) -> None:
    filled(tmp_path)
    use_daily(tmp_path, "2025-05-20")
    with shelf_at(tmp_path, "2028-01-01") as shelf:
        shelf.remember("facts", "of a wrong day", "value")
        shelf.run_daily(datetime(2028, 1, 1, 12))

        assert days(shelf) == ["2024-06-01", "2025-05-01", "2028-01-01"]
        assert [defect.kind for defect in shelf.checkup()] == ["clock"]
    with shelf_at(tmp_path, "2025-05-21") as shelf:  # it is right again
        shelf.run_daily(datetime(2025, 5, 21, 12))

        assert days(shelf) == ["2024-06-01", "2025-05-01", "2028-01-01"]


def test_after_a_long_pause_the_clock_is_believed_when_the_shelf_is_used_again(
    tmp_path: Path,
) -> None:
    filled(tmp_path)
    with shelf_at(tmp_path, "2027-03-01") as shelf:
        shelf.run_daily(datetime(2027, 3, 1, 12))
        assert "2025-05-01" in days(shelf)
    use_daily(tmp_path, "2027-03-20")
    with shelf_at(tmp_path, "2027-03-20") as shelf:
        shelf.run_daily(datetime(2027, 3, 20, 12))
        assert days(shelf) == []
