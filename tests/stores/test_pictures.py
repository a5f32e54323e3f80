"""The documented files: always what the journal says, and as little rewritten as possible."""

import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nuggets import codec, times
from nuggets.errors import StoreCorrupt
from nuggets.records import Changes, MemoryNote
from nuggets.stores.checkup import examine
from nuggets.stores.json_files import JsonFileStore
from store_samples import (
    coarse_clock,
    contents,
    drop,
    files_of,
    note,
    open_json,
    pictures_agree,
    put,
    shape_of,
    touch,
)


def graph_of(directory: Path) -> Path:
    return directory / "graph" / "graph.json"


def nugget_of(directory: Path) -> Path:
    return directory / "learnings.nugget.json"


@pytest.fixture
def store(tmp_path: Path) -> JsonFileStore:
    opened = open_json(tmp_path)
    put(opened, note(1), note(2), note(3, kind="note", title="Free"))
    return opened


def test_both_files_have_the_documented_shape(store: JsonFileStore, tmp_path: Path) -> None:
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
    store: JsonFileStore, tmp_path: Path
) -> None:
    before = graph_of(tmp_path).read_text().split("\n")
    put(store, note(2, content="changed"))
    after = graph_of(tmp_path).read_text().split("\n")

    assert [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [0, 2]


def test_only_changed_notes_are_encoded_again(
    store: JsonFileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    real = codec.note_to_json

    def counting(one: MemoryNote, *, vector: bool = True) -> codec.Json:
        if vector:
            encoded.append(one.id)
        return real(one, vector=vector)

    monkeypatch.setattr(codec, "note_to_json", counting)
    put(store, note(2, content="changed"))

    assert encoded == [note(2).id]


def test_only_the_files_of_changed_nuggets_are_written(
    store: JsonFileStore, tmp_path: Path
) -> None:
    put(store, note(1, nugget_name="other"))
    before = os.stat(nugget_of(tmp_path))
    put(store, note(2, nugget_name="other"))

    assert os.stat(nugget_of(tmp_path)) == before


def test_every_change_reaches_the_pictures(store: JsonFileStore, tmp_path: Path) -> None:
    changes: list[Callable[[], int]] = [
        lambda: put(store, note(1, hidden=True)),
        lambda: put(store, note(2, title="renamed", source_key="renamed")),
        lambda: put(store, note(1, nugget_name="other")),
        lambda: drop(store, note(2).id),
        lambda: store.write(Changes(drop_nuggets=("OTHER",)), store.read(0)[1]),
    ]
    for change in changes:
        change()

        assert pictures_agree(tmp_path)


def test_a_recall_is_in_the_files_when_the_store_is_closed(
    store: JsonFileStore, tmp_path: Path
) -> None:
    store.read(0)
    touch(store, note(1).id, "s1")
    store.close()

    assert shape_of(nugget_of(tmp_path))["facts"][0]["hits"] == 1
    assert pictures_agree(tmp_path)


@pytest.mark.parametrize("gone", ["graph/graph.json", "learnings.nugget.json"])
def test_a_picture_that_is_missing_is_painted_again(
    store: JsonFileStore, tmp_path: Path, gone: str
) -> None:
    os.unlink(tmp_path / gone)
    other = open_json(tmp_path)
    other.read(0)
    other.close()

    assert pictures_agree(tmp_path)
    assert len(contents(other)) == 3


@pytest.mark.parametrize("change", ["put", "drop", "remove"])
def test_pictures_that_a_dead_process_left_behind_are_brought_up_to_date(
    store: JsonFileStore, tmp_path: Path, change: str
) -> None:
    dying = open_json(tmp_path, paint_seconds=60)
    if change == "put":
        put(dying, note(1, content="newer"))
    elif change == "drop":
        drop(dying, note(1).id)
    else:
        with dying.exclusive():
            ids = tuple(n.id for n in dying.read(0)[0].put)
            dying.write(Changes(drop=ids, drop_nuggets=("learnings",)), dying.read(0)[1])
    assert not pictures_agree(tmp_path)
    dying._replica.loaded = False  # it dies: nothing more is done when the process ends
    other = open_json(tmp_path)
    other.read(0)
    other.close()

    assert pictures_agree(tmp_path)


def test_an_old_picture_put_back_does_not_mix_with_newer_lines(
    store: JsonFileStore, tmp_path: Path
) -> None:
    """As from a backup, with its time."""
    status, old = os.stat(graph_of(tmp_path)), graph_of(tmp_path).read_bytes()
    put(store, note(1, content="newer"))
    graph_of(tmp_path).write_bytes(old)
    os.utime(graph_of(tmp_path), ns=(status.st_mtime_ns, status.st_mtime_ns))
    put(store, note(2, content="newest"))

    assert pictures_agree(tmp_path)
    assert contents(store) == {"key 1": "newer", "key 2": "newest", "Free": "value 3"}


@pytest.mark.parametrize("torn", [b"", b"\0" * 700])
@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_picture_torn_by_a_power_cut_heals(
    store: JsonFileStore, tmp_path: Path, name: str, torn: bytes
) -> None:
    stamp = os.stat(tmp_path / name).st_mtime_ns
    (tmp_path / name).write_bytes(torn)
    os.utime(tmp_path / name, ns=(stamp, stamp))
    other = open_json(tmp_path)
    put(other, note(9))

    assert pictures_agree(tmp_path)
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
    store: JsonFileStore, tmp_path: Path, name: str, damage: str
) -> None:
    damaged = DAMAGE[damage]((tmp_path / name).read_bytes())
    (tmp_path / name).write_bytes(damaged)
    for number, opened in enumerate((store, open_json(tmp_path)), 8):
        put(opened, note(number))
        opened.close()

        assert len(opened.warnings) == 1
        assert re.search(rf"{re.escape(name)}.*doctor --fix", opened.warnings[0])
    assert contents(open_json(tmp_path)) == {**ALL, "key 8": "value 8", "key 9": "value 9"}
    assert (tmp_path / name).read_bytes() == damaged


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_without_a_journal_a_damaged_file_keeps_everything_out(
    store: JsonFileStore, tmp_path: Path, name: str, damage: str
) -> None:
    shutil.rmtree(tmp_path / "journal")
    (tmp_path / name).write_bytes(DAMAGE[damage]((tmp_path / name).read_bytes()))
    before = files_of(tmp_path)
    with pytest.raises(StoreCorrupt, match=r"(graph|nugget)\.json.*doctor"):
        put(open_json(tmp_path), note(9))
    with pytest.raises(StoreCorrupt):
        open_json(tmp_path).read(0)

    assert {**files_of(tmp_path), "journal/lock": b""} == {**before, "journal/lock": b""}


@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_directory_where_a_file_should_be_is_named_and_left_alone(
    store: JsonFileStore, tmp_path: Path, name: str
) -> None:
    os.unlink(tmp_path / name)
    os.mkdir(tmp_path / name)
    opened = open_json(tmp_path)
    put(opened, note(9))

    assert f"{name} is not a plain file" in opened.warnings[0]
    assert contents(open_json(tmp_path)) == {**ALL, "key 9": "value 9"}
    assert os.listdir(tmp_path / name) == []


@pytest.mark.parametrize("name", ["graph/graph.json", "learnings.nugget.json"])
def test_a_link_is_not_followed(store: JsonFileStore, tmp_path: Path, name: str) -> None:
    target = tmp_path.parent / f"{tmp_path.name}-elsewhere.json"
    os.rename(tmp_path / name, target)
    os.symlink(target, tmp_path / name)
    before = target.read_bytes()
    opened = open_json(tmp_path)
    put(opened, note(9))

    assert f"{name} is not a plain file" in opened.warnings[0]
    assert contents(open_json(tmp_path)) == {**ALL, "key 9": "value 9"}
    assert os.path.islink(tmp_path / name)
    assert target.read_bytes() == before


def test_the_painter_of_a_long_lived_process_keeps_its_promise(tmp_path: Path) -> None:
    living = open_json(tmp_path, paint_seconds=0.01)
    put(living, note(1))
    painter = living._painter
    if painter is not None:
        painter.join(10)

    assert pictures_agree(tmp_path)


@pytest.fixture(params=[1, 2])
def seconds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """What the clock of a coarse file system tells apart."""
    coarse_clock(monkeypatch, request.param)
    return int(request.param)


def test_where_times_are_coarse_our_own_pictures_are_still_known(
    seconds: int, tmp_path: Path
) -> None:
    put(open_json(tmp_path), note(1), note(2))
    before = [os.stat(path).st_ino for path in (graph_of(tmp_path), nugget_of(tmp_path))]
    open_json(tmp_path).read(0)

    assert [os.stat(path).st_ino for path in (graph_of(tmp_path), nugget_of(tmp_path))] == before
    assert examine(str(tmp_path), lambda *_: Changes()) == []


def test_where_times_are_coarse_a_save_in_the_very_second_of_ours_is_taken_in(
    seconds: int, tmp_path: Path
) -> None:
    put(open_json(tmp_path), note(1), note(2))
    text = nugget_of(tmp_path).read_text()
    nugget_of(tmp_path).write_text(text.replace("value 1", "by hand"))
    saved = int(times.parsed(shape_of(nugget_of(tmp_path))["savedAt"]).timestamp()) * 10**9
    os.utime(nugget_of(tmp_path), ns=(saved, saved))

    assert contents(open_json(tmp_path))["key 1"] == "by hand"
    assert pictures_agree(tmp_path)


def test_where_no_time_is_kept_at_all_a_long_lived_process_still_paints_but_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "utime", lambda path, ns: None)
    living = open_json(tmp_path, paint_seconds=60)
    put(living, note(1))
    living._paint_now()

    assert not living._is_stale()
    assert living._painter is None
    assert pictures_agree(tmp_path)


