"""The documented files: what the database says, and as little rewritten as possible."""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nuggets.domain.records import Changes
from nuggets.errors import StoreCorrupt
from nuggets.stores import exports
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import (
    contents,
    drop,
    exports_agree,
    files_of,
    note,
    open_directory,
    put,
    revision_of,
    shape_of,
    state_of,
    touch,
)


def graph_of(directory: Path) -> Path:
    return directory / "graph" / "graph.json"


def nugget_of(directory: Path) -> Path:
    return directory / "learnings.nugget.json"


@pytest.fixture(autouse=True)
def look_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "LOOK_SECONDS", -1.0)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    opened = open_directory(tmp_path)
    put(opened, note(1), note(2), note(3, kind="note", title="Free"))
    return opened


def test_both_files_have_the_documented_shape(store: SqliteStore, tmp_path: Path) -> None:
    nugget, graph = shape_of(nugget_of(tmp_path)), shape_of(graph_of(tmp_path))

    assert nugget["version"] == 4
    assert (nugget["name"], nugget["D"], nugget["banks"], nugget["ensembles"]) == (
        "learnings",
        16384,
        4,
        1,
    )
    assert nugget["facts"][0] == {
        "key": "key 1",
        "value": "value 1",
        "hits": 0,
        "last_hit_session": "",
    }
    assert {"sharpen_p", "corvacs_a", "temp_T", "orth_iters"} <= nugget["config"].keys()
    assert graph["version"] == 3
    assert [shape["title"] for shape in graph["notes"]] == ["key 1", "key 2", "Free"]
    assert graph["notes"][0]["vector"]["basis"][0] == "title:key"


