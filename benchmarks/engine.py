"""The engine: what a cold process costs from the first note to the millionth, and what it holds.

    python -m benchmarks.engine [--quick] [--large]

Cold commands: CPU-milliseconds of fresh processes, the median of 15 in turns with their baselines
(`import numpy`, SQLite's full-text index over the same texts), on shelves of 100 to 100,000 notes
of 700 bytes; `--large` adds 1,000,000. Times that contain an fsync are wall-clock, everything else
is CPU.
"""

import argparse
import json
import math
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple

import benchmarks
import nuggets
from benchmarks import living
from benchmarks.corpus import NUGGETS, fill_rates, questions, texts
from benchmarks.gauges import cpu, peak_mb

Row = dict[str, Any]
ROUNDS = 15
NOTE = "The build of the billing service needs a running database on port 5432. " * 9

# Goals: as ratios to `import numpy`, by the number of notes
COLD_GOALS: Mapping[str, Mapping[int, float]] = {
    "remember": {100_000: 0.8},
    "note add": {100_000: 0.8},
    "recall": {100: 0.7, 100_000: 0.8},
    "search": {1_000: 0.9, 10_000: 1.0, 100_000: 1.3},
    "prompt hook": {1_000: 1.0, 10_000: 1.1, 100_000: 1.4},
}
GROWTH = 1.3  # at most, of a write from 100 notes to 100,000
WRITES = ("remember", "note add")
EXPONENTS = {"remember": 0.1, "note add": 0.1, "recall": 0.1, "search": 0.1, "prompt hook": 0.1}
EXPONENTS_LARGE = {**EXPONENTS, "search": 0.25, "prompt hook": 0.25}
PEAK_MB = 60


class Shelf(NamedTuple):
    """A filled one, with a full-text index of SQLite over the same texts beside it."""

    notes: int
    directory: str
    full_text: str
    filled: Mapping[str, float]  # what was measured on the way


# --- shelves ----------------------------------------------------------------------------------


