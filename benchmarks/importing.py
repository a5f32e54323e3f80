"""Importing: notes a CPU-second, beside the same notes written in one batch in the same run, with
the look for credentials that every door takes; and what pairing costs when little or nothing is
new.

    python -m benchmarks.importing [--quick]

All are the whole work of a command, in a process that has loaded the package: reading, recognising,
looking for credentials, checking, merging, one commit.
"""

import argparse
import contextlib
import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any

from benchmarks.corpus import Text
from benchmarks.families import docstring_corpus

Row = dict[str, Any]

FORMS = ("jsonl", "csv", "markdown")
GOAL = 0.8  # of the speed of a batch
ROUNDS = 2  # of which the fastest counts: others use the machine too


def texts(count: int) -> list[Text]:
    """Docstrings of the standard library, each once, and then each with another title."""
    corpus = docstring_corpus()["notes"]
    notes = ((number, note) for number, note in zip(range(count), cycle(corpus), strict=False))
    return [
        Text(f"{note['title']} {number}", note["content"], note["title"].partition(".")[0])
        for number, note in notes
    ]


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def fill(directory: str, notes: list[Text]) -> None:
    """The same notes as one batch, each looked through for credentials, as at every door."""
    from nuggets.domain.credentials import memory_credential_kinds
    from nuggets.shelf import NuggetShelf

    with NuggetShelf(directory, project="") as shelf, shelf.batch():
        for note in notes:
            if memory_credential_kinds(note.title, note.content):
                continue
            shelf.create_note("topics", note.title, note.content, tags=[note.tag])


def run(directory: str, *words: str) -> None:
    from nuggets.__main__ import run_command as main

    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        code = main(["--dir", directory, *words])
    if code:
        raise SystemExit(f"nuggets {' '.join(words)} ended with {code}")


def write_plain(folder: str, notes: list[Text]) -> None:
    """A folder of Markdown as people write it: no front matter, a link here and there."""
    os.mkdir(folder)
    for number, note in enumerate(notes):
        link = f"\n\nSee [[{notes[number - 1].title}]]." if number % 20 == 0 else ""
        with open(os.path.join(folder, f"{note.title}.md"), "w", encoding="utf-8") as file:
            file.write(f"{note.content} #{note.tag}{link}\n")


def rows(quick: bool = False) -> Iterator[Row]:
    notes = texts(500 if quick else 2000)
    with tempfile.TemporaryDirectory(prefix="nuggets-bench-", ignore_cleanup_errors=True) as place:
        os.environ["NUGGETS_PROJECT"] = ""
        shelf = os.path.join(place, "shelf")
        fill(shelf, notes[:20])  # loads what is loaded once
        sources = {}
        whole = os.path.join(place, "whole")
        fill(whole, notes)
        for form in FORMS:
            sources[form] = os.path.join(place, f"export {form}")
            run(whole, "export", form, sources[form])
        sources["plain Markdown"] = os.path.join(place, "plain")
        write_plain(sources["plain Markdown"], notes)
        seconds: dict[str, float] = {}
        for number in range(ROUNDS):
            for name in ("batch", *sources):
                target = os.path.join(place, f"{name} {number}")
                work = partial(fill, target, notes)
                if name != "batch":
                    work = partial(run, target, "import", sources[name])
                seconds[name] = min(seconds.get(name, 1e9), cpu(work))
        for name in sources:
            ratio = seconds["batch"] / seconds[name]
            yield {
                "what": f"import of {len(notes):,} notes as {name}, beside a batch",
                "goal": f">= {GOAL} x",
                "measured": f"{ratio:.2f} x ({len(notes) / seconds[name]:,.0f} notes/s)",
                "baseline": f"batch {len(notes) / seconds['batch']:,.0f} notes/s",
                "reached": ratio >= GOAL,
            }
        yield from _pairing(place, whole, len(notes))


def _pairing(place: str, whole: str, count: int) -> Iterator[Row]:
    """Two machines: the first meeting, and what comes after it."""
    from nuggets.shelf import NuggetShelf

    folder = os.path.join(place, "shared")
    os.mkdir(folder)
    other = os.path.join(place, "other")
    with NuggetShelf(whole, project="") as one, NuggetShelf(other, project="") as two:
        one.pair(folder)
        first = cpu(lambda: two.pair(folder))
        one.pair(folder)
        idle = min(cpu(lambda: two.pair(folder)) for _ in range(ROUNDS))
        one.create_note("topics", "One more", "text")
        one.pair(folder)
        little = cpu(lambda: two.pair(folder))
    for what, goal, measured in (("nothing", 0.02, idle), ("one note", 0.2, little)):
        yield {
            "what": f"pair of {count:,} notes with {what} new, beside the first one",
            "goal": f"<= {goal} x",
            "measured": f"{measured / first:.3f} x ({measured * 1000:.0f} ms)",
            "baseline": f"the first {first * 1000:,.0f} ms",
            "reached": measured / first <= goal,
        }


def main() -> None:
    from benchmarks.__main__ import line

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    for row in rows(parser.parse_args().quick):
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