def test_a_change_of_one_note_changes_the_first_line_and_one_other(
    store: SqliteStore, tmp_path: Path
) -> None:
    before = graph_of(tmp_path).read_text().split("\n")
    put(store, note(2, content="changed"))
    after = graph_of(tmp_path).read_text().split("\n")

    assert [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [0, 2]


def test_only_the_files_of_changed_nuggets_are_written(store: SqliteStore, tmp_path: Path) -> None:
    put(store, note(1, nugget_name="other"))
    before = os.stat(nugget_of(tmp_path))
    put(store, note(2, nugget_name="other"))

    assert os.stat(nugget_of(tmp_path)) == before


def test_every_change_reaches_the_exports(store: SqliteStore, tmp_path: Path) -> None:
    changes: list[Callable[[], int]] = [
        lambda: put(store, note(1, hidden=True)),
        lambda: put(store, note(2, title="renamed", source_key="renamed")),
        lambda: put(store, note(1, nugget_name="other")),
        lambda: drop(store, note(2).id),
        lambda: store.write(Changes(drop_nuggets=("OTHER",))),
    ]
    for change in changes:
        change()
        store.follow_exports()

        assert exports_agree(tmp_path)


def test_a_recall_changes_no_file_until_something_else_does(
    store: SqliteStore, tmp_path: Path
) -> None:
    before = files_of(tmp_path / "graph")
    touch(store, note(1).id, "s1")
    untouched = files_of(tmp_path / "graph")
    put(store, note(4))

    assert untouched == before
    assert shape_of(nugget_of(tmp_path))["facts"][0]["hits"] == 1
    assert exports_agree(tmp_path)


def test_a_command_that_only_recalls_leaves_the_files_as_they_are(
    store: SqliteStore, tmp_path: Path
) -> None:
    store.close()
    before = graph_of(tmp_path).read_bytes(), nugget_of(tmp_path).read_bytes()
    command = open_directory(tmp_path)
    touch(command, note(1).id, "s1")
    command.close()

    assert (graph_of(tmp_path).read_bytes(), nugget_of(tmp_path).read_bytes()) == before

    command = open_directory(tmp_path)
    put(command, note(4))
    command.close()
    assert exports_agree(tmp_path)


def test_a_look_that_counts_nothing_is_in_the_files_after_the_next_write(
    store: SqliteStore, tmp_path: Path
) -> None:
    touch(store, note(1).id, "", at="2999-01-01T00:00:00.000Z")
    put(store, note(4))

    assert shape_of(graph_of(tmp_path))["notes"][0]["lastAccessedAt"].startswith("2999")
    assert exports_agree(tmp_path)


def test_a_note_that_comes_back_stands_where_the_database_has_it(
    store: SqliteStore, tmp_path: Path
) -> None:
    drop(store, note(1).id)
    put(store, note(1))

    assert exports_agree(tmp_path)


def test_what_was_written_before_and_stays_is_what_a_whole_export_would_say(
    store: SqliteStore, tmp_path: Path
) -> None:
    quoted = note(4, kind="note", title='A "quoted" title', content='a",\n{"id":"b"')
    steps: list[Callable[[], object]] = [
        lambda: put(store, note(5, kind="note", title="New")),
        lambda: put(store, quoted),
        lambda: put(store, note(1, content="changed")),
        lambda: touch(store, note(2).id, "session-1"),
        lambda: put(store, note(6, id='id-with-"quote"')),
        lambda: drop(store, note(3).id),
        lambda: put(store, note(3, kind="note", title="Back")),
        lambda: drop(store, quoted.id),
    ]
    for step in steps:
        step()
        put(store, note(2, content=f"after step {steps.index(step)}"))
        store.follow_exports()
        followed = graph_of(tmp_path).read_bytes()
        store.refresh_exports()

        assert graph_of(tmp_path).read_bytes() == followed


@pytest.mark.parametrize("gone", ["graph/graph.json", "learnings.nugget.json"])
def test_a_file_that_is_missing_is_written_again(
    store: SqliteStore, tmp_path: Path, gone: str
) -> None:
    os.unlink(tmp_path / gone)
    other = open_directory(tmp_path)
    state_of(other)
    other.close()

    assert exports_agree(tmp_path)
    assert len(contents(other)) == 3


def put_without_exports(directory: Path, change: str) -> None:
    """As by a process that dies before it refreshes the files."""
    dying = SqliteStore(str(directory))
    if change == "put":
        put(dying, note(1, content="newer"))
    elif change == "drop":
        drop(dying, note(1).id)
    else:
        ids = tuple(state_of(dying).notes)
        dying.write(Changes(drop=ids, drop_nuggets=("learnings",)))
    dying.close()


@pytest.mark.parametrize("change", ["put", "drop", "remove"])
def test_files_that_a_dead_process_left_behind_are_brought_up_to_date(
    store: SqliteStore, tmp_path: Path, change: str
) -> None:
    put_without_exports(tmp_path, change)
    was_behind = not exports_agree(tmp_path)
    other = open_directory(tmp_path)
    state_of(other)
    other.close()

    assert was_behind
    assert exports_agree(tmp_path)


def test_the_status_says_how_far_the_files_are(store: SqliteStore, tmp_path: Path) -> None:
    put_without_exports(tmp_path, "put")
    saved_at = shape_of(graph_of(tmp_path))["savedAt"]
    behind = store.exports_status()
    store.refresh_exports()
    after = store.exports_status()

    assert behind == (1, 1, saved_at)
    assert after is not None
    assert (after.revision, after.behind) == (2, 0)
    assert exports_agree(tmp_path)


def test_a_refresh_on_demand_leaves_no_file_at_an_older_revision(
    store: SqliteStore, tmp_path: Path
) -> None:
    def oldest_revision() -> int:
        files = (graph_of(tmp_path), *tmp_path.glob("*.nugget.json"))
        return min(int(shape_of(path)["revision"]) for path in files)

    put(store, note(1, nugget_name="other"))
    outstanding = oldest_revision()
    store.refresh_exports()

    assert outstanding == 1
    assert oldest_revision() == 2
    assert exports_agree(tmp_path)


def test_a_refresh_in_the_background_is_no_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others commit while it is written, and look at it as soon as it is in place."""
    living, other = open_directory(tmp_path, short_lived=False), open_directory(tmp_path)
    put(living, note(1), note(2))
    living.refresh_exports()
    put(living, note(3))
    real = os.replace

    def committing(source: str, target: str) -> None:
        real(source, target)
        if target.endswith(".json"):
            assert "key 3" in contents(SqliteStore(str(tmp_path)))

    monkeypatch.setattr(os, "replace", committing)
    put(other, note(4))
    living.refresh_exports()
    monkeypatch.undo()
    put(other, note(5))

    assert contents(living).keys() == {f"key {n}" for n in range(1, 6)}
    assert "external edit" not in {c.changes.action for c in living.history.commits()}
    living.close()
    assert exports_agree(tmp_path)


@pytest.mark.parametrize("torn", [b"", b"\0" * 700])
@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_file_torn_by_a_power_cut_heals(
    store: SqliteStore, tmp_path: Path, name: str, torn: bytes
) -> None:
    written = os.stat(tmp_path / name).st_mtime_ns
    (tmp_path / name).write_bytes(torn)
    os.utime(tmp_path / name, ns=(written, written))
    other = open_directory(tmp_path)
    put(other, note(9))

    assert exports_agree(tmp_path)
    assert len(contents(other)) == 4


ALL = {"key 1": "value 1", "key 2": "value 2", "Free": "value 3"}
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda text: b"",
    "cut in half": lambda text: text[: len(text) // 2],
    "no JSON": lambda text: b"hello",
    "zeros": lambda text: b"\0" * len(text),
    "a list": lambda text: b"[]",
    "NaN": lambda text: text.replace(b'"hits":0', b'"hits":NaN'),
    "a number without end": lambda text: text.replace(b'"hits":0', b'"x":1e999,"hits":0'),
    "wrong type": lambda text: text.replace(b'"hits":0', b'"hits":"many"'),
    "key twice": lambda text: text.replace(b'"hits":0', b'"hits":0,"hits":1'),
    "half a character": lambda text: text.replace(b"value 1", b"\\ud800"),
    "half a character where nobody looks": lambda text: text.replace(
        b'"hits":0', b'"x":{"y":"\\ud800"},"hits":0'
    ),
    "not UTF-8": lambda text: text.replace(b"value 1", b"\xff\xfe"),
    "bottomless": lambda text: b"[" * 100_000,
    "a later version": lambda text: text.replace(b'"version":', b'"version":9'),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_damaged_file_is_named_and_never_overwritten_while_memory_goes_on(
    store: SqliteStore, tmp_path: Path, name: str, damage: str
) -> None:
    damaged = DAMAGE[damage]((tmp_path / name).read_bytes())
    (tmp_path / name).write_bytes(damaged)
    for number, opened in enumerate((store, open_directory(tmp_path)), 8):
        put(opened, note(number))
        opened.close()

        assert len(opened.warnings) == 1
        assert re.search(rf"{re.escape(name)}.*doctor --fix", opened.warnings[0])
    assert contents(open_directory(tmp_path)) == {**ALL, "key 8": "value 8", "key 9": "value 9"}
    assert (tmp_path / name).read_bytes() == damaged


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_without_a_database_a_damaged_file_keeps_everything_out(
    store: SqliteStore, tmp_path: Path, name: str, damage: str
) -> None:
    store.close()
    (tmp_path / "nuggets.db").unlink()
    (tmp_path / name).write_bytes(DAMAGE[damage]((tmp_path / name).read_bytes()))
    before = files_of(tmp_path)
    with closing(open_directory(tmp_path)) as other:
        with pytest.raises(StoreCorrupt, match=r"(graph|nugget)\.json.*doctor"):
            put(other, note(9))
        with pytest.raises(StoreCorrupt):
            state_of(other)

    after = files_of(tmp_path)
    assert {path: after[path] for path in before if path.endswith(".json")} == {
        path: content for path, content in before.items() if path.endswith(".json")
    }
    assert revision_of(SqliteStore(str(tmp_path))) == 0


@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_directory_where_a_file_should_be_is_named_and_left_alone(
    store: SqliteStore, tmp_path: Path, name: str
) -> None:
    os.unlink(tmp_path / name)
    os.mkdir(tmp_path / name)
    opened = open_directory(tmp_path)
    put(opened, note(9))

    assert f"{name} is not a plain file" in opened.warnings[0]
    assert contents(open_directory(tmp_path)) == {**ALL, "key 9": "value 9"}
    assert os.listdir(tmp_path / name) == []


@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_link_is_not_followed(store: SqliteStore, tmp_path: Path, name: str) -> None:
    target = tmp_path.parent / f"{tmp_path.name}-elsewhere.json"
    os.rename(tmp_path / name, target)
    os.symlink(target, tmp_path / name)
    before = target.read_bytes()
    opened = open_directory(tmp_path)
    put(opened, note(9))

    assert f"{name} is not a plain file" in opened.warnings[0]
    assert contents(open_directory(tmp_path)) == {**ALL, "key 9": "value 9"}
    assert os.path.islink(tmp_path / name)
    assert target.read_bytes() == before


def test_a_save_in_the_very_tick_of_our_own_is_taken_in(tmp_path: Path) -> None:
    """Of the same size, in place, and dated as the file was: only its content is another."""
    put(open_directory(tmp_path), note(1), note(2))
    nugget_of(tmp_path).write_text(nugget_of(tmp_path).read_text().replace("value 1", "by hand"))

    assert contents(open_directory(tmp_path))["key 1"] == "by hand"
    assert exports_agree(tmp_path)


def test_where_no_time_can_be_set_our_own_files_are_still_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "utime", lambda path, ns: None)
    put(open_directory(tmp_path), note(1))
    before = [os.stat(path).st_ino for path in (graph_of(tmp_path), nugget_of(tmp_path))]
    state_of(open_directory(tmp_path))

    assert [os.stat(path).st_ino for path in (graph_of(tmp_path), nugget_of(tmp_path))] == before
    assert exports_agree(tmp_path)


def test_a_copied_directory_is_no_edit(store: SqliteStore, tmp_path: Path) -> None:
    for copy_function in (shutil.copy2, shutil.copyfile):
        copy = tmp_path.parent / f"{tmp_path.name}-{copy_function.__name__}"
        store.close()
        shutil.copytree(tmp_path, copy, copy_function=copy_function)
        before = [os.stat(path).st_ino for path in (graph_of(copy), nugget_of(copy))]
        copied = open_directory(copy)

        assert contents(copied) == ALL
        assert revision_of(copied) == 1
        assert [os.stat(path).st_ino for path in (graph_of(copy), nugget_of(copy))] == before


@pytest.mark.parametrize("path_of", [graph_of, nugget_of])
def test_a_file_saved_while_it_is_being_written_is_taken_in_first(
    store: SqliteStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path_of: Callable[[Path], Path],
) -> None:
    """Thousands of notes take their time to write: a person's save must not fall into it."""
    real, saves = os.utime, [path_of(tmp_path)]

    def saving(descriptor: int, ns: tuple[int, int]) -> None:
        written = os.readlink(f"/proc/self/fd/{descriptor}")
        for path in [path for path in saves if written.startswith(str(path))]:
            saves.remove(path)
            path.write_text(path.read_text().replace("value 1", "by hand"))
        real(descriptor, ns=ns)

    monkeypatch.setattr(os, "utime", saving)
    put(store, note(2, content="ours"))
    monkeypatch.undo()
    other = open_directory(tmp_path)

    assert saves == []
    assert contents(other) == {"key 1": "by hand", "key 2": "ours", "Free": "value 3"}
    assert exports_agree(tmp_path)


def test_a_file_saved_just_after_it_was_written_is_not_taken_for_ours(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, path = os.replace, nugget_of(tmp_path)

    def saving(source: str, target: str) -> None:
        real(source, target)
        if target == str(path):
            path.write_text(path.read_text().replace("value 1", "by hand"))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", saving)
        put(store, note(2, content="ours"))
    put(store, note(4))

    assert contents(store)["key 1"] == "by hand"
    assert exports_agree(tmp_path)


def test_unknown_fields_beside_the_notes_are_kept(store: SqliteStore, tmp_path: Path) -> None:
    text = graph_of(tmp_path).read_text()
    graph_of(tmp_path).write_text(text.replace('"notes":', '"owner":{"name":"me"},"notes":', 1))
    put(open_directory(tmp_path), note(9))

    assert shape_of(graph_of(tmp_path))["owner"] == {"name": "me"}


@pytest.mark.parametrize("folder", ["", "graph", "backups", "hooks/repositories"])
def test_what_a_killed_writer_left_unfinished_is_removed_by_a_later_one(
    tmp_path: Path, folder: str
) -> None:
    leftover = tmp_path / folder / "some.1f-2a.tmp"
    leftover.parent.mkdir(parents=True, exist_ok=True)
    leftover.write_text("unfinished")
    os.utime(leftover, (0, 0))
    with closing(open_directory(tmp_path)) as store:
        put(store, note(1))

    assert not leftover.exists()
