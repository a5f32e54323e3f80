"""Many threads, forks and long-lived processes on one store."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from threading import Timer

import pytest

from nuggets.errors import StoreBusy
from nuggets.records import NuggetConfig, Touch
from nuggets.stores import json_files, pictures
from nuggets.stores.hits import Hits
from nuggets.stores.lock import locked
from nuggets.text import folded
from store_samples import contents, note, open_json, pictures_agree, put, state_of, touch


def in_threads(count: int, work: object) -> None:
    problems: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)  # type: ignore[operator]
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_threads_sharing_a_store_lose_nothing(tmp_path: Path) -> None:
    store = open_json(tmp_path, paint_seconds=0.01)

    def work(thread: int) -> None:
        for number in range(10):
            put(store, note(100 * thread + number))
            touch(store, note(100 * thread + number).id, f"s{thread}")
            store.read(0)

    in_threads(4, work)
    store.close()

    assert len(contents(open_json(tmp_path))) == 40
    hit = [(n.title, n.hits) for n in state_of(open_json(tmp_path)).notes.values() if n.hits != 1]

    assert hit == []
    assert pictures_agree(tmp_path)


def test_a_reader_never_waits_for_a_writer_elsewhere(tmp_path: Path) -> None:
    store = open_json(tmp_path, paint_seconds=0.001)
    put(store, note(1))
    with locked(str(tmp_path / "journal" / "lock"), 10):
        writer = threading.Thread(target=put, args=(store, note(2)))
        writer.start()
        for _ in range(20):
            store.read(0)
            touch(store, note(1).id, "s1")
        waiting = writer.is_alive()
    writer.join()

    assert waiting
    assert contents(store) == {"key 1": "value 1", "key 2": "value 2"}


def test_a_write_that_cannot_get_in_says_so_and_reading_goes_on(tmp_path: Path) -> None:
    store = open_json(tmp_path)
    put(store, note(1))
    with locked(str(tmp_path / "journal" / "lock"), 10):
        with pytest.raises(StoreBusy, match="holding"), store.exclusive(wait_seconds=0.01):
            pass

        assert contents(open_json(tmp_path)) == {"key 1": "value 1"}


def test_a_writer_whose_lock_file_was_taken_away_writes_nothing(tmp_path: Path) -> None:
    store = open_json(tmp_path)
    put(store, note(1))
    with pytest.raises(StoreBusy, match="taken away"), store.exclusive():
        os.unlink(tmp_path / "journal" / "lock")
        put(store, note(2))

    assert contents(open_json(tmp_path)) == {"key 1": "value 1"}


def wait_for_painters() -> None:
    """Those of the test at hand: others may wait for their time in this process."""
    for thread in threading.enumerate():
        if isinstance(thread, Timer) and thread.interval == 0.001:
            thread.join()


def test_closed_stores_are_not_kept_alive(tmp_path: Path) -> None:
    store = open_json(tmp_path, paint_seconds=0.001)
    for number in range(3):
        put(store, note(number))
    store.close()
    wait_for_painters()
    known = weakref.ref(store)
    del store
    gc.collect()

    assert known() is None


def test_a_process_that_just_ends_leaves_its_files_in_order(tmp_path: Path) -> None:
    script = (
        "import sys; from store_samples import *;"
        "s = open_json(sys.argv[1], paint_seconds=60); put(s, note(1)); s.read(0);"
        "touch(s, note(1).id, 's1')"
    )
    tests = str(Path(__file__).parents[1])
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])},
    )

    assert pictures_agree(tmp_path)
    assert state_of(open_json(tmp_path)).notes[note(1).id].hits == 1


def test_a_forked_child_can_use_the_store_while_its_parent_writes(tmp_path: Path) -> None:
    script = """
import os, sys, threading
from store_samples import *
store = open_json(sys.argv[1], paint_seconds=0.001)
put(store, note(1))
go, stop = threading.Event(), threading.Event()
def hold():
    with store.exclusive(), store._mutex:
        store._replica.state.notes.clear()  # halfway through a change
        go.set(); stop.wait()
thread = threading.Thread(target=hold); thread.start(); go.wait()
child = os.fork()
if child == 0:
    ok = "key 1" in contents(store)
    try:
        with store.exclusive(wait_seconds=0):
            ok = False
    except Exception as problem:
        ok = ok and "is holding" in str(problem)
    os._exit(0 if ok else 7)
_, status = os.waitpid(child, 0)
stop.set(); thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""
    tests = str(Path(__file__).parents[1])
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)],
        check=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])},
    )


# --- recalls waiting to be counted ------------------------------------------------------------


