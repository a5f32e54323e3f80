"""What a write asks of the database: each statement costs every writer."""

from pathlib import Path
from typing import Any

import pytest

from nuggets.shelf import NuggetShelf
from nuggets.stores.sqlite.database import Database

MOST_CALLS = 21  # of a write whose exports are refreshed later; two look for marks of the shelf


def test_a_warm_write_asks_the_database_few_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(method: Any) -> Any:
        def call(self: Database, sql: str, *rest: Any) -> Any:
            calls.append(sql)
            return method(self, sql, *rest)

        return call

    with NuggetShelf(tmp_path / "shelf", project="") as shelf:
        with shelf.batch():
            for number in range(40):
                shelf.create_note("bench", f"Note {number}", "some words")
        shelf.remember("bench", "first", "value")  # leaves the exports for later
        for name in ("execute", "executemany"):
            monkeypatch.setattr(Database, name, counted(getattr(Database, name)))
        shelf.remember("bench", "second", "value")
    written = calls[: calls.index("COMMIT") + 1]
    assert len(written) <= MOST_CALLS, written


def test_labels_of_notes_that_wait_for_a_segment_are_counted(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path / "shelf", project="") as shelf:
        for number in range(70):  # some are in a segment, some wait for the next
            shelf.create_note("bench", f"Note {number}", "harbour")
        shelf.delete_note("Note 3", hard=True)
        shelf.delete_note("Note 69", hard=True)
        titles = {f"Note {number}" for number in range(70)} - {"Note 3", "Note 69"}
        found = shelf.search_notes("harbour", limit=100, nugget="bench")
        assert {one.note.title for one in found} == titles
        assert not shelf.checkup()
