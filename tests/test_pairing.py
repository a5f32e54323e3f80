"""Machines that keep their shelves equal through a folder that they share."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from agent_doors import hook
from command_line import Nuggets
from fault_pair import content_of, pair_storm
from nuggets import NuggetShelf
from nuggets.errors import InvalidInput, NotFound
from nuggets.operations.change_log import check_line

Machine = Callable[[str], NuggetShelf]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    shelves: dict[str, NuggetShelf] = {}

    def get(name: str) -> NuggetShelf:
        if name not in shelves:
            shelves[name] = NuggetShelf(tmp_path / name, project="")
        return shelves[name]

    yield get
    for shelf in shelves.values():
        shelf.close()


def meet(folder: Path, *shelves: NuggetShelf) -> None:
    """Let changes of each reach all others."""
    for shelf in (*shelves, *shelves):
        shelf.pair(folder)
    assert [content_of(shelf) for shelf in shelves] == [content_of(shelves[0])] * len(shelves)


def logs(folder: Path) -> list[Path]:
    return sorted(folder.glob("nuggets-*.jsonl"))


def test_edits_links_and_deletions_travel(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    one.remember("prefs", "editor", "vim")
    kept, gone = (one.create_note("learn", title, "text") for title in ("Kept", "Gone"))
    meet(folder, one, two)
    two.edit_note(kept.id, content="another text", tags=["new"])
    two.delete_note(gone.id, hard=True)
    two.add_link(kept.id, "editor", "why")
    meet(folder, one, two)

    assert one.recall("editor", "prefs").answer == "vim"
    note = one.get_note(kept.id)
    assert (note.content, note.tags[0], note.links[0].reason) == ("another text", "new", "why")
    one.remove_link(kept.id, "editor")
    meet(folder, one, two)
    assert two.get_note(kept.id).links == ()
    with pytest.raises(NotFound):
        one.get_note(gone.id)


def test_edits_of_a_memory_that_names_a_file_travel(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    anchors = [{"path": "lib/x.py", "line": 3, "lines": ["2aab5485"]}]
    one.import_memories([{"title": "Mail", "content": "lib/x.py:3 sends", "anchors": anchors}])
    [note] = one.list_notes()
    meet(folder, one, two)
    one.edit_note(note.id, tags=["new"])
    meet(folder, one, two)

    after = two.get_note(note.id)
    assert after.tags[0] == "new"
    assert [(anchor.path, anchor.line) for anchor in after.anchors] == [("lib/x.py", 3)]


def test_each_machine_writes_only_its_own_log(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    one.remember("a", "k", "v")
    one.pair(folder)
    [first] = logs(folder)
    before = first.read_bytes()
    two.pair(folder)
    two.remember("a", "k2", "v2")
    two.pair(folder)

    assert first.read_bytes() == before
    assert len(logs(folder)) == 2


def test_words_that_both_changed_are_kept_side_by_side(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    note = one.create_note("learn", "Auth", "old")
    meet(folder, one, two)
    one.edit_note(note.id, content="said by one")
    two.edit_note(note.id, content="said by two")
    meet(folder, one, two)

    contents = {note.content for note in one.list_notes()}
    assert contents == {"said by one", "said by two"}
    assert [n.title for n in one.list_notes(tag="conflict")] == ["Auth (other version)"]


def test_an_edit_survives_a_deletion_that_did_not_see_it(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    note = one.create_note("learn", "Auth", "old")
    meet(folder, one, two)
    one.edit_note(note.id, content="new")
    two.delete_note(note.id, hard=True)
    meet(folder, one, two)

    assert two.get_note(note.id).content == "new"


def test_of_two_facts_by_one_key_the_later_answers(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    one.remember("prefs", "editor", "vim")
    two.remember("Prefs", "editor", "emacs")
    meet(folder, one, two)

    assert one.recall("editor").answer == two.recall("editor").answer == "emacs"
    one.forget("prefs", "editor")
    meet(folder, one, two)
    assert not two.recall("editor").found


def test_a_purge_leaves_no_trace_in_any_log(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    note = one.create_note("learn", "Secret", "the code is swordfish")
    meet(folder, one, two)
    two.edit_note(note.id, content="the code is swordfish2")
    meet(folder, one, two)
    one.purge(note.id)
    one.pair(folder)
    [done] = two.pair(folder)

    assert not any(b"swordfish" in log.read_bytes() for log in logs(folder))
    assert done.purged_elsewhere == (note.id,)  # erased here when a person says so
    assert [n.title for n in done.removed] == ["Secret"]
    two.purge(note.id)
    assert two.pair(folder)[0].purged_elsewhere == ()


def test_a_lost_log_is_written_anew(folder: Path, machine: Machine) -> None:
    one, two, three = machine("one"), machine("two"), machine("three")
    one.remember("a", "k", "v")
    meet(folder, one, two)
    for log in logs(folder):
        log.unlink()
    one.edit_note("k", content="v2")
    meet(folder, one, two, three)

    assert three.recall("k").answer == "v2"


def test_what_only_a_lost_log_said_is_told_by_those_who_took_it_in(
    folder: Path, machine: Machine
) -> None:
    one, two, three = machine("one"), machine("two"), machine("three")
    one.remember("a", "k", "v")
    two.remember("a", "k2", "v2")
    meet(folder, one, two)
    [log] = [log for log in logs(folder) if b'"k2"' not in log.read_bytes()]
    log.unlink()
    two.pair(folder)
    three.pair(folder)

    assert three.recall("k").answer == "v"


def checked_lines(run: Callable[[], Any]) -> int:
    """How many lines of logs are checked meanwhile."""
    calls: list[str] = []

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is check_line.__code__:
            calls.append(event)

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len(calls)


def test_only_what_is_new_is_checked(folder: Path, machine: Machine) -> None:
    one, two = machine("one"), machine("two")
    with one.batch():
        for number in range(20):
            one.create_note("n", f"Note {number}", "text")
    meet(folder, one, two)
    for shelf in (one, two):
        assert shelf.pair(folder)[0].machines == 1
        assert checked_lines(partial(shelf.pair, folder)) == 0
    two.create_note("n", "New", "text")
    two.pair(folder)

    assert checked_lines(partial(one.pair, folder)) == 1
    assert content_of(one) == content_of(two)


def test_a_log_that_someone_rewrote_is_checked_again(folder: Path, machine: Machine) -> None:
    one = machine("one")
    log = folder / "nuggets-00000000deadbeef.jsonl"
    log.write_bytes(line(note={"title": "Good"}))
    one.pair(folder)
    one.pair(folder)
    log.write_bytes(
        line(note={"title": ["x"]}) + line(number=2, noteId="note-a-2", note={"title": "Also"})
    )
    [done] = one.pair(folder)

    assert len(done.problems) == 1
    assert [note.title for note in done.added] == ["Also"]


def test_a_restored_backup_catches_up(folder: Path, machine: Machine, tmp_path: Path) -> None:
    one, two = machine("one"), machine("two")
    one.remember("a", "k", "old")
    meet(folder, one, two)
    backup = one.backup(tmp_path / "backup.db")
    one.remember("a", "k", "new")
    meet(folder, one, two)
    one.restore(backup.path)
    meet(folder, one, two)

    assert one.recall("k").answer == "new"


def test_the_database_never_lies_in_the_folder(tmp_path: Path, machine: Machine) -> None:
    one = machine("one")
    with pytest.raises(InvalidInput, match="never lies in a shared folder"):
        one.pair(tmp_path)
    with pytest.raises(NotFound, match="is a drive missing"):
        one.pair(tmp_path / "nothing")


def test_the_doctor_tells_of_a_database_in_a_folder_that_is_copied(
    tmp_path: Path, machine: Machine
) -> None:
    machine("one").remember("a", "k", "v")
    assert machine("one").checkup() == []
    (tmp_path / ".stfolder").mkdir()

    [defect] = machine("one").checkup()
    assert "Syncthing" in defect.problem
    assert "nuggets pair" in defect.problem


# --- hostile folders ------------------------------------------------------------------------------


def line(**fields: Any) -> bytes:
    note = {
        **{"nuggetName": "a", "title": "T", "content": "c", "kind": "note", "subject": "user"},
        **{"scope": "user", "type": "note", "source": "inferred", "confidence": 0.5},
        **{"stability": "durable", "createdAt": "2026-01-01", "updatedAt": "2026-01-01"},
        **{"tags": [], "hidden": False, "project": ""},
    }
    note |= fields.pop("note", {})
    whole = {
        "number": 1,
        "noteId": "note-a-1",
        "at": "2026-01-01",
        "changed": [*note],
        "note": note,
    }
    return json.dumps({**whole, **fields}).encode() + b"\n"


DEEP = (
    b'{"number":1,"noteId":"x","at":"2026-01-01","note":'
    + b'{"a":' * 5000
    + b"1"
    + b"}" * 5001
    + b"\n"
)


@pytest.mark.parametrize(
    "content",
    [
        b"{\n",
        b"[]\n",
        b"\0\xff\n",
        DEEP,
        line(number="1"),
        line(number=-1),
        line(noteId=["x"]),
        line(noteId=""),
        line(at="tomorrow"),
        line(at="9999-12-31"),
        line(seen={"a": "2026-02-01"}),
        line(seen=[]),
        line(note={"title": 5}),
        line(note={"title": "x" * 600}),
        line(note={"content": "x" * 2_000_000}),
        line(note={"nuggetName": "../../etc"}),
        line(note={"tags": ["x"] * 5 + ["y" * 100]}),
        line(note={"kind": "program"}),
        line(note={"title": "\ud800"}),
        line(changed=[1]),
        line(linked=[{"to": 1}]),
        line(purged="yes"),
        b"x" * 5_000_000 + b"\n",
    ],
    ids=lambda content: repr(content[:40]),
)
def test_a_line_that_is_none_is_told_and_harms_nothing(
    content: bytes, folder: Path, machine: Machine
) -> None:
    one = machine("one")
    one.remember("a", "k", "v")
    good = line(noteId="note-a-2", number=2, note={"title": "Good"})
    (folder / "nuggets-00000000deadbeef.jsonl").write_bytes(content)
    [bad] = one.pair(folder)
    before = content_of(one)
    (folder / "nuggets-00000000deadbeef.jsonl").write_bytes(line(at="9999-01-01") + b"torn")
    one.pair(folder)
    (folder / "nuggets-00000000deadbeef.jsonl").write_bytes(content + good)
    [later] = one.pair(folder)

    assert len(bad.problems) == 1
    assert list(before) == [one.get_note("k").id]
    assert [note.title for note in later.added] in (["Good"], [])  # [] after a time that lies ahead


def test_fields_of_any_note_do_not_reach_beyond_it(folder: Path, machine: Machine) -> None:
    one = machine("one")
    links = [{"to": f"note-a-{number}", "reason": "r"} for number in range(1500)]
    content = line(linked=links, changed=["id", "links", "hits", "nonsense"])
    content += line(number=2, noteId="note-a-2", unlinked=links)
    (folder / "nuggets-00000000deadbeef.jsonl").write_bytes(content)
    [done] = one.pair(folder)

    assert not done.problems
    assert {note.id for note in one.list_notes()} <= {"note-a-1", "note-a-2"}


def test_links_pipes_and_other_files_are_left_alone(
    folder: Path, machine: Machine, tmp_path: Path
) -> None:
    one = machine("one")
    secret = tmp_path / "secret"
    secret.write_bytes(line())
    (folder / "nuggets-0000000000000001.jsonl").symlink_to(secret)
    os.mkfifo(folder / "nuggets-0000000000000002.jsonl")
    (folder / "nuggets-0000000000000003.jsonl").mkdir()
    with open(folder / "nuggets-0000000000000004.jsonl", "wb") as huge:
        huge.truncate(1 << 40)
    (folder / "nuggets-0000000000000005.sync-conflict-1.jsonl").write_bytes(line())
    (folder / "nuggets-..%2F.jsonl").write_bytes(line())
    (folder / "notes.txt").write_bytes(b"mine")
    one.remember("a", "k", "v")
    [done] = one.pair(folder)

    assert len(done.problems) == 5
    assert len(one.list_notes()) == 1
    assert (folder / "notes.txt").read_bytes() == b"mine"
    assert secret.read_bytes() == line()


def test_our_log_is_no_link(folder: Path, machine: Machine, tmp_path: Path) -> None:
    one = machine("one")
    one.remember("a", "k", "v")
    one.pair(folder)
    [log] = logs(folder)
    victim = tmp_path / "victim"
    victim.write_bytes(b"untouched\n")
    log.unlink()
    log.symlink_to(victim)
    one.remember("a", "k2", "v2")
    with pytest.raises(Exception, match="Cannot write"):
        one.pair(folder)

    assert victim.read_bytes() == b"untouched\n"


# --- the command ----------------------------------------------------------------------------------


def test_the_command_says_what_it_did(nuggets: Nuggets, folder: Path, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    nuggets("remember", "prefs", "editor", "vim")
    assert "named before" in nuggets("pair", "--help").out
    assert nuggets("pair").code == 2
    assert "Would tell 1 change" in nuggets("pair", str(folder), "--dry-run").out
    assert logs(folder) == []
    assert "Told 1 change to 0 other machines" in nuggets("pair", str(folder)).out
    assert "+ prefs: editor" in nuggets("--dir", other, "pair", str(folder)).out
    [done] = nuggets("--dir", other, "pair", "--json").json["pairs"]
    assert (done["machines"], done["written"]) == (1, 0)
    assert nuggets("pair", str(folder), "--stop").code == 0
    assert nuggets("pair").code == 2


@pytest.mark.parametrize("seed", [1, 2])
def test_a_storm_loses_no_edit_and_ends_with_equal_machines(tmp_path: Path, seed: int) -> None:
    [told] = pair_storm(tmp_path, edits=40, kills=1, seed=seed)

    assert "all equal, 0 of" in told


def test_each_start_of_a_session_pairs(folder: Path, machine: Machine, tmp_path: Path) -> None:
    one, two = machine("one"), machine("two")
    meet(folder, one, two)
    two.remember("prefs", "editor", "helix")
    two.pair(folder)

    hook("session-start", {"session_id": "s", "cwd": str(tmp_path)}, tmp_path / "one")

    deadline = time.monotonic() + 60
    while not one.recall("editor", session=None).found and time.monotonic() < deadline:
        time.sleep(0.05)
    assert one.recall("editor", session=None).answer == "helix"
