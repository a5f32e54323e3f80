"""Without the server: reads from the copy, writes in the queue, nothing lost or overwritten."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from command_line import Done, run_process
from nuggets import NuggetShelf
from nuggets.domain.limits import CONTENT_BYTES, NAME_CHARACTERS, TAG_CHARACTERS, TAGS
from nuggets.domain.records import CopyIndex, MemoryNote, NuggetConfig
from nuggets.errors import NotFound, StoreError
from nuggets.filesystem.shelf_location import parse_server_url
from nuggets.remote.offline import CallQueue, WaitingCall
from nuggets.remote.remote_shelf import RemoteShelf
from web_serving import served_here


class Place:
    """A server that can be away; its address stays the same."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = 0
        self.url = ""

    @contextmanager
    def up(self) -> Iterator[None]:
        with (
            NuggetShelf(self.directory, project="") as kept,
            served_here(kept, self.port) as url,
        ):
            self.url = url.rstrip("/")
            self.port = int(self.url.rpartition(":")[2])
            yield

    @property
    def queue(self) -> CallQueue:
        return CallQueue(parse_server_url(self.url).directory)

    def open(self) -> RemoteShelf:
        shelf = NuggetShelf(self.url, project="")
        assert isinstance(shelf, RemoteShelf)
        return shelf


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "kept")


def test_reads_come_from_the_copy_and_say_its_age(place: Place) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "8080")
        shelf.create_note("project", "Deploys", "We deploy on Tuesdays.")
        assert shelf.refresh_copy() == 2
        assert not shelf.warnings

    with place.open() as shelf:
        assert shelf.recall("prot").answer == "8080"
        assert [found.note.title for found in shelf.search_notes("deploys")] == ["Deploys"]
        assert any("less than a minute old" in warning for warning in shelf.warnings)
        with pytest.raises(StoreError, match="nothing was changed"):
            shelf.undo()


@pytest.mark.parametrize("status", [429, 502])
def test_what_a_proxy_does_not_let_through_waits(place: Place, status: int) -> None:
    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(status)

        def log_message(self, *_: object) -> None: ...

    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "8080")
        shelf.refresh_copy()
    with HTTPServer(("127.0.0.1", place.port), Proxy) as proxy, place.open() as shelf:
        serving = Thread(target=proxy.serve_forever)
        serving.start()
        try:
            assert shelf.recall("port").answer == "8080"
            shelf.remember("project", "host", "there")
        finally:
            proxy.shutdown()
            serving.join()

    assert len(place.queue.waiting()) == 1


def test_without_a_copy_a_read_is_an_error(place: Place) -> None:
    with place.up():
        pass
    with place.open() as shelf, pytest.raises(StoreError, match="no copy"):
        shelf.recall("port")


def test_a_copy_follows_what_changed_and_what_is_gone(place: Place) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "80")
        shelf.remember("project", "host", "here")
        shelf.refresh_copy()
        shelf.remember("project", "port", "8080")
        shelf.forget("project", "host")
        shelf.remember("project", "user", "me")
        assert shelf.refresh_copy() == 2

    with place.open() as shelf:
        assert {fact.title: fact.content for fact in shelf.facts("project")} == {
            "port": "8080",
            "user": "me",
        }


def test_a_copy_is_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUGGETS_OFFLINE_NOTES", "3")
    with place.up(), place.open() as shelf:
        for number in range(6):
            shelf.remember("project", f"key {number}", "value")
        assert shelf.recall("key 0", session="s1").found
        assert shelf.refresh_copy() == 3

    with place.open() as shelf:
        titles = {fact.title for fact in shelf.facts("project")}
        assert titles == {"key 0", "key 5", "key 4"}


def test_writes_wait_and_are_sent_once_in_order(place: Place) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "1")
        shelf.refresh_copy()

    with place.open() as shelf:
        shelf.remember("project", "port", "2")
        fact = shelf.remember("project", "port", "3")
        note = shelf.create_note("project", "Offline", "Written on a train.")
        shelf.edit_note(note.id, content="Written on a slow train.")
        assert shelf.recall("port").answer == "3"
        assert any("queued" in warning for warning in shelf.warnings)
        with pytest.raises(NotFound):
            shelf.edit_note("no such note", content="x")
        assert len(place.queue.waiting()) == 4

    with place.up(), place.open() as shelf:
        assert shelf.recall("port").answer == "3"
        assert shelf.get_note(note.id).content == "Written on a slow train."
        assert [version.note.content for version in shelf.versions(fact.id)] == ["1", "2", "3"]
        assert place.queue.is_empty
        assert not place.queue.rejections()
        revision = shelf.revision
        shelf.refresh_copy()
        assert shelf.revision == revision


