"""Agents over three weeks, as one report; of its parts, what hooks and the MCP server cost is here.

    python -m benchmarks.agents [--quick] [--json FILE]      everything
    python -m benchmarks agents                              costs alone

Hooks: CPU-milliseconds of fresh processes, beside `python -c pass` and `python -c "import numpy"`.
MCP: milliseconds from spawn to the answer, beside the SDK's own minimal server, in turns.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

from benchmarks.gauges import cpu
from nuggets.interfaces.hooks.prompt_context import prompt_context
from nuggets.interfaces.mcp.server import ALL_TOOLS
from nuggets.shelf import NuggetShelf

PYTHON = sys.executable
Row = dict[str, Any]
MINIMAL_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("minimal")
@server.tool()
def add(a: int, b: int) -> int:
    return a + b
server.run("stdio")
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
AREAS = ("auth", "billing", "cache", "deploy", "email", "gateway", "invoice", "login", "queue")
THINGS = ("handler", "retry", "timeout", "schema", "token", "worker", "migration", "webhook")
VERBS = ("uses", "needs", "calls", "skips", "checks", "stores", "signs", "rejects", "batches")
STRANGE = (
    "thanks, that looks great",
    "write a haiku about autumn leaves",
    "what is the capital of Mongolia?",
    "please continue",
    "can you make the button a bit larger on small screens",
    "my grandmother's soup recipe calls for leeks",
    "explain the difference between a monad and a functor",
    "yes do it",
)


def filled(directory: str, project: str, count: int) -> None:
    """A shelf as one looks after months: notes of some areas, no two alike."""
    random = Random(count)
    with NuggetShelf(directory, project=project) as shelf, shelf.batch():
        for number in range(count):
            area, thing = random.choice(AREAS), random.choice(THINGS)
            other, verb = random.choice(AREAS), random.choice(VERBS)
            shelf.create_note(
                "project",
                f"{area} {thing} {number}",
                f"The {area} {thing} {verb} the {other} {random.choice(THINGS)} in "
                f"src/{area}/{thing}_{number}.py, line {random.randrange(400)}.",
                [area],
            )


def hook(event: str, directory: str, sent: dict[str, Any], times: int) -> float:
    """What one call of a hook costs."""
    command = [PYTHON, "-m", "nuggets", "hook", event]
    environ = {**os.environ, "NUGGETS_DIR": directory, "NUGGETS_HOOK_SECONDS": "20"}
    return cpu_ms(command, times, input=json.dumps(sent).encode(), env=environ)


def cpu_ms(command: list[str], times: int, **how: Any) -> float:
    """The median of several fresh processes."""
    return 1000 * statistics.median(cpu(command, **how) for _ in range(times))


def hook_rows(quick: bool) -> Iterator[Row]:
    """Costs of hooks as multiples of what Python and NumPy cost by themselves."""
    times = 3 if quick else 9
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    nothing = cpu_ms([PYTHON, "-c", "pass"], times, env=environ)
    numpy = cpu_ms([PYTHON, "-c", "import numpy"], times, env=environ)
    for count, most in ((1000, 3),) if quick else ((1000, 3), (10_000, 7)):
        with tempfile.TemporaryDirectory() as place:
            project = os.path.join(place, "repository")
            os.makedirs(os.path.join(project, ".git"))
            directory = os.path.join(place, "shelf")
            filled(directory, os.path.join(project, ".git"), count)
            sent = {"session_id": "s", "cwd": project, "prompt": "how does the auth token expire?"}
            touched = {"tool_name": "Edit", "tool_input": {"file_path": f"{project}/a.py"}, **sent}
            for event, given, base, goal in (
                ("user-prompt", sent, numpy, most),
                ("session-start", sent, numpy, most),
                ("post-tool", touched, nothing, 5),
            ):
                cost = hook(event, directory, given, times)
                beside = "import numpy" if base is numpy else "python -c pass"
                yield row(
                    f"hook {event}, cold, {count} notes, CPU",
                    cost / base,
                    goal,
                    f"{beside} {base:.0f} ms",
                )
            answers = noise(directory, project)
            yield row(f"prompts on other topics that get noise, {count} notes", answers, 0)


def daily_pass_rows(quick: bool) -> Iterator[Row]:
    """What a hook on a prompt costs when it starts the daily clean-up, beside one that does not."""
    usual, starting = [], []
    with tempfile.TemporaryDirectory() as place:
        project = os.path.join(place, "repository")
        os.makedirs(os.path.join(project, ".git"))
        directory = os.path.join(place, "shelf")
        filled(directory, os.path.join(project, ".git"), 1000)
        with NuggetShelf(directory, project=os.path.join(project, ".git")) as shelf:
            shelf.create_note("project", "Expiry of sessions", "Sessions expire after 15 minutes.")
        with open(os.path.join(directory, "config.toml"), "w", encoding="utf-8") as file:
            file.write("reflection_hour = 0\nquiet_hours_start = -1\n")
        sent = {"cwd": project, "prompt": "what is the expiry of sessions?"}
        stamp = os.path.join(directory, "hooks", "daily")
        for number in range(3 if quick else 15):
            with suppress(FileNotFoundError):
                os.unlink(stamp)  # a new day
            starting.append(_prompt_seconds(directory, {**sent, "session_id": f"a{number}"}))
            assert os.path.exists(stamp), "the hook started no clean-up"
            _wait_for_daily_pass(directory)
            usual.append(_prompt_seconds(directory, {**sent, "session_id": f"b{number}"}))
    for place_of, measure in enumerate(("until the answer", "until it ends", "CPU")):
        before = statistics.median(each[place_of] for each in usual)
        with_start = statistics.median(each[place_of] for each in starting)
        yield row(
            f"hook on a prompt that starts the daily clean-up, {measure}",
            with_start / before,
            2,
            f"without {1000 * before:.0f} ms",
        )


def _prompt_seconds(directory: str, sent: dict[str, Any]) -> tuple[float, float, float]:
    """Seconds until the answer and until the hook ends, and its CPU-seconds."""
    environ = {**os.environ, "NUGGETS_DIR": directory, "NUGGETS_HOOK_SECONDS": "20"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(
        [PYTHON, "-m", "nuggets", "hook", "user-prompt"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environ,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(sent).encode())
        process.stdin.close()
        assert process.stdout.readline(), "the prompt gets no note"
        answered = time.perf_counter() - start
        process.wait()
    ended = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return answered, ended, used


def _wait_for_daily_pass(directory: str) -> None:
    """Wait until no other process works on this shelf, so that it does not slow the next hook."""
    while directory in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout:
        time.sleep(0.05)


def row(what: str, measured: float, goal: float, baseline: str = "") -> Row:
    """A multiple, or a count, that shall not exceed its goal."""
    unit = " ×" if baseline else ""
    return {
        "what": what,
        "goal": f"≤ {goal:g}{unit}",
        "measured": f"{measured:.2f}{unit}" if baseline else f"{measured:g}",
        "baseline": baseline,
        "reached": measured <= goal,
    }


def noise(directory: str, project: str) -> int:
    """How many prompts about other things get an answer."""
    with NuggetShelf(directory, project=os.path.join(project, ".git")) as shelf:
        return sum(bool(prompt_context(shelf, prompt, frozenset(), "")[0]) for prompt in STRANGE)


def answered(command: list[str], environ: dict[str, str]) -> tuple[float, float]:
    """Milliseconds from spawn to the answers to initialize and to tools/list."""
    begun = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        initialized = time.perf_counter()
        for message in (
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        listed = time.perf_counter()
        process.stdin.close()
    return 1000 * (initialized - begun), 1000 * (listed - begun)


def server_rows(quick: bool) -> Iterator[Row]:
    """Start of the MCP server beside the smallest one that the SDK can make, in turns."""
    with tempfile.TemporaryDirectory() as directory:
        environ = {**os.environ, "NUGGETS_DIR": directory}
        minimal, ours = [], []
        for _ in range(3 if quick else 9):
            minimal.append(answered([PYTHON, "-c", MINIMAL_SERVER], environ))
            ours.append(answered([PYTHON, "-m", "nuggets", "mcp"], environ))
    for index, name in enumerate(("initialize", "tools/list")):
        base = statistics.median(pair[index] for pair in minimal)
        taken = statistics.median(pair[index] for pair in ours)
        yield row(f"spawn to answered {name}", taken / base, 1.3, f"minimal {base:.0f} ms")


def list_row() -> Row:
    """Tokens of the whole list of tools, at four characters each."""
    shapes = [tool.listed.model_dump(by_alias=True, exclude_none=True) for tool in ALL_TOOLS]
    tokens = len(json.dumps(shapes, separators=(",", ":"))) / 4
    return row("tokens of the list of all tools", round(tokens), 2500)


def rows(quick: bool) -> list[Row]:
    """All measurements, goals and baselines."""
    return [
        *hook_rows(quick),
        *daily_pass_rows(quick),
        *server_rows(quick),
        list_row(),
    ]


def main() -> int:
    """Measure what a user of agents notices, print, and keep if asked."""
    from benchmarks.__main__ import DAILY_USE
    from benchmarks.__main__ import main as table

    return table([*DAILY_USE, "agents", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
