"""Processes that begin with all modules loaded, forked from one that has imported the package.

Each is a real process: with an id, an environment, a folder, streams and an end of its own. Only
what a start of Python costs is paid once. What is loaded at a start, how it is isolated and what
Python itself reads from the environment is tested with processes that are started anew.
"""

import atexit
import gc
import io
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
from typing import IO

READ_BY_PYTHON = ("PYTHON", "LC_", "LANG", "LD_")  # variables that only a new interpreter obeys


def can_fork(env: Mapping[str, str]) -> bool:
    """Would a new interpreter be like the one that is forked?"""
    names = {name for name in (*env, *os.environ) if name.startswith(READ_BY_PYTHON)}
    return all(env.get(name) == os.environ.get(name) for name in names)


class ForkedProcess:
    """`python -m MODULE ARGUMENTS`, with pipes; what is used of it is called as in `Popen`."""

    def __init__(
        self, module: str, *arguments: str, env: Mapping[str, str], hears_errors: bool = True
    ) -> None:
        """`hears_errors`: or they go where those of the tests go."""
        command = [sys.executable, "-m", module, *arguments]
        sys.audit("subprocess.Popen", sys.executable, command, None, dict(env))
        request = {"module": module, "argv": arguments, "env": dict(env), "folder": os.getcwd()}
        read_input, write_input = os.pipe()
        read_output, write_output = os.pipe()
        read_errors, write_errors = os.pipe() if hears_errors else (None, os.dup(2))
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
        self.stdin: IO[bytes] = os.fdopen(write_input, "wb")
        self.stdout: IO[bytes] = os.fdopen(read_output, "rb")
        self.stderr = io.BytesIO() if read_errors is None else os.fdopen(read_errors, "rb")
        self.returncode: int | None = None
        self.pid = int(self._status.recv(20))

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._status.recv(20))
            self._status.close()
        return self.returncode

    def communicate(self, given: bytes = b"") -> tuple[bytes, bytes]:
        """Write all input, read all that is said until everyone has closed it, and wait."""
        errors: list[bytes] = []
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
        return output, b"".join(errors)

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
    process = ForkedProcess(module, *arguments, env=env)
    output, errors = process.communicate(given)
    return subprocess.CompletedProcess([module, *arguments], process.wait(), output, errors)


def start_module(
    module: str, *arguments: str, given: bytes = b"", env: Mapping[str, str]
) -> "subprocess.CompletedProcess[bytes]":
    """The same with a new interpreter, which is a child of this process."""
    command = [sys.executable, "-P", "-m", module, *arguments]
    return subprocess.run(command, input=given, capture_output=True, env=env, check=False)


def _feed(stream: IO[bytes], given: bytes) -> None:
    with suppress(BrokenPipeError), stream:  # broken if it reads no input
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


def fork_for_requests(requests: socket.socket) -> str:
    """Fork a child for each request, until no more can come. Returns in the child: the module."""
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
        os.write(status, str(child).encode())
        for descriptor in inherited:
            os.close(descriptor)


def _tell_ends(living: dict[int, int]) -> None:
    while living:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if not ended:
            return
        descriptor = living.pop(ended)
        with suppress(BrokenPipeError):  # if nobody waits for it
            os.write(descriptor, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(descriptor)


def _become(request: int, *streams: int) -> str:
    with open(request, "rb") as message:
        asked = json.load(message)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    os.chdir(asked["folder"])
    sys.argv[1:] = asked["argv"]
    return str(asked["module"])


if __name__ == "__main__":
    load_package()
    runpy.run_module(
        fork_for_requests(socket.socket(fileno=int(sys.argv[1]))),
        run_name="__main__",
        alter_sys=True,
    )
