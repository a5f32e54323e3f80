"""Someone puts an earlier version of one file back: they want what it says."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from nuggets.graph.outside import adopted
from nuggets.records import Changes, OutsideEdit
from nuggets.state import State
from nuggets.stores.checkup import examine, repair
from nuggets.stores.json_files import JsonFileStore
from store_samples import NOW, contents, drop, note, open_json, pictures_agree, put


def adopt(state: State, base: State | None, edit: OutsideEdit, now: str) -> Changes:
    return adopted(lambda: os.urandom(4).hex(), state, base, edit, now)


class Shelf(NamedTuple):
    directory: Path
    backup: Path

    def restore(self, name: str) -> None:
        shutil.copy(self.backup / name, self.directory / name)


BEFORE = {"key 1": "value 1", "key 2": "value 2", "Free": "value 3"}
AFTER = {"key 1": "newer", "Free": "newer", "key 4": "value 4"}
FREE = note(3, kind="note", title="Free")


def fill(store: JsonFileStore, backup: Path) -> None:
    put(store, note(1), note(2), FREE)
    shutil.copytree(store.directory, backup)
    put(store, note(1, content="newer"), FREE._replace(content="newer"), note(4))
    drop(store, note(2).id)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Written some time ago, and a backup from before the last changes."""
    store = JsonFileStore(str(tmp_path / "shelf"), adopt, paint_seconds=0, clock=lambda: NOW)
    fill(store, tmp_path / "backup")
    return Shelf(tmp_path / "shelf", tmp_path / "backup")


def test_a_restored_graph_is_taken_in(shelf: Shelf) -> None:
    shelf.restore("graph/graph.json")
    store = open_json(shelf.directory)

    assert contents(store) == BEFORE
    assert list(store.commits(0))[-1].changes.action == "outside edit"
    assert pictures_agree(shelf.directory)


def test_a_restored_nugget_is_taken_in_and_the_notes_stay(shelf: Shelf) -> None:
    shelf.restore("learnings.nugget.json")

    assert contents(open_json(shelf.directory)) == {**BEFORE, "Free": "newer"}
    assert pictures_agree(shelf.directory)


def test_all_files_restored_at_once_are_all_taken_in(shelf: Shelf) -> None:
    shelf.restore("graph/graph.json")
    shelf.restore("learnings.nugget.json")

    assert contents(open_json(shelf.directory)) == BEFORE
    assert pictures_agree(shelf.directory)


def test_a_restored_file_that_was_edited_first_is_an_edit_of_what_it_showed(shelf: Shelf) -> None:
    """As one that its author had open all the time: what came since then stays."""
    text = (shelf.backup / "learnings.nugget.json").read_text()
    (shelf.directory / "learnings.nugget.json").write_text(text.replace("value 2", "by hand"))

    assert contents(open_json(shelf.directory)) == {**AFTER, "key 2": "by hand"}


@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_picture_that_was_only_behind_takes_nothing_back(tmp_path: Path, name: str) -> None:
    """As in a copy, without times, of a shelf that was written to just then."""
    shelf = Shelf(tmp_path / "shelf", tmp_path / "backup")
    fill(open_json(shelf.directory), shelf.backup)
    shelf.restore(name)

    assert contents(open_json(shelf.directory)) == AFTER
    assert pictures_agree(shelf.directory)


def test_one_restored_with_its_time_is_found_by_the_doctor(shelf: Shelf) -> None:
    path = shelf.directory / "learnings.nugget.json"
    earlier = (shelf.backup / path.name).read_bytes()
    shutil.copy2(shelf.backup / path.name, path)
    found = examine(str(shelf.directory), adopt)

    assert [(f.kind, f.path) for f in found] == [("wrong picture", str(path))]
    assert "touch" in found[0].problem

    repair(str(shelf.directory), adopt)

    assert contents(open_json(shelf.directory)) == AFTER
    assert (shelf.directory / f"{path.name}.damaged-1").read_bytes() == earlier
    assert pictures_agree(shelf.directory)


def test_one_restored_with_its_time_is_taken_in_when_it_is_touched(shelf: Shelf) -> None:
    path = shelf.directory / "learnings.nugget.json"
    shutil.copy2(shelf.backup / path.name, path)
    os.utime(path)

    assert contents(open_json(shelf.directory)) == {**BEFORE, "Free": "newer"}


def test_a_graph_that_lost_a_bit_is_found_by_the_doctor(shelf: Shelf) -> None:
    path = shelf.directory / "graph" / "graph.json"
    stamp = os.stat(path).st_mtime_ns
    path.write_text(path.read_text().replace("newer", "never"))
    os.utime(path, ns=(stamp, stamp))

    assert [f.kind for f in examine(str(shelf.directory), adopt)] == ["wrong picture"]
