"""The doctor: sees what is wrong, mends what can be mended, and never deletes a byte."""

import os
import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from database_samples import (
    ALL,
    facts,
    filled,
    opened,
    overwrite,
    with_log,
    without_documented_files,
)
from nuggets.domain.records import Defect
from nuggets.errors import StoreError

PAGE = 4096


def kinds(found: Sequence[Defect]) -> list[str]:
    return sorted({defect.kind for defect in found})


def test_a_sound_shelf_has_no_defects(tmp_path: Path) -> None:
    filled(tmp_path)

    assert opened(tmp_path).checkup() == []
    assert opened(tmp_path).checkup(fix=True) == []
    assert opened(tmp_path / "nothing there").checkup() == []
    assert opened(tmp_path).checkup() == []


def test_examining_changes_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path)
    overwrite(path, 5 * PAGE, b"\xff" * PAGE)
    (tmp_path / "facts.nugget.json").write_text("{ half a file")
    names = ("nuggets.db", "facts.nugget.json", "graph/graph.json")
    before = [(tmp_path / name).read_bytes() for name in names]
    opened(tmp_path).checkup()

    assert [(tmp_path / name).read_bytes() for name in names] == before


@pytest.mark.parametrize("seed", range(8))
def test_flipped_pages_cost_at_most_what_was_on_them_and_the_files_bring_it_back(
    tmp_path: Path, seed: int
) -> None:
    path = filled(tmp_path)
    chance = random.Random(seed)
    pages = path.stat().st_size // PAGE
    for page in chance.sample(range(1, pages), 3):
        overwrite(path, page * PAGE, chance.randbytes(PAGE))
    damaged = path.read_bytes()
    shelf = opened(tmp_path)
    found = shelf.checkup(fix=True)

    assert kinds(found) == ["damaged database"]
    assert all(defect.mended for defect in found)
    assert "nuggets.db.damaged-1" in found[0].remedy
    assert (tmp_path / "nuggets.db.damaged-1").read_bytes() == damaged
    assert facts(tmp_path) == ALL
    assert [one.kind for one in opened(tmp_path).checkup() if one.harmful] == []


