"""Real processes that write to a shelf and say what was acknowledged, and what is left after."""

import os
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, Union

from forked_processes import ForkedProcess, can_fork

TESTS = os.path.dirname(os.path.abspath(__file__))

WRITER = """
import sys
from nuggets.shelf import NuggetShelf
from nuggets.stores import process_lock
process_lock.LOCK_SECONDS = 600.0  # a busy machine is no failure
directory, name, count, *manners = sys.argv[1:]
shelf = NuggetShelf(directory, short_lived="short-lived" in manners, project="")
for number in range(int(count)):
    nugget, key = f"nugget {number % 3}", f"{name}-{number}"
    if "recall" in manners:
        shelf.recall(f"{name}-{number - 1}", session=key)
    if "batch" in manners:
        with shelf.batch():
            shelf.remember(nugget, key, f"value {number}")
            shelf.remember(nugget, f"{key} twin", f"value {number}")
        print(f"{key} twin", flush=True)
    else:
        shelf.remember(nugget, key, f"value {number}")
    print(key, flush=True)
shelf.close()
"""
Process = Union["subprocess.Popen[str]", ForkedProcess]
MANNERS = ((), ("short-lived",), ("batch",), ("short-lived", "recall"))


class Outcome(NamedTuple):
    """What a round of killing showed."""

    acknowledged: set[str]
    lost: set[str]
    problems: list[str]
    seconds_to_next_write: float = 0.0


def compile_shim(folder: str) -> str:
    """The library that fails and records system calls; "" without a C compiler."""
    from system_programs import program

    compiler, library = program("cc", "gcc", "libc6-dev"), os.path.join(folder, "shim.so")
    source = os.path.join(TESTS, "faults", "shim.c")
    if compiler is None:
        return ""
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join([TESTS, *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path, **more}


def start_writer(
    directory: str,
    name: str,
    count: int,
    *options: str,
    program: str = WRITER,
    quiet: bool = False,
    waits: bool = False,
    **env: str,
) -> Process:
    words = ("-c", program, directory, name, str(count), *options)
    inherited = {**os.environ, **env}
    if can_fork(inherited):
        stderr = subprocess.DEVNULL if quiet else None
        return ForkedProcess(*words, env=inherited, text=True, stderr=stderr)
    return subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.PIPE if waits else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
        env=environment(**env),
    )


def leftovers(directory: str) -> list[str]:
    """Files that were never finished."""
    names = (
        os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names
    )
    return [name for name in names if ".tmp" in name]


def age_leftovers(directory: str) -> None:
    """What was left just now could still be at work; this is how an hour passes."""
    for path in leftovers(directory):
        os.utime(path, (0, 0))


def is_intact(directory: str | os.PathLike[str]) -> bool:
    """Does SQLite itself find nothing to complain about?"""
    database = sqlite3.connect(os.path.join(directory, "nuggets.db"))
    try:
        return database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        database.close()


def problems_in(directory: str, *, access_times: bool = True, is_pruned: bool = False) -> list[str]:
    """Whatever is not in order after all writers have ended, and someone has written since.

    `is_pruned`: old history was deleted, so that it need not begin with the first revision.
    `access_times`: the exports have those, too. A note that was listed while the store was locked
    has one that may be older than an export that was written before it was counted.
    """
    from store_samples import exports_agree, open_directory

    store = open_directory(directory)
    with store.reading():
        revisions = [commit.revision for commit in store.history.commits()]
        titles = {note.title for note in store.state.notes.values()}
    store.close()
    first = revisions[0] if revisions and is_pruned else 1
    halves = [t for t in titles if t.endswith(" twin") and t.removesuffix(" twin") not in titles]
    found = [
        (not is_intact(directory), "the database is damaged"),
        (revisions != list(range(first, first + len(revisions))), "revisions are not one by one"),
        (bool(halves), f"half a batch: {halves}"),
        (not exports_agree(directory, access_times), "the documented files disagree"),
        (bool(leftovers(directory)), f"left behind: {leftovers(directory)}"),
    ]
    return [what for is_so, what in found if is_so]


def kept_keys(directory: str) -> set[str]:
    """Every key that a new process finds."""
    from store_samples import open_directory, state_of

    store = open_directory(directory)
    keys = {note.title for note in state_of(store).notes.values()}
    store.close()
    return keys


def refreshers(directory: str | os.PathLike[str]) -> Iterator[int]:
    """The processes that refresh the documented files of a shelf."""
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue  # it has ended
        if os.fsencode(directory) in words:
            yield int(process)


def kill_all(processes: Iterable[int]) -> None:
    """End processes, and wait until the system has closed their files."""
    for process in processes:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process)
            try:
                os.kill(process, signal.SIGKILL)
                select.select([descriptor], [], [])
            finally:
                os.close(descriptor)


def collect(processes: Sequence[Process]) -> set[str]:
    """All that was acknowledged by processes that have ended or been killed."""
    said: set[str] = set()

    def read(process: Process) -> None:
        assert process.stdout is not None
        with process:
            output = process.stdout.read()  # unlike communicate(), also what readline() left
        said.update(line for line in output.split("\n")[:-1] if line)

    threads = [threading.Thread(target=read, args=(process,)) for process in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def line_of(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill_round(directory: str, round_name: str, writes: int, program: str = WRITER) -> Outcome:
    """Four writers of different manners, killed after so many writes of one of them."""
    processes = [
        start_writer(directory, f"{round_name}-{n}", 10**6, *manners, program=program)
        for n, manners in enumerate(MANNERS)
    ]
    first = {line_of(process) for process in processes}  # until each has written something
    first |= {line_of(processes[writes % len(processes)]) for _ in range(writes)}
    for process in processes:
        process.send_signal(signal.SIGKILL)
    acknowledged = collect(processes) | first
    kill_all(refreshers(directory))
    age_leftovers(directory)
    kept = kept_keys(directory)
    began = time.monotonic()
    write_after(directory, round_name)
    took = time.monotonic() - began
    return Outcome(acknowledged, acknowledged - kept, problems_in(directory), took)


def write_after(directory: str, name: str) -> None:
    """As whoever comes next would."""
    from store_samples import note, open_directory, put

    store = open_directory(directory)
    put(store, note(id=f"fact-learnings-{name}", title=f"after {name}"))
    store.refresh_exports()
    store.close()
