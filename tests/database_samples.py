"""Shelves whose database something happened to."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from fault_processes import environment, kill_all, refreshers
from nuggets import NuggetShelf

ALL = {f"key {number}": f"value {number}" for number in range(1, 60)}

WRITER = """
import os, signal, sys
from nuggets import NuggetShelf
shelf = NuggetShelf(sys.argv[1], project="")
for number in range(int(sys.argv[2])):
    shelf.remember("facts", f"log {number}", "in the log only")
os.kill(os.getpid(), signal.SIGKILL)
"""


def opened(directory: Path) -> NuggetShelf:
    return NuggetShelf(directory, project="")


def filled(directory: Path) -> Path:
    """A shelf with facts, all of them in the database and none in its log."""
    with opened(directory) as shelf, shelf.batch():
        for key, value in ALL.items():
            shelf.remember("facts", key, value)
    return directory / "nuggets.db"


def with_log(directory: Path, count: int = 3) -> Path:
    """The same, and facts in the log of a process that was killed."""
    filled(directory)
    command = [sys.executable, "-c", WRITER, str(directory), str(count)]
    done = subprocess.run(command, env=environment(), check=False)
    assert done.returncode == -signal.SIGKILL
    kill_all(refreshers(directory))  # the writer's outlives it, and has the log open
    return directory / "nuggets.db-wal"


def facts(directory: Path) -> dict[str, str]:
    with opened(directory) as shelf:
        return {fact.title: fact.content for fact in shelf.facts("facts")}


def without_documented_files(directory: Path) -> None:
    """As if only the database were left."""
    shutil.rmtree(directory / "graph", ignore_errors=True)
    for path in directory.glob("*.nugget.json"):
        path.unlink()


def overwrite(path: Path, place: int, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    os.pwrite(descriptor, content, place)
    os.close(descriptor)
