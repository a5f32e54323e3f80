"""Many threads, other processes' locks, and recalls that nobody waits for."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from fault_processes import environment
from nuggets.domain.records import Changes, Touch
from nuggets.errors import StoreBusy
from nuggets.stores.process_lock import RecallFile, hold_lock
from nuggets.stores.sqlite.store import SqliteStore
from store_samples import (
    NOW,
    contents,
    exports_agree,
    files_of,
    history_of,
    note,
    open_directory,
    put,
    revision_of,
    state_of,
    touch,
)


def in_threads(count: int, work: Callable[[int], object]) -> None:
    problems: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def run(script: str, directory: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", script, str(directory)]
    subprocess.run(command, check=True, env=environment())


def lock_of(directory: Path) -> str:
    return str(directory / "nuggets.lock")


def hits_of(directory: Path) -> int:
    return state_of(open_directory(directory)).notes[note(1).id].hits


# --- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("short_lived", [True, False])
def test_threads_sharing_a_store_lose_nothing(tmp_path: Path, short_lived: bool) -> None:
    store = open_directory(tmp_path, short_lived=short_lived)

    def work(thread: int) -> None:
        for number in range(10):
            made = note(100 * thread + number)
            put(store, made)
            touch(store, made.id, f"s{thread}")
            with store.reading():
                assert made.id in store.state.notes

    in_threads(4, work)
    last = note(1000)
    put(store, last)  # recalls alone do not write the exports
    store.close()
    notes = [n for n in state_of(open_directory(tmp_path)).notes.values() if n.id != last.id]

    assert len(notes) == 40
    assert [(n.title, n.hits) for n in notes if n.hits != 1] == []
    assert exports_agree(tmp_path)


def test_threads_with_batches_and_stores_of_their_own_lose_nothing(tmp_path: Path) -> None:
    def work(thread: int) -> None:
        store = open_directory(tmp_path)
        for number in range(5):
            with store.batch():
                put(store, note(100 * thread + 2 * number))
                put(store, note(100 * thread + 2 * number + 1))
        store.close()

    in_threads(4, work)
    store = open_directory(tmp_path)

    assert len(contents(store)) == 40
    assert revision_of(store) == 20


def test_what_is_read_belongs_to_one_revision_though_others_write(tmp_path: Path) -> None:
    store, other = open_directory(tmp_path), open_directory(tmp_path)
    put(store, note(1))
    with store.reading():
        assert store.position[0] == 1
        put(other, note(2), note(1, content="newer"))

        assert store.position[0] == 1
        assert [n.content for n in store.state.notes.values()] == ["value 1"]
        assert [commit.revision for commit in store.history.commits()] == [1]
    assert contents(store) == {"key 1": "newer", "key 2": "value 2"}


def test_a_reader_never_waits_for_a_writer_elsewhere(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    with hold_lock(lock_of(tmp_path), 10):
        writer = threading.Thread(target=put, args=(store, note(2)))
        writer.start()
        for _ in range(20):
            assert contents(store) == {"key 1": "value 1"}
            touch(store, note(1).id, "s1")
        waiting = writer.is_alive()
    writer.join()

    assert waiting
    assert contents(store) == {"key 1": "value 1", "key 2": "value 2"}
    assert hits_of(tmp_path) == 1


def test_a_write_that_cannot_get_in_names_the_holder_and_reading_goes_on(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    with hold_lock(lock_of(tmp_path), 10):
        holder = rf"process {os.getpid()} .*holding {tmp_path}"
        with pytest.raises(StoreBusy, match=holder), store.exclusive(wait_seconds=0.01):
            pass

        assert contents(open_directory(tmp_path)) == {"key 1": "value 1"}


@pytest.mark.parametrize("in_batch", [True, False])
def test_a_writer_whose_lock_file_was_taken_away_writes_nothing(
    tmp_path: Path, in_batch: bool
) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    whole = store.batch if in_batch else store.exclusive
    with pytest.raises(StoreBusy, match="was removed"), whole():
        if in_batch:
            put(store, note(2))
        os.unlink(lock_of(tmp_path))
        put(store, note(3))

    assert contents(open_directory(tmp_path)) == {"key 1": "value 1"}
    assert put(store, note(4)) == 2


def test_closed_stores_are_not_kept_alive(tmp_path: Path) -> None:
    store = open_directory(tmp_path, short_lived=False)
    for number in range(3):
        put(store, note(number))
    store.close()
    known = weakref.ref(store)
    del store
    gc.collect()

    assert known() is None


def test_the_last_one_to_close_leaves_no_log_behind(tmp_path: Path) -> None:
    one, other = open_directory(tmp_path), open_directory(tmp_path)
    put(one, note(1))
    put(other, note(2))
    one.close()
    other.close()

    assert not [name for name in files_of(tmp_path) if name.endswith(("-wal", "-shm", ".tmp"))]


def test_another_database_in_its_place_is_noticed(tmp_path: Path) -> None:
    store, other = open_directory(tmp_path / "one"), open_directory(tmp_path / "other")
    put(store, note(1))
    put(other, note(2))
    put(other, note(3))
    other.close()
    os.replace(tmp_path / "other" / "nuggets.db", tmp_path / "one" / "nuggets.db")
    for suffix in ("-wal", "-shm"):
        os.unlink(tmp_path / "one" / f"nuggets.db{suffix}")
    for name in ("graph/graph.json", "learnings.nugget.json"):
        os.replace(tmp_path / "other" / name, tmp_path / "one" / name)

    assert contents(store) == {"key 2": "value 2", "key 3": "value 3"}
    assert put(store, note(4)) == 3


# --- processes -----------------------------------------------------------------------------------


def test_a_process_that_just_ends_leaves_its_files_in_order(tmp_path: Path) -> None:
    run(
        """
