"""Which files and networks commands touch, seen by strace: nothing outside of what is theirs.

python tests/fault_trace.py WORK

Written may be the shelf and the memory file that was named, alone. Read may be the program itself,
what every program of the system reads, the shelf, and where a repository would lie. No command
connects to anything, and none starts another program.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

from fault_processes import environment

COMMANDS = (
    *("remember prefs editor helix", "recall editor", "search helix", "note add ops Title text"),
    *("note list", "reflect", "promote --path {work}/memory/MEMORY.md", "history", "undo"),
    *("export json", "backup", "doctor", "audit", "forget prefs editor --purge", "list --json"),
    "remember prefs $(touch${IFS}owned) `touch${IFS}owned`;",
)
OUTSIDE = "export markdown {work}/pages"  # as someone asked for: the trace must notice it
CALLS = "%file,%network,execve"
_WRITES = re.compile(
    r"(?:open|openat|creat)\(.*O_(?:WRONLY|RDWR|CREAT)"
    r"|^(?:rename|unlink|mkdir|rmdir|link|symlink|chmod|chown|truncate|mknod|utime)"
)
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CALL = re.compile(r"^\d+\s+(\w+)\((.*)")
_SYSTEM = ("/etc/", "/lib", "/usr/", "/proc/", "/sys/", "/dev/null", "/dev/urandom", "/dev/tty")


class Touched(AssertionError):
    """A command touched what is not its own."""


def trace(work: str, command: str) -> Iterator[tuple[str, str]]:
    """The system calls of a command that succeeded: name and arguments."""
    log = os.path.join(work, "trace")
    shelf, words = os.path.join(work, "shelf"), command.replace("{work}", work).split()
    program = [sys.executable, "-P", "-m", "nuggets", "--dir", shelf, *words]
    done = subprocess.run(
        ["strace", "-f", "-e", f"trace={CALLS}", "-o", log, "-s", "4096", *program],
        capture_output=True,
        text=True,
        check=False,
        cwd=os.path.join(work, "here"),
        env={
            **environment(HOME=os.path.join(work, "home"), PYTHONDONTWRITEBYTECODE="1"),
            "TMPDIR": os.path.join(work, "home"),
        },
    )
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise Touched(f"{command} ended with {done.returncode}: {done.stderr}")
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            call = _CALL.match(line)
            if call and "= -1 " not in line:
                yield call[1], call[2]


def check_command(work: str, command: str) -> int:
    """How many calls were looked at; raises at the first that must not be."""
    here = os.path.join(work, "here")
    own = [os.path.join(work, name) for name in ("shelf", "memory")]
    readable = [
        *own,
        *(path for path in {sys.prefix, sys.base_prefix, *map(os.path.realpath, sys.path)} if path),
        *(os.path.dirname(os.path.dirname(os.path.realpath(sys.executable))), here),
        *(os.path.join(work, "home"), os.path.dirname(os.path.abspath(__file__))),
    ]
    seen = started = 0
    for name, arguments in trace(work, command):
        seen += 1
        if name == "execve":
            started += 1
            if started > 1:
                raise Touched(f"{command} starts a program: {arguments}")
        elif name in ("connect", "bind", "listen", "sendto") and "AF_UNIX" not in arguments:
            raise Touched(f"{command} uses a network: {name}({arguments}")
        else:
            for path in _PATH.findall(arguments):
                _check_path(command, name, arguments, os.path.join(here, path), own, readable)
    return seen


def _check_path(
    command: str, name: str, arguments: str, path: str, own: list[str], readable: list[str]
) -> None:
    if path.startswith(("/dev/null", "/proc/self")):
        return
    if _WRITES.search(f"{name}({arguments}"):
        if not _lies_below(path, own):
            raise Touched(f"{command} writes {path}: {name}({arguments}")
    elif not (
        _lies_below(path, readable)
        or path.startswith(_SYSTEM)
        or any(one.startswith(path.rstrip("/")) for one in readable)  # a folder on the way
    ):
        raise Touched(f"{command} reads {path}: {name}({arguments}")


def _lies_below(path: str, folders: list[str]) -> bool:
    real = os.path.realpath(path)
    return any(f"{one}/".startswith(f"{folder}/") for one in (path, real) for folder in folders)


def trace_all(work: str) -> Iterator[str]:
    for name in ("home", "here", "memory"):
        os.mkdir(os.path.join(work, name))
    calls = sum(check_command(work, command) for command in COMMANDS)
    try:
        check_command(work, OUTSIDE)
    except Touched:
        pass
    else:
        raise Touched("the trace does not notice what is written outside")
    yield f"{len(COMMANDS)} commands, {calls} calls that name a file, a network or a program"


def main(work: str) -> int:
    try:
        for line in trace_all(os.path.realpath(work)):
            print(line)
    except Touched as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
