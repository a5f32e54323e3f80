"""A soak: servers that work for a long time must not grow.

An MCP server, a web server and a scheduler live on one shelf and work without a pause, beside
commands and hooks, some of which are killed, and a person who edits an export. The history is kept
for a minute instead of a year, so that the disk has something to be flat about. Memory, descriptors
and disk of the last quarter are compared with those of the second, before which caches fill. What a
process may grow by is counted in kilobytes for 1,000 operations: a leak grows with the operations,
whatever the size of the process.

python fault_soak.py SECONDS [DIRECTORY]
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from itertools import count
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

from fault_processes import line_of
from fault_storm import COMMAND, HELLO, NUGGET, Storm, disorder, send
from nuggets.domain import times
from store_samples import open_directory

KEYS = 10  # that each door writes over and over; of each, 100 earlier texts are kept for good
HISTORY = timedelta(seconds=60)
LEAST_ROUNDS = 40  # however little time there is: fewer have no quarters to compare
MOST_KILOBYTES = 40  # that a process may grow by in 1,000 operations, once it is warm
NOISE = 3000  # kilobytes by which a process may grow however few the operations: fragmentation
MOST_DISK_GROWTH = 1.1
MORE_DESCRIPTORS = 2


class NotSurvived(Exception):
    """Something grew, or was not in order."""


class Sample(NamedTuple):
    """What one process holds, or the disk."""

    kilobytes: float
    descriptors: float = 0


def sample_process(pid: int) -> Sample:
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return Sample(int(fields["VmRSS"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")))


def sample_disk(directory: str) -> Sample:
    sizes = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                sizes += os.stat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue  # a temporary file that is done
    return Sample(sizes / 1024)


class Moment(NamedTuple):
    """What all of them held after so many operations."""

    operations: int
    samples: dict[str, Sample]


class Soak:
    """Three living processes on one shelf, and a connection to each."""

    def __init__(
        self, directory: str, stack: ExitStack, web_server: Sequence[str] = COMMAND
    ) -> None:
        """`web_server`: the command that serves, a mutant in the tests."""
        self.storm = Storm(directory, seed=1, writes=1 << 60)
        self.directory = directory
        start = self.storm.process
        self._mcp = stack.enter_context(start(*COMMAND, "mcp", "--tools", "all"))
        self._web = stack.enter_context(start(*web_server, "serve", "--port", "0", "--json"))
        self._scheduler = stack.enter_context(start(*COMMAND, "schedule", "run"))
        self.living = {"mcp": self._mcp, "serve": self._web, "schedule": self._scheduler}
        send(self._mcp, {"id": 0, "method": "initialize", "params": HELLO})
        line_of(self._mcp)
        send(self._mcp, {"method": "notifications/initialized"})
        address = urlsplit(json.loads(line_of(self._web))["url"]).netloc
        self._connection = stack.enter_context(closing(HTTPConnection(address)))
        self.operations = 0

    def call(self, tool: str, **arguments: object) -> None:
        call = {"name": tool, "arguments": arguments}
        send(self._mcp, {"id": self.operations, "method": "tools/call", "params": call})
        answer = json.loads(line_of(self._mcp))
        self.operations += 1
        if "error" in answer:
            self.storm.problems.append(f"{tool}: {answer['error']}")

    def request(self, method: str, path: str, body: object = None) -> None:
        headers = {"Content-Type": "application/json"} if body else {}
        self._connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = self._connection.getresponse()
        answer.read()
        self.operations += 1
        if answer.status >= 500:
            self.storm.problems.append(f"{method} {path}: {answer.status}")

    def work(self, number: int) -> None:
        """A few operations of each door; now and then a command, a hook, a person's edit."""
        key, value = f"mcp-{number % KEYS}", f"value {number}"
        self.call("remember", nugget=NUGGET, key=key, value=value)
        self.call("recall", query=f"mcp-{(number * 7) % KEYS}")
        self.call("search_notes", query=f"value {number % 31}")
        web_key = f"web-{number % KEYS}"
        facts = f"/api/nuggets/{NUGGET}/facts"
        self.request("POST", facts, {"key": web_key, "value": value})
        self.request("GET", f"/api/search?query=value+{number % 17}")
        self.request("GET", "/api/graph")
        if number % 20 == 0:
            self.storm.run("remember", NUGGET, "command", value)
            self.kill_a_command(value)
            self.edit_an_export(value)
        if number % 50 == 0:
            self.prune_history()

    def kill_a_command(self, value: str) -> None:
        with self.storm.process(*COMMAND, "remember", NUGGET, "killed", value) as process:
            process.kill()

    def edit_an_export(self, value: str) -> None:
        """As a person would who saves in place."""
        path = os.path.join(self.directory, f"{NUGGET}.nugget.json")
        with open(path, "r+", encoding="utf-8") as file:
            shape = json.load(file)
            shape["facts"][0]["value"] = f"edited at {value}"
            file.seek(0)
            json.dump(shape, file)
            file.truncate()

    def prune_history(self) -> None:
        with closing(open_directory(self.directory)) as store:
            store.prune_history(times.iso(datetime.now(UTC) - HISTORY))

    def sample(self) -> Moment:
        found = {name: sample_process(process.pid) for name, process in self.living.items()}
        return Moment(self.operations, {**found, "disk": sample_disk(self.directory)})


def compare(moments: list[Moment]) -> Iterator[tuple[str, bool]]:
    """The second quarter beside the last one, and whether it is flat."""
    quarter = max(1, len(moments) // 4)
    parts = moments[quarter : 2 * quarter] or moments[:1], moments[-quarter:]
    began, ended = (median(moment.operations for moment in part) for part in parts)
    thousands = max(ended - began, 1) / 1000
    for name in moments[0].samples:
        samples = [[moment.samples[name] for moment in part] for part in parts]
        early, late = (median(sample.kilobytes for sample in part) for part in samples)
        opened, still_open = (median(sample.descriptors for sample in part) for part in samples)
        line = f"{name} {early / 1024:.1f} -> {late / 1024:.1f} MB"
        if name == "disk":
            yield line, late <= early * MOST_DISK_GROWTH
            continue
        line += f" ({(late - early) / thousands:.0f} KB in 1,000 operations)"
        line += f", {opened:.0f} -> {still_open:.0f} descriptors"
        has_grown = late - early > max(NOISE, MOST_KILOBYTES * thousands)
        yield line, not has_grown and still_open <= opened + MORE_DESCRIPTORS


def soak(directory: str, seconds: float, web_server: Sequence[str] = COMMAND) -> Iterator[str]:
    """Work for so long; then what it came to. Raises if anything grew, or was not in order."""
    moments: list[Moment] = []
    with ExitStack() as stack:
        work = Soak(directory, stack, web_server)
        began = time.monotonic()
        for number in count():
            work.work(number)
            if number % 10 == 0:
                moments.append(work.sample())
            if number >= LEAST_ROUNDS and time.monotonic() - began > seconds:
                break
        for process in work.living.values():
            process.terminate()
    found = list(compare(moments))
    problems = [
        *work.storm.problems,
        *(f"not flat: {line}" for line, is_flat in found if not is_flat),
    ]
    problems += disorder(directory, is_pruned=True)
    yield f"{seconds:.0f} s, {work.operations} operations of two servers, {len(moments)} samples"
    yield from (line for line, _ in found)
    if problems:
        raise NotSurvived(f"the soak was not survived: {problems}")


def main(seconds: str, directory: str = "") -> None:
    with tempfile.TemporaryDirectory() as place:
        for line in soak(directory or os.path.join(place, "shelf"), float(seconds)):
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
