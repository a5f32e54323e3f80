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
    """Writes a second that have reached the medium, in turns with bare SQLite."""
    from nuggets.shelf import NuggetShelf

    with tempfile.TemporaryDirectory(dir=os.path.dirname(directory)) as place:
        bare = sqlite3.connect(os.path.join(place, "bare.db"), isolation_level=None)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT)")
        ours: list[float] = []
        theirs: list[float] = []
        with NuggetShelf(directory, project="") as shelf:
            for number in range(WRITES):
                text = f"value {number}"
                key = f"written {number}"
                ours.append(_seconds(lambda: shelf.remember("bench", key, text)))  # noqa: B023
                sql = "INSERT INTO notes VALUES (?, ?)"
                theirs.append(_seconds(lambda: bare.execute(sql, (key, text))))  # noqa: B023
    return {"ours": 1 / statistics.median(ours), "sqlite": 1 / statistics.median(theirs)}


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# --- as rows ----------------------------------------------------------------------------------

MEASUREMENTS: Mapping[str, Callable[[str], Measured]] = {
    "searches": searches,
    "new notes": new_notes,
    "durable": durable,
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
        "measured": f"{ratio:.2f} × ({rate['ours']:.0f}/s)",
        "baseline": f"SQLite WAL/FULL {rate['sqlite']:.0f}/s",
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
