"""What one cold command does: modules, SQL statements, files, calls between modules, CPU.

    python -m benchmarks.cold_work [--beside DIRECTORY] [--rounds N] [--statements]

On a shelf of 200 notes, in a repository that is known. Modules, statements, files and calls are
counted in the process of the command; they are the same in every run. A statement is one that the
program sends, with one row or with many.
`--beside`: the `src` of another checkout, measured in turns with this one. `--statements` prints
each statement of the last round. Below stands what commands that everybody knows cost in the same
run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

import nuggets
from benchmarks.corpus import questions
from benchmarks.gauges import cpu

NOTES = 200
ROUNDS = 15
COUNTED = ("modules", "statements", "databases", "files", "calls")

# Runs one command as the entry point does; at its end it says what it did. The calls are counted in
# a run of their own, because a profiler slows the rest down.
PROBE = """
import json, os, sqlite3, sys
report, counts_calls = int(sys.argv.pop(1)), sys.argv.pop(1) == "calls"
statements, files, databases, calls = [], [], [], 0

class Connection(sqlite3.Connection):
    def execute(self, sql, *parameters):
        statements.append(sql)
        return super().execute(sql, *parameters)

    def executemany(self, sql, rows):
        rows = list(rows)
        if rows:
            statements.append(sql)
        return super().executemany(sql, rows)

def connect(path, *options, _connect=sqlite3.connect, **more):
    databases.append(str(path))
    return _connect(path, *options, factory=Connection, **more)