def test_what_others_changed_meanwhile_is_not_overwritten(place: Place) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "1")
        shelf.refresh_copy()
    with place.open() as shelf:
        shelf.remember("project", "port", "mine")
        shelf.remember("project", "other", "kept")
    with NuggetShelf(place.directory, project="") as kept:
        kept.remember("project", "port", "theirs")

    with place.up(), place.open() as shelf:
        assert shelf.recall("port").answer == "theirs"
        assert shelf.recall("other").answer == "kept"
        assert any("nuggets queue" in warning for warning in shelf.warnings)
        [refused] = place.queue.rejections()
        assert "theirs" in refused.reason
        shelf.refresh_copy()
        place.queue.retry(refused.id[:6])
        shelf.send_waiting()
        assert shelf.recall("port").answer == "mine"
        assert not place.queue.rejections()


def test_a_call_whose_answer_is_lost_is_done_once(place: Place) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "1")
        shelf.refresh_copy()
    with place.open() as shelf:
        shelf.create_note("project", "Twice?", "Only once.")
    [call] = place.queue.waiting()
    with place.up(), place.open() as shelf:
        shelf.send_waiting()
        place.queue.add(call)  # as if a kill had come before the answer was noted
        assert shelf.send_waiting() == 1
        assert len(shelf.notes_titled("Twice?")) == 1
        assert place.queue.is_empty


@pytest.mark.parametrize("moment", ["added", "sent", "finished"])
def test_a_kill_loses_nothing_and_does_nothing_twice(place: Place, moment: str) -> None:
    """The process is killed right after the call is durable, after the server has done it, and
    after that was noted."""
    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "1")
        shelf.refresh_copy()
    script = f"""
import os, signal
from nuggets.remote.offline import CallQueue, WaitingCall
from nuggets.remote.remote_shelf import RemoteShelf
from nuggets.remote import ServerCalls
def die_after(owner, name):
    whole = getattr(owner, name)
    def wrapped(*args, **options):
        whole(*args, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, wrapped)
if {moment!r} == "added":
    die_after(CallQueue, "add")
else:
    # what is noted as done is a file that goes
    die_after(*((os, "unlink") if {moment!r} == "finished" else (ServerCalls, "post")))
RemoteShelf({place.url!r}, project="").__getattribute__(
    "create_note" if {moment!r} == "added" else "send_waiting"
)(*(("project", "Once", "Only once.") if {moment!r} == "added" else ()))
"""
    if moment != "added":
        with place.open() as shelf:
            shelf.create_note("project", "Once", "Only once.")
        with place.up():
            died = subprocess.run([sys.executable, "-c", script], check=False)
    else:
        died = subprocess.run([sys.executable, "-c", script], check=False)
    assert died.returncode == -signal.SIGKILL

    with place.up(), place.open() as shelf:
        shelf.refresh_copy()
        assert len(shelf.notes_titled("Once")) == 1
        assert not place.queue.waiting()


def test_half_a_call_in_the_queue_hides_nothing(place: Place) -> None:
    with place.up(), place.open() as shelf:
        shelf.refresh_copy()
    with place.open() as shelf:
        shelf.remember("project", "a", "1")
        path = Path(parse_server_url(place.url).directory) / "queue"
        (path / "00000007").write_bytes(b'{"id": "torn", "mess')
        shelf.remember("project", "b", "2")

    assert len(place.queue.waiting()) == 2
    assert all(os.stat(file).st_mode & 0o077 == 0 for file in (path, path / "00000001"))
    with place.up(), place.open() as shelf:
        shelf.remember("project", "c", "3")
        assert len(shelf.facts("project")) == 3


