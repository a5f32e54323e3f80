"""A made-up memory of any size, the same in every run: notes of about 700 bytes over a Zipf
vocabulary in several nuggets, with tags, some links, and a few hundred facts.

    python -m benchmarks.corpus DIRECTORY COUNT     fills a shelf, and prints what it measured
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from nuggets.shelf import NuggetShelf

SYLLABLES = [a + b + c for a in "bdfgklmnprstv" for b in "aeiou" for c in ("", "n", "r", "st")]
NUGGETS = tuple(f"topic {letter}" for letter in "abcdefgh")
VOCABULARY = 40_000
WORDS = 73  # of a note: about 700 bytes with its title
FACTS = 300
LINKED = 20  # one note of so many is linked to the one before
BATCH = 5_000  # notes written as one


class Text(NamedTuple):
    """What a note says."""

    title: str
    content: str
    tag: str


def vocabulary(rng: random.Random) -> list[str]:
    made = {
        "".join(rng.choices(SYLLABLES, k=rng.choice((2, 2, 3, 3, 4)))) for _ in range(VOCABULARY)
    }
    words = sorted(made)
    rng.shuffle(words)
    return words


def texts(seed: int = 1) -> Iterator[Text]:
    """As many as are asked for."""
    rng = random.Random(seed)
    words = vocabulary(random.Random(0))
    weights = list(accumulate(1 / (rank + 8) for rank in range(len(words))))
    number = 0
    while True:
        said = rng.choices(words, cum_weights=weights, k=WORDS)
        title = f"{' '.join(said[:4])} {number}"
        yield Text(title, " ".join(said[4:]), f"area-{number // 20}")
        number += 1


def questions(count: int) -> list[str]:
    """A few words of some note each, as a person would search for it."""
    rng = random.Random(2)
    found = []
    for text in islice(texts(), count):
        found.append(" ".join(rng.sample(text.content.split(), rng.randint(2, 5))))
    return found


def fill(directory: str, count: int) -> dict[str, float]:
    """Fill a shelf through `batch`; how fast, and how large text and database are."""
    from nuggets.shelf import NuggetShelf

    made = list(islice(texts(), count))  # not part of what is measured
    began, cpu = time.perf_counter(), time.process_time()
    with NuggetShelf(directory, project="") as shelf:
        for start in range(0, count, BATCH):
            with shelf.batch():
                _write(shelf, made[start : start + BATCH], start)
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        with shelf.batch():
            for number in range(FACTS):
                key = f"{made[number % count].title.split()[0]} port {number}"
                shelf.remember(NUGGETS[number % len(NUGGETS)], key, f"value {number}")
    size = sum(len(text.title.encode()) + len(text.content.encode()) for text in made)
    disk = sum(
        os.path.getsize(os.path.join(directory, name))
        for name in os.listdir(directory)
        if name.startswith("nuggets.db")
    )
    return {"notes": count, "seconds": took, "cpu": cpu, "text": size, "disk": disk}


def _write(shelf: "NuggetShelf", some: list[Text], start: int) -> None:
    before = ""
    for number, text in enumerate(some, start):
        nugget = NUGGETS[number % len(NUGGETS)]
        note = shelf.create_note(nugget, text.title, text.content, [text.tag])
        if before and number % LINKED == 0:
            shelf.add_link(note.id, before, "follows")
        before = note.id


def fill_rates(filled: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Rows of what `fill` measured."""
    notes = int(filled["notes"])
    if notes < 10_000:
        return
    rate, times = notes / filled["cpu"], filled["disk"] / filled["text"]
    yield {
        "what": f"notes a CPU-second, written in batches, to {notes:,}",
        "goal": "≥ 3,000",
        "measured": f"{rate:,.0f} ({notes / filled['seconds']:,.0f} by the clock)",
        "reached": rate >= 3_000,
    }
    yield {
        "what": f"the database of {notes:,} notes, beside their text",
        "goal": "≤ 3 ×",
        "measured": f"{times:.2f} × ({filled['disk'] / notes:,.0f} bytes a note)",
        "reached": times <= 3,
    }


if __name__ == "__main__":
    print(json.dumps(fill(sys.argv[1], int(sys.argv[2]))))
