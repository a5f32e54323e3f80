"""The documented files: what a command and a write pay for them, and when they are current.

    python -m benchmarks.exports [--quick] [--before SRC]

`--before`: the sources of another version, whose cold `remember` is measured in turns with ours.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from benchmarks.corpus import fill, texts
from benchmarks.gauges import cpu

Row = dict[str, Any]
ROUNDS = 15
PAUSE = 0.3  # longer than a refresher of a few thousand notes needs: it has ended
WRITES = 200
STARTS = 20
SIZES = (100, 500, 5_000, 50_000)
REFRESHED = 20_000  # notes, the most that the refresher writes, with those of the measurement
GROWTH = 1.3  # of a cold command, from the smallest shelf to the largest
START_MS = 5
CURRENT_SECONDS = 2
WRITE_P95_MS = 10


def _fill(directory: str, notes: int, env: Mapping[str, str]) -> None:
    """Fill a shelf in another process: what is measured later must not inherit its size."""
    command = [sys.executable, "-m", "benchmarks.corpus", directory, str(notes)]
    subprocess.run(command, check=True, capture_output=True, env=env)


def _wait_until_current(directory: str) -> None:
    """Until the graph shows the last change."""
    from nuggets.shelf import NuggetShelf

    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        revision = shelf.revision
    path = os.path.join(directory, "graph", "graph.json")
    while True:
        with suppress(FileNotFoundError), open(path, "rb") as file:
            if json.loads(file.readline().rstrip() + b"]}")["revision"] >= revision:
                return
        time.sleep(0.002)


# --- cold commands ----------------------------------------------------------------------------


def cold_rows(work: str, sizes: tuple[int, ...], rounds: int, before: str) -> Iterator[Row]:
    """`remember` in fresh processes: what it costs itself, and until it ends."""
    taken: dict[int, float] = {}
    sources = {"now": {}, "before": {"PYTHONPATH": before}} if before else {"now": {}}
    for notes in sizes:
        spent: dict[str, list[float]] = {name: [] for name in sources}
        clock: dict[str, list[float]] = {name: [] for name in sources}
        for name, source in sources.items():
            _fill(os.path.join(work, f"{name} {notes}"), notes, {**os.environ, **source})
        for number in range(rounds + 1):
            for name, source in sources.items():
                directory = os.path.join(work, f"{name} {notes}")
                command = [sys.executable, "-P", "-m", "nuggets", "--dir", directory, "remember"]
                began = time.perf_counter()
                used = cpu([*command, "bench", f"cold {number}", "v"], env={**os.environ, **source})
                if number:  # the first one compiles
                    clock[name].append(time.perf_counter() - began)
                    spent[name].append(used)
                time.sleep(PAUSE)
        taken[notes] = statistics.median(spent["now"])
        told = {
            name: f"{statistics.median(spent[name]) * 1e3:.0f} ms CPU, "
            f"{statistics.median(clock[name]) * 1e3:.0f} ms by the clock"
            for name in sources
        }
        yield {
            "what": f"cold `remember`, {notes:,} notes",
            "goal": "",
            "measured": told["now"],
            "baseline": f"before {told['before']}" if before else "",
        }
    growth = taken[sizes[-1]] / taken[sizes[0]]
    yield {
        "what": f"the same, {sizes[-1]:,} notes beside {sizes[0]:,}",
        "goal": f"≤ {GROWTH} ×",
        "measured": f"{growth:.2f} ×",
        "reached": growth <= GROWTH,
    }


# --- a process that lives on ------------------------------------------------------------------


def start_row(directory: str) -> Row:
    """What starting a refresher takes; each is ended before it does anything."""
    from nuggets.stores.exports import refresher

    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        refresher.start(directory, lambda: True)
        taken.append((time.perf_counter() - began) * 1e3)
        refresher.stop(directory)
    return {
        "what": "starting a refresher, median",
        "goal": f"≤ {START_MS} ms",
        "measured": f"{statistics.median(taken):.1f} ms (at most {max(taken):.1f})",
        "reached": statistics.median(taken) <= START_MS,
    }


def living_rows(directory: str, notes: int) -> Iterator[Row]:
    """Writes while files are refreshed, and how long after the last one they are current."""
    from nuggets.shelf import NuggetShelf

    with NuggetShelf(directory, project="") as shelf:
        quiet = _write_some(lambda n, text: shelf.create_note("bench", f"Quiet {n}", text))
        _wait_until_current(directory)
        shelf.remember("bench", "begins", "a refresh")
        time.sleep(0.5)  # it renders by now
        busy = _write_some(lambda n, text: shelf.create_note("bench", f"Busy {n}", text))
        lags = []
        for number in range(5):
            shelf.remember("bench", "last", f"value {time.time_ns()} {number}")
            began = time.perf_counter()
            _wait_until_current(directory)
            lags.append(time.perf_counter() - began)
    yield {
        "what": f"a write while files are refreshed, {notes:,} notes, p95",
        "goal": f"≤ {WRITE_P95_MS} ms",
        "measured": f"{busy:.1f} ms",
        "baseline": f"the first ones {quiet:.1f} ms",
        "reached": busy <= WRITE_P95_MS,
    }
    yield {
        "what": f"from the last write to current files, {notes:,} notes, median",
        "goal": f"≤ {CURRENT_SECONDS} s",
        "measured": f"{statistics.median(lags):.2f} s (at most {max(lags):.2f})",
        "reached": statistics.median(lags) <= CURRENT_SECONDS,
    }


def _write_some(write: Callable[[int, str], object]) -> float:
    """Milliseconds of a write, the 95th percentile."""
    taken = []
    for number, text in enumerate(islice(texts(seed=time.time_ns()), WRITES)):
        began = time.perf_counter()
        write(number, text.content)
        taken.append((time.perf_counter() - began) * 1e3)
        time.sleep(0.01)
    return statistics.quantiles(taken, n=20)[-1]


def rows(quick: bool, before: str = "") -> Iterator[Row]:
    work = tempfile.mkdtemp(prefix="nuggets-bench-")
    try:
        yield from cold_rows(work, SIZES[:-1] if quick else SIZES, 5 if quick else ROUNDS, before)
        notes = 2_000 if quick else REFRESHED - 1_000
        directory = os.path.join(work, "living")
        fill(directory, notes)
        yield start_row(directory)
        yield from living_rows(directory, notes)
    finally:
        shutil.rmtree(work, ignore_errors=True)  # a refresher may still be at work


def main(argv: list[str]) -> int:
    from benchmarks.__main__ import line

    parser = argparse.ArgumentParser(prog="python -m benchmarks.exports", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats")
    parser.add_argument("--before", metavar="SRC", default="", help="sources of another version")
    options = parser.parse_args(argv)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # cold starts are measured with bytecode
    all_reached = True
    for row in rows(options.quick, options.before):
        print(line(row), flush=True)
        all_reached = all_reached and row.get("reached", True)
    return 0 if all_reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
