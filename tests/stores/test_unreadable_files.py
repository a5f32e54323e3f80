"""A file that cannot be taken in silences nobody: it is named, left alone, and done without."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nuggets.errors import StoreError
from nuggets.stores import exports
from nuggets.stores.exports import edits
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import (
    contents,
    drop,
    exports_agree,
    note,
    open_directory,
    put,
    revision_of,
    save,
    shape_of,
    state_of,
)

OOPS = b'{"facts": [ oops'


@pytest.fixture(autouse=True)
def look_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "LOOK_SECONDS", -1.0)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    opened = open_directory(tmp_path)
    put(opened, note(1), note(2, nugget_name="other"), note(3, kind="note", title="Free"))
    return opened


ALL = {"key 1": "value 1", "key 2": "value 2", "Free": "value 3"}


def break_and_mend(path: Path, change: Callable[[Any], object]) -> Callable[[], None]:
    """Save it half; what the author saves in the end."""
    shape = shape_of(path)
    path.write_bytes(path.read_bytes()[:-40])
    change(shape)
    return lambda: save(path, shape)


def test_readers_and_writers_of_a_running_process_go_on(store: SqliteStore, tmp_path: Path) -> None:
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
    store: SqliteStore, tmp_path: Path
) -> None:
    finish = break_and_mend(
        tmp_path / "learnings.nugget.json", lambda shape: shape["facts"][0].update(value="by hand")
    )
    put(store, note(4))
    finish()

    assert contents(store) == {**ALL, "key 1": "by hand", "key 4": "value 4"}
    assert store.warnings == ()
    assert exports_agree(tmp_path)


def test_a_graph_that_is_broken_and_mended_is_taken_in_as_usual(
    store: SqliteStore, tmp_path: Path
) -> None:
    finish = break_and_mend(
        tmp_path / "graph" / "graph.json", lambda shape: shape["notes"][2].update(content="by hand")
    )
    put(open_directory(tmp_path), note(4))
    put(store, note(5, nugget_name="third"))
    while_broken = shape_of(tmp_path / "third.nugget.json")
    finish()

    assert [fact["value"] for fact in while_broken["facts"]] == ["value 5"]
    assert contents(open_directory(tmp_path)) == {
        **ALL,
        "Free": "by hand",
        "key 4": "value 4",
        "key 5": "value 5",
    }
    assert exports_agree(tmp_path)


def test_a_broken_file_that_is_deleted_is_written_again(store: SqliteStore, tmp_path: Path) -> None:
    for name in ("learnings.nugget.json", "graph/graph.json"):
        (tmp_path / name).write_bytes(OOPS)
        state_of(store)
        (tmp_path / name).unlink()
        put(store, note(4, content=name))

        assert store.warnings == ()
        assert exports_agree(tmp_path)


def test_a_new_file_that_cannot_be_read_is_no_nugget_yet(
    store: SqliteStore, tmp_path: Path
) -> None:
    (tmp_path / "guest.nugget.json").write_bytes(OOPS)
    put(store, note(4))
    drop(store, note(4).id)

    assert contents(store) == ALL
    assert (tmp_path / "guest.nugget.json").read_bytes() == OOPS


@pytest.mark.parametrize("name", ["learnings.nugget.json", "graph/graph.json"])
def test_a_file_that_is_left_alone_does_not_keep_the_others_behind(
    store: SqliteStore, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(OOPS)
    put(store, note(4, nugget_name="other"))
    store.refresh_exports()
    status = store.exports_status()

    assert status is not None
    assert status.behind == 0
    assert shape_of(tmp_path / "other.nugget.json")["facts"][1]["value"] == "value 4"


def test_a_broken_file_is_read_once_and_named_by_everyone_who_comes(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "graph" / "graph.json").write_bytes(OOPS)
    state_of(store)
    monkeypatch.setattr(edits, "open", None, raising=False)
    other = open_directory(tmp_path)

    assert contents(other) == ALL
    assert other.warnings == store.warnings
    assert len(other.warnings) == 1


def test_a_file_that_the_system_refuses_to_read_is_done_without(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "learnings.nugget.json"
    save(path, shape_of(path))

    def refusing(opened: str, mode: str, opener: Any) -> Any:
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
            state_of(open_directory(tmp_path))

    assert revision_of(SqliteStore(str(tmp_path))) == 0
