"""Stores: what many processes, kills and power cuts leave, and how often writes wait for the disk.

    python -m benchmarks.stores [--quick] [--kill-rounds N] [--power-rounds N]

What writing and reading cost is measured in `benchmarks.engine`.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")

Row = dict[str, Any]


@contextmanager
def _directory() -> Iterator[str]:
    path = tempfile.mkdtemp(prefix="nuggets-bench-")
    try:
        yield path
    finally:
        shutil.rmtree(path)


# --- waiting for the medium -------------------------------------------------------------------

COUNT_SYNCS = """
import ctypes, sys
from nuggets.shelf import NuggetShelf
shim, directory = ctypes.CDLL(None), sys.argv[1]

def remember(shelf, value):
    shelf.remember("bench", "key", value)

def remember_cold(value):
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        remember(shelf, value)

def syncs(work, *arguments):
    shim.shim_arm(directory.encode(), 0, 0)
    work(*arguments)
    return shim.shim_syncs()

shim.shim_arm(directory.encode(), 0, 0)  # files are known from here on
with NuggetShelf(directory, project="") as living:
    remember(living, "first")
    print(syncs(remember, living, "second"))
    print(syncs(living.recall, "key"))
    print(syncs(remember_cold, "third"))
print(syncs(remember_cold, "fourth"))
"""
SYNCS = (
    ("a write of a living process", 1),
    ("a recall", 0),
    ("a cold write beside a living process", 2),
    ("a cold write of the only process, log begun and closed", 5),
)


def fsyncs() -> Iterator[Row]:
    compiler = shutil.which("cc")
    if compiler is None:
        print("  fsyncs left out: there is no C compiler")
        return
    with _directory() as place:
        library, source = os.path.join(place, "shim.so"), os.path.join(TESTS, "faults", "shim.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        command = [sys.executable, "-c", COUNT_SYNCS, os.path.join(place, "shelf")]
        done = subprocess.run(
            command,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LD_PRELOAD": library},
        )
    for (what, most), count in zip(SYNCS, map(int, done.stdout.split()), strict=True):
        yield {
            "what": f"fsyncs of {what}",
            "goal": f"≤ {most}",
            "measured": str(count),
            "reached": count <= most,
        }


# --- many processes ---------------------------------------------------------------------------


def processes(quick: bool, kill_rounds: int | None = None) -> Iterator[Row]:
    sys.path.insert(0, TESTS)
    from fault_processes import collect, kept_keys, kill_round, start_writer

    with _directory() as place:
        began = time.monotonic()
        collect([start_writer(place, f"p{n}", 25) for n in range(16)])
        took = time.monotonic() - began
        kept = len(kept_keys(place))
    yield {
        "what": "16 processes × 25 remembers of distinct keys",
        "goal": "400 kept",
        "measured": f"{kept} kept in {took:.1f} s",
        "reached": kept == 400,
    }
    rounds = kill_rounds or (5 if quick else 100)
    moments = random.Random(1)
    written, lost, problems, slowest = 0, 0, 0, 0.0
    with _directory() as place:
        for number in range(rounds):
            if number % 10 == 0:
                store = os.path.join(place, str(number))
            outcome = kill_round(store, f"r{number}", moments.randint(0, 20))
            written += len(outcome.acknowledged)
            lost += len(outcome.lost)
            problems += len(outcome.problems)
            slowest = max(slowest, outcome.seconds_to_next_write)
    yield {
        "what": f"kill -9 at random, {rounds} rounds, 4 writers",
        "goal": "0 lost",
        "measured": f"{lost} of {written} lost, {problems} other problems, "
        f"next write ≤ {slowest:.2f} s",
        "reached": not (lost or problems) and slowest < 5,
    }


def power_cuts(rounds: int) -> Iterator[Row]:
    sys.path.insert(0, TESTS)
    from fault_power import NoPowerCuts, power_cut_round

    options = ("commit=5", "commit=1", "data=writeback,noauto_da_alloc,commit=1", "commit=1000")
    moments = random.Random(1)
    written, lost, problems = 0, 0, 0
    try:
        for number in range(rounds):
            with _directory() as place:
                outcome = power_cut_round(
                    place, moments.uniform(0.1, 0.5), options[number % len(options)]
                )
            written += len(outcome.acknowledged)
            lost += len(outcome.lost)
            problems += len(outcome.problems)
    except NoPowerCuts as reason:
        print(f"  power cuts left out: {reason}")
        return
    yield {
        "what": f"power cuts at random, {rounds} rounds, 3 writers, 4 sets of mount options",
        "goal": "0 lost",
        "measured": f"{lost} of {written} lost, {problems} other problems",
        "reached": not (lost or problems),
    }


def rows(
    quick: bool, kill_rounds: int | None = None, power_rounds: int | None = None
) -> Iterator[Row]:
    yield from fsyncs()
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
