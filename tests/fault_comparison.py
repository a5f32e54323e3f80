"""What else could keep memories: the same crash states, kills and power cuts for all.

- nuggets;
- a JSON file that is written to a temporary name and renamed, without sync and lock;
- a table of SQLite with its default settings.
"""

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any, NamedTuple

from fault_crashes import RECORD, CrashState, check_state
from fault_processes import Outcome, collect, kept_keys, line_of, start_writer

RENAMED_FILE = """
import json, os

class Keeper:
    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.path = os.path.join(directory, "memory.json")
    def remember(self, key, value):
        facts = {}
        if os.path.exists(self.path):
            with open(self.path) as file:
                facts = json.load(file)
        facts[key] = value
        with open(self.path + ".tmp", "w") as file:
            json.dump(facts, file)
        os.replace(self.path + ".tmp", self.path)
"""
BARE_TABLE = """
import os, sqlite3

class Keeper:
    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.database = sqlite3.connect(os.path.join(directory, "memory.db"), timeout=60)
        with self.database:
            self.database.execute("CREATE TABLE IF NOT EXISTS facts (key PRIMARY KEY, value)")
    def remember(self, key, value):
        with self.database:
            self.database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, value))
"""
_RECORD = """
import ctypes, sys
shim, directory, log = ctypes.CDLL(None), *sys.argv[1:]
shim.shim_arm(directory.encode(), 0, 0)
shim.shim_record(log.encode())
for life in range(3):
    keeper = Keeper(directory)
    for number in range(6):
        key = f"key {life} {number}"
        keeper.remember(key, f"value of {key} " * 20)
        shim.shim_note(b"ack " + key.encode(), b"", 0)
    del keeper
"""
_WRITE = """
import sys
directory, name, count, *_ = sys.argv[1:]
keeper = Keeper(directory)
for number in range(int(count)):
    keeper.remember(f"{name}-{number}", f"value {number}")
    print(f"{name}-{number}", flush=True)
"""


def keys_in_file(directory: str) -> set[str]:
    path = os.path.join(directory, "memory.json")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        return set(json.load(file))


def keys_in_table(directory: str) -> set[str]:
    path = os.path.join(directory, "memory.db")
    if not os.path.exists(path):
        return set()
    with closing(sqlite3.connect(path)) as database:
        is_there = "SELECT 1 FROM sqlite_master WHERE name = 'facts'"
        if database.execute(is_there).fetchone() is None:
            return set()
        return {key for (key,) in database.execute("SELECT key FROM facts")}


class Subject(NamedTuple):
    """A way to keep memories."""

    name: str
    recording: str  # the program whose effects are recorded
    writer: str  # the program that writes until it is killed; "" for the one of the tests
    keys: Callable[[str], set[str]]

    @property
    def power(self) -> dict[str, Any]:
        """How a power cut is survived: `power_cut_round` knows Nuggets itself."""
        return {"program": self.writer, "examine": self.examine} if self.writer else {}

    def examine(self, directory: str) -> tuple[set[str], list[str]]:
        """The keys that are there, and why there are none."""
        try:
            return self.keys(directory), []
        except (OSError, ValueError, sqlite3.Error) as problem:
            return set(), [f"{type(problem).__name__}: {problem}"]


KINDS_OF_STORE = (
    Subject("nuggets", RECORD, "", kept_keys),
    Subject("renamed file", RENAMED_FILE + _RECORD, RENAMED_FILE + _WRITE, keys_in_file),
    Subject("bare table", BARE_TABLE + _RECORD, BARE_TABLE + _WRITE, keys_in_table),
)


def survey_states(subject: Subject, states: Iterable[CrashState], work: str) -> str:
    """How many states lose something or cannot be read."""
    lost = unreadable = 0
    for state in states:
        directory = os.path.join(work, "state")
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory, 0o700)
        if subject.writer:
            state.disk.write_to(directory)
            keys, problems = subject.examine(directory)
            unreadable += bool(problems)
            lost += not problems and not state.acknowledged <= keys
        else:
            found = check_state(state, directory)
            lost += any(problem.startswith("lost") for problem in found)
            unreadable += any(not problem.startswith("lost") for problem in found)
    return f"{lost} lost something, {unreadable} not in order"


def kill_writers(subject: Subject, directory: str) -> Outcome:
    """Four writers at once, killed after some writes."""
    processes = [
        start_writer(directory, f"w{number}", 10**6, program=subject.writer, quiet=True)
        for number in range(4)
    ]
    said = {line_of(process) for process in processes for _ in range(3)} - {""}
    for process in processes:
        process.send_signal(signal.SIGKILL)
    acknowledged = said | collect(processes)
    keys, problems = subject.examine(directory)
    return Outcome(acknowledged, acknowledged - keys, problems)
