"""A realistic database with bytes overwritten at random places, or cut off at a random length.

python tests/fault_random_damage.py WORK DAMAGES TRUNCATIONS [SEED]

Whatever was overwritten, every command ends with an answer or a message: no traceback, no hang, no
wrong answer. `doctor --fix` leaves a shelf that can be written to, a second doctor finds nothing
harmful, no copy of the database stays behind, and what is set aside is private. How much it saves
is counted twice: with the documented files beside the database, and without them.

A hang is counted in CPU time, so that a busy machine is none.
"""

import io
import json
import os
import re
import resource
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from random import Random
from typing import NamedTuple

from forked_processes import load_package
from nuggets.shelf import NuggetShelf

FACTS, NOTES = 240, 160
CPU_SECONDS = 60  # of all commands of a case; an undamaged shelf needs 2
PAGE = 4096
COMMANDS = (
    *("list", "recall {key}", "search {word}", "note list --limit 5", "history", "audit"),
    *("remember prefs shell fish", "export json {place}-export", "doctor", "doctor --fix"),
    *("doctor", "remember prefs pager less", "recall pager", "export json {place}-after"),
)
FIX = COMMANDS.index("doctor --fix")


class Case(NamedTuple):
    """One damaged shelf, and what its commands did."""

    name: str
    problems: list[str]
    saved: float  # the part of all facts and notes that is there after the repair


def value_of(number: int) -> str:
    return f"value-{number * 7919 % 100_003} of service {number}"


