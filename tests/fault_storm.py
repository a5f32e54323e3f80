"""A storm: processes of every door on one shelf, sixteen in the long form, killed and stopped.

Commands, MCP servers, web servers, hooks, schedulers and programs with threads and forks write a
little until all have been heard from, and then until enough was acknowledged. After every second
acknowledgement one of the processes is killed, or stopped for a moment. Afterwards all that was
acknowledged is there, no process has printed a traceback or ended in a way that it must not, and
the doctor finds nothing.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from itertools import count
from random import Random
from typing import IO, NamedTuple
from urllib.parse import urlsplit

from fault_processes import age_leftovers, environment, line_of, problems_in

COMMAND = (sys.executable, "-P", "-m", "nuggets")
NUGGET = "storm"
STOPPED_SECONDS = 0.3
EARLY_KEYS = 1  # of each door that was heard from, before all have been
ENDINGS = (0, 1, 2, -signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM)
ALWAYS_DUE = {  # the daily pass runs at any time of the day
    **{"MEMORY_REFLECTION_HOUR": "0", "MEMORY_REFLECTION_MINUTE": "0"},
    **{"QUIET_HOURS_START": "-1", "QUIET_HOURS_END": "-1"},
}
THREADS_AND_FORKS = """
import os, sys, threading
from nuggets.errors import NuggetsError
from nuggets.shelf import NuggetShelf
directory, name, count = sys.argv[1:]

def write(shelf, key):
    try:
        shelf.remember("storm", key, f"value of {key}")
    except NuggetsError:
        return
    os.write(1, f"{key}\\n".encode())

def work(thread):
    for number in range(int(count)):
        write(shelf, f"{name}-t{thread}-{number}")

shelf = NuggetShelf(directory, project="", short_lived=True)  # no thread in the background
for number in range(int(count)):
    write(shelf, f"{name}-p-{number}")
    child = os.fork()  # before there are threads: they may hold locks that a child needs
    if not child:
        write(NuggetShelf(directory, project=""), f"{name}-f-{number}")
        os._exit(0)
    os.waitpid(child, 0)
threads = [threading.Thread(target=work, args=(thread,)) for thread in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
shelf.close()
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "storm", "version": "1"},
}


class StormOutcome(NamedTuple):
    """What a storm showed."""

    acknowledged: int
    lost: list[str]
    problems: list[str]
    kills: int
    stops: int
    processes: int

    def __str__(self) -> str:
        return (
            f"{self.processes} processes, {self.kills} killed, {self.stops} stopped: "
            f"{len(self.lost)} of {self.acknowledged} acknowledged writes lost, "
            f"{len(self.problems)} problems"
        )


