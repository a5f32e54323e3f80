"""What a write asks of the database: each statement costs every writer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nuggets.shelf import NuggetShelf
from nuggets.stores.sqlite.database import Database

MOST_CALLS = 21  # of a write whose exports are refreshed later, and that nobody else wrote before


@pytest.fixture
def count_calls(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Call it to begin: the statements from then on, without those that have no rows to write."""
    calls: list[str] = []

    def counted(method: Any) -> Any:
        def call(self: Database, sql: str, *rest: Any) -> Any:
            if method.__name__ == "executemany":
                rest = (list(*rest),)
            if rest != ([],):
                calls.append(sql)
            return method(self, sql, *rest)

        return call

    def begin() -> list[str]:
        for name in ("execute", "executemany"):
            monkeypatch.setattr(Database, name, counted(getattr(Database, name)))
        return calls

    return begin


def test_a_warm_write_asks_the_database_few_questions(
    tmp_path: Path, count_calls: Callable[[], list[str]]
) -> None:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf:
        with shelf.batch():
            for number in range(40):
                shelf.create_note("bench", f"Note {number}", "some words")
        shelf.remember("bench", "first", "value")  # leaves the exports for later
        calls = count_calls()
        shelf.remember("bench", "second", "value")
    written = calls[: calls.index("COMMIT") + 1]
    assert len(written) <= MOST_CALLS, written


def test_a_note_in_a_batch_asks_whether_its_id_is_taken_and_nothing_else(
    tmp_path: Path, count_calls: Callable[[], list[str]]
) -> None:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf, shelf.batch():
        shelf.create_note("bench", "Note 1", "some words")
        calls = count_calls()
        shelf.create_note("bench", "Note 2", "some words")  # reads the nugget
        del calls[:]
        shelf.create_note("bench", "Note 3", "some words")
        assert [sql.split()[0] for sql in calls] == ["SELECT", "INSERT", "INSERT"]


def test_labels_of_notes_written_one_by_one_are_counted(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf:
        for number in range(70):
            shelf.create_note("bench", f"Note {number}", "harbour")
        shelf.delete_note("Note 3", hard=True)
        shelf.delete_note("Note 69", hard=True)
        titles = {f"Note {number}" for number in range(70)} - {"Note 3", "Note 69"}
        found = shelf.search_notes("harbour", limit=100, nugget="bench")
        assert {one.note.title for one in found} == titles
        assert not shelf.checkup()