def test_without_files_all_that_can_be_read_is_saved(tmp_path: Path) -> None:
    path = filled(tmp_path)
    newest = path.read_bytes().rfind(b'"value ')  # the last note in the file
    os.truncate(path, newest // PAGE * PAGE)
    without_documented_files(tmp_path)
    shelf = opened(tmp_path)
    shelf.checkup(fix=True)
    saved = facts(tmp_path)

    assert saved.items() <= ALL.items()
    assert 15 < len(saved) < len(ALL)


@pytest.mark.parametrize(
    "damage",
    [
        "update notes set record = '{' where place = 7",
        "update notes set record = '[1, 2]' where place = 7",
        "update notes set record = replace(record, '[0,', '[9,') where place = 7",
        "insert or replace into recalls values (7, 'x', '', '[]', '')",
        "update nuggets set config = '{'",
        "update meta set value = 'x' where name = 'schema'",
        "update commits set rest = 'x'",
    ],
)
def test_a_record_that_cannot_be_read_is_told_and_costs_no_other(
    tmp_path: Path, damage: str
) -> None:
    path = filled(tmp_path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    without_documented_files(tmp_path)
    with suppress(StoreError), opened(tmp_path) as shelf:  # no other error
        shelf.commits()
        shelf.search_notes("value")
        shelf.remember("facts", "another", "value")
    shelf = opened(tmp_path)
    found = shelf.checkup(fix=True)

    assert kinds(found) == ["damaged database"]
    assert all(defect.mended for defect in found)
    saved = facts(tmp_path)
    saved.pop("another", None)
    assert saved.items() <= ALL.items()
    assert len(saved) >= len(ALL) - 1


def test_without_its_header_a_database_costs_the_history_and_no_memory(tmp_path: Path) -> None:
    path = filled(tmp_path)
    overwrite(path, 0, b"\xff" * 100)
    found = opened(tmp_path).checkup(fix=True)

    assert all(defect.mended for defect in found)
    assert facts(tmp_path) == ALL


def test_a_tree_that_leads_back_to_itself_is_not_walked_for_ever(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with closing(sqlite3.connect(path)) as database:
        root = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'notes'")
        place = (root.fetchone()[0] - 1) * PAGE
    page = bytearray(path.read_bytes()[place : place + PAGE])
    cells = int.from_bytes(page[3:5], "big")
    assert (page[0], cells > 0) == (5, True)  # an interior page of a table
    first = int.from_bytes(page[12:14], "big")
    for number in range(1, cells):  # each child is the first one
        cell = int.from_bytes(page[12 + 2 * number : 14 + 2 * number], "big")
        page[cell : cell + 4] = page[first : first + 4]
    page[8:12] = page[first : first + 4]
    overwrite(path, place, bytes(page))
    without_documented_files(tmp_path)
    with suppress(StoreError), opened(tmp_path) as shelf:
        shelf.export_lines(bytes)  # ends
    found = opened(tmp_path).checkup(fix=True)

    assert all(defect.mended for defect in found)
    saved = facts(tmp_path)
    assert saved
    assert saved.items() <= ALL.items()


def test_a_copy_for_the_repair_is_private_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path)
    path.chmod(0o600)
    overwrite(path, 5 * PAGE, b"\xff" * PAGE)
    modes = set[int]()
    connect = sqlite3.connect

    def watching(name: str, *arguments: object, **options: object) -> sqlite3.Connection:
        if str(name).endswith("-copy"):
            modes.add(os.stat(name).st_mode & 0o777)
        return connect(name, *arguments, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr("sqlite3.connect", watching)
    opened(tmp_path).checkup(fix=True)

    assert modes == {0o600}
    assert not [name for name in os.listdir(tmp_path) if "-copy" in name or ".tmp" in name]


@pytest.mark.parametrize("content", [b"", b"garbage " * 2000])
def test_when_nothing_can_be_read_the_files_are_all(tmp_path: Path, content: bytes) -> None:
    path = filled(tmp_path)
    revision = opened(tmp_path).revision
    path.write_bytes(content)
    found = opened(tmp_path).checkup(fix=True)

    assert all(defect.mended for defect in found)
    assert facts(tmp_path) == ALL
    assert opened(tmp_path).revision > revision
    assert (tmp_path / "nuggets.db.damaged-1").read_bytes() == content


def test_what_is_only_in_the_log_is_saved_too(tmp_path: Path) -> None:
    with_log(tmp_path)
    without_documented_files(tmp_path)
    path = tmp_path / "nuggets.db"
    page = path.read_bytes().index(b'"value 20"') // PAGE
    overwrite(path, page * PAGE, b"\xff" * PAGE)
    found = opened(tmp_path).checkup(fix=True)

    assert kinds(found) == ["damaged database"]
    assert facts(tmp_path)["log 0"] == "in the log only"
    assert (tmp_path / "nuggets.db.damaged-1-wal").exists()


def test_a_log_without_its_database_is_set_aside(tmp_path: Path) -> None:
    with_log(tmp_path)
    (tmp_path / "nuggets.db").unlink()
    found = opened(tmp_path).checkup(fix=True)

    assert kinds(found) == ["damaged database"]
    assert facts(tmp_path).items() >= ALL.items()
    assert (tmp_path / "nuggets.db.damaged-1-wal").exists()


@pytest.mark.parametrize("kind", ["directory", "link"])
def test_what_stands_in_the_place_of_the_database_is_set_aside(tmp_path: Path, kind: str) -> None:
    path = filled(tmp_path)
    path.rename(tmp_path / "moved.db")
    if kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("moved.db")
    found = opened(tmp_path).checkup(fix=True)

    assert "damaged database" in kinds(found)
    assert facts(tmp_path) == ALL
    assert (tmp_path / "moved.db").exists()
    assert os.path.lexists(tmp_path / "nuggets.db.damaged-1")


def test_columns_and_links_that_disagree_with_the_notes_are_derived_again(tmp_path: Path) -> None:
    with opened(tmp_path) as shelf:
        one, other = (shelf.create_note("plans", f"Plan {n}", "x") for n in range(2))
        shelf.add_link(one.id, other.id, "why")
    connection = sqlite3.connect(tmp_path / "nuggets.db")
    connection.execute("UPDATE notes SET title = 7, nugget = 'wrong'")
    connection.execute("DELETE FROM links")
    connection.commit()
    connection.close()
    found = opened(tmp_path).checkup(fix=True)

    assert kinds(found) == ["wrong columns"]
    assert all(defect.mended for defect in found)
    assert opened(tmp_path).get_note("Plan 0").id == one.id
    assert opened(tmp_path).checkup() == []


def test_a_nugget_under_a_name_that_is_not_its_own_is_made_again(tmp_path: Path) -> None:
    with opened(tmp_path) as shelf:
        shelf.remember("plans", "launch", "monday")
    connection = sqlite3.connect(tmp_path / "nuggets.db")
    connection.execute("UPDATE nuggets SET fold = 'pxans'")
    connection.commit()
    connection.close()

    assert kinds(opened(tmp_path).checkup(fix=True)) == ["damaged database"]
    with opened(tmp_path) as shelf:
        assert [status.name for status in shelf.list()] == ["plans"]
        assert shelf.recall("launch").answer == "monday"
        assert shelf.checkup() == []


def test_damage_upon_damage_keeps_every_version(tmp_path: Path) -> None:
    path = filled(tmp_path)
    for text in (b"first", b"second"):
        path.write_bytes(text * 500)
        with opened(tmp_path) as shelf:  # closed, or its refresher could still write to the file
            shelf.checkup(fix=True)

    assert (tmp_path / "nuggets.db.damaged-1").read_bytes().startswith(b"first")
    assert (tmp_path / "nuggets.db.damaged-2").read_bytes().startswith(b"second")
    assert facts(tmp_path) == ALL


@pytest.mark.parametrize("name", ["graph/graph.json", "facts.nugget.json"])
def test_a_damaged_file_is_set_aside_and_written_again(tmp_path: Path, name: str) -> None:
    filled(tmp_path)
    (tmp_path / name).write_text("{ half a file")
    found = opened(tmp_path).checkup(fix=True)

    assert kinds(found) == ["damaged file"]
    assert all(defect.mended for defect in found)
    assert (tmp_path / f"{name}.damaged-1").read_text() == "{ half a file"
    assert facts(tmp_path) == ALL
    assert (tmp_path / name).read_text().startswith('{"version":')
    assert opened(tmp_path).checkup() == []


def test_an_edit_is_found_and_taken_in(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "facts.nugget.json"
    path.write_text(path.read_text().replace('value 1"', 'by hand"'))

    assert "edited file" in kinds(opened(tmp_path).checkup())

    found = opened(tmp_path).checkup(fix=True)

    assert all(defect.mended for defect in found)
    assert facts(tmp_path)["key 1"] == "by hand"


def test_a_file_in_the_place_of_a_directory_is_set_aside(tmp_path: Path) -> None:
    filled(tmp_path)
    without_documented_files(tmp_path)
    (tmp_path / "graph").write_text("hello")
    opened(tmp_path).checkup(fix=True)

    assert (tmp_path / "graph.damaged-1").read_text() == "hello"
    assert (tmp_path / "graph" / "graph.json").exists()


def test_leftovers_and_open_modes_are_mended(tmp_path: Path) -> None:
    path = filled(tmp_path)
    leftovers = (
        "nuggets.db.7fffffff-2a.tmp",
        "nuggets.db.7fffffff-2a.tmp-copy",
        "graph/graph.json.7fffffff-2.tmp",
    )
    for name in leftovers:
        (tmp_path / name).write_text("x")
    os.chmod(path, 0o644)
    os.chmod(tmp_path / "graph", 0o755)
    found = opened(tmp_path).checkup(fix=True)

    assert kinds(found) == ["leftover", "open to others"]
    assert all(defect.mended for defect in found)
    assert not any((tmp_path / name).exists() for name in leftovers)
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["nuggets.lock", "recalls.jsonl"])
def test_a_link_is_told_and_left_alone(tmp_path: Path, name: str) -> None:
    filled(tmp_path)
    link, target = tmp_path / name, tmp_path / "elsewhere"
    link.unlink(missing_ok=True)
    target.write_text("kept")
    link.symlink_to(target)
    [found] = [one for one in opened(tmp_path).checkup() if one.kind == "link"]

    assert found.harmful
    assert "move it away" in found.problem
    assert target.read_text() == "kept"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["nuggets.lock", "recalls.jsonl", "nuggets.db-wal"])
def test_a_pipe_or_directory_in_place_of_a_file_is_told(
    tmp_path: Path, name: str, make: Callable[[Path, int], None]
) -> None:
    filled(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name, 0o600)
    [found] = [one for one in opened(tmp_path).checkup() if one.path == str(tmp_path / name)]

    assert found.harmful
    assert "move it away" in found.problem


def test_a_purge_takes_what_was_set_aside(tmp_path: Path) -> None:
    path = filled(tmp_path)
    opened(tmp_path).close()
    path.write_bytes(path.read_bytes()[:PAGE] + b"value 7 " * 1000)
    shelf = opened(tmp_path)
    shelf.checkup(fix=True)
    done = shelf.purge_fact("facts", "key 7")

    assert str(tmp_path / "nuggets.db.damaged-1") in done.history
    assert not (tmp_path / "nuggets.db.damaged-1").exists()


def test_a_purge_erases_from_backups_and_names_those_that_it_cannot_read(tmp_path: Path) -> None:
    filled(tmp_path)
    shelf = opened(tmp_path)
    made, damaged = shelf.backup(), Path(shelf.backup().path)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    done = shelf.purge_fact("facts", "key 7")
    restored = shelf.restore(made.path)

    assert made.path in done.history
    assert done.backups == (str(damaged),)
    assert restored.backup.notes == made.notes - 1
    assert shelf.recall("key 7", session=None).match != "exact"
    assert shelf.recall("key 8", session=None).answer == "value 8"
    assert [defect for defect in shelf.checkup() if defect.harmful] == []