def test_no_recall_is_lost_between_appending_and_taking(tmp_path: Path) -> None:
    waiting = Hits(str(tmp_path))
    done = threading.Event()
    counted: list[str] = []

    def take() -> None:
        while not done.is_set() or waiting.waiting(0):
            with waiting.taken() as touches:
                counted.extend(touch.session for touch in touches)

    taker = threading.Thread(target=take)
    taker.start()

    def work(thread: int) -> None:
        for number in range(50):
            assert Hits(str(tmp_path)).append([Touch("n", f"{thread}-{number}", "t")])

    try:
        in_threads(3, work)
    finally:
        done.set()
        taker.join()

    assert sorted(counted) == sorted(f"{t}-{n}" for t in range(3) for n in range(50))


def test_a_recall_of_another_process_is_told_though_we_recalled_after_it(tmp_path: Path) -> None:
    ours, theirs = Hits(str(tmp_path)), Hits(str(tmp_path))
    assert ours.news(1) == ()
    ours.append([Touch("n", "ours", "t")])
    assert ours.news(1) == ()
    theirs.append([Touch("n", "theirs", "t")])
    ours.append([Touch("n", "ours too", "t")])

    assert "theirs" in [touch.session for touch in ours.news(1)]
    assert ours.news(1) == ()


def test_a_new_file_with_an_old_ones_inode_is_read_from_its_beginning(tmp_path: Path) -> None:
    waiting, path = Hits(str(tmp_path)), tmp_path / "hits.jsonl"
    others = Hits(str(tmp_path))
    others.append([Touch("n", "before", "t")])
    assert [touch.session for touch in waiting.news(1)] == ["before"]

    os.truncate(path, 0)  # keeps the inode, as a file system may when one file follows another
    others.append([Touch("n", "after", "t"), Touch("n", "later", "t")])

    assert [touch.session for touch in waiting.news(2)] == ["after", "later"]
    assert waiting.news(2) == ()


def test_recalls_that_a_dead_writer_took_are_counted_once(tmp_path: Path) -> None:
    store = open_json(tmp_path)
    put(store, note(1))
    touch(store, note(1).id, "s1")
    os.rename(tmp_path / "journal" / "hits.jsonl", tmp_path / "journal" / "hits-taken.jsonl")
    touch(store, note(1).id, "s2")

    assert state_of(open_json(tmp_path)).notes[note(1).id].hits == 2

    put(store, note(2))
    put(store, note(3))

    assert state_of(open_json(tmp_path)).notes[note(1).id].hits == 2
    assert not [name for name in os.listdir(tmp_path / "journal") if name.startswith("hits")]


def test_garbage_among_the_recalls_is_passed_over(tmp_path: Path) -> None:
    store = open_json(tmp_path)
    put(store, note(1))
    touch(store, note(1).id, "s1")
    with open(tmp_path / "journal" / "hits.jsonl", "ab") as file:
        file.write(b'{"a":1}\n[1]\n\xff\xfe\n["half')

    assert state_of(open_json(tmp_path)).notes[note(1).id].hits == 1


def test_a_session_that_cannot_be_written_is_not_counted(tmp_path: Path) -> None:
    store = open_json(tmp_path)
    put(store, note(1))
    touch(store, note(1).id, "\ud800")

    assert state_of(store).notes[note(1).id].hits == 0


def test_many_recalls_are_taken_into_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "HITS_BYTES", 200)
    store = open_json(tmp_path)
    put(store, note(1))
    for number in range(20):
        touch(store, note(1).id, f"session {number}")

    assert store.read(0)[1] > 2
    assert state_of(open_json(tmp_path)).notes[note(1).id].hits == 20


def test_a_recall_cut_off_in_the_middle_takes_no_other_with_it(tmp_path: Path) -> None:
    store = open_json(tmp_path)
    put(store, note(1))
    with open(tmp_path / "journal" / "hits.jsonl", "ab") as file:
        file.write(b'["half')
    touch(store, note(1).id, "s1")

    assert state_of(open_json(tmp_path)).notes[note(1).id].hits == 1


def test_where_no_thread_can_be_started_the_pictures_are_painted_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at the end of a process, from Python 3.12 on."""

    def refusing(timer: threading.Timer) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Timer, "start", refusing)
    put(open_json(tmp_path, paint_seconds=60), note(1))

    assert pictures_agree(tmp_path)


def test_a_nugget_that_comes_while_the_painter_looks_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    living = open_json(tmp_path)
    put(living, note(1), note(2, nugget_name="second"))
    nuggets, real = dict(living._replica.state.nuggets), folded

    def another_thread_steps_in(text: str) -> str:
        nuggets[f"n{len(nuggets)}"] = NuggetConfig(f"n{len(nuggets)}")
        return real(text)

    monkeypatch.setattr(living._replica.state, "nuggets", nuggets)
    monkeypatch.setattr(pictures, "folded", another_thread_steps_in)

    assert not living._is_stale()
    assert len(nuggets) > 2
