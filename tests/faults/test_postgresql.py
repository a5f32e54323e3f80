"""Many processes on one database, processes and a server that are killed: nothing acknowledged is
lost, and revisions have no gaps."""

import os
import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from fault_processes import MANNERS, collect, line_of, start_writer
from nuggets import NuggetShelf
from nuggets.filesystem.shelf_location import DatabaseUrl
from nuggets.operations.transactions import KINDS
from nuggets.stores.postgresql.store import PostgresqlStore
from postgresql_server import Server

pytestmark = pytest.mark.faults

WRITES = int(os.environ.get("NUGGETS_WRITES", "4"))  # of each process; 250 in the long form
ROUNDS = int(os.environ.get("NUGGETS_KILL_ROUNDS", "2"))


@pytest.fixture(scope="module")
def durable_server() -> Iterator[Server]:
    server = Server(relaxed=False)
    yield server
    server.remove()


def kept_keys(url: str) -> set[str]:
    with NuggetShelf(url, project="") as shelf:
        return {note.title for note in shelf.list_notes()}


def problems_in(url: str) -> list[str]:
    with closing(PostgresqlStore(DatabaseUrl(url), KINDS)) as store, store.reading():
        revisions = [commit.revision for commit in store.history.commits()]
        titles = {note.title for note in store.state.notes.values()}
        names = [kind.name for kind in KINDS if not kind.optional]
        complaints = [fault for name in names for fault in store.indexes[name].check()]
    halves = [t for t in titles if t.endswith(" twin") and t.removesuffix(" twin") not in titles]
    if revisions != list(range(1, len(revisions) + 1)):
        complaints.append("revisions are missing, or there twice")
    return complaints + [f"half a batch: {title}" for title in halves]


def test_sixteen_processes_keep_all_that_they_write(durable_server: Server) -> None:
    url = durable_server.url("sixteen")
    processes = [start_writer(url, f"p{n}", WRITES, *MANNERS[n % 4]) for n in range(16)]
    acknowledged = collect(processes)

    assert [process.returncode for process in processes] == [0] * 16
    assert len(acknowledged) == 16 * WRITES + 4 * WRITES  # a batch writes two
    assert kept_keys(url) == acknowledged
    assert problems_in(url) == []


def test_killing_writers_loses_nothing_that_was_acknowledged(durable_server: Server) -> None:
    moments = random.Random(3)
    for number in range(ROUNDS):
        url = durable_server.url(f"killed {number}")
        processes = [start_writer(url, f"p{n}", 60, *MANNERS[n % 4]) for n in range(4)]
        before = {line_of(processes[0]) for _ in range(moments.randint(1, 8))}
        for process in processes:
            process.kill()
        acknowledged = before | collect(processes)

        assert acknowledged <= kept_keys(url)
        assert problems_in(url) == []


def test_a_server_that_is_killed_and_started_again_has_lost_nothing_acknowledged() -> None:
    server = Server(relaxed=False)
    try:
        url = server.url("crash")
        processes = [start_writer(url, f"p{n}", 1000, quiet=True) for n in range(3)]
        acknowledged = {line_of(process) for process in processes for _ in range(3)}
        server.kill()
        acknowledged |= collect(processes)
        server.start()

        assert acknowledged <= kept_keys(url)
        assert problems_in(url) == []
        with NuggetShelf(url, project="") as shelf:
            shelf.remember("learnings", "after", "it goes on")
            assert shelf.recall("after").answer == "it goes on"
    finally:
        server.remove()
