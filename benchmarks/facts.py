"""Facts: what a recall costs, whether it is right, and which questions it refuses.

    python -m benchmarks.facts [--quick] [--json FILE]

Times are CPU-milliseconds of one thread; a first recall is the smallest of several fresh processes
and leaves out importing NumPy. Every row has a baseline measured in the same run.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.__main__ import line
from benchmarks.indexed import IndexedFacts
from nuggets import NuggetShelf
from nuggets.domain.records import Changes, MemoryNote, NuggetConfig
from nuggets.facts.capacity import page_size
from nuggets.facts.fhrr import seed_from_text
from nuggets.facts.memory_banks import decode_page
from nuggets.language.text import fold_case

ROUNDS = 5
FRESH = ("first", "second", "third")  # nuggets of one page
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def listed(words: str) -> list[str]:
    return words.split()


# What developers and agents write down; some of the words are everyday words as well.
AREAS = listed("""
    auth api cache queue session token deploy build test lint redis postgres docker staging
    prod frontend backend billing payments search email webhook migration release billing
    mobile admin metrics logging gateway worker cron backup import export upload invoice
    customer order report dashboard login signup profile notification database server client
""")
THINGS = listed("""
    handler port host cmd url path file config schema timeout owner script version key
    secret branch region bucket table index limit policy format password directory endpoint
    style service name user id deadline flag
""")
PERSONAL = listed("""
    editor language font colour theme shell browser framework airport tea coffee restaurant
    team author pronouns timezone birthday hometown doctor hotel airline sport band film
""")
EVERYDAY = listed("""
    apple bread butter cheese chicken dinner garden flower window kitchen table chair door
    street bridge river mountain ocean summer winter spring autumn weather rain snow cloud
    morning evening night holiday travel train plane ticket hotel museum music guitar piano
    song dance movie actor story novel poem letter paper pencil school teacher student
    lesson doctor nurse hospital medicine health exercise football tennis swimming running
    bicycle car truck engine wheel market price money bank insurance family mother father
    brother sister cousin neighbour friend wedding birthday present cake chocolate sugar
    salt pepper tomato potato onion carrot soup salad rice pasta fish beef wine beer juice
    dog cat horse bird rabbit elephant tiger forest desert island village castle king queen
    war peace history science physics chemistry biology planet moon star light dark red
    green yellow purple shirt shoes jacket trousers hat umbrella mirror carpet blanket
    pillow best cheap large small old young happy hungry tired quick slow loud quiet
