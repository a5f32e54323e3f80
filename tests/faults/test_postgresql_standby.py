"""A primary with a synchronous standby: the primary is killed, the standby takes over, and clients
go on by themselves."""

import pytest

from fault_processes import collect, line_of, start_writer
from nuggets import NuggetShelf
from nuggets.errors import StoreError
from postgresql_server import Server

pytestmark = pytest.mark.faults

PATIENT_WRITER = """
import sys
from nuggets.errors import StoreError
from nuggets.shelf import NuggetShelf
from nuggets.stores.postgresql import connections
connections.RETRY_SECONDS = 120.0  # a busy machine is no failure
url, name, count = sys.argv[1:]
shelf = NuggetShelf(url, project="")
for number in range(int(count)):
    for attempt in range(2):  # the one that was under way may fail, and says so
        try:
            shelf.remember("learnings", f"{name}-{number}", f"value {number}")
            print(f"{name}-{number}", flush=True)
            break
        except StoreError:
            pass
shelf.close()
"""


def test_a_standby_takes_over_and_nothing_acknowledged_is_lost() -> None:
    primary = Server(relaxed=False, settings="-c synchronous_standby_names='*'")
    standby = Server(relaxed=False, primary=primary)
    try:
        url = primary.url("both", "postgres", standby)
        writers = [start_writer(url, f"p{n}", 12, program=PATIENT_WRITER) for n in range(2)]
        before = {line_of(writer) for writer in writers for _ in range(3)}
        with NuggetShelf(standby.url("both"), project="") as follower:
            assert before & {note.title for note in follower.list_notes()}
            with pytest.raises(StoreError, match="can only be read"):
                follower.remember("learnings", "here", "not on a standby")
        primary.kill()
        standby.promote()
        acknowledged = before | collect(writers)

        with NuggetShelf(url, project="") as shelf:
            kept = {note.title for note in shelf.list_notes()}
            revisions = [commit.revision for commit in shelf.commits()]
        assert acknowledged == kept == {f"p{n}-{number}" for n in range(2) for number in range(12)}
        assert revisions == list(range(1, len(revisions) + 1))
    finally:
        standby.remove()
        primary.remove()
