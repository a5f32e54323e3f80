"""A shelf belongs to the process that opened it; a forked child opens one of its own."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fault_processes import environment
from nuggets import NuggetShelf
from web_serving import served_here

SCRIPT = """
import os, sys, threading
from nuggets import NuggetShelf
from nuggets.errors import StoreError
url = sys.argv[1]
shelf = NuggetShelf.open(url, project="")
shelf.remember("n", "before", "1")

def refused(*operations):
    for operation in operations:
        try:
            operation()
        except StoreError as problem:
            assert "open a new one in this process" in str(problem), problem
        else:
            raise AssertionError(operation)

def read():
    return {fact.title for fact in shelf.facts("n")}

def write(key="of the child"):
    shelf.remember("n", key, "2")

def in_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run(script: str, url: Path | str) -> None:
    """Warnings are ignored: Python warns of a fork beside threads."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT + script, str(url)]
    subprocess.run(command, check=True, env=environment())


def keys(directory: Path) -> set[str]:
    with closing(sqlite3.connect(directory / "nuggets.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with NuggetShelf(directory, project="") as shelf:
        return {fact.title for fact in shelf.facts("n")}


REFUSED_AND_OPENED_ANEW = """
def work():
    refused(read, write, lambda: shelf.search_notes("before"), lambda: shelf.commits())
    shelf.close()  # leaves everything to the parent
    with NuggetShelf.open(url, project="") as own:
        own.remember("n", "of the child", "2")
        assert {fact.title for fact in own.facts("n")} == {"before", "of the child"}
in_child(work)
write("of the parent")
assert read() == {"before", "of the child", "of the parent"}
"""


def test_a_child_is_told_to_open_a_shelf_of_its_own_and_both_go_on(directory: Path) -> None:
    run(REFUSED_AND_OPENED_ANEW, directory)

    assert keys(directory) == {"before", "of the child", "of the parent"}


def test_so_it_is_with_a_shelf_in_postgresql(postgresql_url: str) -> None:
    run(REFUSED_AND_OPENED_ANEW, postgresql_url)


def test_so_it_is_with_the_shelf_of_a_server(tmp_path: Path) -> None:
    with NuggetShelf(tmp_path / "kept", project="") as kept, served_here(kept) as server:
        run(REFUSED_AND_OPENED_ANEW, server.rstrip("/"))


def test_a_shelf_in_memory_is_refused_too(tmp_path: Path) -> None:
    run("in_child(lambda: refused(read, write))", "memory:")


def test_a_child_is_refused_at_once_while_a_thread_of_its_parent_holds_the_locks(
    directory: Path,
) -> None:
    run(
        """
go, stop = threading.Event(), threading.Event()
def hold():
    with shelf.batch():
        write("of the batch")
        go.set(); stop.wait()
thread = threading.Thread(target=hold)
thread.start(); go.wait()
in_child(lambda: (refused(read, write), shelf.close()))
stop.set(); thread.join()
""",
        directory,
    )

    assert keys(directory) == {"before", "of the batch"}


@pytest.mark.parametrize("leave", ["os._exit(0)", "sys.exit()", "pass"])
def test_a_child_that_is_forked_in_a_batch_spoils_nothing(directory: Path, leave: str) -> None:
    """However it leaves the batch, the transaction is that of the parent."""
    run(
        f"""
try:
    with shelf.batch():
        write("of the batch")
        child = os.fork()
        if child == 0:
            refused(read, write)
            try:
                NuggetShelf.open(url, project="").facts("n")
            except StoreError as problem:
                assert "forked while its parent wrote" in str(problem), problem
            {leave}
        else:
            os.waitpid(child, 0)
            write("after the fork")
except StoreError:
    assert child == 0
    sys.exit()
""",
        directory,
    )

    assert keys(directory) == {"before", "of the batch", "after the fork"}


def test_nobody_takes_the_log_away_from_a_child(directory: Path) -> None:
    """SQLite takes locks that a child only seems to inherit for its own, so that the last of other
    processes would remove the log that the child reads and writes."""
    run(
        """
to_child, to_parent = os.pipe(), os.pipe()
child = os.fork()
if child:
    os.read(to_parent[0], 1)
    shelf.close()
    with NuggetShelf(url, project="") as other:
        other.remember("n", "of another", "3")
    os.write(to_child[1], b"!")
    assert os.waitpid(child, 0)[1] == 0
else:
    own = NuggetShelf(url, project="")
    own.remember("n", "of the child", "2")
    os.write(to_parent[1], b"!")
    os.read(to_child[0], 1)
    own.remember("n", "later", "4")
    os._exit(0)
""",
        directory,
    )
    for export in directory.glob("*.json"):
        export.unlink()  # what is lost would come back from them
    (directory / "graph" / "graph.json").unlink()

    assert keys(directory) == {"before", "of the child", "of another", "later"}


def test_what_was_shown_before_a_fork_is_written_by_the_parent_alone(directory: Path) -> None:
    run(
        """
for _ in range(3):
    shelf.list_notes()
def times():
    with NuggetShelf(url, project="") as other:
        return [note.last_accessed_at for note in other.facts("n")]
before = times()
child = os.fork()
if child == 0:
    sys.exit()  # what is registered with atexit runs
os.waitpid(child, 0)
assert times() == before
assert not os.path.exists(os.path.join(url, "recalls.jsonl"))
""",
        directory,
    )


def write_in_child(directory: str, key: str) -> None:
    with NuggetShelf(directory, project="") as shelf:
        shelf.remember("n", key, "2")


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_worker_of_multiprocessing_opens_its_own(directory: Path, method: str) -> None:
    script = f"""
import multiprocessing
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_forks import write_in_child
context = multiprocessing.get_context({method!r})
workers = [context.Process(target=write_in_child, args=(url, name)) for name in "ab"]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
write("of the parent")
assert [worker.exitcode for worker in workers] == [0, 0]
"""
    run(script, directory)

    assert keys(directory) == {"before", "a", "b", "of the parent"}
