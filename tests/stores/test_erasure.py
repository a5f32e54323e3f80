"""What was ever written of a note is gone from all the files, and nothing else is."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fault_processes import environment, is_intact
from nuggets import NuggetShelf
from nuggets.domain.records import NoteLink
from nuggets.stores.sql.store import Store
from store_samples import (
    NOW,
    contents,
    drop,
    exports_agree,
    files_of,
    note,
    open_directory,
    put,
    revision_of,
    state_of,
    touch,
)

SECRET = "the launch code"


def telling(directory: Path, *words: str) -> list[str]:
    """The files with any of these in their bytes, the log and all copies included."""
    found = files_of(directory).items()
    return [name for name, content in found if any(word.encode() in content for word in words)]


def erase(store: Store, note_id: str) -> None:
    """Forget a note for good."""
    drop(store, note_id)
    store.erase([note_id])


@pytest.mark.parametrize("note_id", ["plain", 'with "quotes"', "back\\slash", "größe", "tab\t"])
def test_whatever_its_id_nothing_is_left_of_it(tmp_path: Path, note_id: str) -> None:
    store = open_directory(tmp_path)
    put(store, note(1, id=note_id, title="secret", content=SECRET, source_key="secret"), note(2))
    put(store, note(1, id=note_id, title="secret", content=f"{SECRET}, newer", tags=(SECRET,)))
    touch(store, note_id, "s1")
    erase(store, note_id)

    assert telling(tmp_path, SECRET) == []
    assert store.unfinished_erasure == ""
    assert contents(store) == {"key 2": "value 2"}
    store.close()
    assert telling(tmp_path, SECRET) == []
    assert exports_agree(tmp_path)


def test_revisions_and_what_else_they_say_are_kept(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    linked = note(2, links=(NoteLink("secret", SECRET, NOW),), content="older")
    put(store, note(1, id="secret", content=SECRET), linked, note(3))
    put(store, note(2, content="newer"))
    store.erase(["gone before"])
    erase(store, "secret")
    with store.reading():
        commits = list(store.history.commits())

    assert [commit.revision for commit in commits] == [1, 2, 3]
    assert commits[1].before.put == (note(2, content="older"),)
    assert commits[0].changes.put == (note(2, content="older"), note(3))
    assert telling(tmp_path, SECRET) == []
    assert put(store, note(4)) == 4


def test_nothing_is_left_in_the_unused_parts_of_pages(tmp_path: Path) -> None:
    """SQLite leaves bytes of rows there when it moves them to other pages."""
    chance = random.Random(1)
    store = open_directory(tmp_path)
    ids = [f"note {number}" for number in range(300)]
    for version in range(3):
        with store.batch():
            for number, note_id in enumerate(ids):
                text = f"<{number:03d} {version}>" * chance.choice([1, 5, 20, 200])
                put(store, note(number, id=note_id, kind="note", title=text[:7], content=text))
    gone = chance.sample(range(300), 100)
    with store.batch():
        drop(store, *(ids[number] for number in gone))
    store.erase([ids[number] for number in gone])

    assert telling(tmp_path, *(f"<{number:03d} " for number in gone)) == []
    assert len(contents(store)) > 0
    assert is_intact(tmp_path)


def test_a_reader_of_an_older_state_is_told_of_and_the_next_write_takes_the_rest(
    tmp_path: Path,
) -> None:
    store = open_directory(tmp_path)
    put(store, note(1, content=SECRET), note(2))
    reader = open_directory(tmp_path)
    with reader.reading():
        assert reader.state.notes[note(1).id].content == SECRET
        erase(store, note(1).id)

        assert "older state" in store.unfinished_erasure
        assert "older state" in open_and_ask(tmp_path)
        assert "nuggets.db-wal" in telling(tmp_path, SECRET)
        put(store, note(3))
        assert store.unfinished_erasure != ""
    put(store, note(4))

    assert store.unfinished_erasure == ""
    assert telling(tmp_path, SECRET) == []
    assert contents(reader) == {"key 2": "value 2", "key 3": "value 3", "key 4": "value 4"}


def open_and_ask(directory: Path) -> str:
    store = open_directory(directory)
    with store.reading():
        return store.unfinished_erasure


DIES = """
import os, sys
from nuggets.stores.sqlite import store as module
from store_samples import *
store = open_directory(sys.argv[1])
put(store, note(1, content="the launch code"), note(2))
drop(store, note(1).id)
module.overwrite = lambda *arguments, **more: os._exit(9)
store.erase([note(1).id])
"""


def test_what_a_process_that_died_had_not_overwritten_is_overwritten_by_the_next(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", DIES, str(tmp_path)]
    died = subprocess.run(command, env=environment(), check=False)
    assert died.returncode == 9
    assert telling(tmp_path, SECRET) != []
    store = open_directory(tmp_path)
    with store.exclusive():
        pass

    assert telling(tmp_path, SECRET) == []
    assert contents(store) == {"key 2": "value 2"}


def test_recalls_that_waited_go_as_well_and_those_of_others_are_counted(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1, content=SECRET), note(2))
    drop(store, note(1).id)
    line = '["{}","s1","2026-01-31T09:00:00.000Z",""]\n'
    (tmp_path / "recalls.jsonl").write_text(line.format(note(1).id) + line.format(note(2).id))
    store.erase([note(1).id])

    assert (tmp_path / "recalls.jsonl").read_bytes() == b""
    assert state_of(store).notes[note(2).id].hits == 1


def test_all_that_was_set_aside_goes_too(tmp_path: Path) -> None:
    put(open_directory(tmp_path), note(1, content=SECRET), note(2))
    backup = NuggetShelf(tmp_path, project="").backup(tmp_path.parent / "elsewhere.db")
    NuggetShelf(tmp_path, project="").restore(backup.path)
    for name in ("learnings.nugget.json.damaged-1", "graph/graph.json.damaged-2"):
        (tmp_path / name).write_text(f'{{"facts": [{{"key": "key 1", "value": "{SECRET}, and')
    erase(open_directory(tmp_path), note(1).id)

    assert telling(tmp_path, SECRET) == []
    assert contents(open_directory(tmp_path)) == {"key 2": "value 2"}


def test_fields_of_any_shape_that_others_wrote_do_not_stand_in_the_way(tmp_path: Path) -> None:
    odd = {"seen": [[[1], {"id": [1], "to": {}}], [{}]], "id of": {"id": None}}
    store = open_directory(tmp_path)
    put(store, note(1, content=SECRET), note(2, extra=odd))
    erase(store, note(1).id)

    assert state_of(store).notes == {note(2).id: note(2, extra=odd)}


def test_a_store_in_memory_forgets_as_well(tmp_path: Path) -> None:
    from nuggets.stores.sqlite.store import SqliteStore

    store = SqliteStore("")
    put(store, note(1, content=SECRET), note(2))
    erase(store, note(1).id)
    with store.reading():
        told = str(list(store.history.commits()))

    assert SECRET not in told
    assert (store.unfinished_erasure, revision_of(store)) == ("", 2)
    assert os.listdir(tmp_path) == []