class Storm:
    """Processes on one shelf, and what was acknowledged."""

    def __init__(self, directory: str, seed: int, writes: int) -> None:
        self.directory = directory
        self.chance = Random(seed)
        self.writes = writes
        self.present: set[str] = set()  # acknowledged, and nobody asked to forget them
        self.absent: set[str] = set()  # acknowledged as forgotten
        self.problems: list[str] = []
        self.kills = self.stops = self.started = self.acknowledged = 0
        self.is_enough = threading.Event()
        self._has_begun = threading.Event()  # all doors that acknowledge something have done so
        self._living: dict[int, tuple[subprocess.Popen[str], str]] = {}  # and by which door
        self._heard_from: set[str] = set()  # which doors acknowledged something
        self._lock = threading.RLock()
        self._environment = environment(
            **ALWAYS_DUE, NUGGETS_DIR=directory, NUGGETS_HOOK_SECONDS="60"
        )

    @contextmanager
    def process(
        self, *command: str, variables: Mapping[str, str] | None = None
    ) -> Iterator["subprocess.Popen[str]"]:
        """A process in the storm, until the block ends; what it complained of is looked at."""
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**self._environment, **(variables or {})},
            )
            with self._lock:
                self.started += 1
                self._living[process.pid] = process, threading.current_thread().name
            try:
                with suppress(BrokenPipeError), process:
                    yield process
            finally:
                with self._lock:
                    del self._living[process.pid]
                self._examine(command, process.returncode, errors)

    def _examine(self, command: tuple[str, ...], code: int, errors: IO[str]) -> None:
        errors.seek(0)
        complaint = errors.read()
        if "Traceback" in complaint or code not in ENDINGS:
            self.problems.append(f"{command[3:]} ended with {code}: {complaint[-500:]}")
            self.end()  # else a door that never opens would be waited for

    def run(self, *arguments: str, text: str = "") -> int:
        """One command; its exit code."""
        with self.process(*COMMAND, *arguments) as process:
            process.communicate(text)
        return process.returncode

    def keys(self, name: str) -> Iterator[str]:
        """A key at a time, until enough was acknowledged; the first ones without waiting for doors
        that take longer to open."""
        for number in count():
            if number >= EARLY_KEYS and self._is_heard(name):
                self._has_begun.wait()
            if self.is_enough.is_set():
                return
            yield f"{name}-{number}"

    def _is_heard(self, name: str) -> bool:
        """Has this door acknowledged something, if it ever does?"""
        door = name.split("-")[0]
        return door in self._heard_from or door not in ACKNOWLEDGING

    def end(self) -> None:
        self.is_enough.set()
        self._has_begun.set()

    def acknowledge(self, *keys: str) -> None:
        with self._lock:
            self.present.update(keys)
            self.acknowledged += len(keys)
            self._heard_from.update(key.split("-")[0] for key in keys)
            if self._has_begun.is_set():
                self.writes -= len(keys)
            if self._heard_from == ACKNOWLEDGING:
                self._has_begun.set()
            if self.writes <= 0:
                self.end()
            elif self.acknowledged % 2 == 0:
                self._disturb()

    def _disturb(self) -> None:
        """Kill a process, or stop it for a moment; not before its door has been heard from once,
        because a server that is always killed while it starts shows nothing."""
        spared = ACKNOWLEDGING - self._heard_from
        victims = [process for process, door in self._living.values() if door not in spared]
        victim = self.chance.choice(victims) if victims else None
        if victim is None or victim.poll() is not None:
            return
        if self.chance.random() < 0.5:
            victim.kill()
            self.kills += 1
        else:
            victim.send_signal(signal.SIGSTOP)
            self.stops += 1
            threading.Timer(STOPPED_SECONDS, victim.send_signal, [signal.SIGCONT]).start()

    def forget(self, key: str) -> None:
        """From the moment on that someone asks for it, it may be there or not."""
        with self._lock:
            self.present.discard(key)
        if self.run("forget", NUGGET, key) == 0:
            self.absent.add(key)


Door = Callable[[Storm, str], None]


def use_commands(storm: Storm, name: str) -> None:
    """Write, and now and then forget what was written."""
    for number, key in enumerate(storm.keys(name)):
        if storm.run("remember", NUGGET, key, f"value of {key}") == 0:
            storm.acknowledge(key)
            if number % 3 == 2:
                storm.forget(key)


def read_and_maintain(storm: Storm, name: str) -> None:
    memory = os.path.join(storm.directory, os.pardir, "MEMORY.md")
    commands = (
        *("recall storm", "search value", "reflect", f"promote --path {memory}", "export json"),
        *("doctor", "backup", "schedule run --once", "history", "list"),
    )
    for key in storm.keys(name):
        storm.run(*commands[int(key.rsplit("-", 1)[1]) % len(commands)].split())


def use_hooks(storm: Storm, name: str) -> None:
    """Hooks acknowledge nothing, but they never fail and answer with JSON or not at all."""
    for key in storm.keys(name):
        payload = {"session_id": key, "prompt": f"What is the value of {key}? Remember: use tabs."}
        for event in ("session-start", "user-prompt", "stop"):
            with storm.process(
                *(sys.executable, "-P", "-m", "nuggets", "hook", event),
                variables={"MEMORY_REFLECTION_DAILY": "0"},
            ) as process:
                answer = process.communicate(json.dumps(payload))[0]
            if process.returncode == 0 and answer:
                json.loads(answer)
            elif process.returncode not in (0, -signal.SIGKILL):
                storm.problems.append(f"the hook {event} ended with {process.returncode}")


def use_mcp(storm: Storm, name: str) -> None:
    """Three calls at a time, which the server answers in any order; killed, it is started again."""
    keys = storm.keys(name)
    while not storm.is_enough.is_set():
        with storm.process(*COMMAND, "mcp") as process, suppress(BrokenPipeError):
            send(process, {"id": 0, "method": "initialize", "params": HELLO})
            line_of(process)
            send(process, {"method": "notifications/initialized"})
            while process.poll() is None and not storm.is_enough.is_set():
                asked = [key for key, _ in zip(keys, range(3), strict=False)]
                for key in asked:
                    fact = {"nugget": NUGGET, "key": key, "value": f"value of {key}"}
                    call = {"name": "remember", "arguments": fact}
                    send(process, {"id": key, "method": "tools/call", "params": call})
                for _ in asked:
                    answer = json.loads(line_of(process) or "{}")
                    if "result" in answer and not answer["result"].get("isError"):
                        storm.acknowledge(answer["id"])