def make_shelf(directory: str) -> dict[str, str]:
    """Facts, linked notes, a history of edits, recalls and deletions; the contents by title."""
    contents = {}
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        with shelf.batch():
            for number in range(FACTS):
                shelf.remember(f"team-{number % 5}", f"port {number}", "unknown")
        with shelf.batch():
            for number in range(FACTS):
                contents[f"port {number}"] = value_of(number)
                shelf.remember(f"team-{number % 5}", f"port {number}", value_of(number))
        ids = []
        with shelf.batch():
            for number in range(NOTES):
                title, content = f"Runbook {number}", f"Step {number}: " + value_of(number) * 12
                contents[title] = content
                ids.append(shelf.create_note(f"ops-{number % 3}", title, content).id)
                if number:
                    shelf.add_link(ids[-1], ids[number // 2])
        for number in range(0, FACTS, 9):
            shelf.recall(f"port {number}", session=f"day-{number % 4}")
        for number in range(20):
            gone = shelf.create_note("ops-0", f"Draft {number}", value_of(number) * 20)
            shelf.delete_note(gone.id)
    return contents


def add_log(directory: str) -> None:
    """Commits of a process that was killed before they reached the database."""
    child = os.fork()
    if not child:
        try:
            shelf = NuggetShelf(directory, project="", short_lived=True)
            for number in range(10):
                shelf.remember("log", f"late {number}", "in the log only")
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def overwrite_randomly(path: str, chance: Random) -> str:
    """Overwrite bytes, sectors or pages; what was done."""
    size = os.path.getsize(path)
    kind = chance.choice(("bytes", "run", "sectors", "pages", "zeroed pages", "swapped pages"))
    with open(path, "r+b") as file:
        if kind in ("bytes", "run"):
            length = 1 if kind == "bytes" else chance.choice((8, 64, 300))
            for _ in range(chance.choice((1, 4, 32))):
                file.seek(chance.randrange(max(1, size - length)))
                file.write(chance.randbytes(length))
        elif kind == "sectors":
            for _ in range(chance.choice((1, 3, 8))):
                file.seek(chance.randrange(size // 512) * 512)
                file.write(chance.choice((bytes(512), chance.randbytes(512))))
        else:
            for _ in range(chance.choice((1, 2, 6))):
                page, other = (chance.randrange(size // PAGE) * PAGE for _ in range(2))
                file.seek(other)
                copied = file.read(PAGE)
                file.seek(page)
                content = {"pages": chance.randbytes(PAGE), "zeroed pages": bytes(PAGE)}
                file.write(content.get(kind, copied))
    return kind


def cut_randomly(path: str, chance: Random) -> str:
    size = os.path.getsize(path)
    length = chance.randrange(1, size)
    if chance.random() < 0.5:
        length = max(PAGE, length // PAGE * PAGE)
    os.truncate(path, length)
    return f"cut to {length / size:.0%}"


def run_commands(place: str, contents: dict[str, str], chance: Random) -> Case:
    """All commands in a child whose CPU time is limited."""
    number = chance.randrange(FACTS)
    words = {"key": f"port {number}", "word": f"service {number}", "place": place}
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        limit = CPU_SECONDS + 30
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, limit))
        with os.fdopen(writer, "w", encoding="utf-8") as report:
            try:
                _run_in_child(place, contents, words, report)
            except BaseException as raised:
                print(json.dumps(f"the test itself: {raised!r}"), file=report, flush=True)
            report.flush()
        os._exit(0)
    os.close(writer)
    problems, saved, last = list[str](), 0.0, ""
    with open(reader, encoding="utf-8") as lines:
        for line in lines:
            said = json.loads(line)
            if isinstance(said, float):
                saved = said
            elif said.startswith("> "):
                last = said
            else:
                problems.append(said)
    _, status = os.waitpid(child, 0)
    if status:
        problems.append(f"hang: {last} ended by signal {os.WTERMSIG(status)}")
    return Case("", problems, saved)


def _run_in_child(
    place: str, contents: dict[str, str], words: dict[str, str], report: io.TextIOBase
) -> None:
    from nuggets.__main__ import run_command as main

    def say(what: str | float) -> None:
        print(json.dumps(what), file=report, flush=True)

    os.environ.update({"NUGGETS_DIR": place, "MEMORY_REFLECTION_DAILY": "0"})
    for number, command in enumerate(COMMANDS):
        arguments = [part.format(**words) for part in command.split()]
        say(f"> {command}")
        output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        try:
            with redirect_stdout(output), redirect_stderr(errors):
                code = main(arguments)
        except BaseException as raised:
            say(f"traceback: {command}: {_place_of(raised)}")
            continue
        for stream in (output, errors):
            stream.flush()
            stream.seek(0)
        said, complaint = output.read(), errors.read()
        if "Traceback" in complaint or code not in (0, 1, 2):
            say(f"traceback: {command}: {complaint[-300:]}")
        if code and not said + complaint:
            say(f"silent: {command} failed without a word")
        for problem in _wrong_answers(command, said, words["key"], contents):
            say(problem)
        if number > FIX and code:
            say(f"not repaired: {command}: {(complaint or said)[:300]}")
        if number == FIX:
            for name in _left_behind(place):
                say(f"left behind: {name}")
    say(_saved(f"{place}-after", contents))


def _place_of(raised: BaseException) -> str:
    trace, where = raised.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        where = f"{os.path.basename(code.co_filename)}:{trace.tb_lineno} {code.co_name}"
        trace = trace.tb_next
    return f"{type(raised).__name__}: {raised!s:.120} at {where}"


def _wrong_answers(command: str, said: str, key: str, contents: dict[str, str]) -> Iterator[str]:
    """A value that this key never had. A recall that finds nothing is told as such."""
    if command.startswith("recall {key}"):
        for found in re.findall(r"value-\d+ of service \d+", said):
            if found != contents[key]:
                yield f"wrong answer: {key} is {found!r}"


def _left_behind(place: str) -> Iterator[str]:
    """Copies that a repair forgot, and files that others may read."""
    for name in sorted(os.listdir(place)):
        path = os.path.join(place, name)
        if "-copy" in name or ".tmp" in name:
            yield name
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and stat.S_IMODE(mode) & 0o077:
            yield f"{name} with mode {stat.S_IMODE(mode):o}"


def _saved(export: str, contents: dict[str, str]) -> float:
    """The part of all memories that an export of the repaired shelf has, with the right content."""
    found: dict[str, str] = {}
    graph = os.path.join(export, "graph", "graph.json")
    if os.path.exists(graph):
        with open(graph, encoding="utf-8") as file:
            for note in json.load(file)["notes"]:
                found[note["title"]] = note["content"]
    right = sum(found.get(title) == content for title, content in contents.items())
    return right / len(contents)


def damage_all(work: str, damages: int, truncations: int, seed: int = 1) -> Iterator[Case]:
    """Each case starts from the same shelf; every third one has a log that is damaged too, and
    every second one has no documented files."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as for a command: a thread that waits takes CPU time
    load_package()  # once, and not in every child
    whole, place = os.path.join(work, "whole"), os.path.join(work, "place")
    contents = make_shelf(whole)
    with_log = os.path.join(work, "with-log")
    shutil.copytree(whole, with_log)
    add_log(with_log)
    for number in range(damages + truncations):
        chance = Random(f"{seed}-{number}")
        for name in os.listdir(work):
            if name.startswith("place"):
                shutil.rmtree(os.path.join(work, name))
        has_log, has_files = number % 3 == 2, number % 2 == 0
        shutil.copytree(with_log if has_log else whole, place)
        if not has_files:
            shutil.rmtree(os.path.join(place, "graph"))
            for name in os.listdir(place):
                if name.endswith(".nugget.json"):
                    os.remove(os.path.join(place, name))
        spoil = overwrite_randomly if number < damages else cut_randomly
        done = spoil(os.path.join(place, "nuggets.db"), chance)
        if has_log and chance.random() < 0.5:
            done += ", log " + spoil(os.path.join(place, "nuggets.db-wal"), chance)
        files = "" if has_files else ", no files"
        yield run_commands(place, contents, chance)._replace(name=f"{number}: {done}{files}")


def summarize(cases: Iterable[Case]) -> tuple[str, list[Case]]:
    """One line of figures, and the cases with problems."""
    all_cases = list(cases)
    kinds = Counter(problem.split(":")[0] for case in all_cases for problem in case.problems)
    saved = {
        name: [case.saved for case in all_cases if case.name.endswith("no files") == alone]
        for name, alone in (("with the files", False), ("without", True))
    }
    means = ", ".join(
        f"{name} {sum(shares) / len(shares):.1%}" for name, shares in saved.items() if shares
    )
    told = ", ".join(f"{count} × {kind}" for kind, count in sorted(kinds.items())) or "no problem"
    return (
        f"{len(all_cases)} damaged databases: {told}; saved {means}",
        [case for case in all_cases if case.problems],
    )


def main(work: str, damages: str, truncations: str, seed: str = "1") -> int:
    def shown(cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            for problem in case.problems:
                print(f"{case.name} | {problem}", file=sys.stderr, flush=True)
            yield case

    line, bad = summarize(shown(damage_all(work, int(damages), int(truncations), int(seed))))
    print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