import sys
from store_samples import *
store = open_directory(sys.argv[1], short_lived=False)
put(store, note(1))
touch(store, note(1).id, "s1")
""",
        tmp_path,
    )
    store = open_directory(tmp_path)

    assert state_of(store).notes[note(1).id].hits == 1
    put(store, note(2))  # recalls alone do not write the exports
    store.close()
    assert exports_agree(tmp_path)


# --- recalls that wait in a file ------------------------------------------------------------------


@pytest.mark.parametrize("batch", [True, False])
def test_a_recall_that_finds_the_store_locked_is_counted_by_the_next_commit(
    tmp_path: Path, batch: bool
) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    with hold_lock(lock_of(tmp_path), 10):
        touch(store, note(1).id, "s1")
        touch(open_directory(tmp_path), note(1).id, "s1")
        assert hits_of(tmp_path) == 0
    if batch:
        with store.batch():
            put(store, note(1, content="newer"))
            put(store, note(2))
    else:
        put(store, note(1, content="newer"))

    assert hits_of(tmp_path) == 1
    assert history_of(store) == ["put", "put"]
    assert (tmp_path / "recalls.jsonl").read_bytes() == b""


def test_recalls_that_wait_survive_a_write_that_fails(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    with hold_lock(lock_of(tmp_path), 10):
        touch(store, note(1).id, "s1")
    with pytest.raises(UnicodeEncodeError):
        put(store, note(2, content="\ud800"))
    with pytest.raises(UnicodeEncodeError), store.batch():
        put(store, note(2))
        put(store, note(3, content="\ud800"))
    assert hits_of(tmp_path) == 0

    put(store, note(2))
    assert hits_of(tmp_path) == 1


def test_no_recall_is_lost_between_appending_and_taking(tmp_path: Path) -> None:
    waiting = RecallFile(str(tmp_path))
    done = threading.Event()
    counted: list[str] = []

    def take() -> None:
        file = tmp_path / "recalls.jsonl"
        while not done.is_set() or file.stat().st_size:
            counted.extend(touch.session for touch in waiting.read())
            waiting.forget_read()

    taker = threading.Thread(target=take)
    taker.start()

    def work(thread: int) -> None:
        for number in range(50):
            RecallFile(str(tmp_path)).append([Touch("n", f"{thread}-{number}", "t")])

    try:
        in_threads(3, work)
    finally:
        done.set()
        taker.join()

    assert sorted(counted) == sorted(f"{t}-{n}" for t in range(3) for n in range(50))


def show(store: SqliteStore, moment: str) -> None:
    touch(store, note(1).id, "", at=f"2026-03-01T{moment}Z")


def accessed(directory: Path) -> str:
    return state_of(open_directory(directory)).notes[note(1).id].last_accessed_at[11:]


def test_notes_that_are_merely_shown_are_written_once_a_second(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    show(store, "09:00:00.001")
    show(store, "09:00:00.999")
    assert accessed(tmp_path) == "09:00:00.001Z"

    show(store, "09:00:01.000")
    assert accessed(tmp_path) == "09:00:01.000Z"

    show(store, "09:00:01.001")
    store.close()
    assert accessed(tmp_path) == "09:00:01.001Z"


def test_a_program_that_closes_nothing_writes_what_it_has_shown(tmp_path: Path) -> None:
    put(open_directory(tmp_path), note(1))
    run(
        "import sys\n"
        "from nuggets.domain.records import Touch\n"
        "from nuggets.stores.sqlite.store import SqliteStore\n"
        "store = SqliteStore(sys.argv[1])\n"
        f"for at in ('09:00:00.001', '09:00:00.002'):\n"
        f"    store.touch([Touch('{note(1).id}', '', f'2026-03-01T{{at}}Z')])\n",
        tmp_path,
    )

    assert accessed(tmp_path) == "09:00:00.002Z"


def test_recalls_that_a_dead_writer_took_are_counted_once(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    with hold_lock(lock_of(tmp_path), 10):
        touch(store, note(1).id, "s1")
    taken = (tmp_path / "recalls.jsonl").read_bytes()
    put(store, note(2))
    (tmp_path / "recalls.jsonl").write_bytes(taken)  # it died before it cut the file off
    put(store, note(3))

    assert hits_of(tmp_path) == 1
    assert (tmp_path / "recalls.jsonl").read_bytes() == b""


def test_garbage_and_a_line_cut_off_among_the_recalls_take_no_other_with_them(
    tmp_path: Path,
) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    with open(tmp_path / "recalls.jsonl", "ab") as file:
        file.write(b'{"a":1}\n[1]\n\xff\xfe\n["half')
    with hold_lock(lock_of(tmp_path), 10):
        touch(store, note(1).id, "s1")
    store.write(Changes(marks={"x": 1}))

    assert hits_of(tmp_path) == 1


def test_a_recall_that_waits_keeps_its_kind(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    answered = Touch(note(1).id, "s2", NOW, "answered")
    with hold_lock(lock_of(tmp_path), 10):
        store.touch([answered])
    put(store, note(2))

    assert list(store.history.hits()) == [answered]


def test_a_session_that_cannot_be_written_is_not_counted(tmp_path: Path) -> None:
    store = open_directory(tmp_path)
    put(store, note(1))
    touch(store, note(1).id, "\ud800")

    with store.batch():
        put(store, note(2))
        touch(store, note(1).id, "\ud800")

    assert hits_of(tmp_path) == 0
    touch(store, note(1).id, "s1")
    assert hits_of(tmp_path) == 1
