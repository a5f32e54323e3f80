"""Stores: what a durable write costs beside SQLite, what loading costs, and what kills survive.

    python -m benchmarks.stores [--quick] [--kill-rounds N] [--power-rounds N]

Writes are measured in one process beside SQLite on the same disk in the same run. Times that
contain an fsync are wall-clock, everything else is CPU.
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.gauges import HELD, cpu

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
NOTE_BYTES = 700  # of content and metadata together, as JSON; what an agent writes in a note

Row = dict[str, Any]


@contextmanager
def _directory() -> Iterator[str]:
    path = tempfile.mkdtemp(prefix="nuggets-bench-")
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _filled(directory: str, count: int, notes_for_a_fact: int = 9) -> None:
    """A shelf of so many notes and facts, in one write."""
    from nuggets.shelf import NuggetShelf

    shelf = NuggetShelf(directory, project="")
    text = "The build of the billing service needs a running database on port 5432. "
    with shelf.batch():
        for number in range(count):
            if number % (notes_for_a_fact + 1):
                shelf.create_note("bench", f"Note {number}", f"{number}: {text * 3}")
            else:
                shelf.remember("bench", f"key {number}", f"value {number}")
    shelf.close()


# --- durable writes ---------------------------------------------------------------------------


def _seconds_per_write(write: Callable[[int], object], count: int) -> float:
    """The median, so that one slow fsync of a busy disk does not decide."""
    taken = []
    for number in range(count):
        began = time.perf_counter()
        write(number)
        taken.append(time.perf_counter() - began)
    return sorted(taken)[len(taken) // 2]


def _ours(directory: str) -> Callable[[int], object]:
    from nuggets.shelf import NuggetShelf

    shelf = NuggetShelf(directory, project="")
    shelf.remember("bench", "warm", "up")
    return lambda number: shelf.remember("bench", f"written {number}", f"value {number}")


def _sqlite(directory: str, count: int) -> Callable[[int], object]:
    database = sqlite3.connect(os.path.join(directory, "bench.db"))
    database.execute("PRAGMA journal_mode=DELETE")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT)")
    rows = ((f"key {n}", "x" * NOTE_BYTES) for n in range(count))
    database.executemany("INSERT INTO facts VALUES (?, ?)", rows)
    database.commit()

    def write(number: int) -> None:
        database.execute("INSERT INTO facts VALUES (?, ?)", (f"w {number}", "value"))
        database.commit()

    return write


def durable_writes(quick: bool) -> Iterator[Row]:
    count = 60 if quick else 300
    with _directory() as ours, _directory() as theirs:
        _filled(ours, 1_000)
        mine = _seconds_per_write(_ours(ours), count)
        sqlite = _seconds_per_write(_sqlite(theirs, 1_000), count)
    ratio = sqlite / mine
    yield {
        "what": "durable writes in one process, 1,000 notes, beside SQLite",
        "goal": "≥ 0.4 ×",
        "measured": f"{ratio:.2f} × ({1 / mine:.0f}/s)",
        "baseline": f"SQLite DELETE/FULL {1 / sqlite:.0f}/s",
        "reached": ratio >= 0.4,
    }
    times = {}
    for size in (100, 10_000):
        with _directory() as place:
            _filled(place, size)
            times[size] = _seconds_per_write(_ours(place), count)
    ratio = times[10_000] / times[100]
    yield {
        "what": "one durable write, warm, 10,000 notes",
        "goal": "≤ 3 × at 100",
        "measured": f"{ratio:.2f} × ({times[10_000] * 1e3:.2f} ms)",
        "baseline": f"at 100 notes {times[100] * 1e3:.2f} ms",
        "reached": ratio <= 3,
    }


# --- cold commands ----------------------------------------------------------------------------


def cold_commands(quick: bool) -> Iterator[Row]:
    repeats = 10 if quick else 30
    with _directory() as place:
        _filled(place, 100, notes_for_a_fact=0)
        nuggets = [os.path.join(os.path.dirname(sys.executable), "nuggets"), "--dir", place]
        tries = range(repeats)
        remembering = [*nuggets, "remember", "bench", "cold"]
        nothing = min(cpu([sys.executable, "-c", "pass"]) for _ in tries)
        remember = min(cpu([*remembering, f"value {number}"]) for number in tries)
        numpy = min(cpu([sys.executable, "-c", "import numpy"]) for _ in tries)
        recall = min(cpu([*nuggets, "recall", "key 70"]) for _ in tries)
    yield {
        "what": "cold `nuggets remember`, 100 facts, CPU",
        "goal": "≤ 5 × python",
        "measured": f"{remember / nothing:.2f} × ({remember * 1e3:.0f} ms)",
        "baseline": f"python -c pass {nothing * 1e3:.0f} ms",
        "reached": remember / nothing <= 5,
    }
    yield {
        "what": "cold `nuggets recall`, 100 facts, CPU",
        "goal": "≤ 1.6 × numpy",
        "measured": f"{recall / numpy:.2f} × ({recall * 1e3:.0f} ms)",
        "baseline": f"import numpy {numpy * 1e3:.0f} ms",
        "reached": recall / numpy <= 1.6,
    }
    yield from _fsyncs()


def _fsyncs() -> Iterator[Row]:
    if shutil.which("strace") is None:
        return
    with _directory() as place:
        _filled(place, 100)
        nuggets = os.path.join(os.path.dirname(sys.executable), "nuggets")
        command = [sys.executable, nuggets, "remember", "bench", "k", "v", "--dir", place]
        trace = os.path.join(place, "trace")
        traced = ["strace", "-f", "-o", trace, "-e", "trace=fsync,fdatasync,sync_file_range"]
        done = subprocess.run([*traced, *command], capture_output=True, check=False)
        if done.returncode:
            return
        with open(trace, encoding="utf-8") as file:
            count = sum("sync(" in line for line in file)
    yield {
        "what": "fsyncs of one `nuggets remember`",
        "goal": "1",
        "measured": str(count),
        "reached": count == 1,
    }


# --- loading ----------------------------------------------------------------------------------

LOAD = f"""{HELD}
import sys, time
from nuggets.shelf import NuggetShelf
before, began = held("VmRSS"), time.process_time()
shelf = NuggetShelf(sys.argv[1], project="")
shelf._rhythm.store.read(0)
took = time.process_time() - began
print(took, held("VmRSS") - before, held("VmHWM"))
"""


def loading(quick: bool) -> Iterator[Row]:
    for size in (10_000,) if quick else (10_000, 100_000):
        with _directory() as place:
            _fill_fast(place, size)
            done = subprocess.run(
                [sys.executable, "-c", LOAD, place], check=True, capture_output=True, text=True
            )
        took, steady, peak = map(float, done.stdout.split())
        yield {
            "what": f"the store's part of loading {size:,} notes",
            "goal": "peak ≤ 800 MB",
            "measured": f"{took:.2f} CPU-s, {steady:.0f} MB kept, peak {peak:.0f} MB",
            "reached": peak <= 800,
        }


def _fill_fast(directory: str, count: int) -> None:
    """Straight into the store: the shelf's indexes are not what is measured."""
    sys.path.insert(0, TESTS)
    from store_samples import note, open_json, put

    text = "x" * 330
    store = open_json(directory, paint_seconds=600)
    put(store, *(note(n, kind="note", content=f"{n} {text}") for n in range(count)))
    store.close()


