"""Surroundings that a shelf must survive: few descriptors, full and read-only disks, wrong clocks.

`python fault_surroundings.py disks PLACE` needs root and a mount namespace of its own
(`unshare -m`), so that what it mounts is gone with it. `… clocks PLACE [COUNT]` and
`… zones [ZONE …]` need the shim; `… descriptors PLACE [MORE …]` needs nothing.
Each prints what it did, and exits with 1 at the first thing that is not as it must be.
"""

import ctypes
import io
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from itertools import count

from fault_processes import age_leftovers, environment, problems_in
from nuggets.errors import NuggetsError
from nuggets.shelf import NuggetShelf

COMMAND = (sys.executable, "-P", "-m", "nuggets")
PROMPT = '{"session_id": "s", "prompt": "Remember that we use tabs. Which editor?"}'
HOOK = (sys.executable, "-P", "-m", "nuggets", "hook", "user-prompt")
NO_DAILY_PASS = {"MEMORY_REFLECTION_DAILY": "0", "NUGGETS_HOOK_SECONDS": "60"}


class Wrong(AssertionError):
    """Something was not survived."""


def run(
    directory: str, *words: str, descriptors: int = 0, hook: bool = False
) -> "subprocess.CompletedProcess[str]":
    """A command (or the prompt hook) in a process of its own, which ends and says no traceback."""

    def limit_descriptors() -> None:
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    done = subprocess.run(
        HOOK if hook else [*COMMAND, "--dir", directory, *words],
        input=PROMPT,
        capture_output=True,
        text=True,
        check=False,
        env=environment(**NO_DAILY_PASS, NUGGETS_DIR=directory),
        preexec_fn=limit_descriptors,
    )
    if "Traceback" in done.stderr or done.returncode not in ((0,) if hook else (0, 1, 2)):
        raise Wrong(f"{words or 'hook'} ended with {done.returncode}: {done.stderr}")
    return done


def recall(directory: str, key: str) -> str:
    return run(directory, "recall", key).stdout


def check_order(directory: str, expected: dict[str, str]) -> None:
    """All that was acknowledged is there, and the doctor finds nothing."""
    age_leftovers(directory)
    run(directory, "remember", "facts", "after all", "done")
    run(directory, "export", "json")
    doctor = run(directory, "doctor")
    if doctor.returncode:
        raise Wrong(f"doctor: {doctor.stdout}")
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        found = {fact.title: fact.content for fact in shelf.facts("facts")}
    lost = {key for key, value in expected.items() if found.get(key) != value}
    if lost:
        raise Wrong(f"lost {sorted(lost)}")
    problems = problems_in(directory, access_times=False)
    if problems:
        raise Wrong(str(problems))


def starve_of_descriptors(directory: str, *limits: str) -> Iterator[str]:
    """Commands with so few descriptors that some can do nothing: as many as the interpreter needs
    to start, and so many more; by default all up to 32."""
    least = least_descriptors()
    run(directory, "remember", "facts", "editor", "helix")
    expected = {"editor": "helix"}
    for limit in [least + int(more) for more in limits] or range(least, 33):
        key = f"with {limit}"
        if run(directory, "remember", "facts", key, "kept", descriptors=limit).returncode == 0:
            expected[key] = "kept"
        run(directory, "recall", "editor", descriptors=limit)
        run(directory, descriptors=limit, hook=True)
    check_order(directory, expected)
    yield f"{len(expected) - 1} writes acknowledged with few descriptors, all there"


def least_descriptors() -> int:
    """How many the interpreter alone needs to start with what the command imports first."""
    for limit in count(3):
        done = subprocess.run(
            [sys.executable, "-P", "-c", "import argparse, json, sqlite3"],
            capture_output=True,
            check=False,
            preexec_fn=lambda limit=limit: resource.setrlimit(  # type: ignore[misc]
                resource.RLIMIT_NOFILE, (limit, limit)
            ),
        )
        if done.returncode == 0:
            return limit
    raise AssertionError


