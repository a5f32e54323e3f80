"""A soak: servers that work for a long time must not grow.

An MCP server, a web server and a scheduler live on one shelf and work without a pause, beside
commands and hooks, some of which are killed, and a person who edits an export. The history is kept
for a minute instead of a year, so that the disk has something to be flat about. Memory, descriptors
and disk of the last quarter are compared with those of the second.

python fault_soak.py SECONDS [DIRECTORY]
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
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
MOST_GROWTH = 1.1  # of memory and disk, from the second quarter to the last
MORE_DESCRIPTORS = 2


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


class Soak:
    """Three living processes on one shelf, and a connection to each."""

    def __init__(self, directory: str, stack: ExitStack) -> None:
        self.storm = Storm(directory, seed=1, writes=1 << 60)
        self.directory = directory
        start = self.storm.process
        self._mcp = stack.enter_context(start(*COMMAND, "mcp", "--tools", "all"))
        self._web = stack.enter_context(start(*COMMAND, "serve", "--port", "0", "--json"))
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

    def sample(self) -> dict[str, Sample]:
        found = {name: sample_process(process.pid) for name, process in self.living.items()}
        return {**found, "disk": sample_disk(self.directory)}


def compare(samples: list[dict[str, Sample]]) -> Iterator[tuple[str, bool]]:
    """The second quarter beside the last one, and whether it is flat."""
    quarter = max(1, len(samples) // 4)
    early, late = samples[quarter : 2 * quarter] or samples[:1], samples[-quarter:]
    for name in samples[0]:
        sizes = [median(found[name].kilobytes for found in part) for part in (early, late)]
        opened = [median(found[name].descriptors for found in part) for part in (early, late)]
        is_flat = sizes[1] <= sizes[0] * MOST_GROWTH and opened[1] <= opened[0] + MORE_DESCRIPTORS
        line = f"{name} {sizes[0] / 1024:.1f} -> {sizes[1] / 1024:.1f} MB"
        if name != "disk":
            line += f", {opened[0]:.0f} -> {opened[1]:.0f} descriptors"
        yield line, is_flat


def soak(directory: str, seconds: float) -> Iterator[str]:
    """Work for so long; then what it came to. Raises if anything grew, or was not in order."""
    samples: list[dict[str, Sample]] = []
    with ExitStack() as stack:
        work = Soak(directory, stack)
        began = time.monotonic()
        for number in count():
            work.work(number)
            if number % 10 == 0:
                samples.append(work.sample())
            if time.monotonic() - began > seconds:
                break
        for process in work.living.values():
            process.terminate()
    found = list(compare(samples))
    problems = [
        *work.storm.problems,
        *(f"not flat: {line}" for line, is_flat in found if not is_flat),
    ]
    problems += disorder(directory, is_pruned=True)
    yield f"{seconds:.0f} s, {work.operations} operations of two servers, {len(samples)} samples"
    yield from (line for line, _ in found)
    if problems:
        raise SystemExit(f"the soak was not survived: {problems}")


def main(seconds: str, directory: str = "") -> None:
    with tempfile.TemporaryDirectory() as place:
        for line in soak(directory or os.path.join(place, "shelf"), float(seconds)):
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
