"""How long a pass thinks about 10,000 notes, and how promotion stands random hand edits.

python -m benchmarks.reflection [--quick]    times, against reading every note's words once
python -m benchmarks.reflection --soak N     N random edit scripts on a MEMORY.md
"""

import importlib
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from benchmarks.__main__ import line
from nuggets.domain.records import GraphNoteMetaInput, MemoryNote
from nuggets.language.text import words
from nuggets.maintenance.reflection import Policy, reflect
from nuggets.operations.notes_and_links import new_note

T = TypeVar("T")
NOW = "2026-01-31T09:00:00.000Z"
VOCABULARY = 20_000  # distinct words, drawn as in language: the n-th with weight 1/n


def sample_notes(count: int, chance: random.Random) -> dict[str, MemoryNote]:
    """Notes of twenty nuggets, one in twenty a near copy of another, one in five a fact."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    lengths = [chance.randint(3, 10) for _ in range(VOCABULARY)]
    vocabulary = ["".join(chance.choices(letters, k=length)) for length in lengths]
    weights = [1 / (rank + 1) for rank in range(VOCABULARY)]
    notes: dict[str, MemoryNote] = {}
    contents: list[tuple[str, str]] = []
    for number in range(count):
        fact = chance.random() < 0.2
        if contents and not fact and chance.random() < 0.05:
            nugget, content = chance.choice(contents)
            content = f"{content} {chance.choice(vocabulary)}"
        else:
            nugget = f"topic {chance.randrange(20)}"
            length = chance.randint(1, 6) if fact else chance.randint(20, 80)
            content = " ".join(chance.choices(vocabulary, weights, k=length))
            if not fact:
                contents.append((nugget, content))
        note = new_note(
            nugget=nugget,
            kind="fact" if fact else "note",
            title=f"{' '.join(chance.choices(vocabulary, weights, k=3))} {number}",
            content=content,
            tags=(),
            given=GraphNoteMetaInput(),
            now=NOW,
            note_id=f"{'fact' if fact else 'note'}-{nugget}-{number:08x}",
            project="",
        )
        notes[note.id] = note
    return notes


def timed(work: Callable[[], T]) -> tuple[float, T]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def read(notes: dict[str, MemoryNote]) -> list[list[str]]:
    return [words(note.content) for note in notes.values()]


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Passes over many notes, beside reading the words of all of them once."""
    count = 2_000 if quick else 10_000
    for layout in ("twenty nuggets", "one nugget"):
        notes = sample_notes(count, random.Random(1))
        if layout == "one nugget":
            notes = {i: note._replace(nugget_name="topic") for i, note in notes.items()}
        reading, _ = timed(partial(read, notes))
        for limit, goal in ((10, 0.5), (count, 30.0)):
            policy = Policy(max_notes=limit)
            taken, (_, result) = timed(partial(reflect, notes, NOW, policy))
            yield {
                "what": f"reflect, {count:,} notes in {layout}, limit {limit:,}",
                "goal": f"≤ {goal:g} s",
                "measured": f"{taken:.2f} s, {len(result.changes)} changes",
                "baseline": f"reading all words once: {reading:.2f} s",
                "reached": taken <= goal,
            }


def soak(scripts: int) -> None:
    """The scripts that the tests play a few hundred of."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests"))
    script = importlib.import_module("memory_file_edits").Script
    started = time.process_time()
    for seed in range(scripts):
        script(seed).play(25)
    print(f"{scripts} edit scripts without a lost byte, {time.process_time() - started:.0f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--soak"]:
        soak(int(sys.argv[2]))
    else:
        for row in rows("--quick" in sys.argv):
            print(line(row), flush=True)