# --- disks --------------------------------------------------------------------------------------


def mount(place: str, options: str) -> None:
    os.makedirs(place, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)


def fill_bytes(place: str) -> Callable[[], None]:
    """Fill a disk to the last byte; how to empty it again."""
    ballast = os.path.join(place, "ballast")
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
    return lambda: os.remove(ballast)


def take_inodes(place: str) -> Callable[[], None]:
    """Make files until there can be no more; how to remove them again."""
    folder = os.path.join(place, "empty files")
    os.mkdir(folder)
    try:
        for number in count():
            with open(os.path.join(folder, str(number)), "x", encoding="ascii"):
                pass
    except OSError:
        pass

    def remove_all() -> None:
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))

    return remove_all


def make_read_only(place: str) -> Callable[[], None]:
    def remount(manner: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{manner}", place], check=True)

    remount("ro")
    return lambda: remount("rw")


DISKS = {  # mount options, how it is spoilt, and what every refused write says
    "full": ("size=2m", fill_bytes, "o space left"),
    "without inodes": ("size=4m,nr_inodes=64", take_inodes, "no inode left"),
    "read-only": ("size=4m", make_read_only, "read-only"),
}


def survive_disk(
    place: str, options: str, spoil: Callable[[str], Callable[[], None]], said: str
) -> str:
    """Write, spoil the disk, try everything, make it good again, write."""
    mount(place, options)
    try:
        directory = os.path.join(place, "shelf")
        expected = {}
        for number in range(5):
            if run(directory, "remember", "facts", f"k{number}", "kept").returncode == 0:
                expected[f"k{number}"] = "kept"
        restore = spoil(place)
        refused = 0
        for number in range(4):
            done = run(directory, "remember", "facts", f"s{number}", "kept " * 400)
            if done.returncode == 0:
                expected[f"s{number}"] = ("kept " * 400).strip()
            elif said not in done.stderr:
                raise Wrong(f"refused without saying {said!r}: {done.stderr}")
            refused += done.returncode != 0
            if "kept" not in recall(directory, "k0"):
                raise Wrong("what is there cannot be recalled")
            for command in ("search kept", "reflect", "doctor", "backup", "export json"):
                run(directory, *command.split())
            run(directory, hook=True)
        restore()
        check_order(directory, expected)
        return f"{refused} of 4 writes refused, {len(expected)} acknowledged, all there"
    finally:
        subprocess.run(["umount", place], check=True)


def survive_disks(place: str) -> Iterator[str]:
    for name, (options, spoil, said) in DISKS.items():
        yield f"{name}: {survive_disk(place, options, spoil, said)}"


# --- clocks -------------------------------------------------------------------------------------

MOMENTS = (
    *("1969-12-31T23:59:59", "1970-01-01T00:00:00", "2099-12-31T23:59:59", "1980-01-01T00:00:00"),
    *("2026-03-10T09:00:00", "2038-01-19T03:14:07", "2038-01-19T03:14:08", "2000-02-29T12:00:00"),
    *("2027-02-28T23:59:59", "2069-12-31T00:00:00", "2026-03-10T09:00:01"),
)


def set_clock(moment: datetime) -> None:
    """From now on this process sees that moment, and time goes on from there."""
    ctypes.CDLL(None).shim_set_clock(ctypes.c_long(int(moment.timestamp())))


def command_here(directory: str, *words: str) -> int:
    """A command in this process, which the shim has given a clock of its own."""
    from nuggets.__main__ import run_command as main

    os.environ.update(NO_DAILY_PASS, NUGGETS_DIR=directory)
    output, errors = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with redirect_stdout(output), redirect_stderr(errors):
        code = main(list(words))
    errors.seek(0)
    complaint = errors.read()
    if "Traceback" in complaint or code not in (0, 1, 2):
        raise Wrong(f"{words} at {time.ctime()} ended with {code}: {complaint}")
    return code


def survive_clocks(directory: str, count: str = "") -> Iterator[str]:
    """Every command at times from 1969 to 2099, which jump to and fro on one shelf."""
    moments = MOMENTS[: int(count or len(MOMENTS))]
    for number, moment in enumerate(moments):
        set_clock(datetime.fromisoformat(moment).replace(tzinfo=UTC))
        if command_here(directory, "remember", "facts", f"k{number}", moment):
            raise Wrong(f"nothing can be remembered at {moment}")
        for words in (
            *(
                f"note add plans Title-{number} content",
                f"recall k{number}",
                "search content",
                "reflect",
            ),
            *("schedule run --once", "history", "status facts", "export json", "backup"),
            *("doctor", "undo", "list --json", f"recall k{number} --as-of 2026-03-10"),
        ):
            command_here(directory, *words.split())
    set_clock(datetime.fromisoformat("2027-03-01T12:00:00+00:00"))
    check_order(directory, {f"k{number}": moment for number, moment in enumerate(moments)})
    with NuggetShelf(directory, project="", short_lived=True) as shelf:
        revisions = [commit.revision for commit in shelf.commits()]
    if revisions != sorted(revisions):
        raise Wrong("the history is not in order")
    yield f"{len(moments)} moments from 1969 to 2099: all there, in order"


def posix_zones() -> Iterator[str]:
    """Every quarter of an hour from 12 hours behind to 14 ahead, and zones that change their clocks
    at the hour of the daily pass itself."""
    for quarter in range(-12 * 4, 14 * 4 + 1):
        hours, minutes = divmod(abs(quarter) * 15, 60)
        sign = "-" if quarter >= 0 else ""  # POSIX counts the other way
        yield f"<zone>{sign}{hours}:{minutes:02d}"
    yield "EST5EDT,M3.2.0,M11.1.0"
    yield "<a>3<b>,M3.2.2/9:00,M11.1.0/9:00"  # the second Tuesday of March, at nine
    yield "<a>3<b>,M11.1.0/9:00,M3.2.2/9:00"  # nine comes twice on that day


def survive_zones(zones: Sequence[str]) -> Iterator[str]:
    """In every zone the pass is due at nine, once a day, and a minute before it is not."""
    for zone in zones:
        os.environ["TZ"] = zone
        time.tzset()
        with NuggetShelf("memory:", project="") as shelf:
            for day in (9, 10, 11):  # the clocks may change on the tenth
                midnight = datetime(2026, 3, day)
                _expect(shelf, zone, midnight + timedelta(hours=8, minutes=59), runs=False)
                _expect(shelf, zone, midnight + timedelta(hours=10, minutes=1), runs=True)
                _expect(shelf, zone, midnight + timedelta(hours=10, minutes=2), runs=False)
                _expect(shelf, zone, midnight + timedelta(hours=21, minutes=59), runs=False)
    yield f"{len(zones)} time zones: one pass a day, not before nine"


def _expect(shelf: NuggetShelf, zone: str, local: datetime, *, runs: bool) -> None:
    set_clock(local.astimezone())
    now = datetime.now()
    if now.hour < 9:  # an hour that the clocks left out
        runs = False
    try:
        has_run = shelf.run_daily(now) is not None
        shelf.next_run(now)
    except NuggetsError as problem:
        raise Wrong(f"{zone} at {now}: {problem}") from problem
    if has_run is not runs:
        raise Wrong(f"in {zone} at {now} the pass {'ran' if has_run else 'did not run'}")


def main(what: str, *arguments: str) -> int:
    parts: dict[str, Callable[..., Iterator[str]]] = {
        "descriptors": starve_of_descriptors,
        "disks": survive_disks,
        "clocks": survive_clocks,
        "zones": lambda *zones: survive_zones(zones or tuple(posix_zones())),
    }
    try:
        for line in parts[what](*arguments):
            print(line, flush=True)
    except Wrong as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
