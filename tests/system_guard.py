"""Keeps tests away from the machine that runs them.

A pytest plugin (loaded by pyproject.toml). Programs that change the machine or wait for a person
are hidden behind stand-ins that refuse: they exit with 97 and write a line that fails the test, or
the run. Child processes inherit the stand-ins through PATH; an audit hook refuses to start a child
without them, or by the full path of a real program, and to touch a file in the real home.
"""

import os
import pwd
import re
import shutil
import site
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = (
    *("crontab", "systemctl", "launchctl", "loginctl"),
    *("vi", "vim", "nano", "emacs", "ed", "editor", "sensible-editor"),
    *("xdg-open", "open", "osascript", "sensible-browser", "x-www-browser", "www-browser"),
    *("links", "elinks", "lynx", "w3m", "firefox"),
    *("claude", "codex", "cursor", "cursor-agent", "gemini", "opencode", "pi"),
)
REFUSED = 97  # how a stand-in exits

# Variables that lead to the real session, editor, browser, agents or repository.
VARIABLES = re.compile(
    r"XDG_|DBUS_|GIT_|CLAUDE|CODEX_|CURSOR_|GEMINI_|OPENCODE|PI_"
    r"|(DISPLAY|WAYLAND_DISPLAY|BROWSER|EDITOR|VISUAL)$"
)
REPOSITORY = Path(__file__).resolve().parent.parent
RUN = "TEST_RUN_DIRECTORY"  # of the process that began the run, for its workers
USUAL_DIRECTORIES = (
    *("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"),
    *("/opt/homebrew/bin", "/snap/bin"),
)
FILE_EVENTS = {  # what an audit hook hears of files: how many of the arguments are paths
    **{"open": 1, "sqlite3.connect": 1, "os.listdir": 1, "os.scandir": 1, "os.mkdir": 1},
    **{"os.remove": 1, "os.rmdir": 1, "os.truncate": 1, "os.chmod": 1, "os.chown": 1},
    **{"os.utime": 1, "os.rename": 2, "os.link": 2, "os.symlink": 2},
}
PROCESS_EVENTS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"}


class Refused(RuntimeError):
    """A test reached for the machine itself."""


