"""Who waits for whom: a writer that cannot get in holds up no reader."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from in_memory import InMemoryStore
from nuggets import NuggetShelf
from nuggets.errors import Conflict, StoreBusy
from nuggets.operations import transactions
from nuggets.stores import process_lock


class Crowded(InMemoryStore):
    """A store that another process holds until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.free.set()
        self.waiting = threading.Event()

    @contextmanager
    def exclusive(self, wait_seconds: float | None = None, **options: bool) -> Iterator[None]:
        self.waiting.set()
        if not self.free.wait(wait_seconds):
            raise StoreBusy("another process is writing")
        with super().exclusive(wait_seconds, **options):
            yield


def test_a_recall_does_not_wait_for_a_writer_that_waits() -> None:
    crowded = Crowded()
    shelf = NuggetShelf(store=crowded, project="")
    shelf.remember("project", "port", "80")
    crowded.free.clear()
    crowded.waiting.clear()
    writer = threading.Thread(target=shelf.remember, args=("project", "port", "8080"))
    writer.start()
    crowded.waiting.wait()
    answer = shelf.recall("port", session="s1").answer
    crowded.free.set()
    writer.join()

    assert answer == "80"
    assert shelf.recall("port").answer == "8080"


def test_a_batch_of_one_thread_and_a_write_of_another_are_both_kept() -> None:
    shelf = NuggetShelf("memory:", project="")
    inside, go_on = threading.Event(), threading.Event()

    def gather() -> None:
        with shelf.batch():
            shelf.remember("project", "a", "1")
            inside.set()
            go_on.wait()
            shelf.remember("project", "b", "2")

    batch = threading.Thread(target=gather)
    other = threading.Thread(target=shelf.remember, args=("project", "c", "3"))
    batch.start()
    inside.wait()
    other.start()
    go_on.set()
    batch.join()
    other.join()

    assert [fact.title for fact in shelf.facts("project")] == ["a", "b", "c"]
    assert [c.changes.action for c in shelf.history()] == ["remember", "remember"]


def in_another_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_batch_that_fails_keeps_the_hits_of_other_threads_and_none_of_its_own(
    directory: Path,
) -> None:
    with NuggetShelf(directory, project="") as shelf:
        shelf.remember("project", "port", "80")
        with pytest.raises(RuntimeError), shelf.batch():
            shelf.remember("project", "host", "here")
            shelf.recall("port", session="the batch")
            in_another_thread(lambda: shelf.recall("port", session="someone else"))
            raise RuntimeError

        [port] = shelf.facts("project")
    [stored] = NuggetShelf(directory, project="").facts("project")

    assert port.hit_sessions == stored.hit_sessions == ("someone else",)


def test_no_recall_is_lost_between_the_writing_of_a_batch_and_its_end() -> None:
    shelf = NuggetShelf("memory:", project="")
    done = threading.Event()

    def gather() -> None:
        number = 0
        while not done.is_set():
            number += 1
            with shelf.batch():
                shelf.remember("project", "count", str(number))

    writer = threading.Thread(target=gather)
    writer.start()
    try:
        for key in range(10):
            shelf.remember("project", f"key {key}", "80")
            for session in range(60):
                shelf.recall(f"key {key}", session=f"s{session}")
    finally:
        done.set()
        writer.join()

    assert [f.hits for f in shelf.facts("project") if f.title != "count"] == [60] * 10


@pytest.mark.parametrize("attempt", range(5))
def test_the_first_read_and_the_first_write_do_not_wait_for_each_other(
    tmp_path: Path, attempt: int
) -> None:
    with NuggetShelf(tmp_path, project="") as before:
        before.remember("project", "port", "80")
    (tmp_path / "nuggets.db").unlink()  # only the documented files, not taken in yet
    shelf = NuggetShelf(tmp_path, project="")
    together = threading.Barrier(2)
    answers: list[str | None] = []

    def read() -> None:
        together.wait()
        answers.append(shelf.recall("port").answer)

    def write() -> None:
        together.wait()
        shelf.remember("project", "host", "localhost")

    threads = [threading.Thread(target=one) for one in (read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == ["80"]
    assert shelf.recall("host").answer == "localhost"


def test_what_was_gathered_stays_in_sight_when_it_cannot_be_saved(tmp_path: Path) -> None:
    other = NuggetShelf(tmp_path, project="")
    note = other.create_note("n", "Plan", "first")
    gathering = NuggetShelf(tmp_path, project="", auto_save=False)
    gathering.edit_note(note.id, content="ours", expected=note.updated_at)
    gathering.remember("n", "port", "80")
    other.edit_note(note.id, content="theirs")
    with pytest.raises(Conflict):
        gathering.save_all()

    assert gathering.recall("port").answer == "80"


# --- batches, threads and tasks -----------------------------------------------------------------


def test_a_batch_that_waits_for_its_own_worker_is_told_so(
    shelf: NuggetShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "TURN_SECONDS", 0.01)
    with shelf.batch(), ThreadPoolExecutor(1) as pool:
        shelf.remember("n", "ours", "1")
        with pytest.raises(StoreBusy, match="in the thread of the batch"):
            pool.submit(shelf.remember, "n", "theirs", "2").result()

    assert [fact.title for fact in shelf.facts("n")] == ["ours"]


def test_threads_wait_for_a_writer_as_long_as_processes_do() -> None:
    assert transactions.TURN_SECONDS == process_lock.LOCK_SECONDS


def test_the_first_read_of_another_thread_does_not_wait_for_a_batch(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "TURN_SECONDS", 0.01)
    NuggetShelf(directory, project="").remember("n", "k", "v")
    shelf = NuggetShelf(directory, project="")
    with shelf.batch(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(shelf.recall, "k").result().answer == "v"


def test_tasks_of_one_thread_do_not_share_a_batch(shelf: NuggetShelf) -> None:
    inside, go_on = asyncio.Event(), asyncio.Event()
    shelf.remember("n", "port", "80")

    async def fails() -> None:
        with shelf.batch():
            shelf.remember("n", "ours", "1")
            inside.set()
            await go_on.wait()
            raise ZeroDivisionError

    async def writes() -> None:
        await inside.wait()
        for write in (lambda: shelf.remember("n", "theirs", "2"), shelf.batch().__enter__):
            with pytest.raises(StoreBusy, match="no await inside"):
                write()
        go_on.set()

    async def both() -> None:
        with pytest.raises(ZeroDivisionError):
            await asyncio.gather(fails(), writes())
        shelf.remember("n", "theirs", "2")

    asyncio.run(both())

    assert [fact.title for fact in shelf.facts("n")] == ["port", "theirs"]


def test_a_loop_that_runs_inside_a_batch_belongs_to_it(shelf: NuggetShelf) -> None:
    async def write() -> None:
        shelf.remember("n", "k", "v")

    with shelf.batch():
        asyncio.run(write())

    assert shelf.recall("k").answer == "v"
