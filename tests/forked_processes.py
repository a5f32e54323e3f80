"""Processes that begin with all modules loaded, forked from one that has imported the package.

Each is a real process: with an id, an environment, a folder, streams and an end of its own. Only
what a start of Python costs is paid once. What is loaded at a start, how it is isolated and what
Python itself reads from the environment is tested with processes that are started anew.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pkgutil import walk_packages
from typing import IO, Any

READ_BY_PYTHON = ("PYTHON", "LC_", "LANG", "LD_")  # variables that only a new interpreter obeys
DIGITS = 20  # of each number that is told: one that ends at once tells two before the first is read


def can_fork(env: Mapping[str, str]) -> bool:
    """Would a new interpreter be like the one that is forked?"""
    names = {name for name in (*env, *os.environ) if name.startswith(READ_BY_PYTHON)}
    return all(env.get(name) == os.environ.get(name) for name in names)


class ForkedProcess:
    """`python WORDS`, where those are `-m MODULE …` or `-c PROGRAM …`. Its streams are pipes; what
    is used of it is called as in `Popen`."""

    def __init__(
        self,
        *words: str,
        env: Mapping[str, str],
        text: bool = False,
        stderr: int | None = subprocess.PIPE,
    ) -> None:
        """`stderr`: a pipe, or `DEVNULL`, or None for that of the tests."""
        sys.audit("subprocess.Popen", sys.executable, [sys.executable, *words], None, dict(env))
        request = {"words": words, "env": dict(env), "folder": os.getcwd()}
        read_input, write_input = os.pipe()
        read_output, write_output = os.pipe()
        read_errors, write_errors = _error_pipe(stderr)
        self._status, status = socket.socketpair()
        with tempfile.TemporaryFile() as message, status:
            message.write(json.dumps(request).encode())
            message.seek(0)
            streams = (read_input, write_output, write_errors)
            descriptors = (message.fileno(), *streams, status.fileno())
            with _lock:
                socket.send_fds(_parent(), [b"+"], descriptors)
        for stream in streams:
            os.close(stream)
        kind = "" if text else "b"
        self.stdin: IO[Any] = os.fdopen(write_input, f"w{kind}")
        self.stdout: IO[Any] = os.fdopen(read_output, f"r{kind}")
        self.stderr: IO[Any] = os.fdopen(read_errors, f"r{kind}")
        self.returncode: int | None = None
        self.pid = int(self._status.recv(DIGITS))

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._status.recv(DIGITS))
            self._status.close()
        return self.returncode

    def communicate(self, given: bytes | str = b"") -> tuple[Any, Any]:
        """Write all input, read all that is said until everyone has closed it, and wait."""
        errors: list[Any] = []
        parts: Sequence[Callable[[], None]] = (
            partial(_feed, self.stdin, given),
            lambda: errors.append(self.stderr.read()),
        )
        threads = [threading.Thread(target=part) for part in parts]
        for thread in threads:
            thread.start()
        output = self.stdout.read()
        for thread in threads:
            thread.join()
        self.close()
        return output, errors[0]

    def close(self) -> None:
        self.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                stream.close()

    def __enter__(self) -> "ForkedProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_module(
    module: str, *arguments: str, given: bytes = b"", env: Mapping[str, str]
) -> "subprocess.CompletedProcess[bytes]":
    """Run a module of the package to its end, forked if that makes no difference."""
    if not can_fork(env):
        return start_module(module, *arguments, given=given, env=env)
    process = ForkedProcess("-m", module, *arguments, env=env)
    output, errors = process.communicate(given)
    return subprocess.CompletedProcess([module, *arguments], process.wait(), output, errors)


def start_module(
    module: str, *arguments: str, given: bytes = b"", env: Mapping[str, str]
) -> "subprocess.CompletedProcess[bytes]":
    """The same with a new interpreter, which is a child of this process."""
    command = [sys.executable, "-P", "-m", module, *arguments]
    return subprocess.run(command, input=given, capture_output=True, env=env, check=False)


def _error_pipe(stderr: int | None) -> tuple[int, int]:
    """Two ends; if nobody listens, there is nothing to read at the first one."""
    if stderr == subprocess.PIPE:
        return os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    return nothing, os.dup(2 if stderr is None else nothing)


def _feed(stream: IO[Any], given: bytes | str) -> None:
    with suppress(BrokenPipeError), stream:  # broken if it reads no input
        if given:
            stream.write(given)


_lock = threading.Lock()


@cache
def _parent() -> socket.socket:
    """The process that is forked, which ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd="/",
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# --- in the process that is forked ----------------------------------------------------------------


def load_package() -> None:
    [package] = import_module("nuggets").__path__
    for module in walk_packages([package], "nuggets."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    import_module("numpy")
    gc.collect()
    gc.freeze()  # or a collection would copy its pages into each child


def fork_for_requests(requests: socket.socket) -> list[str]:
    """Fork a child for each request, until no more can come. Returns in the child: its words."""
    woken, wakes = socket.socketpair()
    for end in (woken, wakes):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno())
    living: dict[int, int] = {}  # by process id: who waits for its end
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _tell_ends(living)
        if requests not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(requests, 1, 5)
        if not message:
            os._exit(0)
        *inherited, status = descriptors
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (requests, woken, wakes):
                end.close()
            for descriptor in (status, *living.values()):
                os.close(descriptor)
            return _become(*inherited)
        living[child] = status
        os.write(status, _number(child))
        for descriptor in inherited:
            os.close(descriptor)


def _number(told: int) -> bytes:
    return str(told).rjust(DIGITS).encode()


def _tell_ends(living: dict[int, int]) -> None:
    while living:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if not ended:
            return
        descriptor = living.pop(ended)
        with suppress(BrokenPipeError):  # if nobody waits for it
            os.write(descriptor, _number(os.waitstatus_to_exitcode(status)))
        os.close(descriptor)


def _become(request: int, *streams: int) -> list[str]:
    with open(request, "rb") as message:
        asked = json.load(message)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["folder"])
    words: list[str] = asked["words"]
    return words


if __name__ == "__main__":
    load_package()
    sys.path.append(os.path.dirname(__file__))  # for programs of tests
    option, code, *sys.argv[1:] = fork_for_requests(socket.socket(fileno=int(sys.argv[1])))
    if option == "-m":
        runpy.run_module(code, run_name="__main__", alter_sys=True)
    else:
        exec(code, {"__name__": "__main__"})
