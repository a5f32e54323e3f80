"""The long form of the fault tests: `make faults`. Prints progress, and a report at the end.

python tests/fault_run.py [--every N] [--states N] [--kills N] [--cuts N] [--storms N]
    [--flips N] [--damages N] [--truncations N] [--fuzz EXECUTIONS] [--soak SECONDS]
    [--parts NAME …] [--report FILE]

Most parts are ones that the tests run in a short form. Beside Nuggets the same crash states, kills
and power cuts are survived, or not, by what programs usually do: a JSON file that is written to a
temporary name and renamed, and a table of SQLite with its default settings.

A part that fails, or in which Nuggets loses something, is told in the report; the others run, and
the program ends with 1.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [TESTS, os.path.dirname(TESTS)]

from fault_comparison import KINDS_OF_STORE, kill_writers, survey_states  # noqa: E402
from fault_crashes import crash_states, record  # noqa: E402
from fault_power import FILE_SYSTEMS, NoPowerCuts, power_cut_round  # noqa: E402
from fault_processes import Outcome, compile_shim, environment, kill_round  # noqa: E402
from fault_soak import soak  # noqa: E402
from fault_storm import run_storm  # noqa: E402

STORM_WRITES = 150  # that are acknowledged before a storm is over
WHOLE = "0 lost something, 0 not in order"  # what a survey of Nuggets must say


class NotSurvived(Exception):
    """Nuggets lost something, or was not in order afterwards."""


def fail_system_calls(shim: str, work: str, every: int) -> Iterator[str]:
    command = [sys.executable, os.path.join(TESTS, "fault_points.py"), work, str(every)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(LD_PRELOAD=shim)
    )
    assert process.stdout is not None
    last = ""
    for line in process.stdout:
        last = line.strip()
        print(f"  {last}", flush=True)
    if process.wait():
        raise NotSurvived(f"a fault was not survived: {last}")
    yield f"{last} in system calls of every operation, one of {every}: 0 lost, 0 damaged"


def replay_crashes(shim: str, work: str, states: int) -> Iterator[str]:
    for subject in KINDS_OF_STORE:
        folder = os.path.join(work, subject.name)
        os.mkdir(folder)
        effects = record(shim, folder, subject.recording)
        found = survey_states(subject, crash_states(effects, states, seed=1), folder)
        yield f"{subject.name}: {states} crash states, {found}"
        if subject is KINDS_OF_STORE[0] and found != WHOLE:
            raise NotSurvived(f"crash states: {found}")


def kill_processes(work: str, rounds: int) -> Iterator[str]:
    chance, outcomes = Random(2), []
    for number in range(rounds):
        outcomes.append(
            kill_round(os.path.join(work, "kills"), f"r{number}", chance.randint(1, 12))
        )
        print(f"  round {number + 1} of {rounds}", flush=True)
    yield f"nuggets: {rounds} rounds of kill -9, 4 writers, {summarize(outcomes)}"
    require_all(outcomes)
    for subject in KINDS_OF_STORE[1:]:
        found = [
            kill_writers(subject, os.path.join(work, f"{subject.name}-{number}"))
            for number in range(rounds)
        ]
        yield f"{subject.name}: {rounds} rounds of kill -9, 4 writers, {summarize(found)}"


def run_long_form(work: str, test: str, survived: str, **variables: str) -> Iterator[str]:
    """A test that `make test` has in a short form."""
    path = os.path.join(TESTS, test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", work, path],
        cwd=os.path.dirname(TESTS),
        env={**os.environ, **variables},
        check=False,
    )
    if done.returncode:
        raise NotSurvived(f"{test} failed")
    yield survived


def cut_power(work: str, rounds: int) -> Iterator[str]:
    chance = Random(3)
    for name, system in FILE_SYSTEMS.items():
        for subject in KINDS_OF_STORE:
            outcomes = []
            for number in range(rounds):
                options = system.options[number % len(system.options)]
                moment = chance.uniform(0.1, 0.5)
                try:
                    outcome = power_cut_round(work, moment, options, system=system, **subject.power)
                except NoPowerCuts as reason:
                    yield f"no power cuts on {name}: {reason}"
                    break
                outcomes.append(outcome)
                print(f"  {subject.name}: cut {number + 1} of {rounds} on {name}", flush=True)
            else:
                yield f"{subject.name}: {rounds} power cuts on {name}, {summarize(outcomes)}"
            if subject is KINDS_OF_STORE[0]:
                require_all(outcomes)


def run_storms(work: str, rounds: int) -> Iterator[str]:
    """Sixteen processes of all doors, which are killed and stopped, on one shelf."""
    for number in range(rounds):
        outcome = run_storm(os.path.join(work, "storm"), STORM_WRITES, seed=number)
        if outcome.lost or outcome.problems:
            raise NotSurvived(f"a storm was not survived: {outcome.lost} {outcome.problems}")
        yield f"storm {number + 1} of {rounds}: {outcome}"


def change_surroundings(shim: str, work: str) -> Iterator[str]:
    """Few descriptors, full and read-only disks, clocks from 1969 to 2099, all time zones."""
    from zoneinfo import available_timezones

    program = [sys.executable, os.path.join(TESTS, "fault_surroundings.py")]
    in_own_mounts = ["unshare", "-m", *program]
    for command, preload in (
        ([*program, "descriptors", os.path.join(work, "descriptors")], ""),
        ([*program, "clocks", os.path.join(work, "clocks")], shim),
        ([*program, "zones"], shim),
        ([*program, "zones", *sorted(available_timezones())], shim),
        ([*in_own_mounts, "disks", os.path.join(work, "disk")], ""),
    ):
        if command[0] == "unshare" and (os.geteuid() or not shutil.which("unshare")):
            yield "no disks are filled: that needs root and unshare"
            continue
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment(LD_PRELOAD=preload)
        )
        if done.returncode:
            raise NotSurvived(f"{command[:4]} was not survived: {done.stdout}{done.stderr}")
        yield from done.stdout.splitlines()


def trace_commands(work: str) -> Iterator[str]:
    """Every command seen by strace; none touches what is not its own."""
    from fault_trace import trace_all
    from system_programs import program

    if program("strace", "strace") is None:
        yield "nothing was traced: strace is not installed"
        return
    folder = os.path.join(work, "trace")
    os.mkdir(folder)
    for line in trace_all(os.path.realpath(folder)):
        yield f"{line}: nothing outside was touched"


def damage_files(work: str, flips: int) -> Iterator[str]:
    from fault_damage import damage_everything

    folder = os.path.join(work, "damage")
    os.mkdir(folder)
    for line in damage_everything(folder, flips):
        yield f"damage, {line}: every command ended with an answer or a message"


def damage_databases(work: str, damages: int, truncations: int) -> Iterator[str]:
    from fault_random_damage import damage_all, summarize

    folder = os.path.join(work, "torn")
    os.mkdir(folder)
    line, problems = summarize(damage_all(folder, damages, truncations))
    if problems:
        raise NotSurvived(f"{line}: {problems[:5]}")
    yield line


def storm_machines(work: str, storms: int) -> Iterator[str]:
    """Machines that share a folder, of which some are killed; and a shelf with its vault."""
    from fault_pair import pair_storm
    from fault_vault import vault_storm

    for seed in range(storms):
        yield from pair_storm(Path(work, f"pair-{seed}"), edits=500, kills=20, seed=seed)
        yield from vault_storm(Path(work, f"vault-{seed}"), edits=500, seed=seed)


def fuzz(work: str, executions: int) -> Iterator[str]:
    """So many executions of all targets of `fuzz_targets.py` together."""
    from fuzz_run import FUZZING, executions_of

    if find_spec("atheris") is None:
        yield "nothing was fuzzed: pip install atheris"
        return
    total = 0
    for name in FUZZING:
        asked = str(executions_of(name, executions))
        command = [os.path.join(TESTS, "fuzz_run.py"), name, asked, f"{work}/fuzz-{name}"]
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, env=environment()
        )
        if done.returncode:
            raise NotSurvived(f"{name} failed: {done.stdout[-2000:]}{done.stderr[-4000:]}")
        counted = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        total += int(counted[1]) if counted else 0
        print(f"  {name}: {counted[1] if counted else '?'} executions", flush=True)
    yield f"{total} executions of {len(FUZZING)} fuzz targets: 0 failures, 0 hangs"


def summarize(outcomes: list[Outcome]) -> str:
    acknowledged = sum(len(outcome.acknowledged) for outcome in outcomes)
    lost = sum(len(outcome.lost) for outcome in outcomes)
    problems = sum(bool(outcome.problems) for outcome in outcomes)
    return f"{lost} of {acknowledged} acknowledged writes lost, {problems} rounds not in order"


def require_all(outcomes: list[Outcome]) -> None:
    """Of Nuggets, which may lose nothing."""
    for outcome in outcomes:
        if outcome.lost or outcome.problems:
            raise NotSurvived(f"lost {sorted(outcome.lost)}, not in order: {outcome.problems}")


def run(parts: dict[str, Callable[[], Iterator[str]]], report: str) -> int:
    """Run them all, whatever one of them shows; how many failed."""
    lines, failures, text = list[str](), 0, ""
    for name, part in parts.items():
        print(f"{name} ...", flush=True)
        began = time.monotonic()
        try:
            for line in part():
                lines.append(line)
                print(f"{line} ({time.monotonic() - began:.0f} s)", flush=True)
        except Exception as problem:
            failures += 1
            lines.append(f"FAILED: {name}: {problem}")
            traceback.print_exc()
        text = "\n".join(f"- {line}" for line in lines)
        if report:
            with open(report, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
    print(f"\nReport\n{text}")
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the long form of the fault tests.")
    parser.add_argument("--every", type=int, default=1, help="fail one of so many system calls")
    parser.add_argument("--states", type=int, default=2400, help="how many crash states")
    parser.add_argument("--kills", type=int, default=50, help="rounds of killed writers")
    parser.add_argument("--cuts", type=int, default=40, help="power cuts of each file system")
    parser.add_argument("--storms", type=int, default=10, help="storms of sixteen processes")
    parser.add_argument("--flips", type=int, default=1000, help="bits that are flipped")
    parser.add_argument("--damages", type=int, default=650, help="overwritten databases")
    parser.add_argument("--truncations", type=int, default=350, help="databases cut off")
    parser.add_argument("--fuzz", type=int, default=20_000_000, help="executions of the fuzzers")
    parser.add_argument("--soak", type=float, default=1800, help="seconds of the soak")
    parser.add_argument("--parts", nargs="*", help="only these, by the first word of their names")
    parser.add_argument("--report", default="", help="a file to write the report to")
    options = parser.parse_args()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    work, disk = tempfile.mkdtemp(dir=memory), tempfile.mkdtemp()
    os.environ["HOME"] = disk
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes start in a third of the time
    shim = compile_shim(disk)
    if not shim:
        raise SystemExit("a C compiler is needed")
    try:
        parts: dict[str, Callable[[], Iterator[str]]] = {
            "Faults": lambda: fail_system_calls(shim, work, options.every),
            "Crash states": lambda: replay_crashes(shim, work, options.states),
            "Killed writers": lambda: kill_processes(disk, options.kills),
            "Purges": lambda: run_long_form(
                os.path.join(work, "purges"),
                "faults/test_killed_purge.py",
                "a purge that is killed at any of its steps: finished by the next writer",
                NUGGETS_PURGE_STEPS="1",
            ),
            "Misplaced files": lambda: run_long_form(
                os.path.join(work, "misplaced"),
                "interfaces/test_damaged_files.py",
                "whatever stands in place of any file, every command ends and says so",
                NUGGETS_DAMAGE_PART="1",
            ),
            "Properties": lambda: run_long_form(
                os.path.join(work, "properties"),
                "",
                "every property holds for ten times as many examples as its test names",
                NUGGETS_EXAMPLES="10",
                PYTEST_ADDOPTS="-m hypothesis",
            ),
            "Texts": lambda: run_long_form(
                os.path.join(work, "texts"),
                "test_time_bounds.py",
                "every function that reads text takes 512 KiB in linear time",
                NUGGETS_LONG_TEXT=str(1 << 19),
            ),
            "Machines and vaults": lambda: storm_machines(work, options.storms),
            "Power cuts": lambda: cut_power(disk, options.cuts),
            "Storms": lambda: run_storms(disk, options.storms),
            "Surroundings": lambda: change_surroundings(shim, disk),
            "Damage": lambda: damage_files(work, options.flips),
            "Torn databases": lambda: damage_databases(work, options.damages, options.truncations),
            "Trace": lambda: trace_commands(disk),
            "Fuzz": lambda: fuzz(disk, options.fuzz),
            "Soak": lambda: soak(os.path.join(disk, "soak"), options.soak),
        }
        chosen = {word.lower() for word in options.parts or ()}
        failures = run(
            {n: part for n, part in parts.items() if not chosen or n.split()[0].lower() in chosen},
            options.report,
        )
    finally:
        for folder in (work, disk):
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
