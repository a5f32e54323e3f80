"""People and other programs edit the documented files: taken in as changes, never overwritten."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nuggets.domain.records import DEFAULT_REASON, Anchor, Changes, MemoryNote, NoteLink
from nuggets.errors import StoreBusy
from nuggets.stores import exports
from nuggets.stores.exports.register import GRAPH
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import (
    NOW,
    contents,
    drop,
    exports_agree,
    history_of,
    note,
    open_directory,
    put,
    revision_of,
    save,
    shape_of,
    state_of,
    touch,
)


@pytest.fixture(autouse=True)
def look_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "LOOK_SECONDS", -1.0)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    opened = open_directory(tmp_path)
    put(opened, note(1), note(2), note(3, kind="note", title="Free"))
    return opened


def edit_nugget(directory: Path, change: Callable[[Any], object], name: str = "learnings") -> None:
    path = directory / f"{name}.nugget.json"
    shape = shape_of(path)
    change(shape)
    save(path, shape)


def edit_graph(directory: Path, change: Callable[[Any], object]) -> None:
    path = directory / "graph" / "graph.json"
    shape = shape_of(path)
    change(shape)
    save(path, shape)


def set_value(place: int, value: str) -> Callable[[Any], object]:
    return lambda shape: shape["facts"][place].update(value=value)


def set_content(place: int, content: str) -> Callable[[Any], object]:
    return lambda shape: shape["notes"][place].update(content=content)


def test_an_edited_value_is_taken_in_by_a_running_process(
    store: SqliteStore, tmp_path: Path
) -> None:
    edit_nugget(tmp_path, set_value(0, "by hand"))

    assert contents(store)["key 1"] == "by hand"
    assert exports_agree(tmp_path)


@pytest.mark.parametrize("name", ["another key", "KEY 1"])
def test_a_renamed_key_is_the_same_memory(store: SqliteStore, tmp_path: Path, name: str) -> None:
    put(store, note(1, valid_until="2031-01-02T00:00:00.000Z", confidence=0.4))
    edit_nugget(tmp_path, lambda shape: shape["facts"][0].update(key=name))

    renamed = state_of(open_directory(tmp_path)).notes[note(1).id]
    assert (renamed.title, renamed.content) == (name, "value 1")
    assert (renamed.valid_until, renamed.confidence) == ("2031-01-02T00:00:00.000Z", 0.4)
    assert sorted(contents(store)) == sorted(["Free", name, "key 2"])
    assert exports_agree(tmp_path)


def test_a_key_and_a_value_that_change_together_are_the_same_memory(
    store: SqliteStore, tmp_path: Path
) -> None:
    put(store, note(1, title="staging port", content="8080 on the old host", hits=2))
    change = {"key": "the staging port", "value": "8081 on the old host"}
    edit_nugget(tmp_path, lambda shape: shape["facts"][0].update(change))

    after = state_of(open_directory(tmp_path)).notes
    assert (after[note(1).id].title, after[note(1).id].hits) == ("the staging port", 2)
    assert [n.content for n in after.values()].count("8081 on the old host") == 1


def test_an_edited_value_keeps_its_times(store: SqliteStore, tmp_path: Path) -> None:
    put(store, note(1, valid_until="2031-01-02T00:00:00.000Z"))
    edit_nugget(tmp_path, set_value(0, "by hand"))

    edited = state_of(open_directory(tmp_path)).notes[note(1).id]
    assert (edited.content, edited.valid_until) == ("by hand", "2031-01-02T00:00:00.000Z")


def test_edited_content_is_taken_in_and_moves_updated_at(
    store: SqliteStore, tmp_path: Path
) -> None:
    edit_graph(tmp_path, set_content(2, "by hand"))
    edited = state_of(open_directory(tmp_path)).notes[note(3, kind="note").id]

    assert edited.content == "by hand"
    assert edited.updated_at > note(3).updated_at
    assert exports_agree(tmp_path)


def test_an_edit_of_a_fact_in_the_graph_reaches_its_nugget_file(
    store: SqliteStore, tmp_path: Path
) -> None:
    edit_graph(tmp_path, set_content(0, "by hand"))
    state_of(store)

    assert shape_of(tmp_path / "learnings.nugget.json")["facts"][0]["value"] == "by hand"


def test_an_edit_is_a_commit_that_can_be_taken_back(store: SqliteStore, tmp_path: Path) -> None:
    edit_nugget(tmp_path, set_value(0, "by hand"))
    state_of(store)
    with store.reading():
        *_, last = store.history.commits()

    assert (last.changes.action, last.changes.client) == ("external edit", "file")
    assert [n.content for n in last.before.put] == ["value 1"]


def test_an_added_fact_becomes_a_note(store: SqliteStore, tmp_path: Path) -> None:
    edit_nugget(tmp_path, lambda shape: shape["facts"].append({"key": "new", "value": "fact"}))

    assert contents(store)["new"] == "fact"
    assert exports_agree(tmp_path)


def test_a_note_added_with_the_least_there_can_be_is_completed(
    store: SqliteStore, tmp_path: Path
) -> None:
    least = {"id": "note-x-1", "nuggetName": "LEARNINGS", "title": "T", "content": "C"}
    edit_graph(tmp_path, lambda shape: shape["notes"].append(least))
    added = state_of(store).notes["note-x-1"]

    assert (added.nugget_name, added.scope, added.kind) == ("learnings", "user", "note")
    assert exports_agree(tmp_path)


@pytest.mark.parametrize(
    ("given", "nugget", "title", "content"),
    [
        ({"content": "Backups run at night.\nOn Sundays too."}, "notes", "Backups run at night",
         "Backups run at night.\nOn Sundays too."),
        ({"title": "Backups"}, "notes", "Backups", "Backups"),
        ({"nuggetName": "learnings", "title": "T", "content": "C"}, "learnings", "T", "C"),
        ({"id": "note-my nugget-12345678", "title": "T", "content": "C"}, "my nugget", "T", "C"),
        ({"id": None, "title": "T", "content": "C", "tags": None, "links": None,
          "createdAt": None, "archivedAt": None, "vector": None}, "notes", "T", "C"),
        ({"title": "T", "content": "C",
          "links": [{"to": note(3, kind="note").id, "reason": None}]}, "notes", "T", "C"),
    ],
)  # fmt: skip
def test_a_note_added_by_hand_gets_the_fields_that_it_lacks(
    store: SqliteStore, tmp_path: Path, given: Any, nugget: str, title: str, content: str
) -> None:
    before = set(state_of(store).notes)
    edit_graph(tmp_path, lambda shape: shape["notes"].append(given))
    notes = state_of(store).notes
    [added] = [notes[note_id] for note_id in notes if note_id not in before]
    shape = next(n for n in shape_of(tmp_path / "graph/graph.json")["notes"] if n["id"] == added.id)

    assert store.warnings == ()
    assert (added.nugget_name, added.title, added.content) == (nugget, title, content)
    assert added.created_at == added.updated_at == shape["createdAt"]
    assert {nugget.replace(" ", "-"), "scope:user", "type:note"} <= set(shape["tags"])
    assert shape["vector"]["basis"]
    assert exports_agree(tmp_path)


def test_a_note_without_an_id_comes_in_once_however_often_its_file_is_saved(
    store: SqliteStore, tmp_path: Path
) -> None:
    path = tmp_path / "graph" / "graph.json"
    shape = shape_of(path)
    shape["notes"].append({"title": "T", "content": "C"})
    for comment in ("first", "second"):
        save(path, {**shape, "comment": comment})
        state_of(store)

    assert len(state_of(store).notes.find(title="T")) == 1


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "note 4: no title and no content"),
        ({"kind": "fact", "title": "port"}, "note 4: a fact needs a title and a content"),
        ({"title": "T", "scope": "everyone"}, "note 4: 'scope' must be one of"),
        ({"title": 7}, "note 4: 'title' must be a text"),
    ],
)
def test_a_note_that_makes_no_sense_is_named_and_its_file_left_as_it_is(
    store: SqliteStore, tmp_path: Path, given: Any, problem: str
) -> None:
    edit_graph(tmp_path, lambda shape: shape["notes"].append(given))
    text = (tmp_path / "graph" / "graph.json").read_text()
    put(store, note(5))

    assert len(contents(store)) == 4
    assert problem in store.warnings[0]
    assert (tmp_path / "graph" / "graph.json").read_text() == text


def test_null_within_an_anchor_or_a_link_is_what_is_left_out(
    store: SqliteStore, tmp_path: Path
) -> None:
    anchors = [{"path": "lib/x.py", "lines": None, "line": None}]
    links = [{"to": note(2).id, "reason": None, "createdAt": None}]
    edit_graph(tmp_path, lambda shape: shape["notes"][0].update(anchors=anchors, links=links))

    after = state_of(open_directory(tmp_path)).notes[note(1).id]
    assert after.anchors == (Anchor("lib/x.py"),)
    assert [(link.to, link.reason) for link in after.links] == [(note(2).id, DEFAULT_REASON)]
    assert state_of(open_directory(tmp_path)).notes[note(1).id] == after


def test_a_note_in_a_nugget_that_is_not_there_makes_one_of_the_first_spelling(
    store: SqliteStore, tmp_path: Path
) -> None:
    two = [
        {"id": f"note-x-{n}", "nuggetName": name, "title": name, "content": "C"}
        for n, name in enumerate(("Plans", "PLANS"))
    ]
    edit_graph(tmp_path, lambda shape: shape["notes"].extend(two))
    state = state_of(store)

    assert {state.notes[f"note-x-{n}"].nugget_name for n in (0, 1)} == {"Plans"}
    assert "plans" in state.nuggets
    assert exports_agree(tmp_path)


def test_a_removed_fact_is_dropped(store: SqliteStore, tmp_path: Path) -> None:
    edit_nugget(tmp_path, lambda shape: shape["facts"].pop(0))

    assert contents(store) == {"key 2": "value 2", "Free": "value 3"}
    assert exports_agree(tmp_path)


def test_a_removed_note_is_dropped_with_the_links_to_it(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    a, b = note(1, kind="note", title="a"), note(2, kind="note", title="b")
    at = a.created_at
    put(
        store,
        a._replace(links=(NoteLink(b.id, "why", at),)),
        b._replace(links=(NoteLink(a.id, "why", at),)),
    )
    edit_graph(tmp_path, lambda shape: shape["notes"].pop(0))
    state = state_of(store)

    assert list(state.notes) == [b.id]
    assert state.notes[b.id].links == ()


def test_a_link_taken_out_at_one_end_goes_at_both(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    a, b = note(1, kind="note", title="a"), note(2, kind="note", title="b")
    at = a.created_at
    put(
        store,
        a._replace(links=(NoteLink(b.id, "why", at),)),
        b._replace(links=(NoteLink(a.id, "why", at),)),
    )
    edit_graph(tmp_path, lambda shape: shape["notes"][0]["links"].clear())

    assert [n.links for n in state_of(store).notes.values()] == [(), ()]


def test_a_link_written_at_one_end_is_completed(store: SqliteStore, tmp_path: Path) -> None:
    edit_graph(tmp_path, lambda shape: shape["notes"][2]["links"].append({"to": note(1).id}))
    state = state_of(store)

    assert state.notes[note(1).id].links[0].to == note(3, kind="note").id
    assert state.notes[note(1).id].links[0].reason


@pytest.mark.parametrize("form", ["bom", "pretty", "crlf", "ascii"])
def test_the_form_of_an_edit_does_not_matter(store: SqliteStore, tmp_path: Path, form: str) -> None:
    path = tmp_path / "learnings.nugget.json"
    shape = shape_of(path)
    shape["facts"][0]["value"] = "größer 🎉"
    text = json.dumps(shape, indent=2, ensure_ascii=form == "ascii").encode()
    if form == "bom":
        text = b"\xef\xbb\xbf" + text
    if form == "crlf":
        text = text.replace(b"\n", b"\r\n")
    path.write_bytes(text)

    assert contents(store)["key 1"] == "größer 🎉"
    assert path.read_bytes().startswith(b'{"version":4,"revision":2,')


def test_a_file_that_was_only_reformatted_is_no_change(store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / "graph" / "graph.json"
    save(path, shape_of(path), indent=4)

    assert revision_of(store) == 1
    assert exports_agree(tmp_path)


def test_a_nugget_file_dropped_in_is_a_new_nugget(store: SqliteStore, tmp_path: Path) -> None:
    fact = {"key": "colour", "value": "blue", "hits": 2, "last_hit_session": "s"}
    save(
        tmp_path / "prefs.nugget.json", {"version": 3, "name": "prefs", "D": 1024, "facts": [fact]}
    )
    state = state_of(store)
    added = next(n for n in state.notes.values() if n.title == "colour")

    assert state.nuggets["prefs"].dims == 1024
    assert (added.content, added.hits, added.hit_sessions) == ("blue", 2, ("s",))
    assert exports_agree(tmp_path)


def test_a_file_of_another_shelf_with_its_time_kept_is_taken_in_not_erased(
    store: SqliteStore, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As `cp -p` or an archive puts it there: it looks like an export, but is not one of ours."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    put(open_directory(elsewhere), note(7, nugget_name="guest"))
    shutil.copy2(elsewhere / "guest.nugget.json", tmp_path)

    assert contents(open_directory(tmp_path))["key 7"] == "value 7"
    assert exports_agree(tmp_path)


def test_the_graph_of_another_shelf_only_adds(
    store: SqliteStore, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    put(open_directory(elsewhere), note(7, nugget_name="guest"))
    shutil.copy(elsewhere / "graph" / "graph.json", tmp_path / "graph" / "graph.json")

    assert contents(open_directory(tmp_path)).keys() == {"key 1", "key 2", "Free", "key 7"}


def test_a_renamed_file_is_a_nugget_of_that_name(store: SqliteStore, tmp_path: Path) -> None:
    """Deleting a file removes no memories, so the old one is written again."""
    os.rename(tmp_path / "learnings.nugget.json", tmp_path / "lessons.nugget.json")
    state = state_of(store)

    assert set(state.nuggets) == {"learnings", "lessons"}
    assert sorted(n.nugget_name for n in state.notes.values() if n.title == "key 1") == [
        "learnings",
        "lessons",
    ]
    assert exports_agree(tmp_path)


def test_another_spelling_of_a_name_is_the_same_nugget(store: SqliteStore, tmp_path: Path) -> None:
    save(tmp_path / "LEARNINGS.nugget.json", {"name": "x", "facts": [{"key": "k", "value": "v"}]})

    assert contents(store) == {"key 1": "value 1", "key 2": "value 2", "Free": "value 3", "k": "v"}
    assert list(state_of(store).nuggets) == ["learnings"]
    assert sorted(name for name in os.listdir(tmp_path) if name.endswith("nugget.json")) == [
        "learnings.nugget.json"
    ]
    assert exports_agree(tmp_path)


def test_an_edit_and_what_another_process_wrote_meanwhile_are_both_kept(
    store: SqliteStore, tmp_path: Path
) -> None:
    """The author read the file; then others wrote; then the author saved."""
    nugget, graph = tmp_path / "learnings.nugget.json", tmp_path / "graph" / "graph.json"
    read, read_graph = shape_of(nugget), shape_of(graph)
    put(store, note(2, content="by another"), note(4))
    drop(store, note(3, kind="note").id)
    read["facts"][0]["value"] = "by hand"
    read_graph["notes"][0]["tags"].append("mine")
    save(nugget, read)
    save(graph, read_graph)
    state = state_of(open_directory(tmp_path))

    assert contents(store) == {"key 1": "by hand", "key 2": "by another", "key 4": "value 4"}
    assert "mine" in state.notes[note(1).id].tags
    assert exports_agree(tmp_path)


def test_a_fact_removed_by_hand_but_changed_meanwhile_stays(
    store: SqliteStore, tmp_path: Path
) -> None:
    path = tmp_path / "learnings.nugget.json"
    read = shape_of(path)
    put(store, note(1, content="newer", updated_at="2026-02-01T00:00:00.000Z"))
    del read["facts"][:2]
    save(path, read)

    assert contents(store) == {"key 1": "newer", "Free": "value 3"}


def test_a_file_that_was_behind_when_it_was_edited_keeps_both(
    store: SqliteStore, tmp_path: Path
) -> None:
    dying = SqliteStore(str(tmp_path))  # before it refreshes the files
    put(dying, note(2, content="committed, not exported"), note(5))
    touch(dying, note(1).id, "s1")
    put(dying, note(6))
    dying.close()
    edit_graph(tmp_path, set_content(0, "by hand"))
    edit_nugget(tmp_path, lambda shape: shape["facts"].append({"key": "k", "value": "v"}))
    state = state_of(open_directory(tmp_path))

    assert contents(store) == {
        "key 1": "by hand",
        "key 2": "committed, not exported",
        "Free": "value 3",
        "key 5": "value 5",
        "key 6": "value 6",
        "k": "v",
    }
    assert state.notes[note(1).id].hits == 1
    assert exports_agree(tmp_path)


def test_recalls_counted_since_the_author_read_a_file_stay(
    store: SqliteStore, tmp_path: Path
) -> None:
    """Before a commit, after it, and of a note that the commit changed as well."""
    touch(store, note(1).id, "s0")
    put(store, note(4))
    graph = tmp_path / "graph" / "graph.json"
    read = shape_of(graph)
    for number in (1, 2):
        touch(store, note(number).id, "s1")
    put(store, state_of(store).notes[note(2).id]._replace(tags=("learnings", "ours")))
    for number in (1, 2):
        touch(store, note(number).id, "s2")
    for shape in read["notes"]:
        shape["mood"] = "good"
    save(graph, read)
    notes = state_of(store).notes

    assert [notes[note(number).id].hits for number in (1, 2)] == [3, 2]
    assert notes[note(1).id].hit_sessions == ("s0", "s1", "s2")
    assert notes[note(2).id].extra["mood"] == "good"
    assert "ours" in notes[note(2).id].tags
    assert exports_agree(tmp_path)


def test_a_program_that_rewrites_a_file_that_was_behind_saw_no_more_than_that(
    store: SqliteStore, tmp_path: Path
) -> None:
    dying = SqliteStore(str(tmp_path))
    put(dying, note(2, content="committed, not exported"), note(5))
    dying.close()

    def rewrite(shape: Any) -> None:
        del shape["revision"], shape["savedAt"], shape["recalls"]
        shape["facts"][0]["value"] = "by hand"

    edit_nugget(tmp_path, rewrite)

    assert contents(open_directory(tmp_path)) == {
        "key 1": "by hand",
        "key 2": "committed, not exported",
        "Free": "value 3",
        "key 5": "value 5",
    }


def test_an_edit_is_taken_in_once_even_if_its_taker_dies_before_it_refreshes(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_nugget(tmp_path, set_value(0, "by hand"))
    real = os.replace

    def dying(source: str, target: str) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", dying)
    put(store, note(1, content="later than the edit"))
    monkeypatch.setattr(os, "replace", real)
    other = open_directory(tmp_path)

    assert contents(other)["key 1"] == "later than the edit"
    assert history_of(other) == ["put", "external edit", "put"]
    other.close()
    assert exports_agree(tmp_path)


def test_a_file_saved_between_our_look_and_our_refresh_is_not_overwritten(
    store: SqliteStore, tmp_path: Path
) -> None:
    with store.exclusive():
        store.write(Changes(put=(note(2, content="ours"),)))
        edit_nugget(tmp_path, set_value(0, "by hand"))

    assert contents(store) == {"key 1": "by hand", "key 2": "ours", "Free": "value 3"}
    assert exports_agree(tmp_path)


def test_a_save_with_the_time_and_size_of_one_that_was_taken_in_is_taken_in_too(
    store: SqliteStore, tmp_path: Path
) -> None:
    """As two saves within a second are, where the clock of the files knows only seconds."""
    path = tmp_path / "learnings.nugget.json"
    text, now = path.read_text(), 1_700_000_000 * 10**9
    found = []
    for value in ("edit 1.", "edit 2."):
        path.write_text(text.replace("value 1", value))
        os.utime(path, ns=(now, now))
        found.append(contents(store)["key 1"])

    assert found == ["edit 1.", "edit 2."]


def test_a_file_that_keeps_changing_is_being_saved_and_not_damaged(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "learnings.nugget.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:50])
    real, cut = os.lstat, iter(range(51, 10_000))

    def growing(looked_at: str) -> os.stat_result:
        if looked_at == str(path):
            path.write_bytes(whole[: next(cut)])
        return real(looked_at)

    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(os, "lstat", growing)
    with pytest.raises(StoreBusy, match="is being saved"):
        put(store, note(4))
    read_meanwhile = contents(store)
    monkeypatch.undo()
    path.write_bytes(whole.replace(b"value 1", b"by hand"))

    assert read_meanwhile["key 1"] == "value 1"
    assert contents(open_directory(tmp_path))["key 1"] == "by hand"


def test_many_files_of_different_revisions_are_edited_at_once(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    for number in range(1, 9):
        put(store, note(number, nugget_name=f"n{number}"))
    for number in range(1, 8):
        edit_nugget(tmp_path, set_value(0, "by hand"), f"n{number}")
    found = contents(open_directory(tmp_path))

    assert [found[f"key {number}"] for number in range(1, 9)] == ["by hand"] * 7 + ["value 8"]
    assert exports_agree(tmp_path)


OLD_NOTE = {
    "id": "fact-project-1234abcd",
    "nuggetName": "project",
    "title": "test cmd",
    "content": "npm test",
    "tags": ["project"],
    "links": [],
    "vector": {"seed": 3, "basis": ["title:test"]},
    "hidden": False,
    "kind": "fact",
    "sourceKey": "test cmd",
    "hits": 3,
    "lastHitSession": "s3",
    "createdAt": "2025-01-01T00:00:00.000Z",
    "updatedAt": "2025-01-02T00:00:00.000Z",
    "lastAccessedAt": "2025-01-03T00:00:00.000Z",
    "subject": "shared:project",
    "scope": "project",
    "type": "project",
    "source": "explicit_user",
    "confidence": 0.9,
    "stability": "durable",
}


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("with_graph", [True, False])
def test_files_of_the_documented_system_open_as_they_are(
    tmp_path: Path, version: int, with_graph: bool
) -> None:
    fact = {"key": "test cmd", "value": "npm test", "hits": 3, "last_hit_session": "s3"}
    file = {
        "version": version,
        "name": "project",
        "D": 16384,
        "banks": 4,
        "ensembles": 1,
        "max_facts": 0,
        "facts": [fact, {"key": "port", "value": "80"}],
        "config": {"sharpen_p": 1.0, "corvacs_a": 0.0, "temp_T": 0.9, "orth_iters": 1},
    }
    save(tmp_path / "project.nugget.json", file, indent=2)
    if with_graph:
        os.mkdir(tmp_path / "graph")
        orphan = {**OLD_NOTE, "id": "fact-project-00000001", "title": "gone", "sourceKey": "gone"}
        save(tmp_path / "graph" / "graph.json", {"version": 3, "notes": [OLD_NOTE, orphan]})
    state = state_of(open_directory(tmp_path))
    found = {n.title: n for n in state.notes.values()}

    assert found["test cmd"].content == "npm test"
    assert (found["test cmd"].hits, found["test cmd"].hit_sessions) == (3, ("s3",))
    assert found["port"].content == "80"
    if with_graph:
        assert found["test cmd"].id == OLD_NOTE["id"]
        assert found["test cmd"].created_at == OLD_NOTE["createdAt"]
        assert found["gone"].hidden  # a note without its fact is put away, not deleted
    assert exports_agree(tmp_path)
    assert state_of(open_directory(tmp_path)).notes == state.notes


def test_a_program_that_rewrites_a_file_whole_archives_what_it_leaves_out(
    store: SqliteStore, tmp_path: Path
) -> None:
    """It may never have seen it, so it is not dropped."""

    def rewrite(shape: Any) -> None:
        del shape["revision"], shape["savedAt"], shape["recalls"]
        shape["facts"].pop(0)

    edit_nugget(tmp_path, rewrite)
    state = state_of(store)

    assert contents(store) == {"key 2": "value 2", "Free": "value 3"}
    assert state.notes[note(1).id].hidden


@pytest.mark.parametrize(
    ("values", "after"),
    [
        (["80", "8080", "1"], {"": "1", "/a/.git": "80", "/b/.git": "8080"}),
        (["8080", "80", "1"], {"": "1", "/a/.git": "80", "/b/.git": "8080"}),
        (["9090", "8080", "1"], {"": "1", "/a/.git": "9090", "/b/.git": "8080"}),
        (["80", "9090", "1"], {"": "1", "/a/.git": "80", "/b/.git": "9090"}),
        (["80", "8080", "2"], {"": "2", "/a/.git": "80", "/b/.git": "8080"}),
    ],
)
def test_a_program_that_does_not_know_projects_changes_no_other_projects_fact(
    tmp_path: Path, values: list[str], after: dict[str, str]
) -> None:
    store = open_directory(tmp_path)
    facts = [
        note(1, title="port", content="80", project="/a/.git"),
        note(2, title="port", content="8080", project="/b/.git"),
        note(3, title="port", content="1"),
    ]
    put(store, *facts)

    def rewrite(shape: Any) -> None:
        documented = ("version", "name", "D", "banks", "ensembles", "max_facts", "config")
        rest = {field: shape[field] for field in documented}
        shape.clear()
        entries = [{"key": "port", "value": value, "hits": 0} for value in values]
        shape.update(rest, facts=entries)

    edit_nugget(tmp_path, rewrite)
    state = state_of(store)

    assert {fact.project: fact.content for fact in state.notes.values()} == after
    assert not any(fact.hidden for fact in state.notes.values())
    assert exports_agree(tmp_path)


def test_unknown_fields_survive_a_rewrite_at_every_level(
    store: SqliteStore, tmp_path: Path
) -> None:
    def mark_nugget(shape: Any) -> None:
        shape["colour"] = "red"
        shape["config"]["depth"] = 7
        shape["facts"][0]["seen"] = [1, {"two": None}]

    def mark_graph(shape: Any) -> None:
        shape["owner"] = "me"
        shape["notes"][0]["mood"] = {"good": True}
        link = {"to": note(3, kind="note").id, "reason": "r", "createdAt": "", "weight": 3}
        shape["notes"][0]["links"].append(link)

    edit_nugget(tmp_path, mark_nugget)
    edit_graph(tmp_path, mark_graph)
    state_of(store)
    other = open_directory(tmp_path)
    known = state_of(other).notes[note(1).id]
    put(other, known._replace(content="rewritten"), note(8))
    nugget = shape_of(tmp_path / "learnings.nugget.json")
    graph = shape_of(tmp_path / "graph" / "graph.json")

    assert nugget["colour"] == "red"
    assert nugget["config"]["depth"] == 7
    assert nugget["facts"][0]["seen"] == [1, {"two": None}]
    assert graph["owner"] == "me"
    assert graph["notes"][0]["mood"] == {"good": True}
    assert graph["notes"][0]["links"][0]["weight"] == 3
    assert exports_agree(tmp_path)


@pytest.mark.parametrize("field, value", [("D", 0), ("banks", 0), ("D", 2**30), ("max_facts", -1)])
def test_a_setting_that_no_memory_can_be_built_from_is_refused(
    store: SqliteStore, tmp_path: Path, field: str, value: int
) -> None:
    edit_nugget(tmp_path, lambda shape: shape.update({field: value}))
    edited = (tmp_path / "learnings.nugget.json").read_bytes()
    put(store, note(4))

    assert "learnings.nugget.json" in store.warnings[0]
    assert contents(store)["key 4"] == "value 4"
    assert (tmp_path / "learnings.nugget.json").read_bytes() == edited


def test_a_copy_without_its_database_opens(store: SqliteStore, tmp_path: Path) -> None:
    touch(store, note(1).id, "s1")
    put(store, note(4))
    expected = state_of(store)
    store.close()
    (tmp_path / "nuggets.db").unlink()
    state = state_of(open_directory(tmp_path))

    assert state.notes == expected.notes
    assert exports_agree(tmp_path)


def test_restoring_a_fact_in_its_file_brings_its_note_back(
    store: SqliteStore, tmp_path: Path
) -> None:
    put(store, note(1, hidden=True, archived_at="2026-02-01T00:00:00.000Z"))
    edit_nugget(tmp_path, lambda shape: shape["facts"].append({"key": "key 1", "value": "again"}))
    state = state_of(store)

    assert state.notes[note(1).id].content == "again"
    assert not state.notes[note(1).id].hidden


@pytest.mark.parametrize("edit", [edit_nugget, edit_graph])
def test_an_edit_of_what_someone_else_changed_since_holds_and_is_told(
    store: SqliteStore, tmp_path: Path, edit: Callable[[Path, Callable[[Any], object]], None]
) -> None:
    def change(shape: Any) -> None:
        put(store, note(1, content="by another", updated_at="2026-02-01T00:00:00.000Z"))
        set_value(0, "by hand")(shape) if "facts" in shape else set_content(0, "by hand")(shape)

    edit(tmp_path, change)

    assert contents(store)["key 1"] == "by hand"
    assert store.notices[-1].endswith("`nuggets undo 3` brings theirs back")


@pytest.mark.parametrize("is_whole", [True, False], ids=["edited", "written by a program"])
def test_what_a_file_lacks_is_kept_and_told_if_too_much_is_gone_at_once(
    store: SqliteStore, tmp_path: Path, is_whole: bool
) -> None:
    def empty(shape: Any) -> None:
        shape.update({"facts": []} if "facts" in shape else {"notes": []})
        if not is_whole:
            del shape["revision"], shape["savedAt"], shape["recalls"]

    before = contents(store)
    for edit, name, lacking in (
        (edit_graph, GRAPH, len(before)),
        (edit_nugget, "learnings.nugget.json", 2),
    ):
        edit(tmp_path, empty)

        assert contents(store) == before
        assert store.notices[-1].startswith(f"{lacking} memories were missing in {name} at once")
    store.close()

    assert len(json.loads((tmp_path / GRAPH).read_text())["notes"]) == len(before)


def test_a_process_remembers_only_the_last_notices(store: SqliteStore, tmp_path: Path) -> None:
    for _ in range(exports.MOST_NOTICES + 5):
        put(store, note(1), note(2), note(3, kind="note", title="Free"))
        edit_graph(tmp_path, lambda shape: shape.update(notes=[]))
        contents(store)

    assert len(store.notices) == exports.MOST_NOTICES


def test_a_note_that_is_hidden_by_hand_is_archived_then(store: SqliteStore, tmp_path: Path) -> None:
    edit_graph(tmp_path, lambda shape: shape["notes"][0].update(hidden=True))

    archived = state_of(store).notes[note(1).id]

    assert archived.hidden
    assert archived.archived_at


def test_an_edit_of_a_nugget_file_leaves_the_links_of_its_facts(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, *linked_pair(), note(3))
    first, second = linked_pair()
    put(store, first._replace(content="new"), second._replace(content="newer"))
    edit_nugget(tmp_path, set_value(2, "by hand"))

    notes = state_of(store).notes
    assert notes[note(3).id].content == "by hand"
    assert [notes[one.id].links for one in linked_pair()] == [one.links for one in linked_pair()]


def linked_pair() -> tuple[MemoryNote, MemoryNote]:
    ids = note(1).id, note(2).id
    links = [NoteLink(to, "why", NOW) for to in ids]
    return note(1, links=(links[1],)), note(2, links=(links[0],))


def test_a_fact_is_not_renamed_to_a_key_that_is_there(store: SqliteStore, tmp_path: Path) -> None:
    before = contents(store)
    edit_nugget(tmp_path, lambda shape: shape["facts"][0].update(key=note(2).title))
    assert contents(store) == before
    assert f"two facts have the key '{note(2).title}'" in store.warnings[0]


def test_nor_is_it_in_the_graph(store: SqliteStore, tmp_path: Path) -> None:
    before = contents(store)
    edit_graph(tmp_path, lambda shape: shape["notes"][0].update(title=note(2).title))
    assert contents(store) == before
    assert f"two facts have the key '{note(2).title}'" in store.warnings[0]


def test_a_copy_of_a_nugget_file_is_no_nugget_of_its_own(
    store: SqliteStore, tmp_path: Path
) -> None:
    copy = tmp_path / "learnings-backup.nugget.json"
    shutil.copy(tmp_path / "learnings.nugget.json", copy)
    edit_nugget(tmp_path, set_value(0, "by hand"))

    assert set(state_of(store).nuggets) == {"learnings"}
    assert contents(store)[note(1).title] == "by hand"
    assert "is a copy of learnings.nugget.json" in store.warnings[0]
    copy.unlink()
    put(store, note(5))
    assert not copy.exists()
    assert store.warnings == ()


def test_a_fact_added_by_hand_has_no_key_that_is_there(store: SqliteStore, tmp_path: Path) -> None:
    put(store, note(1, project="/here"))
    key = note(1).title.upper()
    edit_nugget(tmp_path, lambda shape: shape["facts"].append({"key": key, "value": "other"}))

    assert "other" not in contents(store).values()
    assert f"two facts have the key '{key}'" in store.warnings[0]


def test_nor_has_one_added_to_the_graph(store: SqliteStore, tmp_path: Path) -> None:
    key, added = note(1).title.upper(), {"id": "fact-learnings-0000cccc", "content": "other"}
    shape = {**added, "nuggetName": "learnings", "title": key, "kind": "fact"}
    edit_graph(tmp_path, lambda graph: graph["notes"].append(shape))

    assert "other" not in contents(store).values()
    assert f"two facts have the key '{key}'" in store.warnings[0]


def test_a_link_added_by_hand_is_written_like_any_other(store: SqliteStore, tmp_path: Path) -> None:
    put(store, *linked_pair())
    link = {"to": note(3).id, "reason": "same\n  owner", "createdAt": "2026-05-01T12:00:00+02:00"}
    put(store, note(3))
    edit_graph(tmp_path, lambda graph: graph["notes"][0]["links"].append(link))

    added = state_of(store).notes[note(1).id].links[-1]
    assert added == NoteLink(note(3).id, "same owner", "2026-05-01T10:00:00.000Z")


@pytest.mark.parametrize(
    ("field", "value"), [("nuggetName", "other"), ("kind", "note"), ("sourceKey", "other key")]
)
def test_what_an_edit_cannot_change_is_refused_aloud(
    store: SqliteStore, tmp_path: Path, field: str, value: str
) -> None:
    before = contents(store)
    edit_graph(tmp_path, lambda graph: graph["notes"][0].update({field: value}))

    assert contents(store) == before
    assert f"{field} cannot be changed" in store.warnings[0]