class SystemGuard:
    """Stand-ins for the programs above, and a record of whatever was refused."""

    def __init__(self, directory: Path, environ: Mapping[str, str]) -> None:
        self.directory = directory
        self.stand_ins = directory / "bin"
        self.home = directory / "home"
        self.record = directory / "refusals"
        self.is_testing = False
        path = environ.get("PATH", os.defpath).split(os.pathsep)
        holders = [one for one in path if any(os.path.exists(f"{one}/{p}") for p in PROGRAMS)]
        self._directories = {*USUAL_DIRECTORIES, *holders}
        self._directories |= {os.path.realpath(one) for one in self._directories}
        names = "|".join(map(re.escape, PROGRAMS))
        holders_pattern = "|".join(map(re.escape, sorted(self._directories)))
        self._real_program = re.compile(
            rf"(?<![\w./-])(?:{holders_pattern})/(?:{names})(?![\w/.-])"
        )
        homes = {pwd.getpwuid(os.getuid()).pw_dir, environ.get("HOME", "/")}
        homes |= {os.path.realpath(one) for one in homes}
        self.real_homes = tuple(one.rstrip("/") for one in homes if one.rstrip("/"))
        interpreter = (sys.prefix, sys.base_prefix, site.getusersitepackages(), *sys.path)
        free = (str(REPOSITORY), tempfile.gettempdir(), *filter(os.path.isabs, interpreter))
        self._free = tuple({*free, *map(os.path.realpath, free)})

    def install(self) -> None:
        """Put the stand-ins before all real programs, an empty home in the place of the real one,
        and watch this process."""
        for folder in (self.stand_ins, self.home):
            folder.mkdir(parents=True)
        self.record.touch()
        self.record.chmod(0o666)  # a child that changed its user writes here as well
        for name in PROGRAMS:
            stand_in = self.stand_ins / name
            stand_in.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{self.record}'\nexit {REFUSED}\n")
            stand_in.chmod(0o755)
        for variable in filter(VARIABLES.match, list(os.environ)):
            del os.environ[variable]
        os.environ["HOME"] = str(self.home)
        path = os.environ.get("PATH", os.defpath)
        os.environ["PATH"] = os.pathsep.join([str(self.stand_ins), path])
        sys.addaudithook(self.watch)

    def take_refusals(self) -> list[str]:
        """What was refused since the last call."""
        lines = self.record.read_text().splitlines()
        if lines:
            self.record.write_text("")
        return lines

    def watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The audit hook."""
        if event in FILE_EVENTS:
            if self.is_testing:
                for path in arguments[: FILE_EVENTS[event]]:
                    self._check_file(path)
        elif event in PROCESS_EVENTS:
            self._check_process(event, arguments)

    def _check_file(self, path: object) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # an open file
        absolute = os.path.abspath(os.fsdecode(path))
        if _depth(absolute, self.real_homes) > _depth(absolute, self._free):
            self._refuse(f"{absolute} is in the real home")

    def _check_process(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.system":
            words, env = arguments, None
        elif event == "subprocess.Popen":
            program, given, _, env = arguments
            words = (program, *([given] if isinstance(given, str | bytes) else given))
        else:
            program, given, env = arguments
            words = (program, *given)
        texts = [os.fsdecode(word) for word in words if word is not None]
        for text in texts:
            if real := self._real_program.search(text):
                self._refuse(f"{real.group()} is the real one, in {texts}")
        variables = os.environ if env is None else env
        environ = {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()}
        if exposed := self._exposed_directory(environ.get("PATH", os.defpath)):
            self._refuse(f"PATH has {exposed} before the stand-ins for {texts}")
        if environ.get("HOME", "").rstrip("/") in ("", *self.real_homes):
            self._refuse(f"HOME is the real one, or none, for {texts}")

    def _exposed_directory(self, path: str) -> str | None:
        """The first directory with real programs, if it comes before the stand-ins."""
        for directory in path.split(os.pathsep):
            if directory == str(self.stand_ins):
                return None
            if directory in self._directories or os.path.realpath(directory) in self._directories:
                return directory
        return None

    def _refuse(self, reason: str) -> None:
        with open(self.record, "a", encoding="utf-8") as record:
            record.write(f"{reason}\n")
        raise Refused(reason)


def _depth(path: str, directories: tuple[str, ...]) -> int:
    """How close to the path the closest directory around it is; 0 if none is around it."""
    return max((len(one) for one in directories if f"{path}/".startswith(f"{one}/")), default=0)


def _run_directory() -> tuple[Path, bool]:
    """Where a run keeps what guards it, and whether this process began the run."""
    if RUN in os.environ and "PYTEST_XDIST_WORKER" in os.environ:
        return Path(os.environ[RUN]), False
    directory = Path(tempfile.mkdtemp(prefix="nuggets-tests-"))
    directory.chmod(0o755)  # or a child that changed its user would fall through to real programs
    os.environ[RUN] = str(directory)
    return directory, True


_directory, _began_the_run = _run_directory()
guard = SystemGuard(_directory / str(os.getpid()), os.environ)
guard.install()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    guard.is_testing = True
    try:
        return (yield)
    finally:
        guard.is_testing = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Fail the test that reached for the machine."""
    yield
    if refusals := guard.take_refusals():
        pytest.fail("reached for the machine itself:\n" + "\n".join(refusals))


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Fail the run if a process reached for the machine when its test was over."""
    yield
    if not _began_the_run:
        return
    late = "".join(record.read_text() for record in sorted(_directory.glob("*/refusals")))
    if late:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        sys.stderr.write(f"\nAfter its test, something reached for the machine itself:\n{late}")
    shutil.rmtree(_directory, ignore_errors=True)