def send(process: "subprocess.Popen[str]", message: Mapping[str, object]) -> None:
    """A line to an MCP server."""
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def use_web(storm: Storm, name: str) -> None:
    keys = storm.keys(name)
    while not storm.is_enough.is_set():
        with storm.process(*COMMAND, "serve", "--port", "0", "--json") as process:
            announced = line_of(process)
            if announced:
                address = urlsplit(json.loads(announced)["url"]).netloc
                with suppress(OSError, HTTPException):  # it was killed
                    _post_facts(storm, address, keys)
            process.terminate()


def _post_facts(storm: Storm, address: str, keys: Iterator[str]) -> None:
    connection = HTTPConnection(address)
    try:
        for key in keys:
            body = json.dumps({"key": key, "value": f"value of {key}"})
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"/api/nuggets/{NUGGET}/facts", body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status in (200, 201):
                storm.acknowledge(key)
            elif answer.status != 503:  # busy
                storm.problems.append(f"POST was answered with {answer.status}")
    finally:
        connection.close()


def use_threads_and_forks(storm: Storm, name: str) -> None:
    for key in storm.keys(name):
        program = (sys.executable, "-c", THREADS_AND_FORKS, storm.directory, key, "2")
        with storm.process(*program) as process:
            assert process.stdout is not None
            for line in process.stdout:
                storm.acknowledge(line.strip())


def keep_schedule(storm: Storm, name: str) -> None:
    """A scheduler that lives until it is killed or the storm is over, and then another one."""
    while not storm.is_enough.is_set():
        with storm.process(*COMMAND, "schedule", "run") as process:
            while process.poll() is None and not storm.is_enough.wait(0.2):
                pass
            process.send_signal(signal.SIGCONT)
            process.kill()


SIXTEEN: tuple[Door, ...] = (
    *(use_commands, use_commands, use_commands, use_commands, use_commands),
    *(use_hooks, use_hooks, use_mcp, use_mcp, use_web, use_web, keep_schedule),
    *(read_and_maintain, read_and_maintain, use_threads_and_forks, use_threads_and_forks),
)
ONE_OF_EACH: tuple[Door, ...] = tuple(dict.fromkeys(SIXTEEN))
ACKNOWLEDGING = {door.__name__ for door in (use_commands, use_mcp, use_web, use_threads_and_forks)}


def run_storm(
    directory: str, writes: int, seed: int, doors: tuple[Door, ...] = SIXTEEN
) -> StormOutcome:
    """A storm on the shelf in a directory until so many writes were acknowledged."""
    storm = Storm(directory, seed, writes)

    def use(door: Door, name: str) -> None:
        try:
            door(storm, name)
        except Exception as problem:
            storm.problems.append(f"{name}: {type(problem).__name__}: {problem}")
            storm.end()

    threads = [
        threading.Thread(
            target=use, args=(door, f"{door.__name__}-{seed}-{number}"), name=door.__name__
        )
        for number, door in enumerate(doors)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return StormOutcome(
        storm.acknowledged,
        lost_writes(directory, storm.present, storm.absent),
        [*storm.problems, *disorder(directory)],
        storm.kills,
        storm.stops,
        storm.started,
    )


def lost_writes(directory: str, present: set[str], absent: set[str]) -> list[str]:
    """Acknowledged keys that a new process does not find as they were acknowledged."""
    from store_samples import contents, open_directory

    store = open_directory(directory)
    found = contents(store)
    store.close()
    changed = [key for key in present if found.get(key) != f"value of {key}"]
    return sorted([*changed, *(key for key in absent if key in found)])


def disorder(directory: str, *, is_pruned: bool = False) -> list[str]:
    """Whatever is not in order when all is over and someone has written since."""
    age_leftovers(directory)
    complaints = []
    for command in (f"remember {NUGGET} after all", "export json", "doctor"):
        done = subprocess.run(
            [*COMMAND, "--dir", directory, *command.split()],
            capture_output=True,
            text=True,
            check=False,
            env=environment(),
        )
        if done.returncode:
            complaints.append(f"{command}: {done.stdout}{done.stderr}")
    return complaints + problems_in(directory, access_times=False, is_pruned=is_pruned)