@pytest.mark.parametrize(
    "line",
    [
        {"message": {}},
        {"id": "1", "at": "x", "message": 5},
        {"id": "1", "at": "x", "message": {"args": 7, "caller": {"call": {}}}},
        {"id": "1", "at": "x", "message": {"method": "remember", "args": []}},
    ],
)
def test_files_that_no_program_of_ours_wrote_are_left_out(place: Place, line: object) -> None:
    with place.up(), place.open() as shelf:
        shelf.refresh_copy()
    with place.open() as shelf:
        shelf.remember("project", "a", "1")
    for name in ("queue", "rejected"):
        folder = Path(parse_server_url(place.url).directory) / name
        folder.mkdir(exist_ok=True)
        (folder / "1").write_text(json.dumps(line))

    assert len(place.queue.waiting()) == 1
    assert place.queue.rejections() == []


@pytest.mark.parametrize("damage", [os.mkfifo, lambda path: path.write_bytes(b"\xff[" * 9999)])
def test_what_stands_in_place_of_small_files_of_a_client_stops_no_write(
    place: Place, damage: Callable[[Path], None]
) -> None:
    with place.up(), place.open() as shelf:
        shelf.refresh_copy()
    for name in ("seen", "copied"):
        path = Path(parse_server_url(place.url).directory) / name
        path.unlink(missing_ok=True)
        damage(path)
    with place.open() as shelf:
        shelf.remember("project", "a", "1")

    assert len(place.queue.waiting()) == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda note: note._replace(title="t" * (NAME_CHARACTERS + 1)),
        lambda note: note._replace(content="c" * (CONTENT_BYTES + 1)),
        lambda note: note._replace(tags=tuple(f"tag {n}" for n in range(TAGS + 4))),
        lambda note: note._replace(tags=("t" * (TAG_CHARACTERS + 1),)),
        lambda note: note._replace(nugget_name="n" * (NAME_CHARACTERS + 1)),
        lambda note: note._replace(last_hit_session="s" * 10_000),
        lambda note: note._replace(hits=-1),
    ],
)
def test_a_copy_leaves_out_what_no_shelf_could_have_written(
    place: Place, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[MemoryNote], MemoryNote]
) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "good", "1")
        shelf.remember("project", "bad", "2")
        answer = NuggetShelf.get_notes

        def spoiled(self: NuggetShelf, ids: Iterable[str]) -> Mapping[str, MemoryNote]:
            notes = answer(self, ids)
            return {key: spoil(one) if one.title == "bad" else one for key, one in notes.items()}

        monkeypatch.setattr(NuggetShelf, "get_notes", spoiled)

        assert shelf.refresh_copy() == 1
        assert [text for text in shelf.warnings if "left out" in text]

        monkeypatch.undo()
    with place.open() as shelf:
        assert [fact.title for fact in shelf.facts("project")] == ["good"]


def test_a_copy_leaves_out_nuggets_that_no_shelf_could_have_made(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "good", "1")
        shelf.remember("huge", "bad", "1")
        answer = NuggetShelf.copy_index

        def spoiled(self: NuggetShelf, most: int) -> CopyIndex:
            return answer(self, most)._replace(
                nuggets=(NuggetConfig("project"), NuggetConfig("huge", dims=1 << 40))
            )

        monkeypatch.setattr(NuggetShelf, "copy_index", spoiled)

        assert shelf.refresh_copy() == 1

    with place.open() as shelf:
        assert [nugget.name for nugget in shelf.list()] == ["project"]
        assert not shelf.recall("bad").found


