"""The engine in a process that lives on: searches, writes while exports are refreshed, and how
many writes a second reach the medium, beside SQLite with the same settings.

    python -m benchmarks.living WHAT DIRECTORY      one measurement, in a process of its own
"""

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from benchmarks.corpus import questions, texts
from benchmarks.gauges import HELD

Row = dict[str, Any]
QUERIES = 200
WRITES = 300
MORE = 60
PAUSE = 0.01  # between writes: longer in all than exports lag behind

SEARCH_MS = {10_000: 2, 100_000: 6, 1_000_000: 40}
HELD_MB = {1_000_000: 500}
WRITE_P95_MS = 10
NEW_NOTE_MS = 10
OF_SQLITE = 0.6

Measured = dict[str, float]


def held_mb() -> float:
    names: dict[str, Any] = {}
    exec(HELD, names)
    return float(names["held"]("VmRSS"))


def searches(directory: str) -> Measured:
    """CPU-milliseconds of a search, each for other words, once the process is warm."""
    from nuggets.shelf import NuggetShelf

    asked = questions(QUERIES + 20)
    taken = []
    with NuggetShelf(directory, project="") as shelf:
        for query in asked:
            began = time.thread_time()
            shelf.search_notes(query)
            taken.append(time.thread_time() - began)
        return {"p50": statistics.median(taken[20:]) * 1e3, "held": held_mb()}


def writes(directory: str) -> Measured:
    """Milliseconds of a write, waiting for the medium, while exports are refreshed."""
    from nuggets.shelf import NuggetShelf

    taken = []
    with NuggetShelf(directory, project="") as shelf:
        for number, text in enumerate(islice(texts(seed=7), WRITES)):
            began = time.perf_counter()
            shelf.create_note("bench", f"Living {number}", text.content)
            taken.append(time.perf_counter() - began)
            time.sleep(PAUSE)
    return {"p95": statistics.quantiles(taken, n=20)[-1] * 1e3}


def new_notes(directory: str) -> Measured:
    """CPU-milliseconds from a note that is written to the search that finds it."""
    from nuggets.shelf import NuggetShelf

    taken = []
    with NuggetShelf(directory, project="") as shelf:
        shelf.search_notes("warm up")
        for number, text in enumerate(islice(texts(seed=8), MORE)):
            word = f"zq{number}xj"
            began = time.thread_time()
            note = shelf.create_note("bench", f"More {number}", f"{word} {text.content}")
            found = shelf.search_notes(word)
            taken.append(time.thread_time() - began)
            assert found[0].note.id == note.id
    return {"p50": statistics.median(taken) * 1e3}


def durable(directory: str) -> Measured:
    """Writes a second that have reached the medium, in turns with bare SQLite: one row of the same
    bytes in a table with one key, on the same file system, by the same PRAGMAs."""
    from nuggets.domain.records import MemoryNote
    from nuggets.shelf import NuggetShelf
    from nuggets.stores.sql.row_format import record_of

    ours, theirs = Spent(), Spent()
    run = time.time_ns()  # keys are new, or nothing would be written
    with tempfile.TemporaryDirectory(dir=os.path.dirname(directory)) as place:
        bare = bare_table(os.path.join(place, "bare.db"))
        with NuggetShelf(directory, project="") as shelf:
            for number in range(WRITES):
                with ours:
                    fact = shelf.remember("bench", f"written {run} {number}", f"value {number}")
                row = (fact.id, record_of(MemoryNote._make(fact)))
                with theirs:
                    bare.execute("INSERT INTO notes VALUES (?, ?)", row)
        bare.close()
    return {
        "ours": 1 / statistics.median(ours.clock),
        "sqlite": 1 / statistics.median(theirs.clock),
        "ours cpu": statistics.median(ours.cpu) * 1e6,
        "sqlite cpu": statistics.median(theirs.cpu) * 1e6,
    }


def bare_table(path: str) -> sqlite3.Connection:
    """A table of records by id, kept as durably as a shelf."""
    from nuggets.stores.sqlite.database import DURABLE, WRITE_AHEAD_LOG

    bare = sqlite3.connect(path, isolation_level=None)
    for pragma in (WRITE_AHEAD_LOG, DURABLE):
        bare.execute(f"PRAGMA {pragma}")
    bare.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, record TEXT NOT NULL)")
    return bare