def test_an_empty_file_where_times_are_coarse_is_not_painted_over_while_someone_saves_it(
    seconds: int, tmp_path: Path
) -> None:
    put(open_json(tmp_path), note(1))
    nugget_of(tmp_path).write_bytes(b"")  # an editor that saves in place begins like this
    now = time.time_ns()
    os.utime(nugget_of(tmp_path), ns=(now, now))
    opened = open_json(tmp_path)
    put(opened, note(2))

    assert "learnings.nugget.json" in opened.warnings[0]
    assert nugget_of(tmp_path).read_bytes() == b""


@pytest.mark.parametrize("path_of", [graph_of, nugget_of])
def test_a_file_saved_while_it_is_being_painted_is_taken_in_first(
    store: JsonFileStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path_of: Callable[[Path], Path],
) -> None:
    """Thousands of notes take their time to write: a person's save must not fall into it."""
    real, saves = os.utime, [path_of(tmp_path)]

    def saving(descriptor: int, ns: tuple[int, int]) -> None:
        painted = os.readlink(f"/proc/self/fd/{descriptor}")
        for path in [path for path in saves if painted.startswith(str(path))]:
            saves.remove(path)
            path.write_text(path.read_text().replace("value 1", "by hand"))
        real(descriptor, ns=ns)

    monkeypatch.setattr(os, "utime", saving)
    put(store, note(2, content="ours"))
    monkeypatch.undo()
    other = open_json(tmp_path)

    assert saves == []
    assert contents(other) == {"key 1": "by hand", "key 2": "ours", "Free": "value 3"}
    assert pictures_agree(tmp_path)


def test_a_file_saved_just_after_it_was_painted_is_not_taken_for_ours(
    store: JsonFileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, path = os.replace, nugget_of(tmp_path)

    def saving(source: str, target: str) -> None:
        real(source, target)
        if target == str(path):
            path.write_text(path.read_text().replace("value 1", "by hand"))

    monkeypatch.setattr(os, "replace", saving)
    put(store, note(2, content="ours"))
    monkeypatch.undo()
    put(store, note(4))

    assert contents(store)["key 1"] == "by hand"
    assert pictures_agree(tmp_path)


def test_unknown_fields_beside_the_notes_are_kept(store: JsonFileStore, tmp_path: Path) -> None:
    text = graph_of(tmp_path).read_text()
    graph_of(tmp_path).write_text(text.replace('"notes":', '"owner":{"name":"me"},"notes":', 1))
    put(open_json(tmp_path), note(9))

    assert shape_of(graph_of(tmp_path))["owner"] == {"name": "me"}