# --- many processes ---------------------------------------------------------------------------


def processes(quick: bool, kill_rounds: int | None = None) -> Iterator[Row]:
    sys.path.insert(0, TESTS)
    from fault_processes import collect, kept_keys, kill_round, start_writer

    with _directory() as place:
        began = time.monotonic()
        collect([start_writer(place, f"p{n}", 50) for n in range(8)])
        took = time.monotonic() - began
        kept = len(kept_keys(place))
    yield {
        "what": "8 processes × 50 remembers of distinct keys",
        "goal": "400 kept",
        "measured": f"{kept} kept in {took:.1f} s",
        "reached": kept == 400,
    }
    rounds = kill_rounds or (5 if quick else 100)
    moments = random.Random(1)
    written, lost, unequal, slowest, litter = 0, 0, 0, 0.0, 0
    with _directory() as place:
        for number in range(rounds):
            if number % 10 == 0:
                store = os.path.join(place, str(number))
            outcome = kill_round(store, f"r{number}", moments.uniform(0, 0.3))
            written += len(outcome.acknowledged)
            lost += len(outcome.lost)
            unequal += not outcome.agree
            litter += len(outcome.litter)
            slowest = max(slowest, outcome.seconds_to_next_write)
    yield {
        "what": f"kill -9 at random, {rounds} rounds, 4 writers",
        "goal": "0 lost",
        "measured": f"{lost} of {written} lost, files disagree {unequal} ×, {litter} leftovers, "
        f"next write ≤ {slowest:.2f} s",
        "reached": not (lost or unequal or litter) and slowest < 5,
    }


def power_cuts(rounds: int) -> Iterator[Row]:
    sys.path.insert(0, TESTS)
    from fault_power import NoPowerCuts, power_cut_round

    options = ("commit=5", "commit=1", "data=writeback,noauto_da_alloc,commit=1", "commit=1000")
    moments = random.Random(1)
    written, lost, unequal = 0, 0, 0
    try:
        for number in range(rounds):
            with _directory() as place:
                outcome = power_cut_round(
                    place, moments.uniform(0.1, 0.5), options[number % len(options)]
                )
            written += len(outcome.acknowledged)
            lost += len(outcome.lost)
            unequal += not outcome.agree
    except NoPowerCuts as reason:
        print(f"  power cuts left out: {reason}")
        return
    yield {
        "what": f"power cuts at random, {rounds} rounds, 2 writers, 4 sets of mount options",
        "goal": "0 lost",
        "measured": f"{lost} of {written} lost, files disagree {unequal} ×",
        "reached": not (lost or unequal),
    }


def rows(
    quick: bool, kill_rounds: int | None = None, power_rounds: int | None = None
) -> Iterator[Row]:
    yield from durable_writes(quick)
    yield from cold_commands(quick)
    yield from loading(quick)
    yield from processes(quick, kill_rounds)
    yield from power_cuts(power_rounds or (2 if quick else 20))


def main(argv: list[str]) -> int:
    from benchmarks.__main__ import line

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kill-rounds", type=int)
    parser.add_argument("--power-rounds", type=int)
    options = parser.parse_args(argv)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    reached = True
    for row in rows(options.quick, options.kill_rounds, options.power_rounds):
        print(line(row), flush=True)
        reached = reached and row["reached"]
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
