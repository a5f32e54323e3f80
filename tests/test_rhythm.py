"""Who waits for whom: a writer that cannot get in holds up no reader."""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nuggets import NuggetShelf
from nuggets.errors import Conflict
from nuggets.stores.in_memory import InMemoryStore


class Crowded(InMemoryStore):
    """A store that another process holds until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.free.set()
        self.waiting = threading.Event()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        self.waiting.set()
        assert self.free.wait(20)
        with super().exclusive():
            yield


def test_a_recall_does_not_wait_for_a_writer_that_waits() -> None:
    store = Crowded()
    shelf = NuggetShelf(store=store, project="")
    shelf.remember("project", "port", "80")
    store.free.clear()
    store.waiting.clear()
    writer = threading.Thread(target=shelf.remember, args=("project", "port", "8080"))
    writer.start()
    assert store.waiting.wait(20)
    answer = shelf.recall("port", session="s1").answer
    store.free.set()
    writer.join(20)

    assert answer == "80"
    assert shelf.recall("port").answer == "8080"


def test_a_batch_of_one_thread_and_a_write_of_another_are_both_kept() -> None:
    shelf = NuggetShelf("memory:", project="")
    inside, go_on = threading.Event(), threading.Event()

    def gather() -> None:
        with shelf.batch():
            shelf.remember("project", "a", "1")
            inside.set()
            assert go_on.wait(20)
            shelf.remember("project", "b", "2")

    batch = threading.Thread(target=gather)
    other = threading.Thread(target=shelf.remember, args=("project", "c", "3"))
    batch.start()
    assert inside.wait(20)
    other.start()
    go_on.set()
    batch.join(20)
    other.join(20)

    assert [fact.title for fact in shelf.facts("project")] == ["a", "b", "c"]
    assert [c.changes.action for c in shelf.history()] == ["remember", "remember"]


def in_another_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)


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
        writer.join(20)

    assert [f.hits for f in shelf.facts("project") if f.title != "count"] == [60] * 10


@pytest.mark.parametrize("attempt", range(5))
def test_the_first_read_and_the_first_write_do_not_wait_for_each_other(
    tmp_path: Path, attempt: int
) -> None:
    with NuggetShelf(tmp_path, project="") as before:
        before.remember("project", "port", "80")
    shutil.rmtree(tmp_path / "journal")  # only the documented files, not taken in yet
    shelf = NuggetShelf(tmp_path, project="")
    together = threading.Barrier(2)
    answers: list[str | None] = []

    def read() -> None:
        together.wait(5)
        answers.append(shelf.recall("port").answer)

    def write() -> None:
        together.wait(5)
        shelf.remember("project", "host", "localhost")

    threads = [threading.Thread(target=one, daemon=True) for one in (read, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)  # a lock is waited for twice as long

    assert not any(thread.is_alive() for thread in threads)
    assert answers == ["80"]


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