def shelf_of(work: str, notes: int) -> Shelf:
    """Filled by another process: what is measured later must not inherit its size."""
    directory, full_text = os.path.join(work, str(notes)), os.path.join(work, f"{notes}.db")
    command = [sys.executable, "-m", "benchmarks.corpus", directory, str(notes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    database = sqlite3.connect(full_text, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE VIRTUAL TABLE notes USING fts5(title, content, tokenize='porter')")
    database.execute("BEGIN")
    rows = ((text.title, text.content) for text in islice(texts(), notes))
    database.executemany("INSERT INTO notes VALUES (?, ?)", rows)
    database.execute("COMMIT")
    database.close()
    return Shelf(notes, directory, full_text, json.loads(done.stdout))


# --- cold commands ----------------------------------------------------------------------------

FULL_TEXT_SEARCH = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
words = " OR ".join(sys.argv[2].split())
sql = "SELECT title, content FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT 5"
for title, content in database.execute(sql, (words,)):
    print(title, content[:80])
"""
FULL_TEXT_ADD = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA synchronous = FULL")
with database:
    database.execute("INSERT INTO notes VALUES (?, ?)", sys.argv[2:4])
"""

Command = Callable[[int], tuple[Sequence[str], bytes]]  # for a round: its words and its input


def commands(shelf: Shelf) -> dict[str, Command]:
    """What is measured, and what it is measured beside."""
    ours = [os.path.join(os.path.dirname(sys.executable), "nuggets"), "--dir", shelf.directory]
    fact = f"{next(texts()).title.split()[0]} port 0"
    asked = questions(ROUNDS + 1)
    python = [sys.executable, "-c"]

    def prompt(number: int) -> tuple[Sequence[str], bytes]:
        sent = {"session_id": f"s{number}", "cwd": os.getcwd(), "prompt": f"{asked[number]}?"}
        return [*ours, "hook", "user-prompt"], json.dumps(sent).encode()

    return {
        "import numpy": lambda n: ([*python, "import numpy"], b""),
        "remember": lambda n: ([*ours, "remember", "bench", f"cold {n}", "value"], b""),
        "note add": lambda n: ([*ours, "note", "add", "bench", f"Cold {n}", NOTE], b""),
        "recall": lambda n: ([*ours, "recall", fact, "--nugget", NUGGETS[0]], b""),
        "search": lambda n: ([*ours, "search", asked[n]], b""),
        "prompt hook": prompt,
        "FTS5 search": lambda n: ([*python, FULL_TEXT_SEARCH, shelf.full_text, asked[n]], b""),
        "FTS5 add": lambda n: ([*python, FULL_TEXT_ADD, shelf.full_text, f"Cold {n}", NOTE], b""),
    }


def environment(work: str) -> dict[str, str]:
    """Nobody's settings, project or threads; and the very program that is measured here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUGGETS_")}
    more = {
        "HOME": work,
        "OPENBLAS_NUM_THREADS": "1",
        "NUGGETS_HOOK_SECONDS": "20",
        "MEMORY_REFLECTION_DAILY": "0",  # else a hook starts the clean-up beside what is measured
    }
    return {**kept, **more, "PYTHONPATH": os.pathsep.join((_above(nuggets), _above(benchmarks)))}


def _above(package: ModuleType) -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(package.__file__ or "")))


def cold_costs(shelf: Shelf, work: str, rounds: int) -> dict[str, float]:
    """CPU-milliseconds of each, the median of several in turns; the first only compiles."""
    measured: dict[str, list[float]] = {}
    env = environment(work)
    for number in range(rounds + 1):
        for name, command in commands(shelf).items():
            words, given = command(number)
            taken = cpu(words, input=given, env=env, cwd=work, stderr=subprocess.DEVNULL)
            if number:
                measured.setdefault(name, []).append(taken * 1e3)
    return {name: statistics.median(taken) for name, taken in measured.items()}


def cold_rows(shelf: Shelf, costs: Mapping[str, float]) -> Iterator[Row]:
    numpy = costs["import numpy"]
    for name, goals in COLD_GOALS.items():
        beside = "FTS5 add" if name in WRITES else "FTS5 search"
        goal = goals.get(shelf.notes)
        ratio = costs[name] / numpy
        yield {
            "what": f"cold {name}, {shelf.notes:,} notes, CPU",
            "goal": f"≤ {goal} × numpy" if goal else "",
            "measured": f"{ratio:.2f} × ({costs[name]:.0f} ms)",
            "baseline": f"import numpy {numpy:.0f} ms, {beside} {costs[beside]:.0f} ms",
            **({"reached": ratio <= goal} if goal else {}),
        }


def peak_rows(shelf: Shelf, work: str) -> Iterator[Row]:
    found = {}
    for name, command in commands(shelf).items():
        if name in COLD_GOALS:
            words, given = command(0)
            found[name] = peak_mb(words, input=given, env=environment(work), cwd=work)
    most = max(found, key=lambda name: found[name])
    yield {
        "what": f"memory of cold commands, {shelf.notes:,} notes",
        "goal": f"≤ {PEAK_MB} MB" if shelf.notes == 100_000 else "",
        "measured": f"{found[most]:.0f} MB ({most})",
        **({"reached": found[most] <= PEAK_MB} if shelf.notes == 100_000 else {}),
    }


def growth_rows(costs: Mapping[int, Mapping[str, float]]) -> Iterator[Row]:
    """How costs grow with the number of notes."""
    sizes = sorted(costs)
    largest = sizes[-1]
    for name in WRITES:
        ratio = costs[min(largest, 100_000)][name] / costs[sizes[0]][name]
        yield {
            "what": f"cold {name}, {min(largest, 100_000):,} notes beside {sizes[0]}",
            "goal": f"≤ {GROWTH} ×",
            "measured": f"{ratio:.2f} ×",
            "reached": ratio <= GROWTH,
        }
    goals = EXPONENTS_LARGE if largest > 100_000 else EXPONENTS
    for name, goal in goals.items():
        power = exponent({size: costs[size][name] for size in sizes})
        yield {
            "what": f"growth of cold {name} to {largest:,} notes, exponent",
            "goal": f"≤ {goal}",
            "measured": f"{power:.3f}",
            "reached": power <= goal,
        }


def exponent(costs: Mapping[int, float]) -> float:
    """The slope of the line through the logarithms: cost grows like size to this power."""
    x, y = [math.log(size) for size in costs], [math.log(cost) for cost in costs.values()]
    return statistics.linear_regression(x, y).slope


# --- all --------------------------------------------------------------------------------------


def sizes_of(quick: bool, large: bool) -> list[int]:
    if quick:
        return [100, 1_000, 10_000]
    return [100, 1_000, 10_000, 100_000, *([1_000_000] if large else [])]


def rows(quick: bool, large: bool = False) -> Iterator[Row]:
    work = tempfile.mkdtemp(prefix="nuggets-bench-")
    costs: dict[int, dict[str, float]] = {}
    try:
        for notes in sizes_of(quick, large):
            shelf = shelf_of(work, notes)
            yield from fill_rates(shelf.filled)
            costs[notes] = cold_costs(shelf, work, 3 if quick else ROUNDS)
            yield from cold_rows(shelf, costs[notes])
            yield from peak_rows(shelf, work)
            yield from living.rows(shelf.directory, notes, environment(work))
            shutil.rmtree(shelf.directory)
        yield from growth_rows(costs)
    finally:
        shutil.rmtree(work)


def main(argv: list[str]) -> int:
    from benchmarks.__main__ import line

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="to 10,000 notes, 3 rounds")
    parser.add_argument("--large", action="store_true", help="to 1,000,000 notes; takes an hour")
    options = parser.parse_args(argv)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    reached = True
    for row in rows(options.quick, options.large):
        print(line(row), flush=True)
        reached = reached and row.get("reached", True)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