""")


def fact(number: int, key: str, value: str) -> MemoryNote:
    moment = "2026-01-31T09:00:00.000Z"
    return MemoryNote(
        id=f"fact-bench-{number:08x}",
        nugget_name="bench",
        title=key,
        content=value,
        kind="fact",
        subject="user:primary",
        scope="user",
        type="fact",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
        created_at=moment,
        updated_at=moment,
        last_accessed_at=moment,
    )


def index_of(pairs: list[tuple[str, str]]) -> IndexedFacts:
    index = IndexedFacts()
    index.apply(Changes(put=tuple(fact(i, key, value) for i, (key, value) in enumerate(pairs))))
    return index


def numbered(count: int, values: int | None = None) -> list[tuple[str, str]]:
    """Keys like `deploy port 17`; with `values`, only so many different ones, in no order."""
    dice = Random(count)
    return [
        (
            f"{AREAS[i % len(AREAS)]} {THINGS[i // 7 % len(THINGS)]} {i}",
            f"value {i if values is None else dice.randrange(values)}",
        )
        for i in range(count)
    ]


def realistic_keys(dice: Random, count: int) -> list[str]:
    keys: dict[str, str] = {}
    while len(keys) < count:
        area, other, thing = dice.choice(AREAS), dice.choice(AREAS), dice.choice(THINGS)
        key = dice.choices(
            [
                f"{area} {thing}",
                f"{area}_{thing}",
                f"{area} {other} {thing}",
                f"the {thing} of the {area} {other}",
                f"user: favourite {dice.choice(PERSONAL)}",
                f"file:src/{area}/{thing}.ts",
                f"{area}{thing.title()}",
                dice.choice(AREAS + THINGS + PERSONAL),
                f"{dice.choice(['my', 'our'])} {dice.choice(PERSONAL)}",
            ],
            [8, 3, 4, 1, 2, 2, 1, 2, 1],
        )[0]
        keys.setdefault(fold_case(key), key)
    return list(keys.values())


def row(
    name: str, goal: float, measured: float, baseline: float, unit: str, at_most: bool = True
) -> dict[str, Any]:
    return {
        "what": name,
        "goal": f"{'≤' if at_most else '≥'} {goal:g} {unit}",
        "measured": f"{measured:.3g} {unit}",
        "baseline": f"plain version: {baseline:.4g} {unit}",
        "reached": measured <= goal if at_most else measured >= goal,
    }


# What it costs -----------------------------------------------------------------------------------


def cpu_ms(action: Callable[..., object], *arguments: object) -> float:
    start = time.process_time()
    action(*arguments)
    return (time.process_time() - start) * 1e3


def peak_mb() -> float:
    """Of this process alone; what getrusage says may be its parent's, so it comes second."""
    try:
        with open("/proc/self/status") as status:
            return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
    except FileNotFoundError:  # macOS, which counts in bytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def probe_first(count: int) -> dict[str, float]:
    pairs = numbered(count)
    index = index_of(pairs)
    import numpy as np  # noqa: F401

    first = cpu_ms(index.recall, pairs[count // 2][0], "bench")
    return {"first": first, "mb": peak_mb()}


def probe_plain(count: int) -> dict[str, float]:
    """The documented steps as one writes them down first: all facts in one set of banks."""
    import numpy as np

    from nuggets.facts.fhrr import mulberry32

    def recall() -> None:
        dims, banks = 16384, 4
        keys = np.exp(2j * np.pi * (mulberry32(1, 0, count * dims) / 2**32)).reshape(count, dims)
        cosines = (keys @ keys.conj().T).real / dims
        np.fill_diagonal(cosines, 0)
        keys = keys - 0.4 * (cosines @ keys)
        keys /= np.abs(keys)
        roles = np.exp(2j * np.pi * np.outer(np.arange(count), np.arange(dims)) / dims)
        for bank in range(banks):
            memory = (keys[bank::banks] * roles[bank::banks]).sum(axis=0)
            found = memory * roles[count // 2].conj()
            (keys @ found.conj()).real / (np.linalg.norm(keys, axis=1) * np.linalg.norm(found))

    return {"first": cpu_ms(recall), "mb": peak_mb()}


PROBES = {"first": probe_first, "plain": probe_plain}


def fresh(probe: str, count: int, times: int) -> dict[str, float]:
    """The smallest of several fresh processes."""
    command = [sys.executable, "-m", "benchmarks.facts", "--probe", probe, str(count)]
    runs = []
    for _ in range(times):
        done = subprocess.run(
            command, env={**os.environ, **ONE_THREAD}, check=True, capture_output=True, text=True
        )
        runs.append(json.loads(done.stdout))
    return {name: min(run[name] for run in runs) for name in runs[0]}


def cold_rows(quick: bool) -> list[dict[str, Any]]:
    times, crowd = (3, 128) if quick else (9, 512)
    plain = fresh("plain", crowd, 1)
    rows = []
    for count, mb in ((512, 65), (10_000, 150)):
        ours = fresh("first", count, times)
        rows.append(row(f"peak memory, {count} facts", mb, ours["mb"], plain["mb"], "MB"))
    return [found | {"note": f"{crowd} facts in one set"} for found in rows]


def product_ms() -> float:
    """The unit of the goals: one product of float32 matrices, 512 × 32768 × 512."""
    import numpy as np

    dice = np.random.default_rng(1)
    left = dice.random((512, 32768), dtype=np.float32)
    right = dice.random((32768, 512), dtype=np.float32)
    return min(cpu_ms(np.matmul, left, right) for _ in range(3))


def shelf_rows(count: int) -> list[dict[str, Any]]:
    """Recalls in a running process, from a shelf on disk, beside one product of matrices in the
    same run. Of both the smallest of several: a busy machine doubles what takes a millisecond."""
    unit, dice = product_ms(), Random(count)
    realistic = realistic_keys(dice, 512)
    keys = [*realistic, *(key for key, _ in numbered(count - len(realistic)))]
    asked = dice.sample([key for key in realistic if key.count(" ") > 0], 60)
    with TemporaryDirectory() as directory, NuggetShelf(directory, project="") as shelf:
        with shelf.batch():
            for key in keys:
                shelf.remember("bench", key, f"value of {key}")
            for nugget in FRESH:  # other names, other vectors
                for key in keys[: page_size(NuggetConfig(nugget).dims)]:
                    shelf.remember(nugget, f"{nugget} {key}", f"value of {key}")
        first = min(cpu_ms(shelf.recall, f"{nugget} {keys[0]}", nugget) for nugget in FRESH)
        for key in keys[:: page_size(shelf.get("bench").status().dimension)]:
            shelf.recall(key)
        medians = {
            "an exact recall": (0.0015, _median(shelf.recall, asked)),
            "a part of a key": (0.004, _median(shelf.recall, [k.split()[-1] for k in asked])),
            "a misspelt key": (0.004, _median(shelf.recall, [k[:2] + k[3:] for k in asked])),
            "a question": (0.004, _median(shelf.recall, [f"what is the {k}?" for k in asked])),
            "a miss": (0.01, _median(shelf.recall, [f"{k} {w}" for k, w in pairwise(EVERYDAY)])),
        }
        changes = sorted(
            cpu_ms(shelf.remember, "bench", f"new key {i}", f"new value {i}")
            + cpu_ms(shelf.recall, f"new key {i}")
            for i in range(65)
        )
    medians["the first of a page"] = (0.2, first)
    medians["remember, then recall"] = (
        0.05,
        changes[len(changes) // 2],
    )  # over all fills of a page
    return [
        {
            "what": f"{name}, {count:,} facts",
            "goal": f"≤ {goal:g} ×",
            "measured": f"{ms / unit:.4f} × ({ms:.2f} ms)",
            "baseline": f"a product of matrices: {unit:.0f} ms",
            "reached": ms / unit <= goal,
        }
        for name, (goal, ms) in medians.items()
    ]


def _median(action: Callable[[str], object], arguments: list[str]) -> float:
    """Of the smallest costs: a question leaves nothing behind that would answer it again."""
    rounds = [[cpu_ms(action, argument) for argument in arguments] for _ in range(ROUNDS)]
    costs: list[float] = sorted(min(costs) for costs in zip(*rounds, strict=True))
    return costs[len(costs) // 2]


def right_rows(count: int, crowded: int) -> list[dict[str, Any]]:
    """Every fact asked once, in random order; the baseline keeps `crowded` facts in one set of
    banks, as many as memory allows, and asks every eighth."""
    pattern = tuple(range(crowded))
    asked = pattern[::8]
    decoded = decode_page(NuggetConfig("bench"), seed_from_text("bench"), pattern)
    baseline = 100 * sum(decoded[i].best == i for i in asked) / len(asked)
    rows = []
    for title, values in (("distinct values", None), ("every value many times", count // 50)):
        pairs = numbered(count, values)
        index = index_of(pairs)
        order = list(range(count))
        Random(1).shuffle(order)
        start = time.process_time()
        right = sum(index.recall(pairs[i][0], "bench").answer == pairs[i][1] for i in order)
        took = (time.process_time() - start) * 1e3 / count
        name = f"right answers of {count}, {title}"
        found = row(name, 100, 100 * right / count, baseline, "%", at_most=False)
        rows.append(found | {"note": f"{took:.2f} ms a recall; {crowded} facts in one set"})
    return rows


def rows(quick: bool) -> list[dict[str, Any]]:
    """All measurements, goals and baselines."""
    return [
        *cold_rows(quick),
        *shelf_rows(512),
        *shelf_rows(2_000 if quick else 10_000),
        *right_rows(2_000 if quick else 10_000, 1024 if quick else 1536),
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, smaller corpora")
    parser.add_argument("--json", metavar="FILE", help="write the rows there as well")
    parser.add_argument("--probe", nargs=2, metavar=("NAME", "FACTS"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.probe:
        name, count = options.probe
        print(json.dumps(PROBES[name](int(count))))
        return 0
    os.environ.update(ONE_THREAD)
    found = rows(options.quick)
    for found_row in found:
        print(line(found_row), found_row.get("note", ""))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1, ensure_ascii=False)
    return 0 if all(found_row["reached"] for found_row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
