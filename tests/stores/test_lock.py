"""The lock: one at a time, whatever becomes of its holder, and clear words for those who wait."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nuggets.errors import StoreBusy, StoreError
from nuggets.stores.process_lock import hold_lock

HOLD = """
import sys
from nuggets.stores.process_lock import hold_lock
with hold_lock(sys.argv[1], 10):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _alone() -> None:
    """Stores that other tests left open would refresh their exports in the background: they would
    take part in what is done here to the calls that all locks share."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
            thread.join()


def holder(path: Path) -> "subprocess.Popen[str]":
    """A process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


def test_two_threads_exclude_each_other(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with hold_lock(str(tmp_path / "lock"), 10):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert max(most) == 1
    assert len(most) == 80


def test_whoever_waits_in_vain_is_told_who_holds_it(tmp_path: Path) -> None:
    process = holder(tmp_path / "lock")
    try:
        with (
            pytest.raises(StoreBusy, match=rf"process {process.pid} \(-c.*{tmp_path}"),
            hold_lock(str(tmp_path / "lock"), 0.05),
        ):
            pass
    finally:
        end(process)


def test_a_stopped_holder_keeps_the_lock_and_a_continued_one_gives_it_back(tmp_path: Path) -> None:
    process = holder(tmp_path / "lock")
    try:
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreBusy), hold_lock(str(tmp_path / "lock"), 0.1):
            pass
        process.send_signal(signal.SIGCONT)
        process.communicate("")
        with hold_lock(str(tmp_path / "lock"), 0):
            pass
    finally:
        process.kill()


def test_the_lock_of_a_killed_holder_is_free_at_once(tmp_path: Path) -> None:
    process = holder(tmp_path / "lock")
    end(process)

    with hold_lock(str(tmp_path / "lock"), 0):
        pass


def test_a_lock_file_taken_away_is_noticed_by_its_holder_and_by_those_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    with hold_lock(str(path), 10) as lock:
        assert lock.is_still_held()
        path.unlink()
        assert not lock.is_still_held()

    real = fcntl.flock
    swaps = iter([True, False])

    def swapping(descriptor: int, operation: int) -> None:
        real(descriptor, operation)
        if operation & fcntl.LOCK_EX and next(swaps):
            path.unlink()  # just after it was opened: locking it excludes nobody

    monkeypatch.setattr(fcntl, "flock", swapping)
    with hold_lock(str(path), 10) as lock:
        assert lock.is_still_held()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_without_locks_nothing_is_written_and_the_reason_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refusing(*arguments: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refusing)
    with pytest.raises(StoreError, match="network drive"), hold_lock(str(tmp_path / "lock"), 10):
        pass


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    script = """
import os, sys, time
from nuggets.stores.process_lock import hold_lock
with hold_lock(sys.argv[1], 10):
    if os.fork() == 0:
        sys.stdin.read()  # lives on after its parent
        os._exit(0)
    print("forked", flush=True)
    os._exit(1)  # without letting go
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.wait()
    try:
        with hold_lock(str(tmp_path / "lock"), 5):
            pass
    finally:
        process.communicate()


def test_opening_and_closing_the_lock_file_elsewhere_does_not_free_it(tmp_path: Path) -> None:
    """As it would with record locks."""
    path = tmp_path / "lock"
    with hold_lock(str(path), 10):
        path.read_text()
        with pytest.raises(StoreBusy), hold_lock(str(path), 0):
            pass


class Clock:
    """Passes only while someone sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


def test_whoever_writes_in_a_loop_lets_others_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A holder that takes the lock again at once would starve those who look now and then."""
    path = str(tmp_path / "lock")
    clock = Clock(monkeypatch)
    with hold_lock(path, 10), pytest.raises(StoreBusy), hold_lock(path, 1):
        pass
    longest_pause = max(clock.sleeps)
    clock.sleeps.clear()
    with hold_lock(path, 10):
        [courtesy] = clock.sleeps
    with hold_lock(path, 10):  # nobody waited
        pass

    assert courtesy > longest_pause
    assert clock.sleeps == [courtesy]


@pytest.mark.parametrize("words", [["tool", "caf\udce9"], ["\udcff"], []])
def test_a_command_line_that_is_no_text_locks_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """As when a program that was embedded, or called with a name in another encoding, writes."""
    monkeypatch.setattr(sys, "argv", words)
    for _ in range(2):
        with hold_lock(str(tmp_path / "lock"), 0):
            pass


def opened(path: str) -> int:
    """How many descriptors of this process lead to a file; others may come and go meanwhile."""
    found = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found += os.readlink(f"/proc/self/fd/{descriptor}") == path
    return found


def test_a_lock_that_cannot_even_be_looked_at_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = str(tmp_path / "lock")
    with hold_lock(path, 10):
        before = opened(path)
        monkeypatch.setattr(os, "pread", failing)
        with pytest.raises(StoreBusy, match="another process"), hold_lock(path, 0):
            pass

        assert opened(path) == before == 1