def split(directory: str) -> Measured:
    """CPU-microseconds of the parts of a durable write, the median of many; the parts of `taking
    the lock` and `writing` follow them."""
    from nuggets.operations.operation_changes import OperationChanges
    from nuggets.search.search_index import SearchIndex
    from nuggets.shelf import NuggetShelf
    from nuggets.stores.exports import Exports
    from nuggets.stores.sql.commit_writer import CommitWriter
    from nuggets.stores.sql.store import Store
    from nuggets.stores.sqlite.database import Database

    parts: dict[str, Spent] = {}
    for name, owner, method in (
        ("taking the lock", Store, "_take_lock"),
        ("looking for edited files", Exports, "import_edits"),
        ("deciding", OperationChanges, "remember"),
        ("writing", Store, "_write_commit"),
        ("note and before-image", CommitWriter, "apply"),
        ("search index", SearchIndex, "update"),
        ("commit", Database, "commit"),
        ("releasing the lock", Store, "_release_lock"),
    ):
        parts[name] = Spent()
        setattr(owner, method, _counted(getattr(owner, method), parts[name]))
    parts["all"], run = Spent(), time.time_ns()
    sums: dict[str, list[float]] = {name: [] for name in parts}  # one for each write
    with NuggetShelf(directory, project="") as shelf:
        for number in range(WRITES):
            for spent in parts.values():
                spent.cpu.clear()
            with parts["all"]:
                shelf.remember("bench", f"split {run} {number}", f"value {number}")
            for name, spent in parts.items():
                sums[name].append(sum(spent.cpu))
    return {name: statistics.median(times) * 1e6 for name, times in sums.items()}


def _counted(function: Callable[..., Any], spent: "Spent") -> Callable[..., Any]:
    def counted(*arguments: Any, **options: Any) -> Any:
        with spent:
            return function(*arguments, **options)

    return counted


class Spent:
    """Seconds by the clock and of the processor, each time that it is entered from outside."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.cpu: list[float] = []
        self._began: list[tuple[float, float]] = []

    def __enter__(self) -> None:
        self._began.append((time.perf_counter(), time.thread_time()))

    def __exit__(self, *problem: object) -> None:
        clock, cpu = self._began.pop()
        if not self._began:
            self.clock.append(time.perf_counter() - clock)
            self.cpu.append(time.thread_time() - cpu)


# --- as rows ----------------------------------------------------------------------------------

MEASUREMENTS: Mapping[str, Callable[[str], Measured]] = {
    "searches": searches,
    "new notes": new_notes,
    "durable": durable,
    "split": split,
    "writes": writes,
}


def rows(directory: str, notes: int, env: Mapping[str, str]) -> Iterator[Row]:
    """For a filled shelf, each measurement in a process of its own."""
    if notes < 10_000:
        return

    def measured(what: str) -> Measured:
        command = [sys.executable, "-m", "benchmarks.living", what, directory]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=dict(env))
        found: Measured = json.loads(done.stdout)
        return found

    yield from _search_rows(notes, measured("searches"))
    took = measured("new notes")["p50"]
    yield {
        "what": f"one more note written and found, {notes:,} notes, CPU",
        "goal": f"≤ {NEW_NOTE_MS} ms",
        "measured": f"{took:.1f} ms",
        "reached": took <= NEW_NOTE_MS,
    }
    rate = measured("durable")
    ratio = rate["ours"] / rate["sqlite"]
    yield {
        "what": f"durable writes in one process, {notes:,} notes, beside SQLite",
        "goal": f"≥ {OF_SQLITE} ×",
        "measured": f"{ratio:.2f} × ({rate['ours']:.0f}/s, CPU {rate['ours cpu']:.0f} µs)",
        "baseline": "bare insert of the same record, same PRAGMAs "
        f"{rate['sqlite']:.0f}/s, CPU {rate['sqlite cpu']:.0f} µs",
        "reached": ratio >= OF_SQLITE,
    }
    p95 = measured("writes")["p95"]
    yield {
        "what": f"a write while exports are refreshed, {notes:,} notes, p95",
        "goal": f"≤ {WRITE_P95_MS} ms",
        "measured": f"{p95:.1f} ms",
        "reached": p95 <= WRITE_P95_MS,
    }


def _search_rows(notes: int, found: Measured) -> Iterator[Row]:
    yield {
        "what": f"warm search, {notes:,} notes, p50",
        "goal": f"≤ {SEARCH_MS[notes]} ms",
        "measured": f"{found['p50']:.1f} ms",
        "reached": found["p50"] <= SEARCH_MS[notes],
    }
    most = HELD_MB.get(notes)
    yield {
        "what": f"memory of a process that searches {notes:,} notes",
        "goal": f"≤ {most} MB" if most else "",
        "measured": f"{found['held']:.0f} MB",
        **({"reached": found["held"] <= most} if most else {}),
    }


if __name__ == "__main__":
    print(json.dumps(MEASUREMENTS[sys.argv[1]](sys.argv[2])))
