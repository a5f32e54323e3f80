"""Which memory files a shelf keeps up over the days, and which it leaves alone."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enough_sessions import ENOUGH_SESSIONS
from nuggets import NuggetShelf
from nuggets.errors import StoreError

if TYPE_CHECKING:
    pass

NINE = datetime(2026, 3, 10, 9, 0)


def known(shelf: NuggetShelf, key: str, value: str) -> None:
    fact = shelf.remember("prefs", key, value)
    for session in ENOUGH_SESSIONS:
        shelf.get_note(fact.id, session=session)


def test_a_file_written_once_that_a_person_deletes_does_not_return(directory: Path) -> None:
    path = directory / "once" / "MEMORY.md"
    path.parent.mkdir()
    with NuggetShelf(directory / "shelf", project="") as shelf:
        known(shelf, "editor", "helix")
        shelf.promote(str(path))
        path.unlink()
        run = shelf.run_daily(NINE)
        left = path.exists()

        assert shelf.promote(str(path)) == 1  # whoever asks for it gets it
    assert run is not None
    assert run.promoted == 1  # to the shelf's own file
    assert not left
    assert "helix" in path.read_text()


def test_a_file_that_is_deleted_is_not_written_again_by_a_purge(directory: Path) -> None:
    path = directory / "once" / "MEMORY.md"
    path.parent.mkdir()
    with NuggetShelf(directory / "shelf", project="") as shelf:
        known(shelf, "editor", "helix")
        known(shelf, "shell", "fish")
        shelf.promote(str(path))
        path.unlink()
        shelf.purge_fact("prefs", "shell")

    assert not path.exists()


def test_the_file_that_a_setting_names_is_begun_anew(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = directory / "told" / "MEMORY.md"
    monkeypatch.setenv("NUGGETS_MEMORY_FILE", str(path))
    with NuggetShelf(directory / "shelf", project="") as shelf:
        known(shelf, "editor", "helix")
        shelf.promote()
        path.unlink()
        shelf.run_daily(NINE)

    assert "helix" in path.read_text()


def test_the_hosts_file_of_a_project_is_begun_anew(directory: Path) -> None:
    projects = Path.home() / ".claude/projects"
    path = projects / "-home-me-shop" / "memory" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    with NuggetShelf(directory / "shelf", project="/home/me/shop/.git") as shelf:
        fact = shelf.remember("project", "test cmd", "make test")
        for session in ENOUGH_SESSIONS:
            shelf.get_note(fact.id, session=session)
        shelf.promote()
    path.unlink()
    with NuggetShelf(directory / "shelf", project="") as elsewhere:
        elsewhere.run_daily(NINE)

    assert "make test" in path.read_text()


def test_every_memory_file_that_could_not_be_written_is_told(directory: Path) -> None:
    one, other = directory / "a" / "MEMORY.md", directory / "b" / "MEMORY.md"
    with NuggetShelf(directory / "shelf", project="") as shelf:
        known(shelf, "editor", "helix")
        for path in (one, other):
            path.parent.mkdir()
            shelf.promote(str(path))
            path.write_bytes(b"\xff not UTF-8")
        with pytest.raises(StoreError, match="not UTF-8") as told:
            shelf.run_daily(NINE)

    assert str(one) in str(told.value)
    assert str(other) in str(told.value)