def note_file(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        if not arguments[0].endswith((".py", ".pyc", ".so")):
            files.append(arguments[0])

def count_call(frame, event, argument):
    global calls
    if event == "call" and frame.f_back is not None:
        callee, caller = (f.f_globals.get("__name__") or "" for f in (frame, frame.f_back))
        if callee != caller and callee[:8] == caller[:8] == "nuggets.":
            calls += 1

def finish(code):
    sys.setprofile(None)
    loaded = [name for name in sys.modules if name == "nuggets" or name.startswith("nuggets.")]
    with open(report, "w") as file:
        json.dump({
            "code": code, "modules": loaded, "statements": statements, "databases": databases,
            "files": files, "calls": calls, "numpy": "numpy" in sys.modules,
        }, file)
    leave(code)

leave, os._exit = os._exit, finish
if counts_calls:
    sys.setprofile(count_call)
else:
    sqlite3.connect = connect
    sys.addaudithook(note_file)
from nuggets.__main__ import main
main()
"""


def environment(source: str, home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUGGETS_")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {
        **kept,
        "HOME": home,
        "PYTHONPATH": source,
        "NUGGETS_HOOK_SECONDS": "20",
        "MEMORY_REFLECTION_DAILY": "0",  # else a hook starts the clean-up beside what is measured
    }


class Place:
    """A shelf and a repository, for one of the sources that are compared."""

    def __init__(self, source: str, work: str) -> None:
        self.shelf = os.path.join(work, "shelf")
        self.repository = os.path.join(work, "repository")
        self.environment = environment(source, work)
        for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
            who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
            os.makedirs(self.repository, exist_ok=True)
            subprocess.run(["git", *who, *command], cwd=self.repository, check=True)
        fill = [sys.executable, "-c", FILL, self.shelf, str(NOTES)]
        above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        with_corpus = {**self.environment, "PYTHONPATH": os.pathsep.join((source, above))}
        subprocess.run(fill, check=True, env=with_corpus, cwd=self.repository)
        self.asked = questions(ROUNDS * 4)

    def command(self, name: str, number: int) -> tuple[list[str], bytes]:
        ours = ["--dir", self.shelf]
        words = {
            "remember": [*ours, "remember", "bench", f"cold key {number}", f"value {number}"],
            "first recall": [*ours, "recall", f"cold key {number}", "--nugget", "bench"],
            "recall": [*ours, "recall", "kept key", "--nugget", "kept"],
            "search": [*ours, "search", self.asked[number]],
            "prompt hook": [*ours, "hook", "user-prompt"],
            "version": ["--version"],
        }[name]
        sent = {
            "session_id": f"s{number}",
            "cwd": self.repository,
            "prompt": f"{self.asked[number]}?",
        }
        return words, json.dumps(sent).encode() if name == "prompt hook" else b""

    def counts(self, name: str, number: int) -> dict[str, object]:
        """What a command did; its calls come from a second run."""
        first = self._probe(name, number, "work")
        return {**first, "calls": self._probe(name, number + 1, "calls")["calls"]}

    def _probe(self, name: str, number: int, what: str) -> dict[str, object]:
        words, given = self.command(name, number)
        readable, writable = os.pipe()
        program = [sys.executable, "-c", PROBE, str(writable), what, *words]
        process = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.repository,
            pass_fds=[writable],
        )
        os.close(writable)
        _, errors = process.communicate(given)
        with open(readable, encoding="utf-8") as file:
            told = file.read()
        if not told:
            raise RuntimeError(f"{name}: {errors.decode()}")
        return dict(json.loads(told))

    def cost(self, name: str, number: int) -> float:
        """CPU-milliseconds of one fresh process."""
        if name in FAMILIAR:
            program, given = [sys.executable, *FAMILIAR[name]], b""
        else:
            words, given = self.command(name, number)
            program = [sys.executable, "-m", "nuggets", *words]
        return 1e3 * cpu(
            program,
            input=given,
            env=self.environment,
            cwd=self.repository,
            stderr=subprocess.DEVNULL,
        )


FILL = """
import sys
from itertools import islice
from benchmarks.corpus import texts
from nuggets import NuggetShelf
with NuggetShelf(sys.argv[1]) as shelf:
    with shelf.batch():
        for text in islice(texts(), int(sys.argv[2])):
            shelf.create_note("corpus", text.title, text.content, [text.tag])
    shelf.remember("kept", "kept key", "kept value")
    shelf.recall("kept key")
"""
NAMES = ("remember", "first recall", "recall", "search", "prompt hook", "version")
FAMILIAR = {"python -c pass": ["-c", "pass"], "pip --version": ["-m", "pip", "--version"]}


def work_of(place: Place, number: int, *, prints: bool = False) -> dict[str, dict[str, int]]:
    """The counts of each command. Each is run once before, as on any other day."""
    counted = {}
    for name in NAMES:
        if name == "remember":
            place.counts(name, number + 10)
        did = place.counts(name, number)
        if prints:
            print(f"\n--- {name}", *did["statements"], sep="\n")  # type: ignore[misc]
            print(*did["files"], *did["databases"], sep="\n")  # type: ignore[misc]
            print(" ".join(sorted(did["modules"])))  # type: ignore[call-overload]
        counted[name] = {
            what: value if isinstance(value := did[what], int) else len(value)  # type: ignore[arg-type]
            for what in COUNTED
        }
        counted[name]["numpy"] = int(bool(did["numpy"]))
    return counted


def costs(places: Sequence[Place], rounds: int) -> Mapping[str, list[float]]:
    """CPU-milliseconds of each command: the median for each place, in turns."""
    names = (*NAMES, *FAMILIAR)
    measured: dict[str, list[list[float]]] = {name: [[] for _ in places] for name in names}
    for number in range(rounds + 1):
        for name in names:
            for place, taken in zip(places, measured[name], strict=True):
                cost = place.cost(name, 20 + number)
                if number:  # the first only compiles
                    taken.append(cost)
    return {name: [statistics.median(taken) for taken in of] for name, of in measured.items()}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_work", description=__doc__)
    parser.add_argument("--beside", metavar="DIRECTORY")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--statements", action="store_true")
    options = parser.parse_args(argv)
    here = os.path.dirname(os.path.dirname(os.path.abspath(nuggets.__file__)))
    sources = [os.path.abspath(options.beside), here] if options.beside else [here]
    with tempfile.TemporaryDirectory() as work:
        places = []
        for number, source in enumerate(sources):
            folder = os.path.join(work, str(number))
            os.mkdir(folder)
            places.append(Place(source, folder))
        counted = [work_of(place, 1, prints=options.statements) for place in places]
        taken = costs(places, options.rounds) if options.rounds else {}
    print(f"{'':14}{''.join(f'{what:>15}' for what in (*COUNTED, 'numpy', 'CPU ms'))}")
    for name in NAMES:
        cells = [" → ".join(str(c[name][w]) for c in counted) for w in (*COUNTED, "numpy")]
        cells.append(" → ".join(f"{cost:.0f}" for cost in taken.get(name, ())))
        print(f"{name:14}{''.join(f'{cell:>15}' for cell in cells)}")
    for name in FAMILIAR:
        cost = " → ".join(f"{cost:.0f}" for cost in taken.get(name, ()))
        print(f"{name:14}{cost:>{15 * (len(COUNTED) + 2)}}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
