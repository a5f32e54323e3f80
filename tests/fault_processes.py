"""Real processes that write to a shelf and say what was acknowledged, and what is left after."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

TESTS = os.path.dirname(os.path.abspath(__file__))

WRITER = """
import sys
from nuggets.shelf import NuggetShelf
directory, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
short_lived = sys.argv[4:] == ["short-lived"]
shelf = NuggetShelf(directory, short_lived=short_lived, project="")
for number in range(count):
    shelf.remember(f"nugget {number % 3}", f"{name}-{number}", f"value {number}")
    print(f"{name}-{number}", flush=True)
shelf.close()
"""


class Outcome(NamedTuple):
    """What a round of killing showed."""

    acknowledged: set[str]
    lost: set[str]
    agree: bool  # the documented files with the journal
    litter: list[str]
    seconds_to_next_write: float


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
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, directory, name, str(count), *options],
        stdin=subprocess.PIPE if waits else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
        env=environment(**env),
    )


def kept_keys(directory: str) -> set[str]:
    """Every key that a new process finds."""
    from store_samples import open_json, state_of

    store = open_json(directory)
    keys = {note.title for note in state_of(store).notes.values()}
    store.close()
    return keys


def collect(processes: Sequence["subprocess.Popen[str]"]) -> set[str]:
    """All that was acknowledged by processes that have ended or been killed."""
    said: set[str] = set()

    def read(process: "subprocess.Popen[str]") -> None:
        output, _ = process.communicate()
        said.update(line for line in output.split("\n")[:-1] if line)

    threads = [threading.Thread(target=read, args=(process,)) for process in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def line_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill_round(directory: str, round_name: str, seconds: float, program: str = WRITER) -> Outcome:
    """Four writers, two that paint at once and two that paint later, killed in the middle."""
    from store_samples import note, open_json, pictures_agree, put

    processes = [
        start_writer(
            directory, f"{round_name}-{n}", 10**6, *(["short-lived"] * (n % 2)), program=program
        )
        for n in range(4)
    ]
    first = {line_of(process) for process in processes}  # until each has written something
    threading.Event().wait(seconds)
    for process in processes:
        process.send_signal(signal.SIGKILL)
    acknowledged = collect(processes) | first
    kept = kept_keys(directory)
    began = time.monotonic()
    store = open_json(directory)
    put(store, note(hash(round_name) % 10**6, title=f"after {round_name}"))
    store.close()
    litter = [name for _, _, names in os.walk(directory) for name in names if name.endswith(".tmp")]
    return Outcome(
        acknowledged,
        acknowledged - kept,
        pictures_agree(directory),
        litter,
        time.monotonic() - began,
    )
