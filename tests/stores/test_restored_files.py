"""Someone puts an earlier version of files back."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from nuggets import NuggetShelf
from nuggets.errors import StoreCorrupt
from nuggets.stores import exports
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import (
    contents,
    drop,
    exports_agree,
    history_of,
    note,
    open_directory,
    put,
    revision_of,
    state_of,
    touch,
)


class Shelf(NamedTuple):
    directory: Path
    backup: Path

    def restore(self, name: str, copy: Callable[[Path, Path], object] = shutil.copy) -> None:
        copy(self.backup / name, self.directory / name)


BEFORE = {"key 1": "value 1", "key 2": "value 2", "Free": "value 3", "key 9": "value 9"}
AFTER = {"key 1": "newer", "Free": "newer", "key 4": "value 4"}
FREE = note(3, kind="note", title="Free")


@pytest.fixture(autouse=True)
def look_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "LOOK_SECONDS", -1.0)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """With a backup from before the last changes and recalls."""
    store = open_directory(tmp_path / "shelf")
    put(store, note(1), note(2), FREE)
    touch(store, note(1).id, "before")
    put(store, note(9, nugget_name="other"))
    shutil.copytree(store.directory, tmp_path / "backup")
    touch(store, note(1).id, "after")
    put(store, note(1, content="newer"), FREE._replace(content="newer"), note(4))
    drop(store, note(2).id, note(9, nugget_name="other").id)
    touch(store, FREE.id, "after")
    store.close()
    return Shelf(tmp_path / "shelf", tmp_path / "backup")


@pytest.mark.parametrize("copy", [shutil.copy, shutil.copy2, os.replace])
@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_an_older_copy_takes_nothing_back_and_is_told(
    shelf: Shelf, name: str, copy: Callable[[Path, Path], object]
) -> None:
    """Nobody edited it, whatever was written since; also one that keeps its time."""
    shelf.restore(name, copy)
    store = open_directory(shelf.directory)

    assert contents(store) == AFTER
    assert "external edit" not in history_of(store)
    [told] = store.notices
    assert told.startswith(f"{name} is an older copy that nobody edited")
    assert exports_agree(shelf.directory)


def test_a_restored_file_that_was_edited_first_is_an_edit_of_what_it_showed(shelf: Shelf) -> None:
    """As one that its author had open all the time: what came since then stays."""
    text = (shelf.backup / "learnings.nugget.json").read_text()
    (shelf.directory / "learnings.nugget.json").write_text(text.replace("value 2", "by hand"))

    assert contents(open_directory(shelf.directory)) == {**AFTER, "key 2": "by hand"}


def test_a_file_restored_to_what_it_says_now_changes_nothing(shelf: Shelf) -> None:
    before = history_of(open_directory(shelf.directory))
    content = (shelf.directory / "learnings.nugget.json").read_bytes()
    (shelf.directory / "learnings.nugget.json").unlink()
    (shelf.directory / "learnings.nugget.json").write_bytes(content)

    assert history_of(open_directory(shelf.directory)) == before


def test_files_copied_before_the_database_was_take_nothing_back(
    shelf: Shelf, tmp_path: Path
) -> None:
    """As when a directory is copied while someone writes: the files are from before the
    last commits, the database from after them."""
    copy = tmp_path / "copy"
    shutil.copytree(shelf.backup, copy)
    for database in copy.glob("nuggets.db*"):
        database.unlink()
    shutil.copy(shelf.directory / "nuggets.db", copy)

    assert contents(open_directory(copy)) == AFTER
    assert exports_agree(copy)


# --- all of it, while someone has it open -------------------------------------------------------


def moved_back(backup: Path, directory: Path) -> None:
    shutil.rmtree(directory)
    shutil.copytree(backup, directory)


@pytest.mark.parametrize("later", [(), (4,), (4, 5), (4, 5, 6)], ids=len)
def test_a_living_store_goes_on_from_the_history_that_was_put_back(
    tmp_path: Path, later: tuple[int, ...]
) -> None:
    """However far the new one has come: the numbers of revisions are no proof."""
    directory, backup = tmp_path / "shelf", tmp_path / "backup"
    living = open_directory(directory)
    put(living, note(1))
    living.close()
    shutil.copytree(directory, backup)
    put(living, note(2))
    put(living, note(3))
    moved_back(backup, directory)
    for number in later:
        put(open_directory(directory), note(number))

    assert contents(living) == {f"key {n}": f"value {n}" for n in (1, *later)}
    put(living, note(9))
    assert revision_of(living) == 2 + len(later)
    assert exports_agree(directory)


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


def test_files_that_were_behind_when_the_whole_directory_was_copied_mean_nothing(
    tmp_path: Path,
) -> None:
    store = open_directory(tmp_path / "shelf")
    put(store, note(1), FREE)
    store.close()
    dying = SqliteStore(str(tmp_path / "shelf"))  # before it refreshes the files
    put(dying, note(1, content="newer"), note(2))
    dying.close()
    shutil.copytree(tmp_path / "shelf", tmp_path / "copy", copy_function=shutil.copyfile)
    copied = open_directory(tmp_path / "copy")

    assert contents(copied) == {"key 1": "newer", "key 2": "value 2", "Free": "value 3"}
    copied.close()
    assert exports_agree(tmp_path / "copy")


@pytest.mark.parametrize("damage", ["cut off", "zeros"])
def test_a_file_that_a_power_cut_tore_is_kept_aside_and_written_again(
    tmp_path: Path, damage: str
) -> None:
    store = open_directory(tmp_path)
    put(store, *(note(number, content="some words " * 9) for number in range(20)))
    store.close()
    path = tmp_path / "graph" / "graph.json"
    whole = path.read_bytes()
    torn = whole[:4096] if damage == "cut off" else whole[:512] + bytes(512) + whole[1024:]
    path.write_bytes(torn)
    os.utime(path, (1, 1))  # nobody is saving it
    store = open_directory(tmp_path)
    put(store, note(99))
    store.close()

    assert store.warnings == ()
    assert exports_agree(tmp_path)
    assert len(state_of(store).notes) == 21
    assert (tmp_path / "graph" / "graph.json.damaged-1").read_bytes() == torn


def test_a_torn_file_in_a_new_shelf_is_refused(tmp_path: Path) -> None:
    """It may be all that is left."""
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "graph.json").write_bytes(b'{"version":3,"revision":9,' + bytes(486))
    store = open_directory(tmp_path)
    with pytest.raises(StoreCorrupt):
        put(store, note(1))

    assert os.listdir(tmp_path / "graph") == ["graph.json"]
