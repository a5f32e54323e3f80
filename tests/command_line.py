"""Three ways to run the command line in a test: in this process, as a process, in a terminal."""

import json
import os
import pty
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from forked_processes import run_module


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output, which must be one JSON value in one line and nothing else."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Nuggets(Protocol):
    """Run a command in this process."""

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Done: ...


class NuggetsProcess(Protocol):
    """Run a command as a process of its own; arguments may be bytes."""

    def __call__(
        self, *arguments: str | bytes, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Done: ...


class Prepare(Protocol):
    """Give a test a copy of the shelf that commands left, which are run once for all tests."""

    def __call__(self, *commands: str) -> None: ...


HARMFUL = set(  # signs that steer a terminal or hide words from whoever reads it
    "\x7f\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
    "\u2066\u2067\u2068\u2069\ufeff\U000e0001\U000e0041\U000e0042\U000e0100\U000e0101"
) | {chr(code) for code in (*range(0x20), *range(0x80, 0xA0)) if chr(code) not in "\n\t"}

COMMAND = (sys.executable, "-P", "-m", "nuggets")  # -P: not the folder we happen to be in


def run_process(
    *arguments: str | bytes, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> Done:
    words = map(os.fsdecode, arguments)
    done = run_module("nuggets", *words, given=stdin, env={**os.environ, **(env or {})})
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_in_terminal(
    *arguments: str,
    typed: str = "",
    after: str = "",
    react: Callable[[], object] | None = None,
    answers: Mapping[str, str] | None = None,
    **env: str,
) -> tuple[int, bytes]:
    """Exit code and every byte that reached the terminal, for someone who types ahead, or as soon
    as they read a text; `react` is called then, too. `answers`: what else is typed, each after a
    text."""
    waiting = dict(answers or {})
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background inherits: ignored
        os.environ.update({"TERM": "xterm", **env})
        os.execv(sys.executable, [*COMMAND, *arguments])
    seen = b""
    while True:
        if typed and after.encode() in seen:
            os.write(terminal, typed.encode())
            typed = ""
        for text in [text for text in waiting if text.encode() in seen]:
            os.write(terminal, waiting.pop(text).encode())
        if react and after.encode() in seen:
            react()
            react = None
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        seen += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen
