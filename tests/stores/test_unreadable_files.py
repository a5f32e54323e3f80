"""A file that cannot be taken in silences nobody: it is named, left alone, and done without."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nuggets.errors import StoreError
from nuggets.graph.outside import adopted
from nuggets.records import Changes, OutsideEdit
from nuggets.state import State
from nuggets.stores import edits, json_files
from nuggets.stores.checkup import examine, repair
from nuggets.stores.json_files import JsonFileStore
from store_samples import contents, drop, note, open_json, pictures_agree, put, save, shape_of

OOPS = b'{"facts": [ oops'


@pytest.fixture(autouse=True)
def look_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "LOOK_SECONDS", -1.0)


@pytest.fixture
def store(tmp_path: Path) -> JsonFileStore:
    opened = open_json(tmp_path)
    put(opened, note(1), note(2, nugget_name="other"), note(3, kind="note", title="Free"))
    return opened


ALL = {"key 1": "value 1", "key 2": "value 2", "Free": "value 3"}


def adopt(state: State, base: State | None, edit: OutsideEdit, now: str) -> Changes:
    return adopted(lambda: os.urandom(4).hex(), state, base, edit, now)


def break_and_mend(path: Path, change: Callable[[Any], object]) -> Callable[[], None]:
    """Save it half; what the author saves in the end."""
    shape = shape_of(path)
    path.write_bytes(path.read_bytes()[:-40])
    change(shape)
    return lambda: save(path, shape)


def test_readers_and_writers_of_a_running_process_go_on(
    store: JsonFileStore, tmp_path: Path
) -> None:
    broken = tmp_path / "learnings.nugget.json"
    broken.write_bytes(OOPS)
    read = contents(store)
    put(store, note(4), note(5, nugget_name="other"))

    assert read == ALL
    assert len(store.warnings) == 1
    assert broken.read_bytes() == OOPS
    assert [fact["key"] for fact in shape_of(tmp_path / "other.nugget.json")["facts"]] == [
        "key 2",
        "key 5",
    ]
    assert "value 4" in (tmp_path / "graph" / "graph.json").read_text()


def test_what_was_written_meanwhile_and_what_its_author_meant_are_both_kept(
    store: JsonFileStore, tmp_path: Path
) -> None:
    finish = break_and_mend(
        tmp_path / "learnings.nugget.json", lambda shape: shape["facts"][0].update(value="by hand")
    )
    put(store, note(4))
    finish()

    assert contents(store) == {**ALL, "key 1": "by hand", "key 4": "value 4"}
    assert store.warnings == ()
    assert pictures_agree(tmp_path)


def test_a_graph_that_is_broken_and_mended_is_taken_in_as_usual(
    store: JsonFileStore, tmp_path: Path
) -> None:
    finish = break_and_mend(
        tmp_path / "graph" / "graph.json", lambda shape: shape["notes"][2].update(content="by hand")
    )
    put(open_json(tmp_path), note(4))
    put(store, note(5, nugget_name="third"))
    while_broken = shape_of(tmp_path / "third.nugget.json")
    finish()

    assert [fact["value"] for fact in while_broken["facts"]] == ["value 5"]
    assert contents(open_json(tmp_path)) == {
        **ALL,
        "Free": "by hand",
        "key 4": "value 4",
        "key 5": "value 5",
    }
    assert pictures_agree(tmp_path)


def test_a_broken_file_that_is_deleted_is_painted_again(
    store: JsonFileStore, tmp_path: Path
) -> None:
    for name in ("learnings.nugget.json", "graph/graph.json"):
        (tmp_path / name).write_bytes(OOPS)
        store.read(0)
        (tmp_path / name).unlink()
        put(store, note(4, content=name))

        assert store.warnings == ()
        assert pictures_agree(tmp_path)


def test_a_new_file_that_cannot_be_read_is_no_nugget_yet(
    store: JsonFileStore, tmp_path: Path
) -> None:
    (tmp_path / "guest.nugget.json").write_bytes(OOPS)
    put(store, note(4))
    drop(store, note(4).id)

    assert contents(store) == ALL
    assert (tmp_path / "guest.nugget.json").read_bytes() == OOPS


@pytest.mark.parametrize("name", ["learnings.nugget.json", "graph/graph.json"])
def test_a_living_process_does_not_paint_for_ever(
    store: JsonFileStore, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(OOPS)
    living = open_json(tmp_path, paint_seconds=60)
    put(living, note(4))
    living._paint_now()

    assert not living._is_stale()
    assert living._painter is None
    living.close()


def test_a_file_that_the_system_refuses_to_read_is_done_without(
    store: JsonFileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "learnings.nugget.json"
    save(path, shape_of(path))

    def refusing(opened: str, mode: str) -> Any:
        raise PermissionError(13, "Permission denied", opened)

    monkeypatch.setattr(edits, "open", refusing, raising=False)
    put(store, note(4, nugget_name="other"))

    assert contents(store) == {**ALL, "key 4": "value 4"}
    assert f"Cannot read {path}: Permission denied" in store.warnings[0]


def test_one_file_that_makes_no_sense_keeps_all_out_at_the_first_opening(tmp_path: Path) -> None:
    """Not only one that cannot be read: nothing may be half taken in."""
    fact = {"key": "k", "value": "v"}
    save(tmp_path / "good.nugget.json", {"name": "good", "facts": [fact]})
    save(tmp_path / "senseless.nugget.json", {"name": "senseless", "D": 0, "facts": [fact]})
    for _ in range(2):
        with pytest.raises(StoreError, match="senseless"):
            open_json(tmp_path).read(0)

    assert not list((tmp_path / "journal").glob("log-*"))


def test_the_doctor_sets_aside_what_makes_no_sense(store: JsonFileStore, tmp_path: Path) -> None:
    path = tmp_path / "learnings.nugget.json"
    save(path, {**shape_of(path), "D": 0})
    found = [f for f in examine(str(tmp_path), adopt) if f.harmful]

    assert [(f.kind, f.path) for f in found] == [("damaged picture", str(path))]

    repair(str(tmp_path), adopt)

    assert contents(open_json(tmp_path)) == ALL
    assert shape_of(f"{path}.damaged-1")["D"] == 0
    assert pictures_agree(tmp_path)
