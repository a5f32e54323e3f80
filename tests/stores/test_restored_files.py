"""Someone puts an earlier version of one file back: they want what it says."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from nuggets import NuggetShelf, times
from nuggets.errors import StaleWrite
from nuggets.graph.outside import adopted
from nuggets.records import Changes, OutsideEdit
from nuggets.state import State
from nuggets.stores.checkup import examine, repair
from nuggets.stores.json_files import JsonFileStore
from nuggets.stores.replica import Replica
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
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Written some time ago, and a backup from before the last changes."""
    then = times.parsed(NOW).timestamp()
    monkeypatch.setattr(Replica, "put_there", lambda _: then)  # which no test can set
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


# --- all of it, while someone has it open -------------------------------------------------------


def moved_back(backup: Path, directory: Path) -> None:
    shutil.rmtree(directory)
    shutil.copytree(backup, directory)


def copied_over(backup: Path, directory: Path) -> None:
    shutil.copytree(backup, directory, dirs_exist_ok=True)  # into the same files


@pytest.mark.parametrize("restore", [moved_back, copied_over])
@pytest.mark.parametrize("later", [(), (4,), (4, 5), (4, 5, 6)], ids=len)
def test_a_reader_of_a_history_that_is_gone_is_told_to_read_everything(
    tmp_path: Path, restore: Callable[[Path, Path], None], later: tuple[int, ...]
) -> None:
    """However far the new one has come: the numbers of revisions are no proof."""
    directory, backup = tmp_path / "shelf", tmp_path / "backup"
    living = open_json(directory)
    put(living, note(1))
    shutil.copytree(directory, backup)
    put(living, note(2))
    put(living, note(3))
    _, revision = living.read(0)
    restore(backup, directory)
    for number in later:
        put(open_json(directory), note(number))

    with pytest.raises(StaleWrite):
        living.read(revision)
    with pytest.raises(StaleWrite):
        living.write(Changes(put=(note(9),)), expected=1 + len(later))
    assert contents(living) == {f"key {n}": f"value {n}" for n in (1, *later)}
    put(living, note(9))
    assert [commit.revision for commit in living.commits(0)] == list(range(1, 3 + len(later)))
    assert pictures_agree(directory)


def test_a_shelf_that_was_open_all_the_time_goes_on_from_the_backup(tmp_path: Path) -> None:
    directory, backup = tmp_path / "shelf", tmp_path / "backup"
    living = NuggetShelf(directory, project="")
    living.remember("n", "server", "right")
    living.close()
    shutil.copytree(directory, backup)
    living.remember("n", "server", "wrong")
    living.close()
    moved_back(backup, directory)
    NuggetShelf(directory, project="").remember("n", "user", "me")

    assert living.recall("server").answer == "right"
    living.remember("n", "user", "you")

    facts = NuggetShelf(directory, project="").facts("n")
    assert {fact.title: fact.content for fact in facts} == {"server": "right", "user": "you"}
    assert len(facts) == 2


def test_pictures_that_were_behind_when_the_whole_directory_was_copied_mean_nothing(
    tmp_path: Path,
) -> None:
    store = JsonFileStore(str(tmp_path / "shelf"), adopt, paint_seconds=600, clock=lambda: NOW)
    put(store, note(1), FREE)
    store.close()
    store = JsonFileStore(str(tmp_path / "shelf"), adopt, paint_seconds=600, clock=lambda: NOW)
    put(store, note(1, content="newer"), note(2))  # and its process is killed before it paints
    shutil.copytree(tmp_path / "shelf", tmp_path / "copy", copy_function=shutil.copyfile)

    assert contents(open_json(tmp_path / "copy")) == {
        "key 1": "newer",
        "key 2": "value 2",
        "Free": "value 3",
    }
    assert pictures_agree(tmp_path / "copy")