def test_a_copy_is_bounded_whatever_the_server_lists(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_OFFLINE_NOTES", "3")
    with place.up(), place.open() as shelf:
        for number in range(6):
            shelf.remember("project", f"key {number}", "value")
        answer = NuggetShelf.copy_index

        def all_of_them(self: NuggetShelf, most: int) -> CopyIndex:
            return answer(self, 100)

        monkeypatch.setattr(NuggetShelf, "copy_index", all_of_them)

        assert shelf.refresh_copy() == 3


def test_notes_that_a_copy_did_not_ask_for_are_left_out(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "asked", "1")
        answer = NuggetShelf.get_notes

        def more(self: NuggetShelf, ids: Iterable[str]) -> Mapping[str, MemoryNote]:
            notes = answer(self, ids)
            others = {f"{key}x": one._replace(id=f"{key}x") for key, one in notes.items()}
            return {**notes, **others}

        monkeypatch.setattr(NuggetShelf, "get_notes", more)

        assert shelf.refresh_copy() == 1

        monkeypatch.undo()
    with place.open() as shelf:
        assert len(shelf.facts("project")) == 1


def test_what_a_shelf_tells_while_its_server_is_away_is_bounded(place: Place) -> None:
    with place.up(), place.open() as shelf:
        shelf.remember("project", "port", "1")
        shelf.refresh_copy()
    copied = Path(parse_server_url(place.url).directory) / "copied"
    with place.open() as shelf:
        for hours in range(1, 60):
            os.utime(copied, (time.time() - hours * 3600,) * 2)
            shelf.recall("port")

        assert len(shelf.warnings) < 25
        assert any("2 days old" in warning for warning in shelf.warnings)


def test_a_rejected_edit_is_shown_whole_and_can_be_made_to_succeed(place: Place) -> None:
    def run(*words: str) -> Done:
        return run_process(*words, env={"NUGGETS_DIR": place.url})

    text = "We deploy on Mondays.\n" + "Nobody deploys on a Friday. " * 20
    with place.up(), place.open() as shelf:
        note = shelf.create_note("project", "Deploys", "We deploy on Tuesdays.")
        shelf.refresh_copy()
    with place.open() as shelf:
        shelf.edit_note(note.id, content=text)
    with NuggetShelf(place.directory, project="") as kept:
        kept.edit_note(note.id, content="We deploy on Sundays.")
    with place.up():
        run("sync")
        listed = run("queue")
        [rejected] = run("queue", "--json").json["rejected"]
        sent = run("queue", "retry", rejected["id"][:8])
        with place.open() as shelf:
            now = shelf.get_note(note.id)

    assert text.split("\n")[1].strip() in listed.out
    assert (sent.code, now.content) == (0, text.strip())


def test_the_command_tells_what_waits_and_settles_it(place: Place) -> None:
    def run(*words: str) -> Done:
        return run_process(*words, env={"NUGGETS_DIR": place.url})

    with place.up():
        run("remember", "project", "port", "1")
        synced = run("sync", "--json")
    away = run("remember", "project", "port", "mine", "--json")
    listed = run("queue")
    recalled = run("recall", "port", "--json")
    with NuggetShelf(place.directory, project="") as kept:
        kept.remember("project", "port", "theirs")
    still_away = run("sync")
    with place.up():
        settled = run("list")
        rejected = run("queue", "--json").json["rejected"]
        dropped = run("queue", "drop", rejected[0]["id"][:8])
        nothing = run("queue", "drop", "0000")

    assert synced.json["notes"] == 1
    assert away.code == 0
    assert away.json["content"] == "mine"
    assert "queued" in away.err
    assert "remember project port mine" in listed.out
    assert recalled.json["answer"] == "mine"
    assert "local copy, which is" in recalled.err
    assert still_away.code == 1
    assert "rejected a queued change" in settled.err
    assert rejected[0]["args"] == ["project", "port", "mine"]
    assert dropped.code == 0
    assert nothing.code == 1
    assert json.loads(run("queue", "--json").out) == {"waiting": [], "rejected": []}


def test_a_child_that_was_forked_meanwhile_keeps_no_call_from_being_sent(tmp_path: Path) -> None:
    queue = CallQueue(str(tmp_path))
    message = {"method": "remember", "args": [], "caller": {"call": {}}}
    waits, ends = os.pipe()
    children: list[int] = []

    def post(_: Mapping[str, object]) -> None:
        child = os.fork()
        if not child:
            os.close(ends)
            os.read(waits, 1)
            os._exit(0)
        children.append(child)

    queue.add(WaitingCall("1", "2026-01-31T09:00:00.000Z", message))
    assert len(list(queue.send(post))) == 1
    queue.add(WaitingCall("2", "2026-01-31T09:00:00.000Z", message))
    sent = len(list(queue.send(lambda _: None)))
    os.close(ends)
    os.waitpid(children[0], 0)
    os.close(waits)

    assert sent == 1
